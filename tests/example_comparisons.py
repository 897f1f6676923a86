"""A pair of recordings worked out by hand, and what the gates say of it; shared by the tests of each output."""

from __future__ import annotations

from typing import Any

from boundby.analyzers.comparison import (
    Baseline,
    BaselinePhase,
    Comparison,
    GateResult,
    compare,
    parse_gates,
    run_gates,
)
from boundby.analyzers.comparison.baseline import BASELINE_SCHEMA

GATES = "bound,launches_per_step:0,bytes_per_token:2%,itl:5%,efficiency"


def recording(source: str, **given: Any) -> Baseline:
    """A recording of ten decode steps of 1 ms: 60 GEMMs and 40 norms a step."""
    environment = {"device": "H100", "device_kind": "cuda", **given.pop("environment", {})}
    phase: dict[str, Any] = {
        "id": "decode-b1",
        "kind": "decode",
        "bound": "bandwidth",
        "margin": 0.4,
        "contested": False,
        "figures": {"launches_per_step": 100.0, "share_launch": 0.2, "bytes_per_token": 2e9},
        "samples_us": [1000.0] * 10,
        "untraced": True,
        "kernels": {"gemm": 60.0, "norm": 40.0},
        "kernel_time_us": {"gemm": 600.0, "norm": 100.0},
        **given,
    }
    return Baseline(
        schema=BASELINE_SCHEMA,
        tool_version="0",
        source=source,
        environment=environment,
        calibration={},
        phases=[BaselinePhase(**phase)],
    )


def before() -> Baseline:
    """The side that is held to be right."""
    return recording("before.json", environment={"versions_torch": "2.12"})


def after() -> Baseline:
    """A fifth slower: 60 copies a step instead of 40 norms, launch-bound, on another torch."""
    return recording(
        "after.json",
        environment={"versions_torch": "2.13"},
        bound="launch",
        figures={"launches_per_step": 120.0, "share_launch": 0.7, "bytes_per_token": 2e9},
        samples_us=[1200.0] * 10,
        kernels={"gemm": 60.0, "copy<float>": 60.0},
        kernel_time_us={"gemm": 600.0, "copy<float>": 120.0},
    )


def compared() -> tuple[Comparison, tuple[GateResult, ...]]:
    """The two, compared and gated: three failures, one doubt, one pass."""
    comparison = compare(before(), after())
    return comparison, run_gates(comparison, parse_gates(GATES))
