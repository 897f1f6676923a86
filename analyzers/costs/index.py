"""Indexing: gathers read the elements they take and the indices; scatters read what they put and write as much."""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor, require
from .cost import Cost
from .registry import formula


def taken(numel: float, x: Tensor, indices: float) -> Cost:
    """Take so many elements out of x: read (at most all of x), with so many bytes of indices, and written."""
    return Cost(family="index", bytes_read=min(numel, x.distinct) * x.width + indices, bytes_written=numel * x.width)


def put(source: Tensor, indices: float, width: float, *, accumulate: bool = False) -> Cost:
    """Put the source's elements at indexed places of a tensor of this width; adding reads the places first."""
    written = source.numel * width
    return Cost(
        family="index", bytes_read=source.bytes + indices + (written if accumulate else 0.0), bytes_written=written
    )


@formula("aten::index_select")
def index_select(a: Arguments) -> Cost:
    """index_select(x, dim, indices[n]): n slices of x."""
    x, indices = a.tensor(0), a.tensor(2)
    dim = a.integer(1)
    require(x.shape != () and -len(x.shape) <= dim < len(x.shape) and x.shape[dim] > 0)
    return taken(indices.numel * x.numel / x.shape[dim], x, indices.bytes)


@formula("aten::gather")
def gather(a: Arguments) -> Cost:
    """gather(x, dim, indices): as many elements as indices; an expanded index is stored once."""
    x, indices = a.tensor(0), a.tensor(2)
    return taken(indices.numel, x, indices.bytes)


@formula("aten::take", "aten::take_along_dim")
def take(a: Arguments) -> Cost:
    """take(x, indices)."""
    x, indices = a.tensor(0), a.tensor(1)
    return taken(indices.numel, x, indices.bytes)


@formula("aten::scatter", "aten::scatter_", "aten::scatter_add", "aten::scatter_add_", "aten::scatter_reduce_")
def scatter(a: Arguments) -> Cost:
    """scatter_(x, dim, indices, source or scalar): out of place also copies x."""
    x, indices, source = a.tensor(0), a.tensor(2), a.maybe(3)
    filled = source if source is not None and source.shape else None
    cost = put(indices, 0.0, x.width, accumulate="add" in a.name or "reduce" in a.name)
    read = cost.bytes_read + (indices.numel * filled.width if filled else 0.0)
    whole = 0.0 if a.name.endswith("_") else x.bytes
    return Cost(family="index", bytes_read=read + whole, bytes_written=cost.bytes_written + whole)


@formula("aten::index_copy_", "aten::index_add_", "aten::index_fill_", "aten::index_copy", "aten::index_add")
def index_copy(a: Arguments) -> Cost:
    """index_copy_(x, dim, indices[n], source): the form of a static KV cache; only the named slices move."""
    x, indices, source = a.tensor(0), a.tensor(2), a.maybe(3)
    dim = a.integer(1)
    require(-len(x.shape) <= dim < len(x.shape) and x.shape[dim] > 0)
    slices = x.like(int(indices.numel * x.numel / x.shape[dim]))
    if source is None or not source.shape:
        return Cost(family="index", bytes_read=indices.bytes, bytes_written=slices.written)
    cost = put(source, indices.bytes, x.width, accumulate="add" in a.name)
    whole = 0.0 if a.name.endswith("_") else x.bytes
    return Cost(family="index", bytes_read=cost.bytes_read + whole, bytes_written=cost.bytes_written + whole)


@formula("aten::masked_select", "aten::nonzero")
def masked(a: Arguments) -> Cost | None:
    """How many are taken depends on values that no trace holds: the inputs' read is the least that moves."""
    read = sum(t.bytes for t in a.tensors()[:2])
    return Cost(family="index", bytes_read=read)


@formula("aten::index_put_", "aten::_index_put_impl_", "aten::index_put")
def index_put(a: Arguments) -> Cost:
    """index_put_(x, [indices], values, accumulate): the values are what is written; indices in lists have no shapes of use
    beyond their count, 8 bytes each."""
    x, values = a.tensor(0), a.tensor(2)
    indexed = a.call.dims[1] if a.call.types[1] == "TensorList" else []
    indices = sum(math.prod(d) for d in indexed) * 8.0
    accumulate = a.flag(3) is True
    cost = put(values, indices, x.width, accumulate=accumulate)
    whole = 0.0 if a.name.endswith("_") else x.bytes
    return Cost(family="index", bytes_read=cost.bytes_read + whole, bytes_written=cost.bytes_written + whole)
