"""SGLang's step spans: `step[MODE key=value ...]`, the keys in any order.

`bs` requests, `toks` new tokens, `raw_bs` requests before padding to a graph's size; with details also the sums
`c_sq c_sk c_sqsq c_sqsk` over requests in their prompt and `g_...` over those past it. The mode is a `ForwardMode`.
"""

from __future__ import annotations

import re

from boundby.analyzers.step import PhaseKind, Tokens

from .mark import SpanMark
from .registry import span_grammar

_STEP = re.compile(r"^step\[([A-Z][A-Z0-9_]*)((?: [A-Za-z_]+=[^\s\]]*)*)\]$")

_KINDS: dict[str, PhaseKind] = {
    "EXTEND": "prefill",
    "SPLIT_PREFILL": "prefill",
    "DECODE": "decode",
    "MIXED": "mixed",
    "TARGET_VERIFY": "verify",
    "VERIFY": "verify",
}
_OTHER = {
    "IDLE": "idle steps: ranks without requests run along with the others",
    "PREBUILT": "prebuilt steps: the prompt's KV cache came from another server",
    "DLLM_EXTEND": "block-diffusion steps are neither prefill nor decode",
}
DRAFTING = "steps of the draft model (speculative decoding) are kept apart from those of the model itself"


@span_grammar("sglang", order=30)
def parse(name: str) -> SpanMark | None:
    """The mark of an SGLang step span, None for any other name. A mode that is new here is of unknown kind."""
    found = _STEP.match(name) if name.startswith("step[") else None
    if found is None:
        return None
    mode, values = found[1], _values(found[2])
    batch = values.get("raw_bs", values.get("bs"))
    if mode.startswith("DRAFT"):
        return SpanMark(kind="unknown", batch=batch, query_tokens=values.get("toks"), draft=True, note=DRAFTING)
    kind = _KINDS.get(mode, "unknown")
    if kind == "unknown":
        note = _OTHER.get(mode, f"SGLang mode {mode} is not known here")
        return SpanMark(kind=kind, batch=batch, query_tokens=values.get("toks"), note=note)
    prefill, decode = _parts(kind, batch, values)
    mark = SpanMark.of_parts(kind, prefill, decode, batch=batch)
    if mark.query_tokens is None and "toks" in values:
        return SpanMark(kind=kind, batch=batch, query_tokens=values["toks"], prefill=prefill, decode=decode)
    return mark


def _values(text: str) -> dict[str, int]:
    pairs = (pair.split("=", 1) for pair in text.split())
    return {key: int(value) for key, value in pairs if value.isdecimal()}


def _parts(kind: PhaseKind, batch: int | None, values: dict[str, int]) -> tuple[Tokens | None, Tokens | None]:
    if kind == "prefill":
        return _sums("c", batch, values, q=values.get("toks")), None
    if kind == "decode":
        return None, _sums("g", batch, values, q=batch)
    if kind == "verify":
        return None, _sums("g", batch, values, q=values.get("toks"))
    # A decoding request of a mixed step adds one token, so their number is its sum of q.
    decoding = values.get("g_sq")
    in_prompt = None if batch is None or decoding is None else batch - decoding
    return _sums("c", in_prompt, values, q=None), _sums("g", decoding, values, q=None)


def _sums(part: str, requests: int | None, values: dict[str, int], *, q: int | None) -> Tokens:
    return Tokens(
        requests=requests,
        q=values.get(f"{part}_sq", q),
        k=values.get(f"{part}_sk"),
        qk=values.get(f"{part}_sqsk"),
        qq=values.get(f"{part}_sqsq"),
    )
