"""The timeline of one step: what ran on which stream, and the gaps between, for drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .analysis import Timeline, TimelineGap, TimelineItem
from .classes import CLASSES
from .idle import CAUSES
from .work import OP

if TYPE_CHECKING:
    from .account import Pieces
    from .correlate import Linked
    from .idle import Idle
    from .rows import Items
    from .window import Windows

MOST_ITEMS = 2000
"""Items drawn of one step; of more, the longest are kept and the rest counted."""


def timelines_of(
    numbers: list[int], items: Items, windows: Windows, pieces: Pieces, idle: Idle, linked: Linked
) -> tuple[Timeline, ...]:
    """The typical step of a phase (the one whose window is the median) and the slowest, if it is another."""
    present = [n for n in numbers if not windows.empty[n]]
    if not present:
        return ()
    length = (windows.close_ns - windows.open_ns)[present]
    order = np.argsort(length, kind="stable")
    typical, slowest = present[int(order[(len(order) - 1) // 2])], present[int(order[-1])]
    chosen = [("typical", typical)] + ([("slowest", slowest)] if slowest != typical else [])
    return tuple(_timeline(role, n, numbers.index(n), items, windows, pieces, idle, linked) for role, n in chosen)


def _timeline(
    role: str, number: int, index: int, items: Items, windows: Windows, pieces: Pieces, idle: Idle, linked: Linked
) -> Timeline:
    work, opened = items.work, int(windows.open_ns[number])
    rows = pieces.item[pieces.step == number]
    dropped = max(len(rows) - MOST_ITEMS, 0)
    if dropped:
        rows = np.sort(rows[np.argsort(-work.time[rows], kind="stable")[:MOST_ITEMS]])
    on_host = bool((work.kind == OP).all())
    streams = np.zeros(len(work), np.int64) if on_host else linked.trace.kernels["stream"].fill_null(-1).to_numpy()
    lanes = sorted({int(s) for s in streams[rows]})
    drawn = tuple(
        TimelineItem(
            lane=lanes.index(int(streams[r])),
            start_us=(int(work.start[r]) - opened) / 1e3,
            dur_us=(int(work.end[r]) - int(work.start[r])) / 1e3,
            name=work.names[work.name[r]].short,
            bound_class=CLASSES[items.classes[r]],
            own=bool(items.owner[r] == number),
        )
        for r in rows.tolist()
    )
    gaps = np.flatnonzero(pieces.gaps.step == number)
    return Timeline(
        role=role,
        step=index,
        start_us=opened / 1e3,
        wall_us=(int(windows.close_ns[number]) - opened) / 1e3,
        lanes=("ops",) if on_host else tuple(f"stream {s}" if s >= 0 else "stream ?" for s in lanes),
        items=drawn,
        gaps=tuple(_gap(int(g), pieces, idle, opened) for g in gaps),
        dropped=dropped,
    )


def _gap(g: int, pieces: Pieces, idle: Idle, opened: int) -> TimelineGap:
    causes = {cause: int(idle.causes[cause][g]) for cause in CAUSES}
    klass = CLASSES[idle.klass[g]]
    return TimelineGap(
        start_us=(int(pieces.gaps.start[g]) - opened) / 1e3,
        dur_us=int(pieces.gaps.end[g] - pieces.gaps.start[g]) / 1e3,
        cause=max(causes, key=lambda c: causes[c]) if klass == "launch" else klass,
    )
