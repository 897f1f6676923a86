"""vLLM's inner scopes, where its step spans are missing: `Preprocess`, `Forward`, ... in 0.11, `gpu_model_runner: forward` later.

They bound the parts of a step and do not say its kind; shapes may.
"""

from __future__ import annotations

import polars as pl

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import Step, StepsFound

from .registry import engine
from .shape_evidence import Evidence, filled

_FORWARDS = {"gpu_model_runner: forward": "gpu_model_runner: ", "Forward": ""}
_PARTS = ("preprocess", "forward", "postprocess", "sample", "bookkeep")
SCOPES = "vLLM's inner scopes bound the steps and do not name their kind; its step spans (from 0.12 on) would"


@engine("vllm-scopes", order=35, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per `forward` scope, from its `preprocess` to the last scope before the next one."""
    spans = linked.trace.spans.filter(~pl.col("on_device"))
    names = set(spans["name"].unique())
    for forward, prefix in _FORWARDS.items():
        parts = [prefix + (part if prefix else part.capitalize()) for part in _PARTS]
        # `Forward` alone is a name that anybody may use.
        if forward in names and (prefix or parts[0] in names):
            return _steps(linked, spans.filter(pl.col("name").is_in(parts)), forward, parts[0])
    return None


def _steps(linked: Linked, spans: pl.DataFrame, forward: str, first: str) -> StepsFound:
    evidence = Evidence.of(linked)
    pairs = [filled(step, evidence) for step in _scoped(spans, forward, first)]
    notes = dict.fromkeys([SCOPES, *(note for _, note in pairs if note)])
    return StepsFound(engine="vllm-scopes", steps=tuple(step for step, _ in pairs), notes=tuple(notes))


def _scoped(spans: pl.DataFrame, forward: str, first: str) -> list[Step]:
    """Scopes of one thread, from one `preprocess` to the next, are a step if a `forward` is among them."""
    begins = first if first in spans["name"] else forward
    numbered = spans.with_columns((pl.col("name") == begins).cum_sum().over("tid").alias("number"))
    groups = numbered.group_by("pid", "tid", "number", maintain_order=True).agg(
        pl.col("ts_ns").min().alias("start"),
        (pl.col("ts_ns") + pl.col("dur_ns")).max().alias("end"),
        (pl.col("name") == forward).any().alias("runs"),
    )
    runs = groups.filter("runs").select("pid", "tid", "start", "end").iter_rows()
    return [Step(kind="unknown", start_ns=a, end_ns=b, pid=p, tid=t, label=forward) for p, t, a, b in runs]
