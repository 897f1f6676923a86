"""`compare`: two baselines, phase by phase: labels, figures, kernels, and what differs in the environment."""

from __future__ import annotations

from typing import Any

import msgspec

from .baseline import Baseline, BaselinePhase
from .significance import Shift, shift


class FigureChange(msgspec.Struct, frozen=True):
    """One figure before and after; None where a side does not know it."""

    name: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """after / before; None when it cannot be formed."""
        return None if self.before is None or self.after is None or self.before == 0 else self.after / self.before


class KernelChange(msgspec.Struct, frozen=True):
    """One kernel (or op): calls and microseconds per step. `before_calls` 0 is a new one, `after_calls` 0 a vanished."""

    name: str
    before_calls: float
    after_calls: float
    before_us: float
    after_us: float

    @property
    def change_us(self) -> float:
        """Microseconds per step gained or lost."""
        return self.after_us - self.before_us


class PhaseChange(msgspec.Struct, frozen=True, kw_only=True):
    """One phase before and after; a side is None where the phase exists on one side only."""

    id: str
    before: BaselinePhase | None
    after: BaselinePhase | None
    figures: tuple[FigureChange, ...]
    kernels: tuple[KernelChange, ...]
    """Those that changed in calls or time, largest absolute change of time first."""
    time: Shift | None
    like_with_like: bool
    """Both sides' samples are untraced, or both are traced."""

    @property
    def flipped(self) -> bool:
        """The label is another one."""
        return self.before is not None and self.after is not None and self.before.bound != self.after.bound


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What changed between two recordings."""

    before: str
    after: str
    environment: dict[str, tuple[Any, Any]]
    """Every fact that differs, (before, after); empty when times are comparable."""
    phases: tuple[PhaseChange, ...]

    @property
    def same_machine(self) -> bool:
        """Device and thread count agree: only then do times compare."""
        machine = ("device", "device_kind", "device_driver", "settings_threads")
        return not any(key in self.environment for key in machine)

    @property
    def other_work(self) -> list[str]:
        """Facts of the workload that differ, in words: a step then does other work, and takes other time for that alone."""
        return [
            f"{key.removeprefix('workload_')}: {a} -> {b}"
            for key, (a, b) in self.environment.items()
            if key in ("workload_batch", "workload_prompt_tokens", "workload_new_tokens")
        ]


def compare(before: Baseline, after: Baseline) -> Comparison:
    """Set two recordings side by side. Phases pair by id, else by kind where each side has one left of it."""
    return Comparison(
        before=before.source,
        after=after.source,
        environment=_differences(before.environment, after.environment),
        phases=tuple(_phase(a, b) for a, b in _pairs(before.phases, after.phases)),
    )


def _differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted(before.keys() | after.keys())
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def _pairs(
    before: list[BaselinePhase], after: list[BaselinePhase]
) -> list[tuple[BaselinePhase | None, BaselinePhase | None]]:
    by_id = {phase.id: phase for phase in after}
    pairs: list[tuple[BaselinePhase | None, BaselinePhase | None]] = []
    left = []
    for phase in before:
        partner = by_id.pop(phase.id, None)
        if partner is not None:
            pairs.append((phase, partner))
        else:
            left.append(phase)
    for phase in left:
        same = [p for p in by_id.values() if p.kind == phase.kind]
        alone = len(same) == 1 and sum(p.kind == phase.kind for p in left) == 1
        pairs.append((phase, by_id.pop(same[0].id) if alone else None))
    return pairs + [(None, phase) for phase in by_id.values()]


def _phase(before: BaselinePhase | None, after: BaselinePhase | None) -> PhaseChange:
    present = after if after is not None else before
    assert present is not None
    a, b = (before.figures if before else {}), (after.figures if after else {})
    names = [*a, *(name for name in b if name not in a)]
    return PhaseChange(
        id=present.id,
        before=before,
        after=after,
        figures=tuple(FigureChange(name, a.get(name), b.get(name)) for name in names),
        kernels=_kernels(before, after),
        time=shift(before.runs if before else [], after.runs if after else []),
        like_with_like=before is not None and after is not None and before.untraced == after.untraced,
    )


def _kernels(before: BaselinePhase | None, after: BaselinePhase | None) -> tuple[KernelChange, ...]:
    if before is None or after is None:
        return ()
    names = before.kernels.keys() | after.kernels.keys()
    changes = [
        KernelChange(
            name,
            before.kernels.get(name, 0.0),
            after.kernels.get(name, 0.0),
            before.kernel_time_us.get(name, 0.0),
            after.kernel_time_us.get(name, 0.0),
        )
        for name in names
    ]
    return tuple(sorted(changes, key=lambda c: (-abs(c.change_us), c.name)))
