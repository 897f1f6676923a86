"""From shares to a label: margins, what contests it, and when there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundby.analyzers.analysis import Shares
from boundby.analyzers.classes import CLASSES
from boundby.analyzers.verdict import CONTESTED_BELOW, judge


def test_the_largest_share_is_the_bound_and_the_margin_its_lead() -> None:
    verdict = judge(Shares(compute=0.2, bandwidth=0.5, launch=0.3))
    assert (verdict.bound, verdict.contested, verdict.reasons) == ("bandwidth", False, ())
    assert verdict.margin == pytest.approx(0.2)


def test_a_lead_under_a_tenth_is_contested() -> None:
    verdict = judge(Shares(compute=0.45, bandwidth=0.54, launch=0.01))
    assert (verdict.bound, verdict.contested) == ("bandwidth", True)
    assert verdict.margin == pytest.approx(0.09)
    assert "compute" in verdict.reasons[0]


def test_a_lead_of_a_tenth_is_not() -> None:
    assert not judge(Shares(compute=0.4375, bandwidth=0.5625)).contested


def test_unattributed_time_that_could_overturn_a_label_contests_it() -> None:
    # 0.25 more for launch would make it 0.5 against 0.45.
    verdict = judge(Shares(bandwidth=0.45, launch=0.25, unknown=0.25, stall=0.05))
    assert (verdict.bound, verdict.contested) == ("bandwidth", True)
    assert verdict.margin == pytest.approx(0.2)


def test_the_margin_is_to_unattributed_time_where_that_is_second() -> None:
    verdict = judge(Shares(compute=0.6, bandwidth=0.05, launch=0.05, unknown=0.3))
    assert not verdict.contested  # all of it would bring bandwidth to 0.35
    assert verdict.margin == pytest.approx(0.3)


def test_unattributed_time_close_behind_contests_a_label() -> None:
    # Bandwidth, with all of it, would reach 0.48.
    verdict = judge(Shares(compute=0.5, bandwidth=0.02, launch=0.02, stall=0.01, unknown=0.45))
    assert (verdict.bound, verdict.contested) == ("compute", True)
    assert verdict.margin == pytest.approx(0.05)
    assert "unattributed" in verdict.reasons[0]


def test_unknown_wins_only_over_half() -> None:
    assert judge(Shares(compute=0.5, unknown=0.5)).bound == "compute"
    over = judge(Shares(compute=0.49, unknown=0.51))
    assert (over.bound, over.confidence) == ("unknown", "low")
    assert over.margin == pytest.approx(0.02)


def test_capacity_outranks_every_share() -> None:
    verdict = judge(Shares(compute=1.0), capacity=("3 allocator retries",))
    assert (verdict.bound, verdict.margin, verdict.reasons) == ("capacity", None, ("3 allocator retries",))


def test_a_launch_label_that_hangs_on_the_captures_edge_is_contested() -> None:
    shares = Shares(launch=0.6, bandwidth=0.4)
    # Without the edge's 0.3, launch is 0.3 against 0.4; without 0.1 it still leads.
    assert judge(shares, edge_share=0.3).contested
    assert not judge(shares, edge_share=0.1).contested
    assert not judge(Shares(launch=0.3, bandwidth=0.7), edge_share=0.3).contested


@given(st.lists(st.integers(0, 100), min_size=len(CLASSES), max_size=len(CLASSES)).filter(any))
def test_an_uncontested_label_keeps_its_lead_whatever_the_unattributed_time_was(weights: list[int]) -> None:
    shares = dict(zip(CLASSES, [w / sum(weights) for w in weights], strict=True))
    verdict = judge(Shares(**shares))
    if verdict.contested or verdict.bound == "unknown":
        return
    lead = shares.pop(verdict.bound)
    missing = shares.pop("unknown")
    assert verdict.margin is not None
    assert verdict.margin >= CONTESTED_BELOW
    assert lead >= max(shares.values()) + missing - 1e-12
