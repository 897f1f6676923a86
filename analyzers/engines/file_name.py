"""The last hint: a file's name. `1757000000.1-TP-0-DECODE.trace.json.gz`, `run_batch8_input512_output16_prefill.trace.json.gz`,
`my-decode-trace.json`."""

from __future__ import annotations

import re
from dataclasses import replace

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import PhaseKind, Step, StepsFound

from .graph_replays import replays
from .periodic import repeats
from .regions import profiler_steps, whole_trace
from .registry import engine
from .shape_evidence import Evidence, step_of

_WORDS: dict[str, PhaseKind] = {"prefill": "prefill", "decode": "decode", "decoding": "decode", "verify": "verify"}
_SGLANG_STAGES: dict[str, PhaseKind] = {"EXTEND": "prefill"}
_BENCH = re.compile(r"_batch(\d+)_input(\d+)_output\d+_")


def kind_in(path: str) -> PhaseKind | None:
    """The one kind that the last part of a path names; None when it names none, or two."""
    words = re.findall(r"[A-Za-z]+", _last_part(path))
    kinds = {_SGLANG_STAGES.get(word) or _WORDS.get(word.lower()) for word in words} - {None}
    return kinds.pop() if len(kinds) == 1 else None


def batch_and_input(path: str) -> tuple[int, int] | None:
    """Batch and prompt length from the name that SGLang's one-batch benchmark gives its traces, else None."""
    found = _BENCH.search(_last_part(path))
    return None if found is None else (int(found[1]), int(found[2]))


@engine("file-name", order=80, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """The trace's steps, as far as it can be cut, all of the kind that its name says."""
    trace = linked.trace
    kind = kind_in(trace.path)
    if kind is None or not (trace.kernels.height or trace.ops.height):
        return None
    steps = [replace(step, kind=kind) for step in _cut(linked)]
    known = batch_and_input(trace.path)
    if known is not None:
        steps = [replace(step, batch=step.batch or known[0]) for step in steps]
    if known is not None and kind == "prefill" and len(steps) == 1 and steps[0].query_tokens is None:
        steps = [replace(steps[0], query_tokens=known[0] * known[1])]
    note = f"the file's name says {kind}, and nothing else in the trace does"
    return StepsFound(engine="file-name", steps=tuple(steps), notes=(note,))


def _cut(linked: Linked) -> list[Step]:
    forwards = [step_of(named) for named in Evidence.of(linked).named]
    return forwards or replays(linked) or repeats(linked) or profiler_steps(linked) or [whole_trace(linked)]


def _last_part(path: str) -> str:
    return re.split(r"[/\\]", path.split("?", 1)[0])[-1]
