"""Findings that hold a phase against the roofline, and the prediction against the phase."""

from __future__ import annotations

from typing import Any

import pytest
from bench import add, phase_of, product, told

from boundby.analyzers import analyze
from boundby.analyzers.analysis import Phase, Predicted
from boundby.analyzers.findings import diagnoses, finding
from boundby.tracer.marks import StepMark

PREFILL = StepMark("prefill", 1, 1000, 0, 0)


def on_grid(us: float, blocks: int, **given: Any) -> dict[str, Any]:
    return product(us, args={"grid": [blocks, 1, 1]}, **given)


def test_idle_processors_cost_their_share_of_the_time() -> None:
    found = told(phase_of([on_grid(100.0, 25)] * 5, mark=PREFILL), "low-occupancy")
    assert found is not None
    # 25 blocks on 100 processors: three quarters of 500 us.
    assert found.saving_us == pytest.approx(375.0)
    assert found.saving_fraction == pytest.approx(0.75)
    assert "5 kernels of 25 blocks (median) on 100 processors" in found.evidence


def test_more_blocks_gain_no_more_than_the_roof_allows() -> None:
    # 4,000 rows need 40 us of 100: 60 are to be gained, though 90 % of the processors stand idle.
    found = told(phase_of([on_grid(100.0, 10, rows=4000)] * 5, mark=PREFILL), "low-occupancy")
    assert found is not None
    assert found.saving_us == pytest.approx(5 * 60.0)


@pytest.mark.parametrize(
    "kernel",
    [on_grid(100.0, 100), on_grid(15.0, 25), product(100.0), {"us": 100.0, "name": "gemm", "args": {"grid": [25]}}],
    ids=["a full grid", "near its roof", "no grid recorded", "no cost known"],
)
def test_no_occupancy_is_blamed_without_proof(kernel: dict[str, Any]) -> None:
    assert told(phase_of([kernel] * 5, mark=PREFILL), "low-occupancy") is None


def test_slow_kernels_save_what_a_good_kernel_would() -> None:
    found = told(phase_of([on_grid(100.0, 200)] * 5, mark=PREFILL), "far-from-roofs")
    assert found is not None
    assert found.saving_us == pytest.approx(5 * (100.0 - 10.0 / 0.7))
    assert "5 kernels at 10% of the roof" in found.evidence


@pytest.mark.parametrize(
    "kernel",
    [on_grid(100.0, 25), on_grid(30.0, 200), add(9.0, n=100_000), {"us": 100.0, "name": "gemm"}],
    ids=["too few blocks is another finding", "a third of the roof", "mostly ramp", "no cost known"],
)
def test_no_kernel_is_called_slow_without_proof(kernel: dict[str, Any]) -> None:
    assert told(phase_of([kernel] * 5, mark=PREFILL), "far-from-roofs") is None


def predicted(monkeypatch: pytest.MonkeyPatch, bound: str, wall_us: float, kernels: list[dict[str, Any]]) -> Phase:
    told_ahead = Predicted(bound=bound, wall_us=wall_us, intensity=None, flops=0.0, bytes=0.0)
    monkeypatch.setattr(analyze, "predict_phase", lambda *_: told_ahead)
    return phase_of(kernels, mark=PREFILL)


def test_another_bound_is_a_disagreement_split_in_three(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three products of 12 us (roof 10) and four sums of 30 (roof 12), 44 idle: wall 200, busy 156, roof 78.
    kernels = [product(12.0)] * 3 + [add(30.0)] * 3 + [add(30.0, gap=44.0, late=True)]
    phase = predicted(monkeypatch, "compute", 30.0, kernels)
    assert phase.bound == "bandwidth"
    found = told(phase, "prediction-disagrees")
    assert found is not None
    assert found.title == "Predicted compute-bound, measured bandwidth-bound"
    # 44 + (78 - 30) + (156 - 78) = 170 = 200 - 30.
    assert "idle +44" in found.evidence
    assert "needs +48" in found.evidence
    assert "their roof +78" in found.evidence
    assert found.saving_us is None


def test_the_same_bound_within_half_is_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [product(12.0)] * 5  # wall 60
    assert told(predicted(monkeypatch, "compute", 50.0, kernels), "prediction-disagrees") is None
    far = told(predicted(monkeypatch, "compute", 30.0, kernels), "prediction-disagrees")
    assert far is not None
    assert far.title == "2 times slower than the device must be"


def test_faster_than_possible_doubts_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(predicted(monkeypatch, "compute", 120.0, [product(12.0)] * 5), "prediction-disagrees")
    assert found is not None
    assert found.title == "2 times faster than the prediction allows"
    assert "--model" in found.advice


def test_a_contested_label_disagrees_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # 48 us of products beside 50 of sums: bandwidth by 2 %.
    kernels = [product(12.0)] * 4 + [add(25.0)] * 2
    phase = predicted(monkeypatch, "compute", 80.0, kernels)
    assert phase.contested
    assert told(phase, "prediction-disagrees") is None


def test_the_largest_saving_comes_first() -> None:
    kernels = [on_grid(100.0, 25)] * 3 + [product(10.0, rows=1, gap=400.0, late=True)] * 3
    savings = [f.saving_us or 0.0 for f in phase_of(kernels, mark=PREFILL).findings]
    assert len(savings) >= 2
    assert savings == sorted(savings, reverse=True)


def test_no_saving_exceeds_the_wall_that_streams_share() -> None:
    # Four kernels of 100 us side by side: 400 us of kernel time in 100 us of wall, then one of 100.
    side_by_side = [on_grid(100.0, 10, start_ns=1_000_000, stream=n) for n in range(4)]
    phase = phase_of([*side_by_side, on_grid(100.0, 10, start_ns=1_100_000)], mark=PREFILL)
    assert phase.wall_us == pytest.approx(200.0)
    found = told(phase, "low-occupancy")
    assert found is not None
    assert found.saving_us == pytest.approx(200.0)
    assert found.saving_fraction == pytest.approx(1.0)


def test_an_id_cannot_be_registered_twice() -> None:
    assert {"gaps-dominate", "far-from-roofs"} <= diagnoses().keys()
    with pytest.raises(ValueError, match="gaps-dominate"):
        finding("gaps-dominate")(lambda _: None)
