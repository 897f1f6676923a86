"""How often the host was held up within a phase's spans: counts of calls, nearly free of noise, by what the call does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from .correlate import Linked
from .idle import HOST_CAUSES, cause_of_calls
from .step import Step

READS_A_SCALAR = "aten::_local_scalar_dense"
"""`.item()`, `bool(tensor)`, `float(tensor)`: on a GPU it makes the host wait; on a CPU only the op shows it."""


def host_calls(linked: Linked, steps: Sequence[Step]) -> dict[str, int]:
    """Calls per cause in `HOST_CAUSES` within the steps' host spans, summed over the steps; and "scalar_reads". Empty
    where the steps have no host span."""
    hosted = [s for s in steps if s.kernel_rows is None]
    if not hosted:
        return {}
    launches, ops = linked.trace.launches, linked.trace.ops
    kinds = cause_of_calls(linked)
    counts = np.zeros(len(HOST_CAUSES), np.int64)
    reads = 0
    scalar = (ops["name"] == READS_A_SCALAR).to_numpy() if ops.height else np.empty(0, bool)
    for step in hosted:
        mine = _within(launches, step)
        counts += np.bincount(kinds[mine][kinds[mine] >= 0], minlength=len(HOST_CAUSES))
        reads += int(scalar[_within(ops, step)].sum())
    return {**dict(zip(HOST_CAUSES, counts.tolist(), strict=True)), "scalar_reads": reads}


def _within(frame: pl.DataFrame, step: Step) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Rows of a sorted frame that start within the step's span on its thread."""
    low, high = np.searchsorted(frame["ts_ns"].to_numpy(), [step.start_ns, step.end_ns])
    rows = np.arange(low, high)
    if step.tid is not None:
        rows = rows[frame["tid"].to_numpy()[rows] == step.tid]
    elif step.pid is not None:
        rows = rows[frame["pid"].to_numpy()[rows] == step.pid]
    return rows
