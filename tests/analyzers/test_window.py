"""Windows of steps on several devices, and the delay that tells an idle queue."""

from __future__ import annotations

from typing import Any

import numpy as np
from tracebuild import make_trace

from boundby.analyzers.account import cut_windows
from boundby.analyzers.correlate import correlate
from boundby.analyzers.step import Step
from boundby.analyzers.window import IDLE_QUEUE_NS, assign_steps, idle_queue_delay, launch_delays, windows_of
from boundby.analyzers.work import device_work


def laid(*kernels: tuple[int, int, int | None, int], took: int = 1, name: str = "cudaLaunchKernel") -> Any:
    """Work and links of kernels given as (start, end, launch or None, device)."""
    rows = [
        {"ts_ns": start, "dur_ns": end - start, "device": device, "correlation": number}
        for number, (start, end, _, device) in enumerate(kernels)
    ]
    calls = [
        {"ts_ns": launch, "dur_ns": took, "correlation": number, "name": name}
        for number, (_, _, launch, _) in enumerate(kernels)
        if launch is not None
    ]
    linked = correlate(make_trace(kernels=rows, launches=calls))
    return device_work(linked), linked


def step(start: int, end: int, **given: Any) -> Step:
    return Step(kind="decode", start_ns=start, end_ns=end, **{"pid": 0, "tid": 0, **given})


def test_a_window_waits_for_its_own_devices_only() -> None:
    # Other work ends at 10 us on device 0 and at 28 us on device 2; the step runs on 0 and 1.
    work, linked = laid(
        (0, 28_000, None, 2),
        (1_000, 10_000, None, 0),
        (30_000, 31_000, 25_000, 0),
        (31_000, 32_000, 25_010, 1),
    )
    steps = [step(20_000, 40_000)]
    windows = windows_of(work, linked, steps, assign_steps(work, linked, steps), idle_ns=10_000)
    assert (windows.open_ns[0], windows.close_ns[0]) == (20_000, 32_000)


def test_a_step_on_two_devices_is_busy_when_either_is() -> None:
    # 0 to 10 on device 0, 8 to 20 on device 1; device 2 works for somebody else throughout.
    work, linked = laid((0, 30, None, 2), (100, 110, 99, 0), (108, 120, 99, 1), (125, 130, 99, 0))
    steps = [step(90, 125)]
    owner = assign_steps(work, linked, steps)
    windows = windows_of(work, linked, steps, owner, idle_ns=5)
    assert owner.tolist() == [-1, 0, 0, 0]
    pieces = cut_windows(work, np.zeros(4, np.int64), windows, owner, steps)
    # From 90 (the span's start, after device 2's end at 30) to 130: 25 busy.
    assert windows.open_ns[0] == 90
    assert pieces.own_ns.sum() == 25
    assert list(zip(pieces.gaps.start.tolist(), pieces.gaps.end.tolist(), strict=True)) == [(90, 100), (120, 125)]


def test_work_on_another_device_is_no_part_of_a_window() -> None:
    work, linked = laid((100, 110, 99, 0), (105, 125, None, 1), (130, 140, 99, 0))
    steps = [step(95, 125)]
    owner = assign_steps(work, linked, steps)
    windows = windows_of(work, linked, steps, owner, idle_ns=5)
    pieces = cut_windows(work, np.zeros(3, np.int64), windows, owner, steps)
    assert pieces.item.tolist() == [0, 2]
    assert (pieces.gaps.end - pieces.gaps.start).sum() == 5 + 20


def test_a_delay_counts_from_the_calls_return() -> None:
    work, linked = laid((50, 60, 10, 0), (100, 110, 80, 0), took=30)
    assert launch_delays(work, linked).tolist() == [10, 0]


def test_a_blocking_copys_delay_counts_from_its_calls_start() -> None:
    work, linked = laid((50, 60, 10, 0), took=100, name="hipMemcpyWithStream")
    assert launch_delays(work, linked).tolist() == [40]


def test_an_idle_queue_starts_within_three_of_the_devices_own_delays() -> None:
    # Four launches that found the device idle started 8 us after their calls' return, one waited behind another.
    ends = [(i * 100_000, i * 100_000 + 20_000, i * 100_000 - 8_001, 0) for i in range(1, 6)]
    work, linked = laid(*ends, (520_000, 530_000, 505_000, 0))
    # The first has nothing before it: the device may have been busy.
    assert idle_queue_delay(work, linked) == 24_000


def test_quick_devices_are_given_ten_microseconds() -> None:
    work, linked = laid(*[(i * 1_000, i * 1_000 + 100, i * 1_000 - 11, 0) for i in range(1, 6)])
    assert idle_queue_delay(work, linked) == IDLE_QUEUE_NS


def test_launches_of_another_thread_serve_a_step_that_has_none_of_its_own() -> None:
    kernels = [{"ts_ns": 50, "dur_ns": 10, "correlation": 1}, {"ts_ns": 60, "dur_ns": 10, "correlation": 2}]
    calls = [
        {"ts_ns": 5, "dur_ns": 1, "correlation": 1, "tid": 3},
        {"ts_ns": 25, "dur_ns": 1, "correlation": 2, "tid": 3},
    ]
    linked = correlate(make_trace(kernels=kernels, launches=calls))
    work = device_work(linked)
    assert assign_steps(work, linked, [step(0, 20), step(20, 40)]).tolist() == [0, 1]
    assert assign_steps(work, linked, [step(0, 20, pid=7)]).tolist() == [-1, -1]


def test_work_without_any_launch_belongs_to_the_last_step_begun() -> None:
    work, linked = laid((5, 10, None, 0), (25, 30, None, 0), (50, 60, None, 0), (90, 95, None, 0))
    assert assign_steps(work, linked, [step(20, 40), step(45, 70)]).tolist() == [-1, 0, 1, 1]
