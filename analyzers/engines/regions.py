"""How a trace is cut into steps where nothing names them, and what speaks against calling it inference."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import Step

_PROFILER_STEP = re.compile(r"^ProfilerStep#\d+$")
_BACKWARD_OP = r"^autograd::engine::evaluate_function|Backward\d*$|_backward$|^Optimizer\.(step|zero_grad)#"
_BACKWARD_KERNEL = r"(?i)backward|_bwd_|\bbwd|dgrad|wgrad|igemm_wrw|FusedAdam|fused_adam|optimizer"
_BACKWARD_SPAN = r"(?i)^Optimizer\.(step|zero_grad)#|^## backward ##$|^backward$|^optimizer(\.step)?$"

TRAINING = "not inference: backward passes or optimizer steps are in the trace"


def why_not_inference(linked: Linked) -> str | None:
    """Why no phase of inference may be guessed, or None when nothing speaks against it."""
    trace = linked.trace
    looks = ((trace.ops, _BACKWARD_OP), (trace.spans, _BACKWARD_SPAN), (trace.kernels, _BACKWARD_KERNEL))
    if any(frame["name"].unique().cast(pl.String).str.contains(pattern).any() for frame, pattern in looks):
        return TRAINING
    return None


def profiler_steps(linked: Linked) -> list[Step]:
    """`ProfilerStep#N` spans of the host, as steps of unknown kind on any thread of their process."""
    spans = linked.trace.spans.filter(~pl.col("on_device"))
    names = [name for name in spans["name"].unique() if _PROFILER_STEP.match(name)]
    mine = spans.filter(pl.col("name").is_in(names)).select("ts_ns", "dur_ns", "pid", "name")
    return [
        Step(kind="unknown", start_ns=ts, end_ns=ts + dur, pid=pid, label=name)
        for ts, dur, pid, name in mine.iter_rows()
    ]


def whole_trace(linked: Linked, *, label: str = "whole trace") -> Step:
    """Everything recorded as one step of unknown kind; kernels count whether or not their launch was recorded."""
    trace = linked.trace
    frames = [f for f in (trace.kernels, trace.launches, trace.ops, trace.spans, trace.frames) if f.height]
    starts = [int(np.min(frame["ts_ns"].to_numpy())) for frame in frames]
    ends = [int(np.max((frame["ts_ns"] + frame["dur_ns"]).to_numpy())) for frame in frames]
    n = trace.kernels.height
    return Step(
        kind="unknown",
        start_ns=min(starts, default=0),
        end_ns=max(ends, default=0),
        kernel_rows=(0, n) if n else None,
        label=label,
    )
