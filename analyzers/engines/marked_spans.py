"""From named spans to steps: each distinct name is parsed once, repeats on the GPU's track are left out, and of nested
spans the innermost is the step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from boundby.analyzers.correlate import Linked, thread_nests
from boundby.analyzers.step import Step, StepsFound, Tokens

from .mark import SpanMark
from .registry import Parse


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """One span whose name an engine knows."""

    engine: str
    mark: SpanMark
    step: Step
    inside: int = -1
    """The marked span around it on its thread, as a position in the same list."""


def steps_of_marks(linked: Linked, parsers: Mapping[str, Parse]) -> StepsFound | None:
    """The steps that the host's spans name, None when no name is known.

    A trace whose spans survive only on the GPU's track gives steps by device time.
    """
    spans = linked.trace.spans
    found = marked_spans(spans.filter(~pl.col("on_device")), parsers)
    steps, engine = innermost(found), _most_common(found)
    if not found:
        found = _device_spans(linked, parsers)
        steps, engine = [span.step for span in found], _most_common(found)
    if not found:
        return None
    notes = dict.fromkeys(span.mark.note for span in found if span.mark.note)
    return StepsFound(engine=engine, steps=tuple(steps), notes=tuple(notes))


def marked_spans(spans: pl.DataFrame, parsers: Mapping[str, Parse]) -> list[MarkedSpan]:
    """The spans that one of the grammars knows, in time order, each with the marked span around it."""
    known = parse_names(spans["name"].unique(), parsers)
    if not known:
        return []
    mine = spans.filter(pl.col("name").is_in(list(known)))
    inside = np.full(mine.height, -1, np.int64)
    for nest in thread_nests(mine).values():
        inside[nest.row] = nest.parent_rows()
    return [
        MarkedSpan(*known[row["name"]], _step(known[row["name"]][1], row), int(parent))
        for row, parent in zip(mine.iter_rows(named=True), inside, strict=True)
    ]


def parse_names(names: Iterable[str], parsers: Mapping[str, Parse]) -> dict[str, tuple[str, SpanMark]]:
    """Per name that a grammar knows: the first such engine and what it reads."""
    known = {}
    for name in names:
        for engine, parse in parsers.items():
            mark = parse(name)
            if mark is not None:
                known[name] = (engine, mark)
                break
    return known


def innermost(spans: list[MarkedSpan]) -> list[Step]:
    """The spans that hold no other marked span, as steps. Where the span around one tells more of the same step, its token
    sums are taken over: an engine's outer span may count tokens, while its inner one is closer to the work."""
    children = Counter(span.inside for span in spans if not span.mark.draft)
    held = {span.inside for span in spans}
    steps = []
    for position, span in enumerate(spans):
        if position in held:
            continue
        step, outer = span.step, span.inside
        while outer >= 0 and not span.mark.draft:
            if children[outer] == 1 and _same_step(step, spans[outer].step):
                step = _richer(step, spans[outer].step)
            outer = spans[outer].inside
        steps.append(step)
    return steps


def _same_step(inner: Step, outer: Step) -> bool:
    if inner.kind != outer.kind and {inner.kind, outer.kind} != {"decode", "verify"}:
        return False
    return inner.batch is None or outer.batch is None or inner.batch == outer.batch


def _richer(inner: Step, outer: Step) -> Step:
    return replace(
        inner,
        batch=inner.batch if inner.batch is not None else outer.batch,
        query_tokens=inner.query_tokens if inner.query_tokens is not None else outer.query_tokens,
        context_tokens=inner.context_tokens if inner.context_tokens is not None else outer.context_tokens,
        prefill=_fuller(inner.prefill, outer.prefill),
        decode=_fuller(inner.decode, outer.decode),
    )


def _fuller(inner: Tokens | None, outer: Tokens | None) -> Tokens | None:
    return outer if _facts(outer) > _facts(inner) else inner


def _facts(tokens: Tokens | None) -> int:
    return 0 if tokens is None else sum(getattr(tokens, field.name) is not None for field in fields(tokens))


def _step(mark: SpanMark, row: dict[str, int]) -> Step:
    return Step(
        kind=mark.kind,
        start_ns=row["ts_ns"],
        end_ns=row["ts_ns"] + row["dur_ns"],
        pid=row["pid"],
        tid=row["tid"],
        batch=mark.batch,
        query_tokens=mark.query_tokens,
        context_tokens=mark.context_tokens,
        prefill=mark.prefill,
        decode=mark.decode,
        label=str(row["name"]),
        draft=mark.draft,
    )


def _device_spans(linked: Linked, parsers: Mapping[str, Parse]) -> list[MarkedSpan]:
    """Spans on the GPU's track alone: one step for the repeats of a name that overlap (one per stream), with the kernels
    that start in it."""
    spans = linked.trace.spans.filter("on_device")
    known = parse_names(spans["name"].unique(), parsers)
    starts = linked.trace.kernels["ts_ns"].to_numpy()
    merged: list[tuple[str, int, int]] = []
    for name, ts, dur in spans.filter(pl.col("name").is_in(list(known))).select("name", "ts_ns", "dur_ns").iter_rows():
        if merged and merged[-1][0] == name and ts < merged[-1][2]:
            merged[-1] = (name, merged[-1][1], max(merged[-1][2], ts + dur))
        else:
            merged.append((name, ts, ts + dur))
    found = []
    for name, start, end in merged:
        engine, mark = known[name]
        step = _step(mark, {"ts_ns": start, "dur_ns": end - start, "pid": None, "tid": None, "name": name})  # type: ignore[dict-item]
        low, high = np.searchsorted(starts, [start, end])
        found.append(MarkedSpan(engine, mark, replace(step, kernel_rows=(int(low), int(high)))))
    return found


def _most_common(spans: list[MarkedSpan]) -> str:
    if not spans:
        return ""
    held = {span.inside for span in spans}
    return Counter(span.engine for n, span in enumerate(spans) if n not in held).most_common(1)[0][0]
