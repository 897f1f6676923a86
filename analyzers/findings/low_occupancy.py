"""A GEMM with fewer tiles than the device has processors: most of it stands idle."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..analysis import Finding
from .case import Case, counted, ms
from .registry import finding

LARGE = 0.05
"""Share of the wall that idle processors have to cost: below, another tile size is not worth the search."""
NEAR_A_ROOF = 0.5
"""From half of a roof on, more blocks cannot double the speed."""


@finding("low-occupancy")
def low_occupancy(case: Case) -> Finding | None:
    """Matrix kernels near neither roof whose grid has fewer blocks than there are SMs or CUs. With b blocks on p processors at
    most b/p of the device works; the saving is the rest of the time, but never more than the roofline leaves."""
    phase, items = case.phase, case.given.items
    if phase.wall_us is None:
        return None
    rows, blocks, units = starved(case)
    time = items.work.time[rows] / 1e3
    roof = items.roof.bound[rows] * 1e6
    saving = float(np.minimum(time * (1 - blocks / max(units, 1)), np.maximum(time - roof, 0.0)).sum())
    if saving < LARGE * phase.wall_us:
        return None
    return Finding(
        id="low-occupancy",
        title="GEMMs with fewer tiles than the device has processors",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"{ms(float(time.sum()))} go to {counted(len(rows), 'kernel')} of {int(np.median(blocks))} blocks (median) on {units} processors",
        advice="Batch more tokens, or choose kernels that split the inner dimension (split-K, stream-K): "
        "model = torch.compile(model, mode='max-autotune').",
    )


def starved(case: Case) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """Work items of the phase that are matrix kernels with fewer blocks than processors, though their known roof is far;
    their blocks; and the number of processors (0 when the trace doesn't say)."""
    none = np.empty(0, np.int64)
    units = _processors(case)
    if units is None or case.on_host:
        return none, none, 0
    dense = np.isin(case.families, ("gemm", "attention", "moe"))
    rows = np.flatnonzero(case.mine & dense & (case.efficiency < NEAR_A_ROOF))
    args = case.linked.trace.kernels["args"].to_numpy()
    blocks = np.array([_blocks(a) for a in case.linked.trace.kernel_args] or [0], np.int64)[args[rows]]
    few = (blocks > 0) & (blocks < units)
    return rows[few], blocks[few], units


def _processors(case: Case) -> int | None:
    found = [d.get("numSms") for d in case.linked.trace.header.device_properties]
    return next((int(n) for n in found if isinstance(n, int) and n > 0), None)


def _blocks(args: dict[str, object]) -> int:
    grid = args.get("grid")
    return math.prod(n for n in grid if isinstance(n, int)) if isinstance(grid, (list, tuple)) and grid else 0
