"""Builds one `Phase` of the answer: shares, figures, verdict, evidence and tables of a group of steps."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from .analysis import Phase, StepRow
from .evidence import describe
from .phase_input import PhaseInput, Sums
from .rows import kernel_rows, operator_rows, part_rows
from .time_account import TimeAccount
from .verdict import Verdict, judge, unknown

Ints = npt.NDArray[np.int64]

FEWEST_KERNELS = 5
"""A window bounded by its own kernels shows n-1 gaps: below this many, its busy share says little."""
FEW_KERNELS = 50
"""Below this many kernels a phase's shares are a small sample."""


def build_phase(given: PhaseInput) -> Phase:
    """The phase's part of the `Analysis`, without its findings (they read the phase)."""
    mine = np.isin(given.items.owner, np.array(given.numbers, np.int64))
    sums = Sums.of(given.items, mine)
    account = given.account if sums.n_kernels >= FEWEST_KERNELS else None
    verdict = _verdict(given, account, sums)
    wall_s = None if account is None else account.wall * 1e-9
    return Phase(
        id=given.id,
        kind=given.steps[0].kind,
        engine=given.engine,
        n_steps=len(given.steps),
        batch=_median(step.batch for step in given.steps),
        query_tokens=_median(step.query_tokens for step in given.steps),
        context_tokens=_median(step.context_tokens for step in given.steps),
        wall_us=None if account is None else account.wall / 1e3,
        busy_us=None if account is None else account.busy / 1e3,
        idle_us=None if account is None else account.idle / 1e3,
        n_kernels=sums.n_items,
        n_launches=given.n_launches,
        shares=None if account is None else account.shares,
        launch_causes={} if account is None else {cause: ns / 1e3 for cause, ns in account.causes.items()},
        flops=sums.flops,
        bytes=sums.bytes,
        intensity=sums.flops / sums.bytes if sums.flops is not None and sums.bytes else None,
        ridge=_ridge(given, mine),
        achieved_tflops=_per_second(sums.flops, wall_s, 1e12),
        achieved_gb_s=_per_second(sums.bytes, wall_s, 1e9),
        peak_fraction=_per_second(sums.roof_s, wall_s, 1.0),
        cost_coverage=sums.coverage,
        bound=verdict.bound,
        margin=verdict.margin,
        contested=verdict.contested,
        untraced_us=None if account is None or account.untraced_median is None else account.untraced_median / 1e3,
        distortion=None if account is None else account.distortion,
        predicted=given.predicted,
        evidence=describe(given, account, verdict, sums),
        findings=(),
        operators=operator_rows(given.items, mine, given.device),
        kernels=kernel_rows(given.items, mine),
        parts=part_rows(given.items, mine),
        steps=_step_rows(given, account),
        host_calls=given.host_calls,
        untraced_samples_us=given.untraced_us,
        confidence=verdict.confidence,
    )


def _verdict(given: PhaseInput, account: TimeAccount | None, sums: Sums) -> Verdict:
    if given.capacity:
        return Verdict("capacity", None, contested=False, reasons=given.capacity)
    if given.account is None:
        return unknown(given.missing)
    if account is None:
        return unknown(f"only {sums.n_kernels} kernels: too few to say what they wait for")
    verdict = judge(account.shares, edge_share=account.edge_lead_in / account.wall)
    if sums.n_kernels < FEW_KERNELS and verdict.confidence == "normal":
        reasons = (*verdict.reasons, f"a small sample: {sums.n_kernels} kernels")
        return Verdict(verdict.bound, verdict.margin, verdict.contested, reasons, confidence="low")
    return verdict


def _ridge(given: PhaseInput, mine: npt.NDArray[np.bool_]) -> float | None:
    """FLOPs per byte at which the device turns from bandwidth to compute, for the unit that runs most of the FLOPs."""
    work, device = given.items.work, given.device
    chosen = mine & (work.call >= 0) & (work.flops > 0)
    if not chosen.any() or device.bandwidth is None:
        return None
    per_call = np.bincount(work.call[chosen], weights=work.flops[chosen], minlength=len(work.calls))
    by_unit: dict[str, float] = {}
    for call in np.flatnonzero(per_call):
        unit = given.items.roof.unit[call]
        if unit is not None:
            by_unit[unit] = by_unit.get(unit, 0.0) + float(per_call[call])
    peak = device.peak_flops(max(by_unit, key=lambda u: by_unit[u])) if by_unit else None
    return None if peak is None else peak / device.bandwidth


def _step_rows(given: PhaseInput, account: TimeAccount | None) -> tuple[StepRow, ...]:
    if account is None:
        return ()
    present = [(s, n) for s, n in zip(given.steps, given.numbers, strict=True) if not given.windows.empty[n]]
    return tuple(
        StepRow(
            index=index,
            start_us=float(given.windows.open_ns[number]) / 1e3,
            wall_us=float(account.step_wall[index]) / 1e3,
            busy_us=float(account.step_busy[index]) / 1e3,
            launch_us=float(account.step_launch[index]) / 1e3,
            context_tokens=step.context_tokens,
            edge=number in given.edges,
        )
        for index, (step, number) in enumerate(present)
    )


def _per_second(amount: float | None, seconds: float | None, scale: float) -> float | None:
    return None if amount is None or not seconds else amount / seconds / scale


def _median(values: Iterable[int | None]) -> int | None:
    """Of a step: the median over the phase's steps, None where any is unknown."""
    found = list(values)
    known = [v for v in found if v is not None]
    return None if not known or len(known) < len(found) else int(statistics.median_low(known))
