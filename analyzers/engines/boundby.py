"""Our own recorder's spans: `boundby.step[prefill b=1 q=512 k=0 i=0]`."""

from __future__ import annotations

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import PhaseKind, StepsFound, Tokens
from boundby.tracer.marks import StepKind, StepMark

from .mark import SpanMark
from .marked_spans import steps_of_marks
from .registry import engine

_KINDS: dict[StepKind, PhaseKind] = {
    "prefill": "prefill",
    "chunk": "prefill",
    "decode": "decode",
    "verify": "verify",
    "mixed": "mixed",
    "unknown": "unknown",
}


def parse(name: str) -> SpanMark | None:
    """The mark of one of our step spans: `b` sequences of `q` new tokens each, behind `k` cached ones."""
    mark = StepMark.parse(name)
    if mark is None:
        return None
    b, q, k = mark.batch, mark.query, mark.cached + mark.query
    tokens = Tokens(requests=b, q=b * q, k=b * k, qk=b * q * k, qq=b * q * q)
    kind = _KINDS[mark.kind]
    return SpanMark(
        kind=kind,
        batch=b,
        query_tokens=b * q,
        context_tokens=b * k,
        prefill=tokens if kind == "prefill" else None,
        decode=tokens if kind in ("decode", "verify") else None,
    )


@engine("boundby", order=10)
def find(linked: Linked) -> StepsFound | None:
    """The recorder's own steps; nothing else in the trace is more exact."""
    return steps_of_marks(linked, {"boundby": parse})
