"""Windows, gaps, classes, shares and verdicts of traces laid out by hand. All times in microseconds here."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tracebuild import make_trace

from boundby.analyzers.analysis import Phase
from boundby.analyzers.analyze import analyze_trace
from boundby.analyzers.trace import Header
from boundby.tracer.marks import METADATA_KEY, Recording, StepMark, Untraced

H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_000_000_000,
    "numSms": 132,
    "computeMajor": 9,
    "computeMinor": 0,
}
Pair = tuple[dict[str, Any], dict[str, Any] | None]
GEMM, COPY, NCCL = (
    "ampere_bf16_s16816gemm_bf16_128x128",
    "elementwise_kernel",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
)


def kernel(start: float, end: float, launched: float | None, number: int, *, took: float = 2.0, **given: Any) -> Pair:
    """A kernel and the call that launched it (None: not in the trace)."""
    row = {
        "ts_ns": int(start * 1000),
        "dur_ns": int((end - start) * 1000),
        "name": COPY,
        "correlation": number,
        **given,
    }
    if launched is None:
        return row, None
    call = {"memcpy": "cudaMemcpyAsync"}.get(row.get("kind", "kernel"), "cudaLaunchKernel")
    return row, {"ts_ns": int(launched * 1000), "dur_ns": int(took * 1000), "name": call, "correlation": number}


def steps(*marks: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        {"ts_ns": int(a * 1000), "dur_ns": int((b - a) * 1000), "name": str(StepMark("decode", 1, 1, 9, i))}
        for i, (a, b) in enumerate(marks)
    ]


def analysed(
    spans: list[dict[str, Any]], pairs: list[Pair], *, calls: tuple[dict[str, Any], ...] = (), **given: Any
) -> list[Phase]:
    trace = make_trace(
        spans=spans,
        kernels=[k for k, _ in pairs],
        launches=[c for _, c in pairs if c is not None] + list(calls),
        header=given.pop("header", Header(device_properties=(H100,))),
        **given,
    )
    return list(analyze_trace(trace, timelines=True).phases)


def enqueued(
    first: float, n: int, each: float = 10.0, launched: float = 1.0, start: int = 1, **given: Any
) -> list[Pair]:
    """n kernels back to back from `first`, all launched at once early on."""
    return [
        kernel(first + i * each, first + (i + 1) * each, launched + 0.01 * i, start + i, took=0.005, **given)
        for i in range(n)
    ]


def test_a_window_opens_with_the_span_when_the_device_was_waiting() -> None:
    (phase,) = analysed(steps((0, 50)), enqueued(6.0, 6, launched=4.0))
    assert phase.wall_us == pytest.approx(66.0)
    assert phase.busy_us == pytest.approx(60.0)
    # The launch call returned at 4.005; from there to 6 it is the device's start latency.
    assert phase.launch_causes == pytest.approx({"python_and_framework": 4.005, "dispatch": 1.995})


def test_a_window_opens_at_the_first_kernel_when_the_device_was_still_busy() -> None:
    (phase,) = analysed(steps((0, 50)), enqueued(400.0, 6, launched=4.0))
    assert phase.wall_us == pytest.approx(60.0)
    assert phase.idle_us == pytest.approx(0.0)


def test_a_launch_call_that_takes_long_does_not_mean_a_queue() -> None:
    first = kernel(30.0, 40.0, 5.0, 1, took=40.0)
    (phase,) = analysed(steps((0, 90)), [first, *enqueued(40.0, 5, launched=20.0, start=2)])
    assert phase.wall_us == pytest.approx(90.0)


def test_a_window_opens_after_the_other_work_that_the_host_waited_for() -> None:
    earlier = kernel(-0.0, 20.0, None, 99)
    (phase,) = analysed(steps((0, 90)), [earlier, *enqueued(26.0, 6, launched=24.0)])
    assert phase.wall_us == pytest.approx(66.0)
    assert phase.n_kernels == 6


def test_the_second_step_opens_when_the_first_closes() -> None:
    pairs = [*enqueued(6.0, 6, launched=4.0), *enqueued(80.0, 6, launched=78.0, start=11)]
    (phase,) = analysed(steps((0, 60), (60, 150)), pairs)
    assert phase.n_steps == 2
    assert [s.wall_us for s in phase.steps] == pytest.approx([66.0, 74.0])


def test_overlapping_streams_count_once() -> None:
    pairs = enqueued(6.0, 6, launched=4.0)
    pairs += [kernel(16.0, 36.0, 4.5, 50, stream=20)]
    (phase,) = analysed(steps((0, 50)), pairs)
    assert phase.busy_us == pytest.approx(60.0)


def test_communication_counts_only_where_nothing_computes() -> None:
    pairs = enqueued(6.0, 6, launched=4.0)
    pairs += [kernel(56.0, 86.0, 4.5, 50, stream=20, name=NCCL)]
    (phase,) = analysed(steps((0, 50)), pairs)
    assert phase.shares is not None
    assert phase.wall_us == pytest.approx(86.0)
    assert phase.shares.communication == pytest.approx(20.0 / 86.0)


def test_a_copy_that_nothing_covers_is_transfer_and_not_busy() -> None:
    pairs = enqueued(6.0, 6, launched=4.0)
    pairs += [kernel(66.0, 96.0, 4.5, 50, kind="memcpy", name="Memcpy HtoD (Pinned -> Device)", bytes=1_000_000)]
    (phase,) = analysed(steps((0, 50)), pairs)
    assert phase.shares is not None
    assert phase.busy_us == pytest.approx(60.0)
    assert phase.shares.transfer == pytest.approx(30.0 / 96.0)


def test_a_gap_whose_launch_came_late_is_launch_by_what_the_host_did() -> None:
    pairs = [*enqueued(6.0, 5, launched=4.0), kernel(96.0, 106.0, 90.0, 50)]
    sync = {"ts_ns": 50_000, "dur_ns": 30_000, "name": "cudaStreamSynchronize"}
    (phase,) = analysed(steps((0, 99)), pairs, calls=(sync,))
    # From 56 to 96 the device waits: it finishes inside the synchronisation (56 to 80), then Python runs until the call returns.
    assert phase.launch_causes["synchronize"] == pytest.approx(24.0)
    assert phase.launch_causes["python_and_framework"] == pytest.approx(4.005 + 12.0)
    assert phase.launch_causes["dispatch"] == pytest.approx(1.995 + 4.0)
    assert phase.host_calls["synchronize"] == 1


def test_a_short_gap_before_an_enqueued_kernel_is_dispatch_and_a_long_one_a_stall() -> None:
    pairs = enqueued(6.0, 5, launched=4.0)
    pairs += [kernel(60.0, 70.0, 4.6, 50, took=0.01), kernel(170.0, 180.0, 4.7, 51, took=0.01)]
    (phase,) = analysed(steps((0, 50)), pairs)
    assert phase.shares is not None
    assert phase.launch_causes["dispatch"] == pytest.approx(1.995 + 4.0)
    assert phase.shares.stall == pytest.approx(100.0 / 180.0)


def test_a_gap_without_a_launch_is_unknown() -> None:
    pairs = [*enqueued(6.0, 6, launched=4.0), kernel(86.0, 96.0, 5.0, 50, took=0.01)]
    pairs += [kernel(140.0, 141.0, None, 60), kernel(141.0, 151.0, 5.1, 61, took=0.01)]
    (phase,) = analysed(steps((0, 50)), pairs)
    assert phase.shares is not None
    # 96 to 140 ends with a kernel whose launch was not recorded.
    assert phase.shares.unknown == pytest.approx(44.0 / 151.0)


def test_kernels_shorter_than_two_starts_are_launch_time() -> None:
    (phase,) = analysed(steps((0, 50)), enqueued(6.0, 6, each=3.0, launched=4.0, name=GEMM))
    assert phase.launch_causes["tiny_kernels"] == pytest.approx(18.0)
    assert phase.bound == "launch"


def _recorded(median: float) -> Header:
    recording = Recording(
        untraced=[Untraced("decode", 1, 1, 9, 9, [median] * 8, median)], device={"name": "X", "kind": "cuda"}
    )
    return Header(device_properties=(H100,), metadata={METADATA_KEY: msgspec.to_builtins(recording)})


@pytest.mark.parametrize(("untraced", "wall"), [(64.0, 64.0), (30.0, 60.0), (500.0, 106.0)])
def test_the_wall_is_the_untraced_median_but_no_less_than_busy_and_no_more_than_traced(
    untraced: float, wall: float
) -> None:
    (phase,) = analysed(steps((0, 60)), enqueued(46.0, 6, launched=40.0), header=_recorded(untraced))
    assert phase.wall_us == pytest.approx(wall)
    assert phase.busy_us == pytest.approx(60.0)
    assert phase.untraced_us == pytest.approx(untraced)
    assert phase.distortion == pytest.approx(106.0 / untraced - 1)


def test_the_first_kernels_of_a_capture_belong_to_no_step() -> None:
    head = [kernel(0.0, 5.0, None, 900 + i) for i in range(3)]
    (phase,) = analysed(steps((0, 90)), [*head, *enqueued(10.0, 6, launched=8.0)])
    assert phase.n_kernels == 6


def test_all_kernels_of_a_graph_launch_belong_to_its_step() -> None:
    graph = {"ts_ns": 4_000, "dur_ns": 3_000, "name": "cudaGraphLaunch", "correlation": 7}
    rows = [({"ts_ns": 8_000 + i * 10_000, "dur_ns": 10_000, "name": COPY, "correlation": 7}, None) for i in range(6)]
    (phase,) = analysed(steps((0, 50)), rows, calls=(graph,))
    assert (phase.n_kernels, phase.n_launches) == (6, 1)
    assert phase.host_calls["graph_launch"] == 1


def test_four_kernels_carry_no_label() -> None:
    (phase,) = analysed(steps((0, 50)), enqueued(6.0, 4, launched=4.0))
    assert (phase.bound, phase.wall_us, phase.shares) == ("unknown", None, None)
    assert "4 kernels" in phase.evidence[0]


def test_a_label_that_hangs_on_the_captures_edge_is_contested() -> None:
    (phase,) = analysed(steps((0, 200)), enqueued(100.0, 6, launched=98.0))
    assert phase.bound == "launch"
    assert phase.contested
    assert "capture's edge" in " ".join(phase.evidence)
