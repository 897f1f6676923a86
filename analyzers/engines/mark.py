"""`SpanMark`: what an engine's span name says about the forward pass inside it."""

from __future__ import annotations

from dataclasses import dataclass

from boundby.analyzers.step import PhaseKind, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMark:
    """One step, as its span's name tells it. None is what the name does not say.

    `query_tokens` and `context_tokens` are sums over the step's sequences, as in `Step`.
    """

    kind: PhaseKind
    batch: int | None = None
    query_tokens: int | None = None
    context_tokens: int | None = None
    prefill: Tokens | None = None
    decode: Tokens | None = None
    draft: bool = False
    """A step of the draft model of speculative decoding, not of the model that is served."""
    note: str = ""
    """A sentence for the report, when the name leaves something open."""

    @classmethod
    def of_parts(
        cls, kind: PhaseKind, prefill: Tokens | None, decode: Tokens | None, *, batch: int | None = None, note: str = ""
    ) -> SpanMark:
        """A mark whose totals are the sums of its prefill and decode parts; a sum of which a part is unknown is unknown."""
        parts = [part for part in (prefill, decode) if part is not None]
        return cls(
            kind=kind,
            batch=batch if batch is not None else _total([part.requests for part in parts]),
            query_tokens=_total([part.q for part in parts]),
            context_tokens=_total([part.k for part in parts]),
            prefill=prefill,
            decode=decode,
            note=note,
        )


def generation_kind(context: int, generation: int) -> PhaseKind:
    """The kind of a step with so many requests still in their prompt and so many past it: never by token counts."""
    if context and generation:
        return "mixed"
    if context:
        return "prefill"
    return "decode" if generation else "unknown"


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
