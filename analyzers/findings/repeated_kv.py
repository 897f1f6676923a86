"""Grouped heads are repeated before attention: the cache is read, written several times as large, and read again."""

from __future__ import annotations

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

LARGE = 0.02
COPIES = ("aten::copy_", "aten::clone", "aten::repeat_interleave", "aten::repeat")


@finding("repeated-kv")
def repeated_kv(case: Case) -> Finding | None:
    """Copies of a 5-dimensional [batch, KV heads, group, tokens, head] tensor: `repeat_kv` made real. All of it is saved by a
    kernel that reads each KV head once."""
    phase = case.phase
    if phase.wall_us is None:
        return None
    items, mine = case.given.items, case.mine
    spent, calls = 0.0, 0
    for number, call in enumerate(items.work.calls):
        if call.name not in COPIES or not _repeats(call.dims, call.strides):
            continue
        chosen = mine & (items.work.call == number)
        spent += float(items.work.time[chosen].sum()) / 1e3
        calls += int(chosen.sum())
    if spent < LARGE * phase.wall_us:
        return None
    return Finding(
        id="repeated-kv",
        title="Key and value heads are repeated in memory",
        saving_us=spent,
        saving_fraction=case.fraction(spent),
        evidence=f"{calls} copies of repeated key and value heads take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall)",
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
