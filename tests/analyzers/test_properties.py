"""On generated traces whose truth is known: the account is that truth, however the trace is written down."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest
from generator import Truth, Work, lay_out
from hypothesis import given, settings
from hypothesis import strategies as st

from boundby.analyzers.analysis import Phase
from boundby.analyzers.analyze import analyze
from boundby.analyzers.errors import BoundbyError

DURATION = st.integers(500, 60_000)
WORK = st.builds(
    Work,
    kernels=st.lists(DURATION, min_size=1, max_size=4).map(tuple),
    held_up=st.sampled_from(["synchronize", "allocate", "blocking_copy", "python_and_framework"]),
    held_ns=st.integers(0, 80_000),
    wait_ns=st.sampled_from([0, 0, 0, 3_000, 200_000]),
    between_ns=st.sampled_from([0, 1_000]),
)
STEPS = st.lists(st.lists(WORK, min_size=3, max_size=8), min_size=1, max_size=4)
EARLIER = st.sampled_from([0, 5_000, 700_000])
BOUNDED = settings(max_examples=25, deadline=None, derandomize=True)


def phase_of(data: bytes) -> Phase | None:
    """The one phase of a generated trace, or None where it has too few kernels for a label."""
    (phase,) = analyze(data).phases
    return phase if phase.shares is not None else None


def added(truths: list[Truth]) -> Truth:
    total = Truth()
    for truth in truths:
        total.wall += truth.wall
        total.busy += truth.busy
        total.stall += truth.stall
        total.kernels += truth.kernels
        total.launches += truth.launches
        for cause, ns in truth.causes.items():
            total.causes[cause] = total.causes.get(cause, 0) + ns
    return total


@given(STEPS, EARLIER)
@BOUNDED
def test_the_account_is_the_truth(steps: list[list[Work]], earlier: int) -> None:
    data, truths = lay_out(steps, earlier_ns=earlier)
    phase, truth = phase_of(data), added(truths)
    if phase is None:
        assert truth.kernels < 5
        return
    assert (phase.n_kernels, phase.n_launches, phase.n_steps) == (truth.kernels, truth.launches, len(steps))
    assert phase.wall_us == pytest.approx(truth.wall / 1000, abs=1e-6)
    assert phase.busy_us == pytest.approx(truth.busy / 1000, abs=1e-6)
    assert phase.shares is not None
    assert phase.shares.stall == pytest.approx(truth.stall / truth.wall, abs=1e-9)
    causes = {cause: ns / 1000 for cause, ns in truth.causes.items() if ns}
    assert phase.launch_causes == pytest.approx(causes, abs=1e-6)
    assert [step.wall_us for step in phase.steps] == pytest.approx([t.wall / 1000 for t in truths], abs=1e-6)


@given(STEPS, EARLIER)
@BOUNDED
def test_shares_sum_to_one_and_busy_and_idle_to_the_wall(steps: list[list[Work]], earlier: int) -> None:
    phase = phase_of(lay_out(steps, earlier_ns=earlier)[0])
    if phase is None:
        return
    assert phase.shares is not None
    shares = [getattr(phase.shares, name) for name in phase.shares.__struct_fields__]
    assert sum(shares) == pytest.approx(1.0, abs=1e-9)
    assert min(shares) >= 0
    assert (phase.busy_us or 0) + (phase.idle_us or 0) == pytest.approx(phase.wall_us, rel=1e-12)


def _shifted(trace: dict[str, Any]) -> dict[str, Any]:
    for event in trace["traceEvents"]:
        event["ts"] += 123_456_789.0
    return trace


def _shuffled(trace: dict[str, Any]) -> dict[str, Any]:
    random.Random(1).shuffle(trace["traceEvents"])
    return trace


def _renamed(trace: dict[str, Any]) -> dict[str, Any]:
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["tid"] = event["args"]["stream"] = 13
        else:
            event["pid"], event["tid"] = "[TP00] 41", "thread"
    return trace


def _doubled_spans(trace: dict[str, Any]) -> dict[str, Any]:
    spans = [e for e in trace["traceEvents"] if e["cat"] == "user_annotation"]
    trace["traceEvents"] += [{**s, "cat": "gpu_user_annotation", "pid": 0, "tid": 7} for s in spans]
    return trace


@pytest.mark.parametrize("change", [_shifted, _shuffled, _renamed, _doubled_spans])
@given(STEPS)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_how_a_trace_is_written_down_does_not_matter(change: Any, steps: list[list[Work]]) -> None:
    data, _ = lay_out(steps)
    before, after = phase_of(data), phase_of(json.dumps(change(json.loads(data))).encode())
    if before is None or after is None:
        assert before is None
        assert after is None
        return
    assert after.wall_us == pytest.approx(before.wall_us)
    assert after.busy_us == pytest.approx(before.busy_us)
    assert after.launch_causes == pytest.approx(before.launch_causes)
    assert (after.bound, after.contested, after.n_kernels) == (before.bound, before.contested, before.n_kernels)


@given(STEPS)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_gzip_changes_nothing(steps: list[list[Work]]) -> None:
    data, _ = lay_out(steps)
    assert analyze(gzip.compress(data)).phases == analyze(data).phases


@given(STEPS, st.floats(0.02, 0.98))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_a_cut_trace_gives_what_precedes_the_cut_or_says_why_not(steps: list[list[Work]], where: float) -> None:
    data, _ = lay_out(steps)
    cut = data[: int(where * len(data))]
    whole = cut.count(b'"cat": "kernel"') - 1
    try:
        analysis = analyze(cut)
    except BoundbyError:
        assert cut.count(b'"ph"') <= 1
        return
    assert analysis.trace.kernels in (whole, whole + 1)
    assert "truncated" in [w.code for w in analysis.trace.warnings]
