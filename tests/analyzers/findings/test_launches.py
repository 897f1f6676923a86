"""Findings about a device that waits for its host, and about the profiler that makes it wait."""

from __future__ import annotations

import pytest
from bench import LATE_NS, phase_of, product, told

from boundby.analyzers.findings.gaps_dominate import ADVICE, ON_HOST
from boundby.analyzers.idle import CAUSES
from boundby.analyzers.time_account import TINY
from boundby.tracer.marks import StepMark

BUSY = product(10.0, rows=1)
LATE = product(10.0, rows=1, gap=40.0, late=True)


def sync(start_us: float, us: float, name: str = "cudaStreamSynchronize") -> dict[str, object]:
    return {"ts_ns": LATE_NS + round(start_us * 1000), "dur_ns": round(us * 1000), "name": name}


def test_gaps_save_the_time_of_their_main_cause() -> None:
    # 10, then four times (40 idle, 10): wall 210, idle 160.
    found = told(phase_of([BUSY, LATE, LATE, LATE, LATE]), "gaps-dominate")
    assert found is not None
    assert found.saving_us == pytest.approx(160.0)
    assert found.saving_fraction == pytest.approx(160.0 / 210.0)
    assert "76% of the time" in found.title
    assert "reduce-overhead" in found.advice
    assert "may be the profiler's own" in found.evidence


def test_gaps_of_an_undistorted_phase_are_its_own() -> None:
    found = told(phase_of([BUSY, LATE, LATE, LATE, LATE], untraced_us=130.0), "gaps-dominate")
    assert found is not None
    # Of 130 us untraced 50 are busy.
    assert found.saving_us == pytest.approx(80.0)
    assert "profiler" not in found.evidence


def test_advice_follows_the_cause() -> None:
    calls = [sync(start, 35.0, "cudaMalloc") for start in (12.0, 62.0, 112.0, 162.0)]
    found = told(phase_of([BUSY, LATE, LATE, LATE, LATE], calls=calls), "gaps-dominate")
    assert found is not None
    assert found.saving_us == pytest.approx(4 * 35.0)
    assert found.advice == ADVICE["allocate"]


def test_tiny_kernels_keep_what_their_work_needs() -> None:
    small = {
        "us": 3.0,
        "name": "k",
        "op": {"name": "aten::add", "dims": ((50_000,), (50_000,), ()), "types": ("float", "float", "Scalar")},
    }
    found = told(phase_of([small] * 5), "gaps-dominate")
    assert found is not None
    # 600 kB at 1,000 GB/s are 0.6 us of each 3.
    assert found.saving_us == pytest.approx(5 * (3.0 - 0.6))
    assert found.advice == ADVICE[TINY]


def test_a_busy_phase_has_no_gaps_finding() -> None:
    quarter = [BUSY, *[product(30.0, rows=1, gap=10.0, late=True)] * 4]
    assert told(phase_of(quarter), "gaps-dominate") is None  # 40 of 170


def test_every_cause_has_advice() -> None:
    assert set(ADVICE) == {*CAUSES, TINY}
    assert not any("graph" in advice.lower() for advice in ON_HOST.values())


def test_synchronising_in_a_step_saves_the_idle_time_inside_the_calls() -> None:
    # The device is idle from 10 to 50; the host sits in the call from 5 to 40.
    phase = phase_of([BUSY, LATE, BUSY, BUSY, BUSY], calls=[sync(5.0, 35.0)])
    found = told(phase, "host-sync")
    assert found is not None
    assert found.saving_us == pytest.approx(30.0)
    assert found.saving_fraction == pytest.approx(30.0 / 90.0)
    assert "1 synchronising calls a step" in found.evidence


@pytest.mark.parametrize("name", ["cudaStreamWaitEvent", "hipStreamWaitEvent", "cudaEventQuery", "cudaEventRecord"])
def test_what_returns_at_once_is_no_synchronisation(name: str) -> None:
    phase = phase_of([BUSY, LATE, BUSY, BUSY, BUSY], calls=[sync(5.0, 35.0, name)])
    assert phase.host_calls["synchronize"] == 0
    assert told(phase, "host-sync") is None


def test_a_synchronisation_under_which_the_device_works_costs_nothing() -> None:
    phase = phase_of([product(50.0, rows=1)] * 5, calls=[sync(10.0, 200.0)])
    assert phase.host_calls["synchronize"] == 1
    assert told(phase, "host-sync") is None


def test_a_prompt_may_end_in_a_synchronisation() -> None:
    phase = phase_of([BUSY, LATE, BUSY, BUSY, BUSY], calls=[sync(5.0, 35.0)], mark=StepMark("prefill", 1, 9, 0, 0))
    assert told(phase, "host-sync") is None


@pytest.mark.parametrize(("untraced_us", "is_told"), [(100.0, True), (180.0, False)])
def test_distortion_is_told_above_a_fifth(untraced_us: float, is_told: bool) -> None:
    # Traced 210 us: 110 % more than 100, 17 % more than 180.
    found = told(phase_of([BUSY, LATE, LATE, LATE, LATE], untraced_us=untraced_us), "profiler-distortion")
    assert (found is not None) is is_told
    if found is not None:
        assert "110%" in found.title
        assert found.saving_us is None
