"""The tables of a phase: sums over its items, and figures only where they are known."""

from __future__ import annotations

from typing import Any

import pytest
from bench import add, phase_of, product
from hypothesis import given, settings
from hypothesis import strategies as st

MYSTERY = {"us": 25.0, "name": "mystery"}


def test_one_row_a_distinct_call_with_its_rates() -> None:
    phase = phase_of([product(20.0), product(30.0), product(5.0, rows=1), MYSTERY, MYSTERY])
    rows = {(row.name, row.shapes): row for row in phase.operators}
    square = rows["aten::mm", "[1000,1000] [1000,1000] BFloat16"]
    assert (square.count, square.time_us, square.bound_class, square.known_by) == (2, 50.0, "compute", "shapes")
    # 4 GFLOP and 12 MB in 50 us; 20 us at the peak.
    assert square.flops == pytest.approx(4e9)
    assert square.bytes == pytest.approx(12e6)
    assert square.achieved_tflops == pytest.approx(80.0)
    assert square.achieved_gb_s == pytest.approx(240.0)
    assert square.efficiency == pytest.approx(0.4)
    assert square.kernel_names == ("gemm_kernel",)
    assert rows["aten::mm", "[1,1000] [1000,1000] BFloat16"].count == 1


def test_what_is_unknown_is_none_and_never_zero() -> None:
    phase = phase_of([product(20.0)] * 4 + [MYSTERY])
    (row,) = [row for row in phase.operators if row.name == "mystery"]
    assert (row.flops, row.bytes, row.achieved_tflops, row.achieved_gb_s, row.efficiency) == (None,) * 5
    assert (row.known_by, row.bound_class, row.count) == ("none", "unknown", 1)
    assert phase.cost_coverage == pytest.approx(80.0 / 105.0)


def test_an_efficiency_needs_every_roof() -> None:
    bare = {"us": 20.0, "name": "gemm_kernel"}
    (row,) = phase_of([product(20.0), product(20.0), product(20.0), product(20.0), bare]).kernels
    assert (row.count, row.time_us, row.efficiency) == (5, 100.0, None)
    assert row.flops == pytest.approx(8e9)  # of the four that are known


def test_kernels_come_heaviest_first_with_the_gaps_before_them() -> None:
    rows = phase_of([add(10.0), product(30.0, gap=5.0, late=True), add(10.0, gap=7.0, late=True), *[product(5.0)] * 2])
    assert [(row.name, row.time_us, row.gap_before_us) for row in rows.kernels] == [
        ("gemm_kernel", 40.0, 5.0),
        ("vectorized_elementwise_kernel", 20.0, 7.0),
    ]
    assert [row.share for row in rows.kernels] == pytest.approx([2 / 3, 1 / 3])


def test_a_rate_above_the_memorys_means_a_cache() -> None:
    # 12 MB in 6 us are 2,000 GB/s, twice the device's.
    rows = phase_of([*[add(6.0)] * 4, add(25.0, n=1_000_001)]).operators
    assert [(row.count, row.cache_resident, row.efficiency) for row in rows] == [
        (1, False, pytest.approx(12.000012 / 25)),
        (4, True, pytest.approx(2.0)),
    ]


def test_no_parts_are_listed_where_none_is_known() -> None:
    assert phase_of([MYSTERY] * 5).parts == ()


KERNELS = st.lists(
    st.builds(
        lambda kind, us, gap, late: {
            **(product(us) if kind == 0 else add(us) if kind == 1 else {"us": us, "name": "mystery"}),
            "gap": gap,
            "late": late,
        },
        st.integers(0, 2),
        st.integers(1, 60).map(float),
        st.integers(0, 60).map(float),
        st.booleans(),
    ),
    min_size=5,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(KERNELS, st.none() | st.integers(1, 1500).map(float))
def test_a_phase_adds_up(kernels: list[dict[str, Any]], untraced_us: float | None) -> None:
    kernels[0].update(gap=0.0, late=False)  # or the window opens before it
    phase = phase_of(kernels, untraced_us=untraced_us)
    busy = sum(k["us"] for k in kernels)
    traced = busy + sum(k["gap"] for k in kernels)
    wall = traced if untraced_us is None else max(min(untraced_us, traced), busy)
    assert phase.shares is not None
    shares = [getattr(phase.shares, name) for name in phase.shares.__struct_fields__]
    assert sum(shares) == pytest.approx(1.0, abs=1e-9)
    assert min(shares) >= 0.0
    assert phase.wall_us == pytest.approx(wall)
    assert phase.busy_us == pytest.approx(busy)
    assert phase.idle_us == pytest.approx(wall - busy, abs=1e-9)
    assert sum(phase.launch_causes.values()) == pytest.approx(phase.shares.launch * wall, abs=1e-6)
    for table in (phase.kernels, phase.operators):
        assert sum(row.time_us for row in table) == pytest.approx(busy)
    assert sum(row.gap_before_us for row in phase.kernels) == pytest.approx(traced - busy)
    assert all(f.saving_us is None or 0.0 <= f.saving_us <= wall * (1 + 1e-9) for f in phase.findings)
