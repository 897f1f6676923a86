"""Phases laid out by hand on a device with round figures, for tests of what is told about them.

The device: 10 TFLOP/s in fp32, 100 in TF32, 200 in bf16, 1,000 GB/s, 100 processors; a kernel takes 2 us at least. So a
bf16 product of three sides of 1,000 needs 10 us for its FLOPs (6 for its bytes), and an fp32 one 200 us (12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from tracebuild import Row, make_trace

from boundby.analyzers.analysis import Finding, Phase
from boundby.analyzers.analyze import analyze_trace
from boundby.analyzers.trace import Header
from boundby.tracer.marks import METADATA_KEY, Recording, StepMark, Untraced

PEAKS = {"fp32": 10.0, "tf32": 100.0, "bf16": 200.0}
FLOAT, HALF = "float", "c10::BFloat16"
LATE_NS = 1_000_000
"""The first kernel comes so long after its launch that the device was busy before: the window opens with it."""


def product(us: float, *, rows: int = 1000, dtype: str = HALF, **given: Any) -> Row:
    """A kernel of `aten::mm`, [rows, 1000] x [1000, 1000]."""
    op = {"name": "aten::mm", "dims": ((rows, 1000), (1000, 1000)), "types": (dtype, dtype)}
    return {"us": us, "name": "gemm_kernel", "op": op, **given}


def add(us: float, *, n: int = 1_000_000, **given: Any) -> Row:
    """A kernel of `aten::add` on n fp32 numbers: reads two, writes one."""
    op = {"name": "aten::add", "dims": ((n,), (n,), ()), "types": (FLOAT, FLOAT, "Scalar")}
    return {"us": us, "name": "vectorized_elementwise_kernel", "op": op, **given}


def phase_of(
    kernels: Sequence[Row],
    *,
    mark: StepMark | None = None,
    peaks: dict[str, float] | None = None,
    untraced_us: float | None = None,
    settings: dict[str, Any] | None = None,
    calls: Sequence[Row] = (),
) -> Phase:
    """One step of these kernels in a row, enqueued at once. A kernel's `us` is its time, `gap` the idle us before it, `op` its
    op's row; `late` a launch at the gap's end instead of early on; the rest are columns."""
    mark = mark or StepMark("decode", 1, 1, 99, 0)
    rows, launches, ops = [], [], []
    at = LATE_NS
    for number, given in enumerate(kernels):
        row = dict(given)
        op, us, gap, late = row.pop("op", None), row.pop("us"), row.pop("gap", 0.0), row.pop("late", False)
        at += round(gap * 1000)
        called = at if late else number * 100
        launches.append({"ts_ns": called, "dur_ns": 0, "correlation": number + 1})
        if op is not None:
            ops.append({"ts_ns": called, "dur_ns": 50, **op})
        rows.append({"ts_ns": row.pop("start_ns", at), "dur_ns": round(us * 1000), "correlation": number + 1, **row})
        at += round(us * 1000)
    untraced = (
        [] if untraced_us is None else [Untraced(mark.kind, mark.batch, mark.query, 0, 0, [untraced_us], untraced_us)]
    )
    recording = Recording(
        device={"name": "Bench", "kind": "cuda"},
        calibration={"peak_tflops": peaks or PEAKS, "bandwidth_gb_s": 1000.0, "smallest_kernel_us": 2.0},
        settings=settings or {},
        untraced=untraced,
    )
    trace = make_trace(
        kernels=rows,
        launches=[*launches, *calls],
        ops=ops,
        spans=[{"name": str(mark), "ts_ns": 0, "dur_ns": at}],
        header=Header(
            device_properties=({"name": "Bench", "numSms": 100},),
            metadata={METADATA_KEY: msgspec.to_builtins(recording)},
        ),
    )
    (phase,) = analyze_trace(trace).phases
    return phase


def told(phase: Phase, name: str) -> Finding | None:
    """The phase's finding of that id, if it has it."""
    return next((f for f in phase.findings if f.id == name), None)
