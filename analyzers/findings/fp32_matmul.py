"""GEMMs run in fp32 on a device that has a faster unit."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from ..classes import COMPUTE
from .case import Case, ms
from .registry import finding

LARGE = 0.10
DENSE = ("gemm", "moe", "attention", "convolution")
FASTER = ("tf32", "bf16", "fp16")


@finding("fp32-matmul")
def fp32_matmul(case: Case) -> Finding | None:
    """Compute-bound fp32 GEMM time. With a unit r times as fast the same share of its peak saves 1 - 1/r of it."""
    phase, device = case.phase, case.given.device
    if phase.wall_us is None:
        return None
    items = case.given.items
    work = items.work
    fp32 = np.array(
        [u == "fp32" and c is not None and c.family in DENSE for u, c in zip(items.roof.unit, work.costs, strict=True)]
        or [False]
    )
    rows = case.mine & (work.call >= 0) & fp32[work.call] & (items.classes == COMPUTE)
    spent = float(work.time[rows].sum()) / 1e3
    # Faster units do not read faster: what the bytes need stays.
    floor = float(np.nansum(items.roof.t_bytes[rows])) * 1e6
    base = device.peak_tflops.get("fp32")
    options = {
        name: device.peak_tflops[name] for name in FASTER if base and device.peak_tflops.get(name, 0) > 1.2 * base
    }
    if spent < LARGE * phase.wall_us or not options or base is None:
        return None
    name = next(iter(options))
    saving = max(spent - max(spent * base / options[name], floor), 0.0)
    advice = {
        "tf32": "torch.set_float32_matmul_precision('high') runs fp32 GEMMs on TF32; loading in bfloat16 also halves the bytes.",
        "bf16": "Load the weights in bfloat16: from_pretrained(..., dtype=torch.bfloat16).",
        "fp16": "Load the weights in float16: from_pretrained(..., dtype=torch.float16).",
    }[name]
    return Finding(
        id="fp32-matmul",
        title="GEMMs run in fp32, and the device has a faster unit",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"compute-bound fp32 GEMMs take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall); {name} peaks at {options[name]:,.4g} TFLOP/s "
        f"against {base:,.4g} for fp32, and at the same share of its peak would take {base / options[name]:.0%} of it",
        advice=advice,
    )
