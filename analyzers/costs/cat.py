"""Concatenations: every input element read, every output element written.

Kineto does not write the types of tensors in lists, so these take the dtype assumed for the trace; without one they
have no cost.
"""

from __future__ import annotations

from .arguments import Arguments
from .cost import Cost
from .registry import formula


@formula("aten::cat", "aten::_cat", "aten::concat", "aten::concatenate")
def cat(a: Arguments) -> Cost:
    """cat([x...], dim)."""
    return _joined(a)


@formula("aten::stack", "aten::_stack", "aten::hstack", "aten::vstack", hands_on=True)
def stack(a: Arguments) -> Cost:
    """stack([x...], dim), which hands its work to cat where it can't do it in one piece."""
    return _joined(a)


def _joined(a: Arguments) -> Cost:
    tensors = a.list_of(0)
    return Cost(
        family="cat",
        bytes_read=sum(t.bytes for t in tensors),
        bytes_written=sum(t.written for t in tensors),
    )
