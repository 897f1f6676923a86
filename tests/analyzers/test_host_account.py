"""The account of a CPU trace: ops stand for kernels, the span is the window, what no op covers is the framework's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench import FLOAT, told
from tracebuild import make_trace

from boundby.analyzers.analysis import Phase
from boundby.analyzers.analyze import analyze_trace
from boundby.analyzers.trace import Header
from boundby.tracer.marks import METADATA_KEY, Recording, StepMark

US = 1_000
RECORDING = Recording(
    device={"name": "Two cores", "kind": "cpu"},
    calibration={"peak_tflops": {"fp32": 0.1}, "bandwidth_gb_s": 10.0, "smallest_kernel_us": 2.0},
)
"""0.1 TFLOP/s and 10 GB/s: a product of three sides of 1,000 needs 20 ms."""


def mm(start: float, us: float, rows: int = 1, tid: int = 0) -> dict[str, Any]:
    """[rows, 1000] x [1000, 1000] in fp32: a row needs 20 us of FLOPs and 400.8 us of bytes."""
    dims, types = ((rows, 1000), (1000, 1000)), (FLOAT, FLOAT)
    return {
        "name": "aten::mm",
        "ts_ns": int(start * US),
        "dur_ns": int(us * US),
        "dims": dims,
        "types": types,
        "tid": tid,
    }


def analysed(ops: list[dict[str, Any]], spans: list[tuple[float, float]], query: int = 1) -> list[Phase]:
    marks = [
        {"name": str(StepMark("decode", 1, query, 9, i)), "ts_ns": int(a * US), "dur_ns": int((b - a) * US)}
        for i, (a, b) in enumerate(spans)
    ]
    header = Header(metadata={METADATA_KEY: msgspec.to_builtins(RECORDING)})
    return list(analyze_trace(make_trace(ops=ops, spans=marks, header=header)).phases)


def test_what_no_op_covers_is_launch_time() -> None:
    (phase,) = analysed([mm(100 + 1000 * n, 900) for n in range(5)], [(0, 5100)])
    assert phase.shares is not None
    assert phase.wall_us == pytest.approx(5100.0)
    assert phase.busy_us == pytest.approx(4500.0)
    assert phase.launch_causes == {"python_and_framework": pytest.approx(600.0)}
    assert (phase.bound, phase.shares.bandwidth) == ("bandwidth", pytest.approx(4500 / 5100))
    assert phase.peak_fraction == pytest.approx(5 * 400.8 / 5100)


def test_nested_ops_count_once() -> None:
    ops = [mm(100 + 1000 * n, 900) for n in range(5)]
    ops += [{**op, "name": "aten::matmul", "ts_ns": op["ts_ns"] - 20 * US, "dur_ns": 950 * US} for op in ops]
    (phase,) = analysed(ops, [(0, 5100)])
    assert phase.busy_us == pytest.approx(5 * 950.0)
    assert phase.flops == pytest.approx(5 * 2e6)


def test_other_threads_and_the_time_between_steps_are_no_part_of_a_step() -> None:
    ops = [mm(1000 * n, 900) for n in range(6)] + [mm(1000 * n + 10, 800, tid=1) for n in range(6)]
    (phase,) = analysed(ops, [(0, 2950), (3000, 5950)])
    assert (phase.n_steps, phase.n_kernels) == (2, 6)
    assert phase.busy_us == pytest.approx(5400.0)
    assert phase.wall_us == pytest.approx(5900.0)
    assert [step.wall_us for step in phase.steps] == pytest.approx([2950.0, 2950.0])


def test_ops_that_take_a_start_and_work_less_are_launch_time() -> None:
    small = {"name": "aten::add", "dur_ns": 3 * US, "dims": ((100,), (100,), ()), "types": (FLOAT, FLOAT, "Scalar")}
    (phase,) = analysed([{**small, "ts_ns": 4 * n * US} for n in range(5)], [(0, 20)])
    assert phase.bound == "launch"
    assert phase.launch_causes["tiny_kernels"] == pytest.approx(15.0)
    assert phase.launch_causes["python_and_framework"] == pytest.approx(5.0)


def test_large_products_are_compute() -> None:
    (phase,) = analysed([mm(30_000 * n, 25_000, rows=1000) for n in range(5)], [(0, 150_000)], query=1000)
    assert phase.bound == "compute"
    assert phase.achieved_tflops == pytest.approx(10e9 / 0.150 / 1e12)
    assert phase.ridge == pytest.approx(10.0)


def test_slow_products_are_told_on_a_cpu_where_their_work_is_longer_than_any_start() -> None:
    (phase,) = analysed([mm(3000 * n, 2500) for n in range(5)], [(0, 15_000)])
    found = told(phase, "far-from-roofs")
    assert found is not None
    assert found.saving_us == pytest.approx(5 * (2500.0 - 400.8 / 0.7))
    assert "set_num_threads" in found.advice
    # [1, 100] x [100, 100] moves 40.8 kB: 4.08 us of work, two starts of 2 us.
    small = {"name": "aten::mm", "dur_ns": 50 * US, "dims": ((1, 100), (100, 100)), "types": (FLOAT, FLOAT)}
    (phase,) = analysed([{**small, "ts_ns": 60 * n * US} for n in range(5)], [(0, 300)])
    assert told(phase, "far-from-roofs") is None
