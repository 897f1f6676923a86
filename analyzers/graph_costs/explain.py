"""`explain_kernels`: costs for the kernels that no op explains, because a graph replayed them or no shapes were recorded.

A step's kernels get their parts in the model by their order (`order`), the parts their FLOPs and bytes from the model's
sizes and the step's tokens (`prices`). The model is the given one, or the one known model that fits (`infer`). Items whose
cost is known already keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..correlate import Linked
from ..costs.cost import Call, Cost, Unit
from ..device import Device
from ..facts import ModelFacts
from ..step import Step
from ..work import Work
from .evidence import Evidence, evidence_of
from .fit import Fit, fit, units_of
from .infer import infer_model
from .order import MisfitError, layer_starts
from .passes import Pass, Sequences, passes_of
from .prices import Price, prices_of_step

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Explained:
    """The work with what could be told, the sentences that say how, and the facts it was told from."""

    work: Work
    notes: tuple[str, ...]
    facts: ModelFacts | None


def explain_kernels(
    work: Work, linked: Linked, owner: Ints, steps: Sequence[Step], facts: ModelFacts | None, device: Device
) -> Explained:
    """Fill in the costs of device kernels in `steps` that are unknown (NaN). `owner` is each item's step, -1 for none."""
    filled = _Filled(work, _in_graph(work, linked))
    notes: list[str] = []
    for sequence in passes_of(work, owner, steps):
        starts = layer_starts(sequence.kernels)
        if len(starts) < 2:
            continue
        seen = evidence_of(sequence.kernels, starts, zip(work.calls, work.costs, strict=True))
        found, note = _fit(work, sequence, seen, facts, device)
        if note is not None:
            notes.append(note)
        if found is None:
            continue
        facts = found.facts
        for one in sequence.passes:
            filled.add(one, found)
    return Explained(filled.result(), tuple(dict.fromkeys(notes)), facts)


def _fit(
    work: Work, sequence: Sequences, seen: Evidence, facts: ModelFacts | None, device: Device
) -> tuple[Fit | None, str | None]:
    if facts is None:
        told = infer_model(work, sequence, seen, device)
        return told if told is not None else (None, None)
    try:
        return fit(work, sequence, seen, facts, device), None
    except MisfitError as misfit:
        return None, f"kernels of graphs have no costs from the model {facts.name}: {misfit}"


def _in_graph(work: Work, linked: Linked) -> npt.NDArray[np.bool_]:
    """Per item: a graph launch enqueued it."""
    launches = linked.trace.launches
    if not launches.height:
        return np.zeros(len(work), bool)
    replays = launches["name"].str.contains("GraphLaunch").to_numpy()
    replayed: npt.NDArray[np.bool_] = (work.launch >= 0) & replays[work.launch]
    return replayed


class _Filled:
    """The columns of a work that is being filled in."""

    def __init__(self, work: Work, in_graph: npt.NDArray[np.bool_]) -> None:
        self.work, self.in_graph = work, in_graph
        self.flops, self.bytes = work.flops.copy(), work.bytes.copy()
        self.call, self.anchor = work.call.copy(), work.anchor.copy()
        self.numbers: dict[tuple[str, int, Unit | None, bool], int] = {}
        self.calls: list[Call] = []
        self.costs: list[Cost] = []
        self.next_anchor = -2

    def add(self, one: Pass, found: Fit) -> None:
        """Price the kernels of one pass."""
        work, prices = self.work, prices_of_step(found.facts, one.workload)
        units = units_of(found.roles)
        unknown = np.isnan(work.bytes[one.rows])
        operators = np.array([r.operator if r is not None and r.operator in prices else "" for r in found.roles])
        # A call of which another kernel has a cost from an op is priced by that op already.
        half_known = np.isin(units, units[~unknown & (units >= 0)])
        chosen = unknown & (operators != "") & ~half_known
        for operator in np.unique(operators[chosen]):
            at = np.flatnonzero(chosen & (operators == operator))
            self._price(one, str(operator), prices[str(operator)], one.rows[at], units[at], found)
        self.next_anchor -= int(units.max(initial=0)) + 1

    def _price(self, one: Pass, operator: str, price: Price, rows: Ints, units: Ints, found: Fit) -> None:
        """One operator's kernels: each call's cost, shared among its kernels by their time."""
        weight = np.maximum(self.work.time[rows], 1).astype(float)
        weight /= np.bincount(units, weights=weight)[units]
        self.flops[rows], self.bytes[rows] = price.flops * weight, price.bytes * weight
        self.anchor[rows] = self.next_anchor - units
        unit = self._unit(rows, price, found.facts)
        for graph in (False, True):
            mine = rows[self.in_graph[rows] == graph]
            if len(mine):
                self.call[mine] = self._number(operator, price, one, unit, graph=graph)

    def _unit(self, rows: Ints, price: Price, facts: ModelFacts) -> Unit | None:
        if not price.flops:
            return None
        named = self.work.names[self.work.name[rows[0]]].unit
        return named if named is not None else facts.unit  # type: ignore[return-value]

    def _number(self, operator: str, price: Price, one: Pass, unit: Unit | None, *, graph: bool) -> int:
        """The call of an operator over so many tokens: one row of the report."""
        tokens = one.workload.lm_head_tokens if operator == "lm_head" else one.workload.query
        key = (operator, tokens, unit, graph)
        if key not in self.numbers:
            self.numbers[key] = len(self.work.calls) + len(self.calls)
            shape = price.shape
            dims = ((tokens, shape[0]), shape) if shape is not None else ()
            name = f"{operator} (graph)" if graph else operator
            self.calls.append(Call(name, dims, extra={"part": price.part}))
            self.costs.append(
                Cost(
                    family=price.family,
                    flops=price.flops,
                    bytes_read=price.bytes,
                    unit=unit,
                    weight_bytes=price.weight_bytes,
                    known_by=price.known_by,
                )
            )
        return self.numbers[key]

    def result(self) -> Work:
        """The work with all that was filled in."""
        if not self.calls:
            return self.work
        return replace(
            self.work,
            flops=self.flops,
            bytes=self.bytes,
            call=self.call,
            anchor=self.anchor,
            calls=(*self.work.calls, *self.calls),
            costs=(*self.work.costs, *self.costs),
        )
