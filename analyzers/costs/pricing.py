"""`cost_of`: what a call costs, by the formula that its op has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from .arguments import Arguments, Unusable
from .cost import Call, Cost
from .dtypes import dtype_of
from .registry import find

_MALFORMED = (Unusable, TypeError, ValueError, IndexError, KeyError, OverflowError, AttributeError, ZeroDivisionError)


def cost_of(call: Call, *, assumed: str | None = None) -> Cost | None:
    """The cost of one call; None where no formula serves the op or its inputs don't say enough. Never raises.

    `assumed` is the dtype of tensors in lists, which Kineto does not write (see `prevailing_dtype`)."""
    found = find(call.name)
    if found is None or not (call.dims or call.extra):
        return None
    try:
        cost = found.function(Arguments(call, assumed))
        if cost is None or not all(map(math.isfinite, (cost.flops, cost.bytes_read, cost.bytes_written))):
            return None
    except _MALFORMED:
        return None
    return cost


def costs_of(calls: Sequence[Call]) -> tuple[Cost | None, ...]:
    """The cost of each distinct call of one trace; lists of tensors are taken to have the trace's prevailing dtype."""
    assumed = prevailing_dtype(calls)
    return tuple(cost_of(call, assumed=assumed) for call in calls)


def prevailing_dtype(calls: Sequence[Call]) -> str | None:
    """The floating dtype that holds the most elements among the calls' inputs, as the trace spells it; None if none does."""
    elements: Counter[str] = Counter()
    for call in calls:
        for name, dims in zip(call.types, call.dims, strict=False):
            dtype = dtype_of(name) if isinstance(name, str) else None
            if dtype is not None and dtype.floating and isinstance(dims, (list, tuple)) and len(dims):
                elements[name] += math.prod(d for d in dims if type(d) is int and d >= 0)
    return elements.most_common(1)[0][0] if elements else None
