"""`priced`: the roles and prices of a sequence of kernels under a model's facts, once nothing that the trace knows speaks
against the model: its order, its sizes, the costs known from recorded shapes, and the device's peaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from ..device import Device
from ..facts import ModelFacts
from ..work import Work
from .evidence import Evidence, cache_width
from .order import MisfitError, Role, roles_in_order
from .passes import Pass, Sequences
from .prices import Price, prices_of_step

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_TOLERANCE = 0.02
"""How far recorded weights may differ from the model's: engines pad vocabularies."""
_OVER_PEAK = 1.05
_BEYOND_CACHES = 1e9
"""Bytes of weights that no device's last-level cache holds: below, achieved bytes per second may exceed the memory's."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A model that fits a sequence of kernels."""

    facts: ModelFacts
    roles: tuple[Role | None, ...]
    """Per kernel of the sequence; attention of window layers has a name of its own."""


def fit(work: Work, sequence: Sequences, seen: Evidence, facts: ModelFacts, device: Device) -> Fit:
    """The roles of the sequence's kernels under these facts. Raises `MisfitError` with the first thing that speaks against it."""
    against = seen.against(facts)
    if against is not None:
        raise MisfitError(against)
    if any(kernel.short.family == "communication" for kernel in sequence.kernels):
        raise MisfitError("the ranks exchange data, and a rank's share of the weights is unknown")
    if seen.cache_row is not None:
        width = cache_width(seen.cache_row, facts)
        facts = msgspec.structs.replace(facts, kv_bytes_each=width if width is not None else facts.kv_bytes_each)
    roles = tuple(_windowed(role, facts) for role in roles_in_order(sequence.kernels, facts))
    found = Fit(facts, roles)
    one = sequence.passes[0]
    prices = prices_of_step(facts, one.workload)
    _agree_with_known(work, one, found, prices)
    _within_peaks(work, one, found, prices, device)
    return found


def units_of(roles: Sequence[Role | None]) -> Ints:
    """Per kernel: the number of the call that it is a part of, -1 for none."""
    numbers: dict[Role, int] = {}
    return np.array([-1 if r is None else numbers.setdefault(r, len(numbers)) for r in roles], np.int64)


def _windowed(role: Role | None, facts: ModelFacts) -> Role | None:
    alternate = 2 * facts.window_layers == facts.layers
    if role is not None and role.operator == "attention" and alternate and role.layer % 2 == 0:
        return Role("attention, window", role.layer)
    return role


def _agree_with_known(work: Work, one: Pass, found: Fit, prices: dict[str, Price]) -> None:
    """Products with recorded shapes must have the model's weights."""
    for row, role in zip(one.rows.tolist(), found.roles, strict=True):
        cost = work.costs[work.call[row]] if work.call[row] >= 0 else None
        if role is None or role.operator not in prices or cost is None or not cost.weight_bytes:
            continue
        price = prices[role.operator]
        if cost.family == "gemm" == price.family and not _near(cost.weight_bytes, price.weight_bytes):
            raise MisfitError(f"{role.operator} was recorded with another size than the model's")


def _near(seen: float, told: float) -> bool:
    return abs(seen - told) <= _TOLERANCE * told


def _within_peaks(work: Work, one: Pass, found: Fit, prices: dict[str, Price], device: Device) -> None:
    """The weights must not need more time than their kernels took, at the device's bandwidth."""
    chosen = np.array(
        [r is not None and r.operator in prices and prices[r.operator].weight_bytes > 0 for r in found.roles]
    )
    units = units_of(found.roles)
    _, first = np.unique(np.where(chosen, units, -1), return_index=True)
    moved = sum(
        prices[role.operator].weight_bytes for at in first if chosen[at] and (role := found.roles[at]) is not None
    )
    time = float(work.time[one.rows[chosen]].sum()) * 1e-9
    if device.bandwidth and moved > _BEYOND_CACHES and moved / device.bandwidth > _OVER_PEAK * time:
        raise MisfitError("the model's weights can't be read in the time its products took")
