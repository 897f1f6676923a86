"""Our own marks read back as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundby.tracer.marks import ModuleMark, StepMark

KINDS = st.sampled_from(["prefill", "chunk", "decode", "verify", "mixed", "unknown"])
COUNT = st.integers(0, 10**9)


@given(KINDS, COUNT, COUNT, COUNT, COUNT)
def test_a_step_mark_reads_back(kind: str, batch: int, query: int, cached: int, index: int) -> None:
    mark = StepMark(kind, batch, query, cached, index)  # type: ignore[arg-type]
    assert StepMark.parse(str(mark)) == mark


@pytest.mark.parametrize(
    "name",
    [
        "boundby.step[prefill]",
        "boundby.step[walk b=1 q=1 k=1 i=1]",
        "step[DECODE bs=1]",
        "xboundby.step[decode b=1 q=1 k=1 i=1]",
    ],
)
def test_what_looks_like_a_mark_and_is_none(name: str) -> None:
    assert StepMark.parse(name) is None


def test_a_module_mark_reads_back() -> None:
    mark = ModuleMark("attention", "model.layers.3.self_attn")
    assert str(mark) == "boundby.module[attention model.layers.3.self_attn]"
    assert ModuleMark.parse(str(mark)) == mark
    assert ModuleMark.parse("boundby.module[kitchen x]") is None
