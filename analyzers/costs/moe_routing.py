"""Routing of experts: gate scores to choices, choices to sorted rows, rows back to tokens. All of it streams."""

from __future__ import annotations

from .arguments import Arguments, require
from .cost import Cost
from .moves import Moves, register_moves, spelled
from .registry import formula

register_moves(
    "moe",
    {
        # in order: weights[T, k], ids[T, k], token ids[T, k], scores[T, E], ...
        spelled("topk_softmax", "_moe_C", "aiter"): Moves((3,), (0, 1, 2)),
        # in order: ids[T, k], experts, block, sorted ids, expert ids, padded count, ...
        spelled("moe_align_block_size", "_moe_C", "sgl_kernel", "aiter"): Moves((0,), (3, 4, 5)),
        # in order: x[T, k, K], out[T, K], ...
        spelled("moe_sum", "_moe_C", "sgl_kernel", "aiter"): Moves((0,), (1,)),
        "sgl_kernel::moe_sum_reduce": Moves((0,), (1,)),
        # in order: x, row map, out
        "sgl_kernel::shuffle_rows": Moves((2, 1), (2,)),
    },
)


@formula("sgl_kernel::topk_softmax")
def sgl_topk_softmax(a: Arguments) -> Cost:
    """(weights, ids, scores, ...), with a fourth tensor between in older versions: the scores are the widest of them."""
    tensors = [t for t in (a.maybe(i) for i in range(4)) if t is not None]
    require(len(tensors) >= 3)
    scores = max(tensors, key=lambda t: t.numel)
    return Cost(family="moe", bytes_read=scores.bytes, bytes_written=sum(t.written for t in tensors if t is not scores))


@formula("sgl_kernel::moe_fused_gate", "aiter::moe_fused_gate", "sgl_kernel::kimi_k2_moe_fused_gate")
def fused_gate(a: Arguments) -> Cost:
    """moe_fused_gate(scores[T, E], bias[E], groups, top groups, k, ...) -> weights fp32, ids int32; Kimi's form has k at 2."""
    scores = a.tensor(0, rank=2)
    k = a.integer(2 if "kimi" in a.name else 4)
    return Cost(family="moe", bytes_read=scores.bytes + a.tensor(1).bytes, bytes_written=scores.shape[0] * k * 8.0)
