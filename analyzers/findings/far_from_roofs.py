"""Kernels that reach neither the device's FLOPs nor its bandwidth, and not for want of size."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from ..classes import BANDWIDTH, COMPUTE
from .case import Case, counted, ms
from .low_occupancy import starved
from .registry import finding

FAR = 0.3
"""Efficiency below which something is wrong with a kernel: a plain tuned one gets above half of its roof."""
WELL_MADE = 0.7
"""Of its roof, what a good kernel reaches: cuBLAS and hipBLASLt on large GEMMs, a plain copy of memory."""
STARTS = 5
"""A kernel shorter than this many starts is mostly ramp and tail, whoever wrote it."""
LARGE = 0.10
ON_DEVICE = (
    "Try other kernels for these shapes: model = torch.compile(model, mode='max-autotune'); pad sizes to multiples of 64; another "
    "attention back end (attn_implementation='flash_attention_2')."
)
ON_HOST = "See that every core works and none is shared: torch.set_num_threads(physical cores); more tokens a call keep them at it."


@finding("far-from-roofs")
def far_from_roofs(case: Case) -> Finding | None:
    """Kernels whose cost is known, long enough to reach speed, at under 0.3 of both roofs; those with too few blocks are
    another finding's. The saving is what a kernel at 0.7 of the same roof would leave.

    On a CPU only matrix ops count whose work alone is as long: elementwise ops there run with one thread or few by design, and
    what an op costs before it works differs several-fold from kind to kind."""
    phase, items = case.phase, case.given.items
    if phase.wall_us is None:
        return None
    work = items.work
    slow = case.mine & (case.efficiency < FAR) & np.isin(items.classes, (COMPUTE, BANDWIDTH))
    slow &= (work.time > STARTS * case.given.device.smallest_kernel_ns) & (items.roof.bound > 0)
    if case.on_host:
        slow &= np.isin(case.families, ("gemm", "attention", "moe", "convolution"))
        slow &= items.roof.bound > STARTS * case.given.device.smallest_kernel_ns * 1e-9
    slow[starved(case)[0]] = False
    time, roof = work.time[slow] / 1e3, items.roof.bound[slow] * 1e6
    saving = float((time - roof / WELL_MADE).sum())
    if saving < LARGE * phase.wall_us:
        return None
    names = np.bincount(work.name[slow], weights=time, minlength=len(work.names))
    heavy = [n for n in np.argsort(-names, kind="stable")[:3] if names[n] > 0]
    return Finding(
        id="far-from-roofs",
        title="Kernels far from both roofs",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"{ms(float(time.sum()))} go to {counted(int(slow.sum()), 'kernel')} at {roof.sum() / time.sum():.0%} of the roof; the heaviest: "
        f"{', '.join(f'{work.names[n].short} {ms(float(names[n]))}' for n in heavy)}",
        advice=ON_HOST if case.on_host else ON_DEVICE,
    )
