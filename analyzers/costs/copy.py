"""Copies and casts: the distinct source elements read, every destination element written."""

from __future__ import annotations

from .arguments import Arguments
from .cost import Cost
from .elementwise import streamed
from .registry import formula


@formula("aten::copy_")
def copy(a: Arguments) -> Cost:
    """copy_(destination, source): reads the source at its width (an expanded one once), writes the destination at its."""
    return streamed([a.tensor(1)], a.tensor(0).written, "copy")


@formula("aten::clone", hands_on=True)
def clone(a: Arguments) -> Cost:
    """clone(x)."""
    x = a.tensor(0)
    return streamed([x], x.written, "copy")


@formula("aten::_to_copy", hands_on=True)
def to_copy(a: Arguments) -> Cost:
    """_to_copy(x, dtype?, ...): a cast to the dtype at input 1."""
    x = a.tensor(0)
    return streamed([x], x.numel * (a.dtype(1) or x.dtype).bytes, "copy")
