"""Sets of intervals on one time line, in integer nanoseconds: union, gaps, and how much of one set another covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Union:
    """Disjoint sorted intervals: the union of any intervals."""

    start: Ints
    end: Ints

    @classmethod
    def of(cls, start: Ints, end: Ints) -> Union:
        """The union of intervals given in any order. Touching intervals merge; empty ones vanish."""
        real = end > start
        start, end = start[real], end[real]
        if len(start) == 0:
            return cls(start, end)
        order = np.argsort(start, kind="stable")
        start, reach = start[order], np.maximum.accumulate(end[order])
        opens = np.concatenate([[True], start[1:] > reach[:-1]])
        closes = np.concatenate([opens[1:], [True]])
        return cls(start[opens], reach[closes])

    @property
    def total(self) -> int:
        """Summed length, ns."""
        return int((self.end - self.start).sum())

    def before(self, moments: Ints) -> Ints:
        """Per moment: the length of this union that lies before it, ns."""
        if len(self.start) == 0:
            return np.zeros(len(moments), np.int64)
        done = np.concatenate([[0], np.cumsum(self.end - self.start)])
        at = np.searchsorted(self.start, moments, side="right") - 1
        inside = np.minimum(moments, self.end[np.maximum(at, 0)]) - self.start[np.maximum(at, 0)]
        return np.where(at >= 0, done[np.maximum(at, 0)] + inside, 0)

    def covered(self, start: Ints, end: Ints) -> Ints:
        """Per given interval: how much of it this union covers, ns. An inverted interval counts as empty."""
        inside: Ints = np.where(end > start, self.before(end) - self.before(start), 0)
        return inside

    def gaps(self, open_ns: int, close_ns: int) -> tuple[Ints, Ints]:
        """Starts and ends of what this union leaves uncovered of [open_ns, close_ns]."""
        start = np.concatenate([[open_ns], np.clip(self.end, open_ns, close_ns)])
        end = np.concatenate([np.clip(self.start, open_ns, close_ns), [close_ns]])
        real = end > start
        return start[real].astype(np.int64), end[real].astype(np.int64)


def exclusive(start: Ints, end: Ints) -> Ints:
    """Per interval, in start order: the part of it that no earlier-starting one already covers. The parts sum to the
    union's length. The intervals must be sorted by start."""
    if len(start) == 0:
        return np.empty(0, np.int64)
    reach = np.concatenate([[start[0]], np.maximum.accumulate(end)[:-1]])
    own: Ints = np.maximum(end - np.maximum(start, reach), 0)
    return own
