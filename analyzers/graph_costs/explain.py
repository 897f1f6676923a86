"""`explain_kernels`: costs for the kernels that no op explains, because a graph replayed them or no shapes were recorded.

A step's kernels get their parts in the model by their order (`order`), the parts their FLOPs and bytes from the model's
sizes and the step's tokens (`prices`). The model is the given one, or the one known model that fits (`infer`). Items whose
cost is known already keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..correlate import Linked
from ..costs.cost import Call, Cost, Unit
from ..device import Device
from ..facts import ModelFacts
from ..step import Step
from ..work import Work
from .evidence import Evidence, evidence_of
from .filling import Filling
from .fit import Fit, fit, units_of
from .infer import infer_model
from .order import MisfitError, layer_starts
from .passes import Pass, Sequences, passes_of
from .prices import Price, prices_of_step
from .reference import Reference, copy_costs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Explained:
    """The work with what could be told, the sentences that say how, and the facts it was told from."""

    work: Work
    notes: tuple[str, ...]
    facts: ModelFacts | None


def explain_kernels(
    work: Work,
    linked: Linked,
    owner: Ints,
    steps: Sequence[Step],
    facts: ModelFacts | None,
    device: Device,
    *,
    references: Sequence[Reference] = (),
) -> Explained:
    """Fill in the costs of device kernels in `steps` that are unknown (NaN), from the references first. `owner` is each
    item's step, -1 for none."""
    if references:
        work = copy_costs(work, linked, owner, steps, references)
    recorded = [call for w in (work, *(r.work for r in references)) for call in zip(w.calls, w.costs, strict=True)]
    filling = Filling(work, linked)
    notes: list[str] = []
    for sequence in passes_of(work, owner, steps):
        starts = layer_starts(sequence.kernels)
        if len(starts) < 2:
            continue
        seen = evidence_of(sequence.kernels, starts, recorded)
        found, note = _fit(work, sequence, seen, facts, device)
        if note is not None:
            notes.append(note)
        if found is None:
            continue
        facts = found.facts
        for one in sequence.passes:
            _price(filling, one, found)
    return Explained(filling.result(), tuple(dict.fromkeys(notes)), facts)


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


def _price(filling: Filling, one: Pass, found: Fit) -> None:
    """Price the kernels of one pass."""
    work, prices = filling.work, prices_of_step(found.facts, one.workload)
    units = units_of(found.roles)
    unknown = np.isnan(work.bytes[one.rows])
    operators = np.array([r.operator if r is not None and r.operator in prices else "" for r in found.roles])
    # A call of which another kernel has a cost from an op is priced by that op already.
    half_known = np.isin(units, units[~unknown & (units >= 0)])
    chosen = unknown & (operators != "") & ~half_known
    for operator in np.unique(operators[chosen]).tolist():
        at, price = np.flatnonzero(chosen & (operators == operator)), prices[operator]
        rows = one.rows[at]
        tokens = one.workload.lm_head_tokens if operator == "lm_head" else one.workload.query
        unit = _unit(work, rows, price, found.facts)
        call = Call(
            operator, ((tokens, price.shape[0]), price.shape) if price.shape else (), extra={"part": price.part}
        )
        cost = Cost(
            family=price.family,
            flops=price.flops,
            bytes_read=price.bytes,
            unit=unit,
            weight_bytes=price.weight_bytes,
            known_by=price.known_by,
        )
        _, calls = np.unique(units[at], return_inverse=True)
        filling.put(rows, calls, price.flops, price.bytes, (operator, tokens, unit), call, cost)


def _unit(work: Work, rows: Ints, price: Price, facts: ModelFacts) -> Unit | None:
    if not price.flops:
        return None
    named = work.names[work.name[rows[0]]].unit
    return named if named is not None else facts.unit  # type: ignore[return-value]
