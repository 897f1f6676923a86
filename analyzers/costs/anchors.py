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

_ALL, _REST, _NONE = range(3)
_REACH = {"all": _ALL, "rest": _REST, "none": _NONE}


class Anchoring(NamedTuple):
    """Per op row: the row whose cost covers it (-1: none), and whether it is known to do no device work of its own (a
    view, an allocation, an op that handed its work on)."""

    anchor: Ints
    idle: Bools


def anchor_rows(call: Ints, parent: Ints, calls: Sequence[Call], costs: Sequence[Cost | None]) -> Anchoring:
    """Per op row, the row whose cost covers it.

    `call[i]` is op i's distinct call (index into `calls` and `costs`), `parent[i]` the row of the op around it or -1.
    The outermost op that covers everything inside it wins; then the innermost that covers the rest; an op that hands
    its work on covers only what no formula inside does (see `registry`). An idle op that nothing covers has itself
    no anchor: on a CPU its own time is known overhead, on a GPU a kernel right under it stays unexplained.
    """
    n = len(call)
    anchor = np.full(n, -1, np.int64)
    if not n:
        return Anchoring(anchor, np.zeros(0, bool))
    costed = np.array([c is not None for c in costs], bool)[call]
    formulas = [find(c.name) for c in calls]
    reach = np.array([_ALL if f is None else _REACH[f.covers] for f in formulas])[call]
    depth = _depths(parent)
    levels = [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]
    void = _void(call, parent, costs, costed, reach, levels)
    own = costed & ~void
    whole = np.zeros(n, bool)
    for rows in levels:
        up = parent[rows]
        inside = (up >= 0) & whole[up]
        anchor[rows] = np.where(own[rows] & ~inside, rows, np.where(up >= 0, anchor[up], -1))
        whole[rows] = inside | (own[rows] & (reach[rows] == _ALL))
    idle = np.array([is_free(c.name) for c in calls], bool)[call] | (costed & void)
    return Anchoring(anchor, idle)


def _depths(parent: Ints) -> Ints:
    depth = np.zeros(len(parent), np.int64)
    up = parent.copy()
    while (up >= 0).any():
        depth[up >= 0] += 1
        up = np.where(up >= 0, parent[up], -1)
    return depth


def _void(
    call: Ints, parent: Ints, costs: Sequence[Cost | None], costed: Bools, reach: Ints, levels: Sequence[Ints]
) -> Bools:
    """Ops whose formula gives way to those inside. From the deepest level up, each op tells its parent which families of
    work it holds, as bits."""
    families = sorted({c.family for c in costs if c is not None})
    bit = {family: 1 << i for i, family in enumerate(families)}
    mine = np.array([0 if c is None else bit[c.family] for c in costs], np.int64)[call]
    inside = np.zeros(len(call), np.int64)
    void = np.zeros(len(call), bool)
    for rows in reversed(levels):
        held = inside[rows]
        gives_way = ((reach[rows] == _NONE) & (held != 0)) | ((reach[rows] == _REST) & ((held & mine[rows]) != 0))
        void[rows] = costed[rows] & gives_way
        held = held | np.where(costed[rows] & ~void[rows], mine[rows], 0)
        up = parent[rows]
        has = up >= 0
        np.bitwise_or.at(inside, up[has], held[has])
    return void
