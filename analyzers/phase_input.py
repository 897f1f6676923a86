"""`PhaseInput` and `Sums`: what is known of one phase before it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .analysis import Predicted
from .device import Device
from .rows import Items
from .step import Step
from .time_account import TimeAccount
from .window import Windows
from .work import KERNEL, OP


@dataclass(frozen=True, slots=True)
class PhaseInput:
    """All that is known of one phase before it is told."""

    id: str
    engine: str
    steps: Sequence[Step]
    numbers: Sequence[int]
    account: TimeAccount | None
    items: Items
    windows: Windows
    edges: frozenset[int]
    n_launches: int
    device: Device
    untraced_us: tuple[float, ...]
    """Samples of the same steps without the profiler."""
    host_calls: dict[str, int]
    predicted: Predicted | None
    capacity: tuple[str, ...]
    notes: tuple[str, ...]
    missing: str
    """Why there is no time account, where there is none."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Known FLOPs, bytes and roofline seconds of a phase's items; None where no item's is known."""

    n_items: int
    n_kernels: int
    """Items that compute: not copies and sets."""
    flops: float | None
    bytes: float | None
    roof_s: float | None
    t_flops: float
    t_bytes: float
    coverage: float | None
    """Share of the items' time whose cost is known."""

    @classmethod
    def of(cls, items: Items, mine: npt.NDArray[np.bool_]) -> Sums:
        """Add up the chosen items."""
        work, roof = items.work, items.roof
        known = mine & ~np.isnan(work.bytes)
        time = float(work.time[mine].sum())
        t_flops, t_bytes = float(np.nansum(roof.t_flops[mine])), float(np.nansum(roof.t_bytes[mine]))
        return cls(
            n_items=int(mine.sum()),
            n_kernels=int((mine & np.isin(work.kind, (KERNEL, OP))).sum()),
            flops=float(work.flops[known].sum()) if known.any() else None,
            bytes=float(work.bytes[known].sum()) if known.any() else None,
            roof_s=max(t_flops, t_bytes) or None,
            t_flops=t_flops,
            t_bytes=t_bytes,
            coverage=float(work.time[known].sum()) / time if time else None,
        )
