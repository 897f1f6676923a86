"""What regressed, what did not, and what cannot be told: by hand-made pairs of recordings."""

from __future__ import annotations

from typing import Any

import example_analyses as examples
import msgspec
import numpy as np
import pytest

from boundby.analyzers.analysis import Shares
from boundby.analyzers.comparison import Baseline, BaselinePhase, compare, parse_gates, pool, run_gates
from boundby.analyzers.comparison.baseline import BASELINE_SCHEMA
from boundby.analyzers.comparison.significance import shift
from boundby.analyzers.errors import UnreadableTraceError, UsageError

MACHINE = {"device": "H100", "device_kind": "cuda", "settings_threads": 8}


def recorded(phase: str = "decode", samples: list[float] | None = None, **changes: Any) -> Baseline:
    """A recording of one phase with 100 kernels of 10 us a step."""
    environment = {**MACHINE, **changes.pop("environment", {})}
    given: dict[str, Any] = {
        "id": phase,
        "kind": phase,
        "bound": "bandwidth",
        "margin": 0.4,
        "contested": False,
        "figures": {"launches_per_step": 100.0, "flops_per_token": 2e9, "efficiency": 0.6},
        "samples_us": samples or [],
        "untraced": True,
        "kernels": {"gemm": 60.0, "norm": 40.0},
        "kernel_time_us": {"gemm": 600.0, "norm": 400.0},
        **changes,
    }
    return Baseline(
        schema=BASELINE_SCHEMA,
        tool_version="0",
        source="x",
        environment=environment,
        calibration={},
        phases=[BaselinePhase(**given)],
    )


def outcomes(before: Baseline, after: Baseline, gates: str) -> list[str]:
    return [r.outcome for r in run_gates(compare(before, after), parse_gates(gates))]


def test_a_label_flip_fails() -> None:
    assert outcomes(recorded(), recorded(bound="launch"), "bound") == ["fail"]


def test_a_flip_of_a_contested_label_cannot_be_told() -> None:
    assert outcomes(recorded(contested=True), recorded(bound="launch"), "bound") == ["unknown"]


def test_a_label_that_became_unknown_cannot_be_told() -> None:
    assert outcomes(recorded(), recorded(bound="unknown"), "bound") == ["unknown"]


def test_one_more_launch_fails_a_gate_of_none_and_passes_a_gate_of_one() -> None:
    after = recorded(figures={"launches_per_step": 101.0})
    assert outcomes(recorded(), after, "launches_per_step:0") == ["fail"]
    assert outcomes(recorded(), after, "launches_per_step:1") == ["pass"]
    assert outcomes(recorded(), after, "launches_per_step:0.5%") == ["fail"]


def test_fewer_launches_improve() -> None:
    assert outcomes(recorded(), recorded(figures={"launches_per_step": 90.0}), "launches_per_step:0") == ["improved"]


def test_less_efficiency_is_worse() -> None:
    assert outcomes(recorded(), recorded(figures={"efficiency": 0.5}), "efficiency:0.05") == ["fail"]


def test_a_figure_that_one_side_lacks_cannot_be_told() -> None:
    assert outcomes(recorded(), recorded(figures={}), "flops_per_token") == ["unknown"]


def test_a_vanished_kernel_fails_only_its_own_gate() -> None:
    after = recorded(kernels={"gemm": 60.0}, kernel_time_us={"gemm": 600.0})
    assert outcomes(recorded(), after, "vanished_kernels") == ["fail"]
    assert outcomes(recorded(), after, "new_kernels") == ["pass"]


def test_a_phase_that_is_gone_cannot_be_told_and_a_new_one_fails_its_gate() -> None:
    before, after = recorded("decode"), recorded("prefill")
    assert outcomes(before, after, "phases") == ["fail", "unknown"]


NOISE = np.random.default_rng(1).normal(1.0, 0.01, 40)


def test_ten_per_cent_slower_fails_a_five_per_cent_gate() -> None:
    before, after = recorded(samples=list(1000 * NOISE[:20])), recorded(samples=list(1100 * NOISE[20:]))
    assert outcomes(before, after, "itl:5%") == ["fail"]
    assert outcomes(before, after, "itl:15%") == ["pass"]
    assert outcomes(after, before, "itl:5%") == ["improved"]


def test_the_same_code_passes() -> None:
    before, after = recorded(samples=list(1000 * NOISE[:20])), recorded(samples=list(1000 * NOISE[20:]))
    assert outcomes(before, after, "itl:1%") == ["pass"]


def test_seven_samples_are_too_few() -> None:
    before, after = recorded(samples=[1.0] * 7), recorded(samples=[2.0] * 7)
    assert outcomes(before, after, "itl:5%") == ["unknown"]


def test_another_device_cannot_be_told() -> None:
    before = recorded(samples=[1.0] * 20)
    after = recorded(samples=[2.0] * 20, environment={"device": "A100"})
    result = run_gates(compare(before, after), parse_gates("itl:5%"))[0]
    assert result.outcome == "unknown"
    assert "different machines (device)" in result.message


def test_traced_times_are_not_held_against_untraced_ones() -> None:
    before, after = recorded(samples=[1.0] * 20), recorded(samples=[2.0] * 20, untraced=False)
    assert outcomes(before, after, "itl:5%") == ["unknown"]


