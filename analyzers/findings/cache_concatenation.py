"""The cache is grown by concatenation: every decode step copies all of it."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

LARGE = 0.03
"""Share of the wall below which the copy is not worth a change."""


@finding("cache-concatenation")
def cache_concatenation(case: Case) -> Finding | None:
    """`aten::cat` of a long tensor with a short one along the same axis, in a step behind a cache. A static cache writes
    the short one only, so all but the new tokens' share of the time is saved."""
    phase = case.phase
    if phase.kind not in ("decode", "verify") or phase.wall_us is None:
        return None
    items, mine = case.given.items, case.mine
    spent = saved = 0.0
    grown_calls = np.zeros(len(mine), bool)
    for number, call in enumerate(items.work.calls):
        if call.name != "aten::cat":
            continue
        grown = _grown(call.dims)
        if grown is None:
            continue
        chosen = mine & (items.work.call == number)
        time = float(items.work.time[chosen].sum()) / 1e3
        spent += time
        saved += time * grown
        grown_calls |= chosen
    if spent < LARGE * phase.wall_us:
        return None
    return Finding(
        id="cache-concatenation",
        title="The KV cache is copied whole at every step",
        saving_us=saved,
        saving_fraction=case.fraction(saved),
        evidence=f"{case.calls_of(grown_calls)} aten::cat of cached keys and values take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall), and grow with "
        "the context; only the new tokens need writing",
        advice="Use a cache that is allocated once: model.generate(..., cache_implementation='static').",
    )


def _grown(dims: object) -> float | None:
    """The old part's share of the result, when a call joins one long and one short tensor of the same other sizes."""
    lists = (
        [d for d in dims[0] if isinstance(d, (list, tuple))]
        if isinstance(dims, tuple) and dims and isinstance(dims[0], (list, tuple))
        else []
    )
    if len(lists) != 2 or len(lists[0]) != len(lists[1]) or len(lists[0]) < 3:
        return None
    differ = [i for i, (a, b) in enumerate(zip(*lists, strict=True)) if a != b]
    if len(differ) != 1:
        return None
    old, new = lists[0][differ[0]], lists[1][differ[0]]
    return old / (old + new) if isinstance(old, int) and isinstance(new, int) and old >= 8 * max(new, 1) else None
