"""The kind of each forward pass of one model, from new tokens, tokens cached before, and what came next.

Several new tokens do not make a prefill: with an empty cache they do; behind a cache they are a later chunk of a prompt,
or drafts being verified. A verification gives itself away when tokens are thrown away: the next forward then starts from a
shorter cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boundby.analyzers.step import PhaseKind

from .forwards import Forward

MOST_DRAFTED = 64
"""Draft trees and lookups propose at most some tens of tokens; more new tokens than this behind a cache are a chunk."""

NOT_CAUSAL = "attention sees later tokens too: an encoder, neither prefill nor decode"
MAYBE_ENCODER = "a mask may or may not hide later tokens, and the model looks like an encoder: not called a prefill"
CROSS_ATTENTION = "an encoder-decoder model: its steps are neither prefill nor decode of a causal language model"
NO_ATTENTION = "no attention op tells whether a cache was there, so several new tokens cannot be named"
CHUNK_OR_VERIFY = (
    "a few new tokens behind a cache: the last chunk of a prompt or drafts being verified, which cannot be told"
)
DRAFTING = "steps of the draft model (speculative decoding) are kept apart from those of the model itself"


@dataclass(frozen=True, slots=True)
class Named:
    """A forward with its kind, and why it could not be named where it could not."""

    forward: Forward
    kind: PhaseKind
    note: str = ""
    draft: bool = False


def name_forwards(forwards: Sequence[Forward]) -> list[Named]:
    """Name every forward of a trace; forwards of different models (tables) and threads are looked at apart."""
    models: dict[tuple[int, tuple[int, int]], list[Forward]] = {}
    for forward in forwards:
        models.setdefault((forward.tid, forward.table), []).append(forward)
    named = [name for model in models.values() for name in _name_model(model)]
    return sorted(_set_drafts_apart(named), key=lambda name: name.forward.start_ns)


def _name_model(model: list[Forward]) -> list[Named]:
    if any(_crosses(forward) for forward in model):
        return [Named(forward, "unknown", CROSS_ATTENTION) for forward in model]
    named: list[Named] = []
    for n, forward in enumerate(model):
        following = model[n + 1] if n + 1 < len(model) else None
        named.append(Named(forward, *_kind(forward, named[-1] if named else None, following)))
    return named


def _crosses(forward: Forward) -> bool:
    """Some layers see the new tokens alone and others see more: those look at an encoder's output. (Many new tokens can also
    fill a sliding window exactly.)"""
    few = forward.query is not None and forward.query <= MOST_DRAFTED
    return few and len(forward.contexts) > 1 and forward.contexts[0] == forward.query


def _kind(forward: Forward, before: Named | None, after: Forward | None) -> tuple[PhaseKind, str]:
    query, context = forward.query, forward.context
    if forward.causal is False:
        return "unknown", NOT_CAUSAL
    if forward.causal is None and forward.encoder_like and query == context and query is not None:
        return "unknown", MAYBE_ENCODER
    if query is None:
        return "unknown", NO_ATTENTION
    if context is None:
        return _without_attention(query, before, after)
    if query == context:
        return "prefill", ""
    if query == 1:
        return "decode", ""
    if _rolled_back(forward, after):
        return "verify", ""
    if query > MOST_DRAFTED or _ends_prompt(forward, before, after):
        return "prefill", ""
    return "unknown", CHUNK_OR_VERIFY


def _without_attention(query: int, before: Named | None, after: Forward | None) -> tuple[PhaseKind, str]:
    """One token at a time, one after the other, is decoding; what comes right before the first of them is the prompt."""
    if query == 1:
        beside = [after.query if after else None, before.forward.query if before else None]
        return ("decode", "") if any(q is not None for q in beside) else ("unknown", NO_ATTENTION)
    if before is None and after is not None and after.query == 1:
        return "prefill", ""
    return "unknown", NO_ATTENTION


def _rolled_back(forward: Forward, after: Forward | None) -> bool:
    if after is None or after.context is None or after.query is None or forward.context is None:
        return False
    if after.batch != forward.batch or after.query == after.context or after.context == forward.context:
        return False  # another prompt, or a cache of fixed size
    return after.context - after.query < forward.context


def _ends_prompt(forward: Forward, before: Named | None, after: Forward | None) -> bool:
    if before is None or after is None or before.kind != "prefill" or after.query != 1:
        return False
    grown = before.forward.context is not None and forward.query is not None
    joins = grown and forward.context == (before.forward.context or 0) + (forward.query or 0)
    return joins and after.context == (forward.context or 0) + 1 and (before.forward.query or 0) > MOST_DRAFTED


def _set_drafts_apart(named: list[Named]) -> list[Named]:
    """Where one model verifies or may verify, a narrower one beside it drafts, and the doubt is settled."""
    doubtful = {n.forward.table for n in named if n.kind == "verify" or n.note == CHUNK_OR_VERIFY}
    widths = {n.forward.table[1] for n in named}
    if not doubtful or len(widths) < 2:
        return named
    widest = max(widths)
    if all(table[1] < widest for table in doubtful):
        return named
    return [_beside_draft(n, widest) for n in named]


def _beside_draft(named: Named, widest: int) -> Named:
    if named.forward.table[1] < widest:
        return Named(named.forward, "unknown", DRAFTING, draft=True)
    return Named(named.forward, "verify") if named.note == CHUNK_OR_VERIFY else named
