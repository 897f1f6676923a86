"""Nested intervals of a thread: which interval encloses which, and which is innermost at a moment.

A thread's calls nest like brackets, so depth and order give parents without walking a stack: an interval's depth is
the number of earlier ones still open at its start, and its parent is the last earlier one a level up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nest:
    """The intervals of one thread, sorted by start (longest first among equals); `row` gives their outside numbers."""

    start: Ints
    end: Ints
    parent: Ints
    """Position of the enclosing interval within this nest, -1 at the top."""
    row: Ints

    @classmethod
    def of(cls, start: Ints, end: Ints, row: Ints) -> Nest:
        """Nest intervals given in any order. An empty interval counts as one nanosecond long."""
        order = np.lexsort((-end, start))
        start, end, row = start[order], np.maximum(end[order], start[order] + 1), row[order]
        return cls(start, end, _parents(start, end), row)

    def innermost(self, moments: Ints) -> Ints:
        """Per moment: the row of the innermost interval that holds it (start <= moment < end), -1 for none."""
        at = np.searchsorted(self.start, moments, side="right") - 1
        return self._rows(self._climb(at, moments))

    def parent_rows(self) -> Ints:
        """Per interval, in this nest's order: the enclosing interval's row, -1 at the top."""
        return self._rows(self.parent)

    def _climb(self, at: Ints, moments: Ints) -> Ints:
        at = at.copy()
        closed = (at >= 0) & (self.end[at] <= moments)
        while closed.any():
            at[closed] = self.parent[at[closed]]
            closed = (at >= 0) & (self.end[at] <= moments)
        return at

    def _rows(self, at: Ints) -> Ints:
        if len(self.row) == 0:
            return np.full(len(at), -1, np.int64)
        return np.where(at >= 0, self.row[at], -1)


def _parents(start: Ints, end: Ints) -> Ints:
    n = len(start)
    if n == 0:
        return np.empty(0, np.int64)
    index = np.arange(n)
    closed = np.searchsorted(np.sort(end), start, side="right")
    depth = index - closed
    key = depth * n + index
    order = np.argsort(key)
    at = np.searchsorted(key[order], (depth - 1) * n + index, side="left") - 1
    parent = np.where(depth > 0, order[np.maximum(at, 0)], -1)
    # Overlaps that do not nest (a child that outlives its parent by a rounding) can name a parent that has closed.
    wrong = (parent >= 0) & (end[parent] <= start)
    while wrong.any():
        parent[wrong] = parent[parent[wrong]]
        wrong = (parent >= 0) & (end[parent] <= start)
    return parent
