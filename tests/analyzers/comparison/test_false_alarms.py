"""Recordings of the same code, made here one after another, must not look like a regression.

`same_code_runs.json` holds the untraced step times (µs) of 42 recordings of `random:tiny` in bfloat16 on one thread: 21 while the
machine did little else, 21 while it ran test suites too. Nothing was left out.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boundby.analyzers.comparison.significance import shift

RECORDED = json.loads(Path(__file__).with_name("same_code_runs.json").read_bytes())
MACHINES = ("quiet", "loaded")
KINDS = ("prefill", "decode")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", MACHINES)
def test_three_runs_against_a_baseline_of_five_raise_no_alarm(machine: str, kind: str) -> None:
    runs = [run[kind] for run in RECORDED[machine]]
    checks = [shift(runs[:5], runs[i : i + 3]) for i in range(5, len(runs) - 2)]
    assert len(checks) == 14
    assert [moved.slower(0.10) for moved in checks if moved is not None] == [False] * 14


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", MACHINES)
def test_code_that_is_twice_as_slow_is_caught_every_time(machine: str, kind: str) -> None:
    runs = [run[kind] for run in RECORDED[machine]]
    slower = [[2 * sample for sample in run] for run in runs]
    checks = [shift(runs[:5], slower[i : i + 3]) for i in range(5, len(runs) - 2)]
    assert [moved.slower(0.10) for moved in checks if moved is not None] == [True] * 14


def test_one_run_against_one_does_raise_alarms() -> None:
    """Why a baseline should be pooled: of 20 single runs on the quiet machine, some look 10 % slower than the first."""
    runs = [run["decode"] for run in RECORDED["quiet"]]
    alarms = [moved.slower(0.10) for run in runs[1:] if (moved := shift([runs[0]], [run])) is not None]
    assert (len(alarms), sum(alarms)) == (20, 3)
