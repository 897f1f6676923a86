"""Choosing tokens: the logits or probabilities read once, the choice written. Sorting is counted as one pass, the
least it moves.
"""

from __future__ import annotations

from .arguments import Arguments, require
from .cost import Cost
from .moves import Moves, register_moves, spelled
from .reduction import reduced
from .registry import formula

_INDEX_BYTES = 8.0


@formula("aten::argmax", "aten::argmin")
def argmax(a: Arguments) -> Cost:
    """argmax(x, dim?, keepdim): an int64 per row."""
    x = a.tensor(0)
    dims = [a.integer(1)] if a.text(1) else []
    return Cost(family="sampling", bytes_read=x.bytes, bytes_written=reduced(x, dims) * _INDEX_BYTES)


@formula("aten::topk", "aten::kthvalue")
def topk(a: Arguments) -> Cost:
    """topk(x, k, dim, ...): k values and k int64 indices per row; kthvalue one of each."""
    x, k = a.tensor(0), a.integer(1)
    dim = a.integer(2) if a.text(2) else -1
    require(k > 0)
    kept = reduced(x, [dim]) * (k if a.name == "aten::topk" else 1)
    return Cost(family="sampling", bytes_read=x.bytes, bytes_written=kept * (x.width + _INDEX_BYTES))


@formula("aten::sort", "aten::argsort", "aten::msort")
def sort(a: Arguments) -> Cost:
    """sort(x, ...): values and int64 indices; argsort the indices, msort the values alone."""
    x = a.tensor(0)
    width = {"aten::argsort": _INDEX_BYTES, "aten::msort": x.width}.get(a.name, x.width + _INDEX_BYTES)
    return Cost(family="sampling", bytes_read=x.bytes, bytes_written=x.numel * width)


@formula("aten::multinomial")
def multinomial(a: Arguments) -> Cost:
    """multinomial(p[B, V], n, ...): n int64 per row."""
    p, n = a.tensor(0), a.integer(1)
    return Cost(family="sampling", bytes_read=p.bytes, bytes_written=reduced(p, [-1]) * n * _INDEX_BYTES)


register_moves(
    "sampling",
    {
        # in order: probabilities, output, ...
        spelled(
            "min_p_sampling_from_probs top_p_sampling_from_probs top_k_top_p_sampling_from_probs "
            "top_k_sampling_from_probs top_k_renorm_probs top_p_renorm_probs top_k_mask_logits",
            "sgl_kernel",
            "flashinfer",
        ): Moves((0,), (1,)),
        # in order: logits changed in place, masks
        spelled("apply_token_bitmask_inplace_cuda", "sgl_kernel"): Moves((0, 1), (0,)),
        spelled("apply_repetition_penalties_", "_C"): Moves((0, 1, 2, 3), (0,)),
    },
)
