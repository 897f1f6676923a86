"""What kernels' names give away about the step they are in, where there is nothing else to go by."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.step import PhaseKind

Bools = npt.NDArray[np.bool_]

ATTENTION = re.compile(r"(?i)attn|attention|fmha|flash_|\bmha_|mmha|sdpa")
"""Kernels that occur once or more in every layer."""
FOR_DECODE = re.compile(
    r"(?i)paged_?attention|split_?kv|decode_?(?!r)\w*attn|attn\w*_decode|attention\w*_decode|decode\w*attention"
    r"|BatchDecode|SingleDecode|fmha\w*decode|mmha|masked_multihead|unified_attention_3d"
)
"""Attention kernels written for one new token of a sequence behind a cache."""
FOR_PREFILL = re.compile(r"(?i)prefill|context_attention|_fwd_kernel_(?:aligned|unaligned)|fmha_v\d_context")
"""Attention kernels written for prompts."""
ONCE_A_STEP = re.compile(
    r"(?i)embedding|indexSelect|vectorized_gather|argmax|topk|top_p|multinomial|sampl|softmax_?forward|radixsort|gatherTopK"
)
"""Looking up token ids and choosing the next token: once at a step's start and end, never per layer."""


def matches(names: pl.Series, pattern: re.Pattern[str]) -> Bools:
    """Per row of a column of names: whether it matches; each distinct name is looked at once."""
    distinct = names.unique().to_list()
    table = {name: bool(pattern.search(name)) for name in distinct}
    return (
        names.replace_strict(list(table), list(table.values()), return_dtype=pl.Boolean).to_numpy()
        if table
        else _none()
    )


def kind_by_attention(names: pl.Series) -> PhaseKind:
    """Decode or prefill where attention kernels of these names serve one of them alone, else unknown."""
    distinct = names.unique().to_list()
    decode = any(FOR_DECODE.search(name) for name in distinct)
    prefill = any(FOR_PREFILL.search(name) for name in distinct)
    return "unknown" if decode == prefill else "decode" if decode else "prefill"


def _none() -> Bools:
    return np.empty(0, bool)
