"""Which op's cost stands for each op of a trace, where ops nest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .cost import Call, Cost
from .registry import find, is_free

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Anchoring(NamedTuple):
    """Per op row: the row whose cost covers it (-1: none), and whether it is known to do no device work of its own (a
    view, an allocation, an op that handed its work on)."""

    anchor: Ints
    idle: Bools


def anchor_rows(call: Ints, parent: Ints, calls: Sequence[Call], costs: Sequence[Cost | None]) -> Anchoring:
    """Per op row, the row whose cost covers it.

    `call[i]` is op i's distinct call (index into `calls` and `costs`), `parent[i]` the row of the op around it or -1.
    The outermost op that has a cost stands for everything inside it, but an op that hands its work on stands for nothing where
    a formula inside does (see `registry`). An idle op that nothing covers has no anchor: on a CPU its own time is known
    overhead, on a GPU a kernel right under it stays unexplained.
    """
    n = len(call)
    anchor = np.full(n, -1, np.int64)
    if not n:
        return Anchoring(anchor, np.zeros(0, bool))
    costed = np.array([c is not None for c in costs], bool)[call]
    formulas = [find(c.name) for c in calls]
    hands_on = np.array([f is not None and f.hands_on for f in formulas])[call]
    depth = _depths(parent)
    levels = [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]
    void = _void(parent, costed, hands_on, levels)
    own = costed & ~void
    for rows in levels:
        up = parent[rows]
        above = np.where(up >= 0, anchor[up], -1)
        anchor[rows] = np.where(own[rows] & (above < 0), rows, above)
    idle = np.array([is_free(c.name) for c in calls], bool)[call] | (costed & void)
    return Anchoring(anchor, idle)


def _depths(parent: Ints) -> Ints:
    depth = np.zeros(len(parent), np.int64)
    up = parent.copy()
    while (up >= 0).any():
        depth[up >= 0] += 1
        up = np.where(up >= 0, parent[up], -1)
    return depth


def _void(parent: Ints, costed: Bools, hands_on: Bools, levels: Sequence[Ints]) -> Bools:
    """Ops that handed their work to one inside: from the deepest level up, each op tells its parent whether it holds a
    cost."""
    holds = np.zeros(len(parent), bool)
    void = np.zeros(len(parent), bool)
    for rows in reversed(levels):
        void[rows] = costed[rows] & hands_on[rows] & holds[rows]
        up = parent[rows]
        telling = (up >= 0) & (holds[rows] | costed[rows])
        holds[up[telling]] = True
    return void
