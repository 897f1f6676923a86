"""Which unit runs each call's FLOPs: the dtype whose peak they are judged against."""

from __future__ import annotations

import numpy as np

from boundby.tracer.marks import Recording

from .work import OP, Work

_TF32_SETTINGS = ("high", "medium")
"""Values of `torch.get_float32_matmul_precision()` that let a CUDA GEMM on fp32 tensors run on TF32 tensor cores."""


def units_of_calls(work: Work, recording: Recording | None) -> tuple[str | None, ...]:
    """Per call: its formula's unit, but TF32 where fp32 GEMMs ran on it: by the kernel's name, or else by the recorded
    setting. A peak depends on that flag, and only our own recorder writes it."""
    units = [None if cost is None else cost.unit for cost in work.costs]
    gpu = len(work) > 0 and not (work.kind == OP).all()
    if not gpu or "fp32" not in units:
        return tuple(units)
    allowed = recording is not None and recording.settings.get("float32_matmul_precision") in _TF32_SETTINGS
    named = np.array([name.unit or "" for name in work.names])
    for call, unit in enumerate(units):
        cost = work.costs[call]
        if unit != "fp32" or cost is None or cost.family not in ("gemm", "convolution", "moe"):
            continue
        seen = set(named[work.name[work.call == call]].tolist()) - {""}
        if "tf32" in seen or (allowed and not seen):
            units[call] = "tf32"
    return tuple(units)
