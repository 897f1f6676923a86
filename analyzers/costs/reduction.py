"""Reductions: the input read once, the result written once."""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor, Unusable
from .cost import Cost
from .registry import formula

_INDEX_BYTES = 8.0


def reduced(x: Tensor, dims: list[int]) -> int:
    """Elements left when these dimensions go; no dimensions means all of them."""
    if not dims:
        return 1
    gone = {d % len(x.shape) for d in dims} if x.shape else set()
    return math.prod(size for d, size in enumerate(x.shape) if d not in gone)


def _dims(a: Arguments, i: int) -> list[int]:
    text = a.text(i).strip()
    if text in ("", "None"):
        return []
    if text in ("True", "False"):
        return []
    return a.ints(i) if text.startswith("[") else [a.integer(i)]


@formula("aten::sum", "aten::mean", "aten::prod", "aten::amax", "aten::amin", "aten::norm", "aten::linalg_vector_norm")
@formula("aten::logsumexp", "aten::nansum", "aten::count_nonzero")
def total(a: Arguments) -> Cost:
    """sum(x, dims?, keepdim, dtype?)."""
    x = a.tensor(0)
    at = 2 if a.name in ("aten::norm", "aten::linalg_vector_norm") else 1
    dims = _dims(a, at) if at < len(a) and a.call.types[at] == "ScalarList" else _one_dim(a, at)
    width = (a.dtype(3) or x.dtype).bytes
    return Cost(family="reduction", bytes_read=x.bytes, bytes_written=reduced(x, dims) * width)


def _one_dim(a: Arguments, at: int) -> list[int]:
    # prod(x, dim, keepdim) has a dimension; sum(x, dtype) has none.
    return [a.integer(at)] if a.name == "aten::prod" and len(a) > at + 1 and a.text(at) else []


@formula("aten::all", "aten::any")
def test(a: Arguments) -> Cost:
    """all(x, dim?, keepdim): a byte per result."""
    x = a.tensor(0)
    return Cost(family="reduction", bytes_read=x.bytes, bytes_written=float(reduced(x, _dims(a, 1))))


@formula("aten::max", "aten::min", "aten::median", "aten::aminmax", "aten::var", "aten::std", "aten::var_mean")
def extreme(a: Arguments) -> Cost:
    """max(x), max(x, dim, keepdim) with indices, or the elementwise max(x, y)."""
    x, other = a.tensor(0), a.maybe(1)
    if other is not None and other.shape:
        return Cost(family="elementwise", bytes_read=x.bytes + other.bytes, bytes_written=max(x.written, other.written))
    dims = _dims(a, 1)
    left = reduced(x, dims)
    indices = left * _INDEX_BYTES if dims and a.name in ("aten::max", "aten::min", "aten::median") else 0.0
    return Cost(family="reduction", bytes_read=x.bytes, bytes_written=left * x.width + indices)


@formula("aten::logcumsumexp")
def running(a: Arguments) -> Cost:
    """logcumsumexp(x, dim): as many results as elements."""
    x = a.tensor(0)
    if not x.shape:
        raise Unusable
    return Cost(family="reduction", bytes_read=x.bytes, bytes_written=x.written)


@formula("aten::histc", "aten::bincount")
def histogram(a: Arguments) -> Cost:
    """histc(x, bins, ...): a count per bin; bincount's bins depend on values, so its input alone is counted."""
    x = a.tensor(0)
    bins = a.integer(1) if a.name == "aten::histc" else 0
    return Cost(family="reduction", bytes_read=x.bytes, bytes_written=bins * x.width)
