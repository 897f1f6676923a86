"""Is a change of time real? It must be large enough to matter, not explained by the samples' spread, there in the fastest
steps too (other work on the machine slows steps and never makes one faster, while slower code slows every step), and
beyond every single run of the other side: a machine's speed differs from run to run, which no spread within one run shows."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

FEWEST_SAMPLES = 8
"""Below this many on either side a rank test has no power at the level used here."""
LEVEL = 0.01
"""Two-sided p of the rank test. Gates run on every commit: one false alarm in a hundred would be too many, hence the other
conditions beside it."""
FAST = 0.1
"""The quantile that stands for the steps that nothing else disturbed."""

Runs = Sequence[Sequence[float]]
"""The step times of one or more recordings of the same thing."""


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """How the second side's step times stand to the first's. `p` is None where there are too few samples."""

    ratio: float
    """Of the medians of all samples."""
    p: float | None
    low: float
    high: float
    """A 99 % bootstrap interval of `ratio`."""
    fast: float
    """The ratio of the `FAST` quantiles of all samples."""
    least: float
    most: float
    """The least and the most that any run of the second side stands to any run of the first, in medians and fast steps."""

    def slower(self, tolerance: float) -> bool:
        """Every run is slower than every run before by more than `tolerance` (0.05: 5 %), and not by chance."""
        return self.p is not None and self.p < LEVEL and self.least > 1 + tolerance and self.low > 1

    def faster(self, tolerance: float) -> bool:
        """The mirror image of `slower`."""
        return self.p is not None and self.p < LEVEL and self.most < 1 / (1 + tolerance) and self.high < 1


def shift(before: Runs, after: Runs) -> Shift | None:
    """Compare the step times of two sides; None when a side has none or a run whose median is zero."""
    left, right = ([np.asarray(run, np.float64) for run in side if len(run)] for side in (before, after))
    if not left or not right or min(np.median(run) for run in left) <= 0:
        return None
    old, new = np.concatenate(left), np.concatenate(right)
    ratio = float(np.median(new) / np.median(old))
    quantiles = [[np.quantile(run, (FAST, 0.5)) for run in side] for side in (left, right)]
    apart = np.array([b / np.maximum(a, 1e-9) for a in quantiles[0] for b in quantiles[1]])
    fast = float(np.quantile(new, FAST) / max(np.quantile(old, FAST), 1e-9))
    p, low, high = _chance(old, new) if min(len(old), len(new)) >= FEWEST_SAMPLES else (None, ratio, ratio)
    return Shift(ratio=ratio, p=p, low=low, high=high, fast=fast, least=float(apart.min()), most=float(apart.max()))


def _chance(
    before: np.ndarray[tuple[int], np.dtype[np.float64]], after: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[float, float, float]:
    """p of the rank test, and the interval of the ratio of medians."""
    from scipy.stats import mannwhitneyu  # scipy takes a third of a second to import

    p = float(mannwhitneyu(before, after, alternative="two-sided").pvalue)
    random = np.random.default_rng(0)
    a, b = (np.median(random.choice(side, (2000, len(side))), axis=1) for side in (before, after))
    low, high = np.quantile(b / a, [0.005, 0.995])
    return p, float(low), float(high)
