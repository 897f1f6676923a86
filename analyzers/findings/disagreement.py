"""Prediction and measurement disagree: where the distance goes."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

FAR = 1.5
"""Measured over predicted wall from which the distance is worth explaining."""
TOO_FAST = 0.8
"""Below, the facts are wrong: a prediction is the least time that the device's peaks allow, and boost clocks and caches
that hold part of the weights gain less than a fifth."""
COVERED = 0.9
"""Share of the busy time whose cost has to be known before the distance can be split."""


@finding("prediction-disagrees")
def disagreement(case: Case) -> Finding | None:
    """Theory names another bound, or the measured wall is far from it. The distance splits into idle time, more bytes and FLOPs
    than the model needs, and kernels below their roof; the three add up to it. It is no saving: theory is not a change."""
    phase, predicted = case.phase, case.phase.predicted
    if predicted is None or phase.wall_us is None or phase.busy_us is None or not predicted.wall_us:
        return None
    ratio = phase.wall_us / predicted.wall_us
    # Nothing told is no disagreement, and a contested label may be the predicted one.
    other = phase.bound not in ("unknown", predicted.bound) and not phase.contested
    if not other and TOO_FAST <= ratio < FAR:
        return None
    if ratio < TOO_FAST:
        return _too_fast(case, predicted.wall_us, phase.wall_us)
    return Finding(
        id="prediction-disagrees",
        title=f"Predicted {predicted.bound}-bound, measured {phase.bound}-bound"
        if other
        else f"{ratio:.2g} times slower than the device must be",
        saving_us=None,
        saving_fraction=None,
        evidence=f"predicted {ms(predicted.wall_us)}, measured {ms(phase.wall_us)}{_split(case, predicted.wall_us)}",
        advice="Begin with the largest of these: idle time (graphs, compilation), extra work (fusion, cache layout), or slow kernels "
        "(another attention or GEMM back end, other shapes). The prediction is a bound: no change reaches it whole.",
    )


def _split(case: Case, predicted_us: float) -> str:
    """The distance in three: idle time, work that the model does not need, kernels below their roof."""
    phase, items = case.phase, case.given.items
    if phase.wall_us is None or phase.busy_us is None or (phase.cost_coverage or 0.0) < COVERED:
        return ""
    roof = float(np.nansum(items.roof.bound[case.mine])) * 1e6
    idle, extra, slow = phase.wall_us - phase.busy_us, roof - predicted_us, phase.busy_us - roof
    return f": idle {_signed(idle)}, more work than the model needs {_signed(extra)}, kernels slower than their roof {_signed(slow)}"


def _too_fast(case: Case, predicted_us: float, wall_us: float) -> Finding:
    return Finding(
        id="prediction-disagrees",
        title=f"{predicted_us / wall_us:.2g} times faster than the prediction allows",
        saving_us=None,
        saving_fraction=None,
        evidence=f"predicted {ms(predicted_us)} at the peaks of {case.given.device.name}, measured {ms(wall_us)}",
        advice="Check the model's config (layers, dtype, quantisation) and the device: --model and --device take others.",
    )


def _signed(us: float) -> str:
    return f"{'+' if us >= 0 else '-'}{ms(abs(us))}"
