"""The profiler slowed what it measured."""

from __future__ import annotations

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

LARGE = 0.20


@finding("profiler-distortion")
def profiler_distortion(case: Case) -> Finding | None:
    """Traced steps take over a fifth longer than untraced ones. Nothing is to be saved: it is the measurement's own."""
    phase = case.phase
    if phase.distortion is None or phase.untraced_us is None or phase.distortion <= LARGE:
        return None
    return Finding(
        id="profiler-distortion",
        title=f"The profiler makes a step {phase.distortion:.0%} slower",
        saving_us=None,
        saving_fraction=None,
        evidence=f"a step takes {ms(phase.untraced_us)} untraced and {ms(phase.untraced_us * (1 + phase.distortion))} traced; "
        "shares are of the untraced time, and the busy time inside it is as traced",
        advice="Never quote latencies from a trace: use the untraced median. Fewer activities (no shapes, no stacks) distort less.",
    )
