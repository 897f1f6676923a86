"""Between forwards and steps: a forward as a step, and a marked region filled from, or split into, the forwards inside it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import PhaseKind, Step, Tokens

from .attention_calls import AttentionCalls
from .attention_shapes import AttentionShape
from .forwards import forwards_of, has_shapes
from .kinds import Named, name_forwards
from .lookups import unshaped_starts


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a trace's shapes show; empty where they were not recorded."""

    linked: Linked
    named: list[Named]
    """Every forward with its kind, in time order."""
    attention: AttentionCalls | None

    @classmethod
    def of(cls, linked: Linked) -> Evidence:
        """Read the shapes of a trace once."""
        if not has_shapes(linked):
            return cls(linked, [], None)
        attention = AttentionCalls.of(linked)
        return cls(linked, name_forwards(forwards_of(linked, attention)), attention)


def step_of(named: Named, *, label: str = "") -> Step:
    """A forward as a step; the label says how it was found."""
    forward = named.forward
    tokens = _tokens(forward.batch, forward.query, forward.context, forward.tokens)
    return Step(
        kind=named.kind,
        start_ns=forward.start_ns,
        end_ns=forward.end_ns,
        pid=forward.pid,
        tid=forward.tid,
        batch=forward.batch,
        query_tokens=forward.tokens,
        context_tokens=tokens.k,
        prefill=tokens if named.kind == "prefill" else None,
        decode=tokens if named.kind in ("decode", "verify") else None,
        label=label or f"forward of {forward.tokens} tokens",
        marked=False,
        draft=named.draft,
    )


def inside(named: Sequence[Named], step: Step) -> list[Named]:
    """The forwards that begin within a step's span, on its thread if it names one. `named` is in time order."""
    low = bisect_left(named, step.start_ns, key=_start)
    high = bisect_left(named, step.end_ns, key=_start)
    return [n for n in named[low:high] if step.pid in (None, n.forward.pid) and step.tid in (None, n.forward.tid)]


def _start(named: Named) -> int:
    return named.forward.start_ns


def filled(step: Step, evidence: Evidence) -> tuple[Step, str]:
    """A marked step with what its name leaves open taken from the one forward inside it, or else from its attention ops;
    and a note where the shapes contradict the name."""
    mine = inside(evidence.named, step)
    if len(mine) == 1:
        return _fill_from(step, step_of(mine[0]))
    if mine or evidence.attention is None:
        return step, ""
    low, high = np.searchsorted(evidence.linked.trace.ops["ts_ns"].to_numpy(), [step.start_ns, step.end_ns])
    calls = evidence.attention.within(int(low), int(high), pid=step.pid, tid=step.tid)
    shapes = [_unfolded(shape) for shape in calls]
    lengths = {(shape.batch, shape.query) for shape in shapes}
    if len(lengths) != 1:
        return step, ""
    batch, query = lengths.pop()
    context = max(shape.context for shape in shapes)
    if step.batch not in (None, batch) or step.query_tokens not in (None, batch * query):
        return step, ""
    return _fill_from(step, _unnamed(step, batch, query, context, shapes))


def split(step: Step, evidence: Evidence) -> tuple[list[Step], str]:
    """A region that may hold a whole loop: its forwards as steps of its kind, or itself when it holds no more than one."""
    mine = inside(evidence.named, step)
    if evidence.attention is None:
        return _cut(step, evidence.linked), ""
    if len(mine) < 2:
        one, note = filled(step, evidence)
        return [one], note
    steps, notes = [], []
    for n in mine:
        found = step_of(n, label=step.label)
        one, note = _fill_from(replace(found, kind=step.kind, prefill=None, decode=None), found)
        steps.append(replace(one, end_ns=min(one.end_ns, step.end_ns)))
        notes.append(note)
    return steps, next(filter(None, notes), "")


def _cut(step: Step, linked: Linked) -> list[Step]:
    starts = unshaped_starts(linked)
    inner = starts[bisect_left(starts, step.start_ns) : bisect_left(starts, step.end_ns)]
    cuts = [step.start_ns, *inner[1:], step.end_ns]
    return [
        replace(step, start_ns=start, end_ns=end, marked=step.marked and start == step.start_ns)
        for start, end in pairwise(cuts)
    ]


def _fill_from(step: Step, found: Step) -> tuple[Step, str]:
    if found.draft or (step.query_tokens is not None and step.query_tokens != found.query_tokens):
        return step, ""
    kind, note = _settle(step, found)
    tokens = found.prefill or found.decode
    return (
        replace(
            step,
            kind=kind,
            batch=step.batch if step.batch is not None else found.batch,
            query_tokens=found.query_tokens,
            context_tokens=step.context_tokens if step.context_tokens is not None else found.context_tokens,
            prefill=_part(step.prefill, tokens, wanted=kind == "prefill"),
            decode=_part(step.decode, tokens, wanted=kind in ("decode", "verify")),
        ),
        note,
    )


def _settle(step: Step, found: Step) -> tuple[PhaseKind, str]:
    """The kind of a marked step: its name's, unless the shapes rule that out."""
    if step.kind == "unknown":
        return found.kind, ""
    batch = found.batch if found.batch is not None else step.batch
    several = batch is not None and found.query_tokens is not None and found.query_tokens > batch
    if step.kind == "decode" and several and found.kind == "unknown":
        return "unknown", f"{step.label!r} runs {found.query_tokens} new tokens of {batch} requests: not plain decode"
    if step.kind == "decode" and several and found.kind in ("prefill", "verify"):
        note = f"{step.label!r} names a decode step, and its ops run a {found.kind} of {found.query_tokens} tokens"
        return found.kind, note
    if step.kind == "prefill" and found.kind == "decode":
        return "decode", f"{step.label!r} names a prefill, and its ops run one new token behind a cache"
    return step.kind, ""


def _part(own: Tokens | None, found: Tokens | None, *, wanted: bool) -> Tokens | None:
    if found is None or not wanted:
        return own
    return found if own is None or own.qk is None else own


def _unnamed(step: Step, batch: int, query: int, context: int, shapes: Sequence[AttentionShape]) -> Step:
    empty = query == context and query > 1 and not any(shape.causal is False for shape in shapes)
    kind: PhaseKind = "prefill" if empty else "decode" if query == 1 and context > 1 else "unknown"
    told = step.kind if step.kind in ("prefill", "decode", "verify") else kind
    tokens = _tokens(batch, query, context, batch * query)
    return Step(
        kind=kind,
        start_ns=step.start_ns,
        end_ns=step.end_ns,
        batch=batch,
        query_tokens=batch * query,
        context_tokens=batch * context,
        prefill=tokens if "prefill" in (kind, told) else None,
        decode=tokens if "prefill" not in (kind, told) else None,
    )


def _unfolded(shape: AttentionShape) -> AttentionShape:
    """Rows fewer than the context that all see it whole are the grouped heads of one new token."""
    folded = shape.causal is False and 1 < shape.query < shape.context
    return replace(shape, query=1, causal=True) if folded else shape


def _tokens(batch: int | None, query: int | None, context: int | None, tokens: int) -> Tokens:
    if batch is None or query is None:
        return Tokens(requests=batch, q=tokens)
    squares = batch * query * query
    if context is None:
        return Tokens(requests=batch, q=tokens, qq=squares)
    return Tokens(requests=batch, q=tokens, k=batch * context, qk=batch * query * context, qq=squares)
