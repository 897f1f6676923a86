"""lmdeploy's PyTorch engine: `forward_eager` spans hold a forward, and the scheduling spans before them hint at its kind.

Scheduling runs ahead of the device and bounds host work only, so the kind is a hint, and a forward without one stays unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import polars as pl

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import PhaseKind, Step, StepsFound

from .registry import engine
from .shape_evidence import Evidence, filled

FORWARD = "forward_eager"
HINTS: dict[str, PhaseKind] = {"schedule_prefill": "prefill", "schedule_decoding": "decode"}
HINTED = "lmdeploy's spans name no steps: the kind is that of the last scheduling before a forward, a hint"


@engine("lmdeploy", order=40, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per `forward_eager` span, of the kind that was scheduled last."""
    spans = linked.trace.spans.filter(~pl.col("on_device"))
    forwards = spans.filter(pl.col("name") == FORWARD).select("ts_ns", "dur_ns", "pid", "tid")
    hints = spans.filter(pl.col("name").is_in(list(HINTS))).select("ts_ns", "name").rows()
    if not forwards.height or not hints:
        return None
    times = [ts for ts, _ in hints]
    evidence = Evidence.of(linked)
    steps = []
    for ts, dur, pid, tid in forwards.iter_rows():
        before = bisect_right(times, ts) - 1
        step = Step(kind="unknown", start_ns=ts, end_ns=ts + dur, pid=pid, tid=tid, label=FORWARD)
        step, _ = filled(step, evidence)
        hinted = HINTS[hints[before][1]] if before >= 0 else "unknown"
        steps.append(replace(step, kind=hinted) if step.kind == "unknown" else step)
    return StepsFound(engine="lmdeploy", steps=tuple(steps), notes=(HINTED,))
