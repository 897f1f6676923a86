"""Real traces, recorded by others on real hardware, and what a right analysis says of each.

The traces lie beside the project for its developers and its CI, not for users: without them these tests skip. The figures
were computed by an independent script from the definitions of docs/method.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from boundby.analyzers.analysis import Analysis, Phase
from boundby.analyzers.analyze import analyze


class Row(NamedTuple):
    file: str
    kind: str
    bound: str
    window_ms: float | None = None
    busy_ms: float | None = None
    busy_share: float | None = None


ROWS = [
    Row("hf-qwen1.5-0.5b-prefill-h100", "prefill", "bandwidth", 35.18, 31.91),
    Row("sglang-qwen3-8b-prefill-mi300x", "prefill", "compute", 493.5, 492.7),
    Row("sglang-qwen3-8b-decode-mi300x", "decode", "bandwidth", 10.37, 9.69),
    Row("vllm-gptoss-mixed-mi300x", "mixed", "compute", 156.5, 156.1),
    Row("inductor-block-mi300x", "unknown", "compute"),
    Row("switch-8batch", "prefill", "compute", 693, None, 0.807),
    Row("nanovllm-decode_gpu_0", "decode", "launch", None, None, 0.08),
    Row("tl-unit-elem_01_add_poor_bw", "unknown", "bandwidth"),
]


@cache
def _analysis(path: Path) -> Analysis:
    return analyze(path)


def _main(analysis: Analysis) -> Phase:
    return max(analysis.phases, key=lambda phase: phase.wall_us or 0.0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_catalog_row(row: Row, shared_traces: Path) -> None:
    phase = _main(_analysis(shared_traces / f"{row.file}.json.gz"))
    assert (phase.kind, phase.bound) == (row.kind, row.bound), phase.evidence
    assert phase.wall_us is not None
    assert phase.busy_us is not None
    if row.window_ms is not None:
        assert phase.wall_us / 1e3 == pytest.approx(row.window_ms, rel=0.005)
    if row.busy_ms is not None:
        assert phase.busy_us / 1e3 == pytest.approx(row.busy_ms, rel=0.005)
    if row.busy_share is not None:
        assert phase.busy_us / phase.wall_us == pytest.approx(row.busy_share, abs=0.005)


def test_every_phase_of_every_trace_adds_up(shared_traces: Path) -> None:
    for path in sorted(shared_traces.glob("*.json.gz")):
        for phase in _analysis(path).phases:
            if phase.shares is None:
                assert phase.wall_us is None, path
                continue
            shares = [getattr(phase.shares, name) for name in phase.shares.__struct_fields__]
            assert sum(shares) == pytest.approx(1.0, abs=1e-9), path
            assert min(shares) >= 0, path
            assert phase.busy_us is not None
            assert phase.idle_us is not None
            assert phase.busy_us + phase.idle_us == pytest.approx(phase.wall_us, rel=1e-12), path
            launch = sum(phase.launch_causes.values())
            assert launch == pytest.approx(phase.shares.launch * phase.wall_us, rel=1e-6, abs=1e-3), path
