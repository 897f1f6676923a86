"""What a forward call is about to do: sequences, new tokens, cached tokens, read from tensors and caches before the call.

Lengths are read from objects, not from keyword names: the cache has been called `past_key_values` and `cache`, and is a
tuple of tensors in older models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch

from .marks import StepKind

LONGEST_DRAFT = 16
"""New tokens of a verify step: drafts are a few tokens long, chunks of a prompt are hundreds."""


class Lengths(NamedTuple):
    """Of one call: sequences, new tokens of each, cached tokens of each before it."""

    batch: int
    query: int
    cached: int


class LengthReader:
    """Reads lengths call by call, and names the call's kind from what came before it on the same cache."""

    def __init__(self) -> None:
        self._counts: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._before: tuple[StepKind, int, int] | None = None
        """Kind of the last call, the length its cache had after it, and its new tokens."""

    def read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Lengths | None:
        """Lengths of a call with a Hugging Face-like signature; None when it has neither token ids nor embeddings."""
        ids = kwargs.get("input_ids")
        if ids is None and args and isinstance(args[0], torch.Tensor):
            ids = args[0]
        if ids is None:
            ids = kwargs.get("inputs_embeds")
        if not isinstance(ids, torch.Tensor) or ids.dim() < 2:
            return None
        batch, query = int(ids.shape[0]), int(ids.shape[1])
        return Lengths(batch, query, self._cached(_cache(args, kwargs), query))

    def name(self, lengths: Lengths) -> StepKind:
        """prefill, chunk, decode or verify.

        With an empty cache it is a prefill. One new token behind a cache is a decode step. Several are a verify step if the
        cache has been rolled back since the last call (rejected draft tokens), else a later chunk of a prefill while
        nothing has been decoded, else a verify step again. Right after a prefill a few tokens, less than half of its own, are
        taken for a draft all of which was accepted: chunks are of one size but for the last."""
        kind: StepKind
        if lengths.cached == 0:
            kind = "prefill"
        elif lengths.query == 1:
            kind = "decode"
        else:
            last, total, query = self._before or ("prefill", lengths.cached, lengths.query)
            prompt = last in ("prefill", "chunk") and lengths.cached >= total
            draft = lengths.query <= LONGEST_DRAFT and lengths.query < query / 2
            kind = "chunk" if prompt and not (last == "prefill" and draft) else "verify"
        self._before = (kind, lengths.cached + lengths.query, lengths.query)
        return kind

    def _cached(self, cache: Any, query: int) -> int:
        if cache is None:
            return 0
        if isinstance(cache, (tuple, list)):
            return _legacy(cache)
        length = cache.get_seq_length()
        if isinstance(length, torch.Tensor):
            if length.device.type == "cpu":
                return int(length)
            # Reading a length that lives on the device would make the host wait: count the calls instead.
            before = self._counts.get(cache, 0)
            self._counts[cache] = before + query
            return before
        return int(length)


def _cache(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    for name in ("past_key_values", "cache", "past_key_value", "layer_past"):
        if kwargs.get(name) is not None:
            return kwargs[name]
    return next((a for a in args if hasattr(a, "get_seq_length") or _is_legacy(a)), None)


def _is_legacy(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and bool(value)
        and isinstance(value[0], (tuple, list))
        and bool(value[0])
        and isinstance(value[0][0], torch.Tensor)
    )


def _legacy(cache: Sequence[Any]) -> int:
    """Length of ((key, value), ...) with keys [batch, heads, tokens, head]."""
    return int(cache[0][0].shape[-2]) if _is_legacy(cache) else 0
