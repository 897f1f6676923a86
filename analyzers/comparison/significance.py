"""Is a change of time real? It must be large enough to matter, not explained by the samples' spread, and there in the fastest
steps too: other work on the machine slows steps and never makes one faster, while slower code slows every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST_SAMPLES = 8
"""Below this many on either side a rank test has no power at the level used here."""
LEVEL = 0.01
"""Two-sided p of the rank test. Gates run on every commit: one false alarm in a hundred would be too many, hence the second
condition (a factor) beside it."""


FAST = 0.1
"""The quantile that stands for the steps that nothing else disturbed."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How the second sample's median stands to the first's. `p` is None where there are too few samples."""

    ratio: float
    p: float | None
    low: float
    high: float
    """A 99 % bootstrap interval of the ratio of medians."""
    fast: float
    """The ratio of the samples' `FAST` quantiles."""

    @property
    def enough(self) -> bool:
        """Both samples are large enough for the rank test."""
        return self.p is not None

    def slower(self, tolerance: float) -> bool:
        """Slower by more than `tolerance` (0.05: 5 %), in the median and in the fast steps, and by the rank test and the
        interval not by chance."""
        return self.p is not None and self.p < LEVEL and min(self.ratio, self.fast) > 1 + tolerance and self.low > 1

    def faster(self, tolerance: float) -> bool:
        """The mirror image of `slower`."""
        return (
            self.p is not None and self.p < LEVEL and max(self.ratio, self.fast) < 1 / (1 + tolerance) and self.high < 1
        )


def shift(before: Sequence[float], after: Sequence[float]) -> Shift | None:
    """Compare two samples of times; None when either is empty or all zero."""
    if not before or not after or np.median(before) <= 0:
        return None
    ratio = float(np.median(after) / np.median(before))
    fast = float(np.quantile(after, FAST) / max(np.quantile(before, FAST), 1e-9))
    if min(len(before), len(after)) < FEWEST_SAMPLES:
        return Shift(ratio, None, ratio, ratio, fast)
    from scipy.stats import mannwhitneyu  # scipy takes a third of a second to import

    p = float(mannwhitneyu(before, after, alternative="two-sided").pvalue)
    random = np.random.default_rng(0)
    a = np.median(random.choice(np.asarray(before), (2000, len(before))), axis=1)
    b = np.median(random.choice(np.asarray(after), (2000, len(after))), axis=1)
    low, high = np.quantile(b / a, [0.005, 0.995])
    return Shift(ratio, p, float(low), float(high), fast)
