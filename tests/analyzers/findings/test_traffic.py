"""Findings about bytes that need not move: unfused kernels, grown caches, repeated heads."""

from __future__ import annotations

from typing import Any

import pytest
from bench import HALF, add, phase_of, product, told

from boundby.tracer.marks import StepMark

PREFILL = StepMark("prefill", 1, 1000, 0, 0)


def test_kernels_that_follow_each_other_are_fused_run_by_run() -> None:
    phase = phase_of(
        [product(20.0), add(30.0), add(10.0), product(20.0), add(40.0), product(20.0)],
        mark=PREFILL,
    )
    found = told(phase, "elementwise-traffic")
    assert found is not None
    # 30 + 10: the longest stays, 10 goes (half would be 20). 40 alone has nothing to be fused with.
    assert found.saving_us == pytest.approx(10.0)
    assert found.saving_fraction == pytest.approx(10.0 / 140.0)
    assert "3 elementwise" in found.evidence
    assert "57% of the wall" in found.evidence


def test_a_long_run_saves_half_at_most() -> None:
    found = told(
        phase_of([product(20.0), *[add(20.0)] * 4, product(20.0)], mark=PREFILL),
        "elementwise-traffic",
    )
    assert found is not None
    assert found.saving_us == pytest.approx(40.0)  # of 80; all but the longest would be 60


def test_a_phase_without_compute_bound_products_has_no_elementwise_finding() -> None:
    one_row = [product(10.0, rows=1)] * 3
    assert told(phase_of([*one_row, *[add(20.0)] * 4]), "elementwise-traffic") is None


def test_a_quarter_of_the_wall_is_where_elementwise_traffic_is_told() -> None:
    few = [product(90.0)] * 4 + [add(50.0), add(50.0)]
    assert told(phase_of(few, mark=PREFILL), "elementwise-traffic") is None  # 100 of 460


def grown(old: int, new: int, us: float) -> dict[str, Any]:
    op = {
        "name": "aten::cat",
        "dims": (((1, 8, old, 64), (1, 8, new, 64)), ()),
        "types": ("TensorList", "Scalar"),
        "concrete": ("", "2"),
    }
    return {"us": us, "name": "CatArrayBatchedCopy", "op": op}


def test_a_cache_grown_by_concatenation_saves_all_but_the_new_tokens_share() -> None:
    phase = phase_of([product(30.0, rows=1)] * 4 + [grown(99, 1, 20.0), grown(99, 1, 20.0)])
    found = told(phase, "cache-concatenation")
    assert found is not None
    assert found.saving_us == pytest.approx(40.0 * 99 / 100)
    assert found.saving_fraction == pytest.approx(39.6 / 160)
    assert "2 aten::cat" in found.evidence
    assert "static" in found.advice


def test_joined_halves_are_no_cache() -> None:
    rotary = [grown(32, 32, 20.0)] * 2
    assert told(phase_of([product(30.0, rows=1)] * 4 + rotary), "cache-concatenation") is None


def test_a_prompt_writes_its_cache_once() -> None:
    phase = phase_of([product(30.0)] * 4 + [grown(900, 100, 20.0)], mark=PREFILL)
    assert told(phase, "cache-concatenation") is None


def repeated(us: float, stride: int) -> dict[str, Any]:
    op = {
        "name": "aten::clone",
        "dims": ((1, 2, 4, 1000, 64), ()),
        "types": (HALF, "Scalar"),
        "strides": ((128_000, 64_000, stride, 64, 1), ()),
    }
    return {"us": us, "name": "elementwise_kernel", "op": op}


def test_repeated_heads_are_told_by_the_expanded_axis() -> None:
    products = [product(30.0, rows=1)] * 4
    found = told(phase_of([*products, repeated(20.0, 0), repeated(20.0, 0)]), "repeated-kv")
    assert found is not None
    assert found.saving_us == pytest.approx(40.0)
    assert "2 copies" in found.evidence
    assert told(phase_of([*products, repeated(20.0, 64_000)] * 2), "repeated-kv") is None
