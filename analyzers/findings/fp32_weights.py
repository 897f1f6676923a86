"""Weights are read in fp32, and reading them is what the phase waits for."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from ..classes import BANDWIDTH
from .case import Case, ms
from .registry import finding

LARGE = 0.10
HALF_WIDTH = ("bf16", "fp16")


@finding("fp32-weights")
def fp32_weights(case: Case) -> Finding | None:
    """Bandwidth-bound fp32 GEMM time, where the device multiplies a 16-bit type at least as fast (a CPU without such a unit
    converts, and gains nothing). The operands take half the bytes, so half of the time is saved."""
    phase, device, items = case.phase, case.given.device, case.given.items
    base = device.peak_tflops.get("fp32")
    if phase.wall_us is None or base is None:
        return None
    name = next((n for n in HALF_WIDTH if device.peak_tflops.get(n, 0.0) >= base), None)
    in_fp32 = np.array([u in ("fp32", "tf32") for u in items.roof.unit] or [False])
    rows = case.mine & (items.work.call >= 0) & in_fp32[items.work.call]
    rows &= np.isin(case.families, ("gemm", "moe")) & (items.classes == BANDWIDTH)
    spent = float(items.work.time[rows].sum()) / 1e3
    if name is None or spent < LARGE * phase.wall_us:
        return None
    dtype = {"bf16": "bfloat16", "fp16": "float16"}[name]
    return Finding(
        id="fp32-weights",
        title="Bandwidth-bound GEMMs read fp32 operands",
        saving_us=spent / 2,
        saving_fraction=case.fraction(spent / 2),
        evidence=f"bandwidth-bound fp32 GEMMs take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall) to read "
        f"{np.nansum(items.work.bytes[rows]) / 1e9:,.3g} GB; at 16 bits it is half",
        advice=f"Load the weights in {dtype}: AutoModelForCausalLM.from_pretrained(..., dtype=torch.{dtype}); quantised ones halve it again.",
    )