def test_ttft_reads_prefills_only() -> None:
    both = recorded("decode", samples=[1.0] * 20)
    assert outcomes(both, both, "ttft:5%") == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("speed:5%", "speed"),
        ("itl:fast", "itl:fast"),
        ("itl:5", "percentage"),
        ("", "no gates"),
        ("itl:5%%", "itl:5%%"),
    ],
)
def test_a_wrong_gate_is_named(text: str, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        parse_gates(text)


def test_shift_of_two_constant_samples_is_their_ratio() -> None:
    moved = shift([[2.0] * 10], [[3.0] * 10])
    assert moved is not None
    assert (moved.ratio, moved.low, moved.high) == (1.5, 1.5, 1.5)


def test_a_baseline_survives_its_file() -> None:
    baseline = Baseline.of(examples.decode_mi300x())
    assert Baseline.from_json(baseline.to_json(), path="b.json") == baseline


def test_an_analysis_file_serves_as_a_recording() -> None:
    analysis = examples.decode_mi300x()
    assert Baseline.from_json(analysis.to_json(), path="a.json") == Baseline.of(analysis)


def test_another_json_file_is_refused_by_name() -> None:
    with pytest.raises(UnreadableTraceError, match=r"other\.json is neither"):
        Baseline.from_json(b'{"a": 1}', path="other.json")


def test_figures_are_per_step_and_per_token() -> None:
    phase = examples.phase(
        "decode", 8000.0, Shares(bandwidth=0.75, launch=0.25), "bandwidth", n_steps=4, query_tokens=2, flops=8e9
    )
    figures = Baseline.of(examples.analysis(phase)).phases[0].figures
    assert figures["kernels_per_step"] == 100.0
    assert figures["kernels_per_token"] == 50.0
    assert figures["flops_per_token"] == 1e9
    assert figures["wall_us"] == 2000.0
    assert figures["launch_us"] == 500.0
    assert "bytes_per_token" not in figures


def test_phases_pair_by_kind_when_the_shape_changed() -> None:
    before, after = recorded(), recorded()
    after = msgspec.structs.replace(after, phases=[msgspec.structs.replace(after.phases[0], id="decode-b2")])
    (change,) = compare(before, after).phases
    assert change.before is not None
    assert change.after is not None


def test_slow_steps_beside_fast_ones_as_before_are_other_work_on_the_machine() -> None:
    """The median is 4 times as long, but a fifth of the steps take what they took: the code cannot be slower."""
    quiet, busy = [1000.0] * 24, [1000.0] * 5 + [4000.0] * 19
    assert outcomes(recorded(samples=quiet), recorded(samples=busy), "itl:5%") == ["pass"]
    assert outcomes(recorded(samples=busy), recorded(samples=quiet), "itl:5%") == ["pass"]


def test_every_step_slower_fails_however_noisy() -> None:
    quiet, slower = [1000.0] * 24, [1200.0] * 5 + [4800.0] * 19
    (result,) = run_gates(compare(recorded(samples=quiet), recorded(samples=slower)), parse_gates("itl:5%"))
    assert result.outcome == "fail"
    assert "fastest tenth x1.200" in result.message


def test_another_batch_is_other_work_and_its_time_cannot_be_told() -> None:
    before = recorded(samples=[1.0] * 20, environment={"workload_batch": 1})
    after = recorded(samples=[2.0] * 20, environment={"workload_batch": 2})
    (result,) = run_gates(compare(before, after), parse_gates("itl:5%"))
    assert (result.outcome, result.message) == ("unknown", "itl: other work was timed (batch: 1 -> 2)")


def test_a_slow_run_within_the_scatter_of_the_baseline_s_runs_passes() -> None:
    """Runs of 1.0 and 1.3 ms in the baseline: one of 1.35 ms is 4 % over the slower, one of 1.5 ms is 15 % over it."""
    base = pool([recorded(samples=[1000.0] * 10), recorded(samples=[1300.0] * 10)])
    assert outcomes(base, recorded(samples=[1350.0] * 10), "itl:5%") == ["pass"]
    (result,) = run_gates(compare(base, recorded(samples=[1500.0] * 10)), parse_gates("itl:5%"))
    assert result.outcome == "fail"
    # 1500 / 1300 and 1500 / 1000.
    assert "run by run x1.154 to x1.500" in result.message
    assert outcomes(base, recorded(samples=[900.0] * 10), "itl:5%") == ["improved"]


def test_pooling_takes_medians_and_contests_a_label_that_runs_disagree_on() -> None:
    runs = [
        recorded(figures={"allocations_per_step": n}, bound=bound, kernels=kernels)
        for n, bound, kernels in (
            (1.0, "launch", {"a": 1.0}),
            (2.0, "launch", {"a": 1.0}),
            (9.0, "bandwidth", {"b": 1.0}),
        )
    ]
    (phase,) = pool(runs).phases
    assert (phase.figures, phase.bound, phase.contested) == ({"allocations_per_step": 2.0}, "launch", True)
    assert phase.kernels == {"a": 1.0}


def test_only_recordings_of_one_environment_pool() -> None:
    with pytest.raises(UsageError, match=r"not recorded alike \(device\)"):
        pool([recorded(), recorded(environment={"device": "A100"})])


def test_a_pooled_baseline_survives_its_file() -> None:
    pooled = pool([recorded(samples=[1.0, 2.0]), recorded(samples=[3.0])])
    again = Baseline.from_json(pooled.to_json(), path="b.json")
    assert again.phases[0].runs == [[1.0, 2.0], [3.0]]
