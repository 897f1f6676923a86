"""`pool`: several recordings of the same thing as one, so that how far apart its runs lie is known."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from ..errors import UsageError
from .baseline import Baseline, BaselinePhase


def pool(recordings: Sequence[Baseline]) -> Baseline:
    """The recordings as one: samples run by run, figures and kernels by their medians, and a label that not all agree on is
    contested. A phase that not all have is left out. Raises `UsageError` where the environments differ."""
    first, *others = recordings
    if not others:
        return first
    for other in others:
        keys = first.environment.keys() | other.environment.keys()
        differing = sorted(k for k in keys if first.environment.get(k) != other.environment.get(k))
        if differing:
            raise UsageError(
                f"{first.source} and {other.source} were not recorded alike ({', '.join(differing)}); "
                "pool recordings of one model, workload and machine only"
            )
    by_id = [{phase.id: phase for phase in recording.phases} for recording in recordings]
    shared = [phase.id for phase in first.phases if all(phase.id in found for found in by_id)]
    return msgspec.structs.replace(
        first,
        source=f"{first.source} and {len(others)} more",
        phases=[_pool([found[name] for found in by_id]) for name in shared],
    )


def _pool(phases: Sequence[BaselinePhase]) -> BaselinePhase:
    first = phases[0]
    names = {phase.bound for phase in phases}
    return msgspec.structs.replace(
        first,
        bound=max(sorted(names), key=[phase.bound for phase in phases].count),
        contested=len(names) > 1 or any(phase.contested for phase in phases),
        figures=_medians([phase.figures for phase in phases]),
        samples_us=[sample for phase in phases for sample in phase.samples_us],
        run_lengths=[len(run) for phase in phases for run in phase.runs],
        untraced=all(phase.untraced for phase in phases),
        kernels=_medians([phase.kernels for phase in phases]),
        kernel_time_us=_medians([phase.kernel_time_us for phase in phases]),
    )


def _medians(tables: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of what at least half of the tables know; a kernel that most runs lack is none of the baseline's."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    known = {name: [table[name] for table in tables if name in table] for name in names}
    return {name: median(values) for name, values in known.items() if 2 * len(values) >= len(tables)}
