"""Spans that people put around a phase themselves: `prefill`, `decode_1`, `decode step 3`, `mixed_batch`, and spans that state
lengths, `forward(bs=4, q_len=1, kv_len=1024)`.

The whole name must be such a label: `schedule_prefill`, `tokenizer.decode` or `image decode` name other work, and a span in which
the host starts nothing (a tokenizer's `decode`) is none.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import PhaseKind, Step, StepsFound, Tokens

from .mark import SpanMark
from .marked_spans import steps_of_marks
from .registry import engine
from .shape_evidence import Evidence, split

_WORDS: dict[str, PhaseKind] = {
    "prefill": "prefill",
    "prefilling": "prefill",
    "extend": "prefill",
    "decode": "decode",
    "decoding": "decode",
    "mixed": "mixed",
    "verify": "verify",
}
_LABEL = re.compile(
    r"^(?:(?:llm|model|engine|phase|stage|step|forward|run|execute|inference|profile|timed)[ _:/.-]+)?"
    r"(?:(prefill|prefilling|decode|decoding)"
    r"(?:[ _:/.-]*(?:step|batch|phase|stage|forward|pass|iter|iteration|token|loop|chunk|run)s?)?"
    r"|(extend|mixed|verify)[ _:/.-]*(?:step|batch|phase|forward)s?)"
    r"(?:[ _:#/.-]*\d+)?$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\b([A-Za-z_]+) ?[=:] ?(\d+)\b")
_BATCH = {"b", "bs", "batch", "batch_size", "num_seqs", "n_seqs", "num_reqs", "requests"}
_QUERY = {"q", "q_len", "qlen", "query_len", "seqlen_q", "query_length"}
_QUERY_TOTAL = {"q_tokens", "query_tokens", "new_tokens", "num_query_tokens", "toks"}
_CONTEXT = {"kv_len", "kvlen", "ctx_len", "context_len", "context_length", "seqlen_k", "kv_length"}
_CONTEXT_TOTAL = {"context_tokens", "ctx_tokens", "kv_tokens"}
_CACHED = {"cached", "past", "past_len", "cache_len", "past_length", "cached_len"}

LABELLED = "the phases are as somebody labelled them in the trace"


def parse(name: str) -> SpanMark | None:
    """The mark of a span that labels a phase or states query and context lengths, None for any other name.

    Lengths (`q_len`, `kv_len`, `past`) are per sequence and count only when the batch is stated too, totals
    (`query_tokens`, `context_tokens`) count as they stand.
    """
    values = {key.lower(): int(value) for key, value in _PAIR.findall(name)}
    bare = _PAIR.sub("", name).rstrip(" ,;()[]{}|") if values else name
    word = _LABEL.match(bare.strip())
    kind: PhaseKind = _WORDS[(word[1] or word[2]).lower()] if word else "unknown"
    batch, query, context = _lengths(values)
    if kind == "unknown":
        if not _states_lengths(values):
            return None
        kind = _kind(batch, query, context)
    tokens = Tokens(requests=batch, q=query, k=context) if query is not None else None
    return SpanMark(
        kind=kind,
        batch=batch,
        query_tokens=query,
        context_tokens=context,
        prefill=tokens if kind == "prefill" else None,
        decode=tokens if kind in ("decode", "verify") else None,
    )


@engine("annotations", order=30)
def find(linked: Linked) -> StepsFound | None:
    """Steps under such labels; a label around a loop of forwards gives a step for each."""
    found = steps_of_marks(linked, {"annotations": parse})
    if found is None:
        return None
    steps = [step for step in found.steps if _works(linked, step)]
    evidence = Evidence.of(linked)
    pairs = [split(step, evidence) for step in steps]
    notes = dict.fromkeys([LABELLED, *found.notes, *(note for _, note in pairs if note)])
    return replace(found, steps=tuple(step for group, _ in pairs for step in group), notes=tuple(notes))


def _works(linked: Linked, step: Step) -> bool:
    """Whether the host runs an op or calls the device in the step's span, as far as such were recorded."""
    hosted = [frame for frame in (linked.trace.ops, linked.trace.launches) if frame.height]
    bounds = (np.searchsorted(frame["ts_ns"].to_numpy(), [step.start_ns, step.end_ns]) for frame in hosted)
    return not hosted or step.kernel_rows is not None or any(high > low for low, high in bounds)


def _first(values: dict[str, int], keys: set[str]) -> int | None:
    return next((values[key] for key in values if key in keys), None)


def _states_lengths(values: dict[str, int]) -> bool:
    query = _first(values, _QUERY | _QUERY_TOTAL)
    return query is not None and _first(values, _CONTEXT | _CONTEXT_TOTAL | _CACHED) is not None


def _lengths(values: dict[str, int]) -> tuple[int | None, int | None, int | None]:
    """Sequences, new tokens and context tokens, as sums over the sequences."""
    batch = _first(values, _BATCH)
    query, context = _first(values, _QUERY_TOTAL), _first(values, _CONTEXT_TOTAL)
    each, seen, cached = _first(values, _QUERY), _first(values, _CONTEXT), _first(values, _CACHED)
    if batch is not None and each is not None and query is None:
        query = batch * each
    if batch is not None and context is None:
        if seen is not None:
            context = batch * seen
        elif cached is not None and query is not None:
            context = batch * cached + query
    return batch, query, context


def _kind(batch: int | None, query: int | None, context: int | None) -> PhaseKind:
    if batch is None or query is None or context is None:
        return "unknown"
    if query == context and query > batch:
        return "prefill"
    return "decode" if query == batch and context > query else "unknown"
