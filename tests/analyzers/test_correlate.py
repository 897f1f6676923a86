"""Kernels to launches to ops, and what is said of those that don't tie."""

from __future__ import annotations

from typing import Any

import pytest
from tracebuild import make_trace

from boundby.analyzers.correlate import Linked, correlate


def linked(**rows: Any) -> Linked:
    return correlate(make_trace(**rows))


def codes(tied: Linked) -> dict[str, int]:
    return {warning.code: warning.count for warning in tied.trace.warnings}


def call(ts: int, correlation: int | None = None, name: str = "cudaLaunchKernel", **given: Any) -> dict[str, Any]:
    return {"ts_ns": ts, "dur_ns": 5, "correlation": correlation, "name": name, **given}


def kernel(ts: int, correlation: int | None = None, **given: Any) -> dict[str, Any]:
    return {"ts_ns": ts, "dur_ns": 10, "correlation": correlation, **given}


def test_correlation_ties_kernels_to_launches_whatever_their_order() -> None:
    tied = linked(launches=[call(0, 8), call(10, 7)], kernels=[kernel(30, 7), kernel(50, 8)])
    assert tied.launch_of.tolist() == [1, 0]


def test_all_nodes_of_a_graph_share_its_launch() -> None:
    graph = call(0, 5, "hipGraphLaunch")
    tied = linked(launches=[graph, call(10, 6)], kernels=[kernel(20, 5), kernel(40, 5), kernel(60, 6), kernel(80, 5)])
    assert tied.launch_of.tolist() == [0, 0, 1, 0]
    assert "launches-without-kernel" not in codes(tied)


def test_repeated_correlation_ids_go_to_the_last_launch_before() -> None:
    # Two captures in one file count from the same number.
    tied = linked(launches=[call(0, 1), call(100, 1)], kernels=[kernel(20, 1), kernel(90, 1), kernel(120, 1)])
    assert tied.launch_of.tolist() == [0, 0, 1]


def test_a_repeated_id_that_only_comes_later_goes_to_the_next_launch() -> None:
    tied = linked(launches=[call(10, 1), call(100, 1)], kernels=[kernel(9, 1)])
    assert tied.launch_of.tolist() == [0]


def test_a_kernel_without_its_launch_is_counted_and_tied_to_nothing() -> None:
    tied = linked(launches=[call(50, 2)], kernels=[kernel(0, 1), kernel(60, 2)])
    assert tied.launch_of.tolist() == [-1, 0]
    assert codes(tied)["kernels-without-launch"] == 1


def test_a_launch_without_its_kernel_is_counted() -> None:
    calls = [call(0, 1), call(10, 2), call(20, 3, "cudaMemcpyAsync"), call(30, 4, "cudaStreamSynchronize")]
    tied = linked(launches=calls, kernels=[kernel(40, 1)])
    assert codes(tied)["launches-without-kernel"] == 2  # a synchronisation enqueues nothing


def test_without_ids_equal_counts_are_tied_by_order() -> None:
    calls = [call(0), call(10), call(15, name="cudaDeviceSynchronize"), call(20)]
    tied = linked(launches=calls, kernels=[kernel(12), kernel(30), kernel(40)])
    assert tied.launch_of.tolist() == [0, 1, 3]
    assert "by their order" in next(w.message for w in tied.trace.warnings if w.code == "no-correlation-ids")


@pytest.mark.parametrize("kernels", [[12, 30], [5, 8, 40]], ids=["other counts", "a kernel before its launch"])
def test_without_ids_nothing_is_tied_that_does_not_fit(kernels: list[int]) -> None:
    tied = linked(launches=[call(0), call(10), call(20)], kernels=[kernel(ts) for ts in kernels])
    assert set(tied.launch_of.tolist()) == {-1}
    assert "no-correlation-ids" in codes(tied)


def test_a_kernel_belongs_to_the_innermost_op_around_its_launch_on_that_thread() -> None:
    ops = [
        {"name": "aten::linear", "ts_ns": 0, "dur_ns": 100, "tid": 0},
        {"name": "aten::addmm", "ts_ns": 10, "dur_ns": 80, "tid": 0},
        {"name": "aten::add", "ts_ns": 20, "dur_ns": 60, "tid": 1},
    ]
    calls = [call(30, 1, tid=0), call(95, 2, tid=0), call(40, 3, tid=1), call(100, 4, tid=0)]
    tied = linked(ops=ops, launches=calls, kernels=[kernel(200 + 20 * n, n) for n in (1, 2, 3, 4)])
    names = tied.trace.ops["name"].to_list()
    assert [names[row] if row >= 0 else None for row in tied.op_of] == [
        "aten::addmm",
        "aten::linear",
        "aten::add",
        None,
    ]
    assert tied.parent_of.tolist() == [-1, 0, -1]


def test_without_runtime_calls_the_external_id_names_the_op() -> None:
    ops = [{"name": "aten::mm", "external_id": 41}, {"name": "aten::add", "ts_ns": 2_000, "external_id": 42}]
    tied = linked(ops=ops, kernels=[kernel(0, external_id=42), kernel(20, external_id=0), kernel(40, external_id=41)])
    assert tied.op_of.tolist() == [1, -1, 0]
    assert codes(tied)["no-launches"] == 3


def test_launches_without_any_kernel_mean_that_the_device_was_not_recorded() -> None:
    tied = linked(launches=[call(0, 1), call(10, 2)])
    assert codes(tied)["gpu-activity-missing"] == 2


def test_warnings_of_the_reader_are_kept() -> None:
    tied = linked(ops=[{}])
    assert codes(tied) == {}
    assert tied.launch_of.tolist() == []
