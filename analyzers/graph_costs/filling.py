"""`Filling`: the columns of a work that is being filled in, and the calls that the new costs stand under."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..correlate import Linked
from ..costs.cost import Call, Cost
from ..work import Work

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Filling:
    """Takes costs for rows of a work whose cost is unknown; `result` is the work with them."""

    def __init__(self, work: Work, linked: Linked) -> None:
        self.work = work
        self.in_graph = in_graph(work, linked)
        self._flops, self._bytes = work.flops.copy(), work.bytes.copy()
        self._call, self._anchor = work.call.copy(), work.anchor.copy()
        self._numbers: dict[Hashable, int] = {}
        self._calls: list[Call] = []
        self._costs: list[Cost] = []
        # No op covers these rows: numbers below -1 tell one call from another.
        self._next_anchor = min(-2, int(work.anchor.min(initial=0)) - 1)

    def put(self, rows: Ints, units: Ints, flops: float, moved: float, key: Hashable, call: Call, cost: Cost) -> None:
        """Give each call among the rows (`units` numbers them from 0) so many FLOPs and bytes, shared among its rows by
        their time. Rows of one `key` stand under one call; those that a graph launched say so in its name."""
        weight = np.maximum(self.work.time[rows], 1).astype(float)
        weight /= np.bincount(units, weights=weight)[units]
        self._flops[rows], self._bytes[rows] = flops * weight, moved * weight
        self._anchor[rows] = self._next_anchor - units
        self._next_anchor -= int(units.max(initial=0)) + 1
        for replayed in (False, True):
            mine = rows[self.in_graph[rows] == replayed]
            if len(mine):
                self._call[mine] = self.number(key, call, cost, replayed=replayed)

    def put_each(self, rows: Ints, flops: Floats, moved: Floats, calls: Ints) -> None:
        """Give each row a cost of its own; those with one already, or for which there is none (-1), stay as they are."""
        mine = (calls >= 0) & np.isnan(self._bytes[rows])
        chosen = rows[mine]
        self._flops[chosen], self._bytes[chosen], self._call[chosen] = flops[mine], moved[mine], calls[mine]
        self._anchor[chosen] = self._next_anchor - np.arange(len(chosen))
        self._next_anchor -= len(chosen)

    def number(self, key: Hashable, call: Call, cost: Cost, *, replayed: bool) -> int:
        """The number of a call in the resulting work, new or that of an equal `key`."""
        key = (key, replayed)
        if key not in self._numbers:
            self._numbers[key] = len(self.work.calls) + len(self._calls)
            name = f"{call.name} (graph)" if replayed else call.name
            self._calls.append(Call(name, call.dims, call.types, call.strides, call.concrete, call.extra))
            self._costs.append(cost)
        return self._numbers[key]

    def result(self) -> Work:
        """The work with all that was put in."""
        if not self._calls:
            return self.work
        return replace(
            self.work,
            flops=self._flops,
            bytes=self._bytes,
            call=self._call,
            anchor=self._anchor,
            calls=(*self.work.calls, *self._calls),
            costs=(*self.work.costs, *self._costs),
        )


def in_graph(work: Work, linked: Linked) -> npt.NDArray[np.bool_]:
    """Per item: a graph launch enqueued it."""
    launches = linked.trace.launches
    if not launches.height:
        return np.zeros(len(work), bool)
    replays = launches["name"].str.contains("GraphLaunch").to_numpy()
    replayed: npt.NDArray[np.bool_] = (work.launch >= 0) & replays[work.launch]
    return replayed
