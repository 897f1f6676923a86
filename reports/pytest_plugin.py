"""The pytest plugin: record a model in a test, assert what its phases are bound by, hold them against a baseline.

    def test_decode_streams_weights(boundby_profile):
        run = boundby_profile("random:llama-125m", prompt_tokens=128, new_tokens=8)
        assert run.decode.bound == "bandwidth"
        run.check("launches_per_step:0,bound")

The baseline of a test lies beside it, in `boundby-baselines/`; `pytest --boundby-update` writes it anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Analysis, Phase

FOLDER = "boundby-baselines"
GATES = "bound,launches_per_step:0,kernels_per_step:0,syncs_per_step:0,flops_per_token:1%"
"""Gates on cause: they repeat exactly, so that a test that passed once passes again."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--boundby-update`."""
    group = parser.getgroup("boundby")
    group.addoption("--boundby-update", action="store_true", help="write the baselines of boundby's checks anew")


@dataclass(frozen=True)
class Run:
    """One recording, analysed. Phases by kind; `analysis` is the whole answer."""

    analysis: Analysis
    trace_path: Path
    baseline: Path
    update: bool

    def phase(self, kind: str) -> Phase:
        """The heaviest phase of a kind. Fails the test where the recording has none."""
        found = [p for p in self.analysis.phases if p.kind == kind]
        if not found:
            pytest.fail(
                f"the recording has no {kind} phase, only {', '.join(p.id for p in self.analysis.phases) or 'none'}"
            )
        return max(found, key=lambda p: p.wall_us or 0.0)

    @property
    def prefill(self) -> Phase:
        """The prefill."""
        return self.phase("prefill")

    @property
    def decode(self) -> Phase:
        """The decode steps."""
        return self.phase("decode")

    def check(self, fail_on: str = GATES) -> None:
        """Hold the recording against the test's baseline; the first run, and `--boundby-update`, write it. Fails the test on
        a regression, and where a gate could not tell."""
        from boundby.analyzers.comparison import Baseline, compare, parse_gates, run_gates

        from .output import write

        gates = parse_gates(fail_on)
        after = Baseline.of(self.analysis)
        if self.update or not self.baseline.exists():
            write(self.baseline, after.to_json())
            return
        before = Baseline.from_json(self.baseline.read_bytes(), path=str(self.baseline))
        results = run_gates(compare(before, after), gates)
        wrong = [r for r in results if r.outcome in ("fail", "unknown")]
        if wrong:
            lines = [
                f"{'could not tell' if r.outcome == 'unknown' else 'regressed'}: {r.phase}: {r.message}" for r in wrong
            ]
            pytest.fail(
                "\n".join([*lines, f"baseline {self.baseline}; --boundby-update accepts the change"]), pytrace=False
            )


@pytest.fixture
def boundby_profile(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A function that records a model (a spec or a module; options as of `boundby.tracer.record.record`) and analyses it."""

    def profile(model: Any, **options: Any) -> Run:
        from boundby.analyzers.analyze import analyze

        from .recorder import recorder

        result = recorder("record").record(model, out=tmp_path, **options)
        return _run(request, analyze(result.trace_path), Path(result.trace_path))

    return profile


@pytest.fixture
def boundby_analyze(request: pytest.FixtureRequest) -> Any:
    """A function that analyses a saved trace, with the same checks."""

    def analyzed(trace: str | Path, **options: Any) -> Run:
        from boundby.analyzers.analyze import analyze

        return _run(request, analyze(str(trace), **options), Path(trace))

    return analyzed


def _run(request: pytest.FixtureRequest, analysis: Analysis, trace: Path) -> Run:
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{request.path.stem}-{request.node.name}")
    baseline = request.path.parent / FOLDER / f"{name}.json"
    return Run(analysis, trace, baseline, bool(request.config.getoption("--boundby-update")))
