"""A phase with GEMMs large enough to compute, whose time goes into unfused elementwise kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..analysis import Finding
from ..classes import BANDWIDTH, COMPUTE, LAUNCH
from .case import Case, ms
from .registry import finding

FAMILIES = ("elementwise", "activation", "norm", "copy", "cat", "rope", "softmax", "reduction", "index")
LARGE = 0.25
"""Share of the wall from which fusing is worth a recompilation."""


@finding("elementwise-traffic")
def elementwise_traffic(case: Case) -> Finding | None:
    """Elementwise, copy, norm and cat time of a phase whose GEMMs are on the compute side.

    The saving is counted run by run, a run being what streams between two kernels of other kinds. One fused kernel has to
    move at least what the run's longest does, and of two kernels that pass a tensor on, fusing spares one write and one
    read, half of their traffic: min(half of the run, the run less its longest kernel). A run of one saves nothing."""
    phase, items = case.phase, case.given.items
    if phase.wall_us is None:
        return None
    family, time = case.families, items.work.time
    dense = case.mine & np.isin(family, ("gemm", "moe")) & (items.classes == COMPUTE)
    streams = case.mine & np.isin(family, FAMILIES) & (items.classes == BANDWIDTH)
    spent = float(time[streams].sum()) / 1e3
    if not dense.any() or spent < LARGE * phase.wall_us:
        return None
    saving = _fused(case, streams)
    heavy = sorted((o for o in case.operators(*FAMILIES) if o.bound_class == "bandwidth"), key=lambda o: -o.time_us)
    return Finding(
        id="elementwise-traffic",
        title="Unfused elementwise kernels take the time that the GEMMs leave",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"{case.calls_of(streams)} elementwise, copy, norm and cat calls take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall): "
        f"{', '.join(f'{o.name} {ms(o.time_us)}' for o in heavy[:3])}; the compute-bound GEMMs take {ms(float(time[dense].sum()) / 1e3)}. "
        "The saving fuses those that follow each other: at most half of each run, and never its longest kernel",
        advice="Fuse them: model = torch.compile(model); or use kernels that fuse norm with residual, rope, and activation with gating.",
    )


def _fused(case: Case, streams: npt.NDArray[np.bool_]) -> float:
    items = case.given.items
    rows = np.flatnonzero(case.mine)
    chosen, step = streams[rows], items.owner[rows]
    # What only costs its start (views on a CPU, scalars) does not part a chain of tensors.
    parts = ~chosen & (items.classes[rows] != LAUNCH)
    new_step = np.concatenate([[False], step[1:] != step[:-1]])
    run = np.cumsum(parts | new_step)[chosen]
    time = items.work.time[rows][chosen] / 1e3
    total, longest = np.bincount(run, weights=time), np.zeros(int(run.max()) + 1)
    np.maximum.at(longest, run, time)
    return float(np.minimum(total / 2, total - longest).sum())
