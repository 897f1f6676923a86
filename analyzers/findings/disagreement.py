"""Prediction and measurement disagree: where the distance goes."""

from __future__ import annotations

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

FAR = 1.5
"""Measured over predicted wall from which the distance is worth explaining."""


@finding("prediction-disagrees")
def disagreement(case: Case) -> Finding | None:
    """Theory names another bound, or the measured wall is far above it. The gap splits into launch and other idle time,
    more bytes and FLOPs than the model needs, and kernels below their roof; the three add up to it."""
    phase, predicted = case.phase, case.phase.predicted
    if predicted is None or phase.wall_us is None or phase.busy_us is None or phase.shares is None:
        return None
    ratio = phase.wall_us / predicted.wall_us
    if phase.bound == predicted.bound and ratio < FAR:
        return None
    items, mine = case.given.items, case.mine
    roof = float(items.roof.bound[mine & ~(items.roof.bound != items.roof.bound)].sum()) * 1e6
    idle = phase.wall_us - phase.busy_us
    extra = roof - predicted.wall_us
    slow = phase.busy_us - roof
    return Finding(
        id="prediction-disagrees",
        title=f"Predicted {predicted.bound}-bound, measured {phase.bound}-bound"
        if phase.bound != predicted.bound
        else f"{ratio:.2g} times slower than the device must be",
        saving_us=max(phase.wall_us - predicted.wall_us, 0.0),
        saving_fraction=case.fraction(max(phase.wall_us - predicted.wall_us, 0.0)),
        evidence=f"predicted {ms(predicted.wall_us)}, measured {ms(phase.wall_us)}: idle {_signed(idle)}, more work than the model "
        f"needs {_signed(extra)}, kernels slower than their roof {_signed(slow)}",
        advice="Begin with the largest of the three: idle time (graphs, compilation), extra work (fusion, cache layout), or slow kernels "
        "(another attention or GEMM back end, other shapes).",
    )


def _signed(us: float) -> str:
    return f"{'+' if us >= 0 else '-'}{ms(abs(us))}"
