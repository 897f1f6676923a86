"""TensorRT-LLM's step ranges: `[Executor] _forward_step 17: 1 ctx reqs, 512 ctx tokens, 3 gen reqs`.

They are NVTX ranges, so a Kineto trace holds them only where somebody converted or mirrored them.
"""

from __future__ import annotations

import re

from boundby.analyzers.step import Tokens

from .mark import SpanMark, generation_kind
from .registry import span_grammar

_STEP = re.compile(r"^\[Executor\] _forward_step(?: \d+)?: (\d+) ctx reqs(?:, (\d+) ctx tokens)?, (\d+) gen reqs$")

DRAFTS_UNSEEN = "TensorRT-LLM's ranges do not tell decode from the verification of drafts"


@span_grammar("tensorrt-llm", order=40)
def parse(name: str) -> SpanMark | None:
    """The mark of a TensorRT-LLM forward step, None for any other name. How many tokens a generating request adds is not said."""
    found = _STEP.match(name)
    if found is None:
        return None
    context, generation = int(found[1]), int(found[3])
    prefill = Tokens(requests=context, q=int(found[2]) if found[2] else None) if context else None
    decode = Tokens(requests=generation) if generation else None
    note = DRAFTS_UNSEEN if generation else ""
    return SpanMark.of_parts(generation_kind(context, generation), prefill, decode, note=note)
