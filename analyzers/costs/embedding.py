"""Embedding look-ups: the rows that the indices name are read, never the whole table."""

from __future__ import annotations

from .arguments import Arguments
from .cost import Cost
from .registry import formula


@formula("aten::embedding")
def embedding(a: Arguments) -> Cost:
    """embedding(table[V, D], indices): reads n rows and n indices, writes n rows. Repeated indices are counted each time,
    up to the whole table: the trace does not tell which repeat."""
    table, indices = a.tensor(0, rank=2), a.tensor(1)
    row = table.shape[1] * table.width
    return Cost(
        family="embedding",
        bytes_read=min(indices.numel, table.shape[0]) * row + indices.bytes,
        bytes_written=indices.numel * row,
    )


@formula("aten::_embedding_bag", "aten::_embedding_bag_forward_only")
def embedding_bag(a: Arguments) -> Cost:
    """embedding_bag(table[V, D], indices[n], offsets[B], ...): n rows read, B sums written."""
    table, indices, offsets = a.tensor(0, rank=2), a.tensor(1), a.tensor(2)
    row = table.shape[1] * table.width
    return Cost(
        family="embedding",
        bytes_read=min(indices.numel, table.shape[0]) * row + indices.bytes + offsets.bytes,
        bytes_written=offsets.numel * row,
    )
