"""vLLM's step spans, in the forms that its versions have had.

0.12, 0.13   `execute_new_{n}_cached_{m}`                                   requests seen first, requests seen before
from 0.14    `execute_context_{c}({tokens})_generation_{g}({tokens})`
from 0.26    `execute_{total}_context_{c}(sq..sk..sqsq..sqsk..)_generation_{g}(sq..sk..sqsq..sqsk..)`, an option
capture      `capture_{tokens}_{FULL|PIECEWISE}`                            recording CUDA graphs, before any request

A context request has produced no token yet: every chunk of a chunked prefill counts as context.
"""

from __future__ import annotations

import re

from boundby.analyzers.step import PhaseKind, Tokens

from .mark import SpanMark, generation_kind
from .registry import span_grammar

_SUMS = r"\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)"
_DETAILED = re.compile(rf"^execute_\d+_context_(\d+){_SUMS}_generation_(\d+){_SUMS}$")
_COUNTED = re.compile(r"^execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)$")
_REQUESTS = re.compile(r"^execute_new_(\d+)_cached_(\d+)$")
_CAPTURE = re.compile(r"^capture_(\d+)_(FULL|PIECEWISE)$")

MOST_DRAFTED = 64
"""More new tokens than this per generating request are no drafts to verify."""

RECOMPUTED = (
    "generating requests with many new tokens: recomputed after preemption, so counted as prefill beside decode"
)
CACHED_MAY_BE_CHUNKS = (
    "this vLLM version counts requests, not tokens: its spans show a later chunk of a long prompt as a decode step"
)
CAPTURING = "CUDA graphs were being captured: no request was served"
DUMMY = "steps without requests: dummy runs that keep data-parallel ranks together"


@span_grammar("vllm", order=20)
def parse(name: str) -> SpanMark | None:
    """The mark of a vLLM step span, None for any other name."""
    if not name.startswith(("execute_", "capture_")):
        return None
    if found := _DETAILED.match(name):
        c, csq, csk, csqsq, csqsk, g, gsq, gsk, gsqsq, gsqsk = map(int, found.groups())
        context = Tokens(requests=c, q=csq, k=csk, qk=csqsk, qq=csqsq)
        return _mark(context, Tokens(requests=g, q=gsq, k=gsk, qk=gsqsk, qq=gsqsq))
    if found := _COUNTED.match(name):
        c, ctx, g, gen = map(int, found.groups())
        return _mark(Tokens(requests=c, q=ctx), Tokens(requests=g, q=gen))
    if found := _REQUESTS.match(name):
        new, cached = map(int, found.groups())
        kind = generation_kind(new, cached)
        note = CACHED_MAY_BE_CHUNKS if cached else "" if new else DUMMY
        return SpanMark(
            kind=kind,
            batch=new + cached,
            prefill=Tokens(requests=new) if new else None,
            decode=Tokens(requests=cached) if cached else None,
            note=note,
        )
    if found := _CAPTURE.match(name):
        return SpanMark(kind="unknown", query_tokens=int(found[1]), note=CAPTURING)
    return None


def _mark(context: Tokens, generation: Tokens) -> SpanMark:
    c, g, drafted = context.requests or 0, generation.requests or 0, generation.q or 0
    kind: PhaseKind = generation_kind(c, g)
    note = "" if c or g else DUMMY
    if kind == "decode" and drafted > g:
        if drafted <= MOST_DRAFTED * g:
            kind = "verify"
        else:
            kind, note = "mixed", RECOMPUTED
    return SpanMark.of_parts(kind, context if c else None, generation if g else None, note=note)
