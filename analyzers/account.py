"""`Pieces`: each step's window cut into disjoint pieces of busy and idle time. Nothing is counted twice, nothing left.

Busy time is a union. Where items overlap, the piece goes to the earliest-starting one that computes; communication is
counted only where nothing computes, a copy only where neither does (their exposed time).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .classes import COMMUNICATION, TRANSFER
from .intervals import Union, exclusive
from .step import Step
from .window import Windows
from .work import Work

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle pieces, in time order: their step, their bounds (ns), and the item that ends each."""

    step: Ints
    start: Ints
    end: Ints
    item: Ints
    lead_in: npt.NDArray[np.bool_]
    """The gap stands at the window's opening."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Busy pieces: `own_ns[i]` of step `step[i]`'s window belongs to work item `item[i]`. And the gaps between."""

    step: Ints
    item: Ints
    own_ns: Ints
    gaps: Gaps


def cut_windows(work: Work, classes: Ints, windows: Windows, owner: Ints, steps: Sequence[Step]) -> Pieces:
    """Cut every non-empty step's window into pieces. An item that lies in two windows has a piece in each."""
    reach = np.maximum.accumulate(work.end) if len(work) else work.end
    parts: list[tuple[Ints, Ints, Ints]] = []
    gaps: list[tuple[Ints, Ints, Ints, Ints]] = []
    one_device = len(np.unique(work.device)) <= 1
    # Each step's devices, once: a search of all items a step would be quadratic.
    by_step = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[by_step], np.arange(len(steps) + 1))
    for number in range(len(steps)):
        if windows.empty[number]:
            continue
        opened, closed = int(windows.open_ns[number]), int(windows.close_ns[number])
        low, high = np.searchsorted(reach, opened, side="right"), np.searchsorted(work.start, closed)
        items = np.arange(low, high)
        items = items[work.end[items] > opened]
        if not one_device:
            own = by_step[bounds[number] : bounds[number + 1]]
            items = items[np.isin(work.device[items], np.unique(work.device[own]))]
        start = np.maximum(work.start[items], opened)
        end = np.minimum(work.end[items], closed)
        parts.append((np.full(len(items), number), items, _own(start, end, classes[items])))
        g_start, g_end = Union.of(start, end).gaps(opened, closed)
        ender = items[np.minimum(np.searchsorted(work.start[items], g_end), len(items) - 1)]
        gaps.append((np.full(len(g_start), number), g_start, g_end, ender))
    step, item, own = _stack(parts, 3)
    g_step, g_start, g_end, g_item = _stack(gaps, 4)
    return Pieces(step, item, own, Gaps(g_step, g_start, g_end, g_item, g_start == windows.open_ns[g_step]))


def _own(start: Ints, end: Ints, classes: Ints) -> Ints:
    """The exclusive part of each interval (sorted by start): computing first, then communication, then copies."""
    order = np.argsort(start, kind="stable")
    own = np.zeros(len(start), np.int64)
    covered = Union.of(start[:0], end[:0])
    ranks = np.where(classes == TRANSFER, 2, np.where(classes == COMMUNICATION, 1, 0))
    for rank in range(3):
        rows = order[ranks[order] == rank]
        if not len(rows):
            continue
        mine = exclusive(start[rows], end[rows])
        fresh = end[rows] - mine
        own[rows] = mine - covered.covered(fresh, end[rows])
        covered = Union.of(np.concatenate([covered.start, start[rows]]), np.concatenate([covered.end, end[rows]]))
    return own


def _stack(parts: Sequence[tuple[Ints, ...]], width: int) -> tuple[Ints, ...]:
    if not parts:
        return tuple(np.empty(0, np.int64) for _ in range(width))
    return tuple(np.concatenate([part[i] for part in parts]).astype(np.int64) for i in range(width))
