"""Rotary embedding: the rotated part of each query and key head is read and written in place, with one row of the
cosine and sine table per token.
"""

from __future__ import annotations

from .arguments import Arguments, Tensor, require
from .cost import Cost
from .moves import Moves, register_moves, spelled
from .registry import formula


def rotated(heads: list[Tensor], share: float, positions: Tensor, table: Tensor) -> Cost:
    """In place: `share` of each head's elements read and written; the table's rows of the tokens read, once each."""
    rows = min(positions.numel, table.shape[0]) * table.shape[-1] * table.width
    moved = share * sum(t.written for t in heads)
    return Cost(family="rope", bytes_read=moved + rows + positions.bytes, bytes_written=moved)


@formula(
    "_C::rotary_embedding", "sgl_kernel::rotary_embedding", "vllm::rotary_embedding", "_C::batched_rotary_embedding"
)
def rotary_embedding(a: Arguments) -> Cost:
    """(positions, query, key?, head size, table[P, R], is_neox): R of each head's values turn."""
    positions, table, size = a.tensor(0), a.tensor(4, rank=2), a.integer(3)
    require(size > 0)
    heads = [t for t in (a.maybe(1), a.maybe(2)) if t is not None]
    return rotated(heads, min(table.shape[1] / size, 1.0), positions, table)


@formula("sgl_kernel::apply_rope_pos_ids_cos_sin_cache", "flashinfer::apply_rope_pos_ids_cos_sin_cache")
def flashinfer_rope(a: Arguments) -> Cost:
    """(q, k, q out, k out, table, positions, ...): whole heads are read and written."""
    q, k = a.tensor(0), a.tensor(1)
    return rotated([q, k], 1.0, a.tensor(5), a.tensor(4, rank=2))


register_moves(
    "rope",
    {
        # in order: out, x, frequencies (or cosines, sines), ...; the two-channel form writes both first
        spelled("rope_fwd_impl", "aiter"): Moves((1, 2), (0,)),
        spelled("rope_cached_fwd_impl", "aiter"): Moves((1, 2, 3), (0,)),
        spelled("rope_cached_positions_2c_fwd_impl", "aiter"): Moves((2, 3, 4, 5, 6), (0, 1)),
    },
)
