"""A GEMM with fewer tiles than the device has processors: most of it stands idle."""

from __future__ import annotations

import math

import numpy as np

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

LARGE = 0.10
NEAR_A_ROOF = 0.5


@finding("low-occupancy")
def low_occupancy(case: Case) -> Finding | None:
    """GEMM kernels near neither roof whose grid has fewer blocks than there are SMs or CUs. With b blocks on p processors at
    most b/p of the device works; the saving is the rest of the time."""
    phase = case.phase
    units = _processors(case)
    if phase.wall_us is None or units is None or case.on_host:
        return None
    work, items = case.given.items.work, case.given.items
    families = np.array([n.family in ("gemm", "attention", "moe") for n in work.names] or [False])
    slow = np.nan_to_num(items.roof.bound / np.maximum(work.time * 1e-9, 1e-12), nan=0.0) < NEAR_A_ROOF
    rows = np.flatnonzero(case.mine & families[work.name] & slow)
    if not len(rows):
        return None
    args = case.linked.trace.kernels["args"].to_numpy()
    blocks = np.array([_blocks(a) for a in case.linked.trace.kernel_args] or [0])[args[rows]]
    few = (blocks > 0) & (blocks < units)
    spent = float(work.time[rows][few].sum()) / 1e3
    if spent < LARGE * phase.wall_us:
        return None
    saving = float((work.time[rows][few] * (1 - blocks[few] / units)).sum()) / 1e3
    return Finding(
        id="low-occupancy",
        title="GEMMs with fewer tiles than the device has processors",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"{int(few.sum())} kernels take {ms(spent)} with {int(np.median(blocks[few]))} blocks (median) on {units} processors",
        advice="Batch more tokens, or choose kernels that split the inner dimension (split-K, stream-K).",
    )


def _processors(case: Case) -> int | None:
    found = [d.get("numSms") for d in case.linked.trace.header.device_properties]
    return next((int(n) for n in found if isinstance(n, int) and n > 0), None)


def _blocks(args: dict[str, object]) -> int:
    grid = args.get("grid")
    return math.prod(n for n in grid if isinstance(n, int)) if isinstance(grid, list) and grid else 0
