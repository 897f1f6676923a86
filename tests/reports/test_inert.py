import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundby.reports.inert import inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\nb\tc\0", "a\\nb\\tc\\x00"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("no\u00a0break", "no break"),
        ("µ → é 模型", "µ → é 模型"),
    ],
)
def test_what_could_act_is_spelled_out(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_a_long_name_is_cut_with_a_mark() -> None:
    assert inert("x" * 9, limit=5) == "xxxx…"


@given(st.text(alphabet=st.characters(), max_size=60))
def test_nothing_left_can_act(text: str) -> None:
    shown = inert(text)
    assert not any(
        unicodedata.category(char).startswith("C") or unicodedata.category(char) in {"Zl", "Zp"} for char in shown
    )
    shown.encode()
