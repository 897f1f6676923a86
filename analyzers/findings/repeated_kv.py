"""Grouped heads are repeated before attention: the cache is read, written several times as large, and read again."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

LARGE = 0.02
"""Share of the wall below which another attention back end gains nothing that can be measured."""
COPIES = ("aten::copy_", "aten::clone", "aten::contiguous", "aten::reshape", "aten::_reshape_copy")


@finding("repeated-kv")
def repeated_kv(case: Case) -> Finding | None:
    """Copies of a 5-dimensional [batch, KV heads, group, tokens, head] tensor: `repeat_kv` made real. All of it is saved by a
    kernel that reads each KV head once."""
    phase = case.phase
    if phase.wall_us is None:
        return None
    items, mine = case.given.items, case.mine
    repeats = np.zeros(len(mine), bool)
    for number, call in enumerate(items.work.calls):
        if call.name not in COPIES or not _repeats(call.dims, call.strides):
            continue
        repeats |= mine & (items.work.call == number)
    spent = float(items.work.time[repeats].sum()) / 1e3
    if spent < LARGE * phase.wall_us:
        return None
    return Finding(
        id="repeated-kv",
        title="Key and value heads are repeated in memory",
        saving_us=spent,
        saving_fraction=case.fraction(spent),
        evidence=f"{case.calls_of(repeats)} copies of repeated key and value heads take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall)",
        advice="Let attention read grouped heads: attn_implementation='sdpa' with enable_gqa (transformers does for GPUs), or 'flash_attention_2'.",
    )


def _repeats(dims: tuple[object, ...], strides: tuple[object, ...]) -> bool:
    """Some 5-d input has its middle axis expanded (stride 0, size over 1)."""
    for shape, stride in zip(dims, strides, strict=False):
        if isinstance(shape, (list, tuple)) and isinstance(stride, (list, tuple)) and len(shape) == len(stride) == 5:
            n = shape[2]
            if stride[2] == 0 and isinstance(n, int) and n > 1:
                return True
    return False
