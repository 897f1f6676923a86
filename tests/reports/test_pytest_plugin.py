"""The plugin in a test run of its own: labels, baselines, and what fails."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
TEST = """
def test_it(boundby_analyze):
    run = boundby_analyze({trace!r})
    assert run.decode.bound == {bound!r}
    run.check({gates!r})
"""


def _write(pytester: pytest.Pytester, trace: str, bound: str, gates: str = "bound,kernels_per_step:0") -> None:
    path = str(SAMPLES / f"{trace}.json.gz")
    pytester.makepyfile(test_model=TEST.format(trace=path, bound=bound, gates=gates))


def test_the_first_run_writes_the_baseline_and_the_second_holds_it(pytester: pytest.Pytester) -> None:
    _write(pytester, "llama-125m", "bandwidth")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    baseline = pytester.path / "boundby-baselines" / "test_model-test_it.json"
    kept = baseline.read_bytes()
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert baseline.read_bytes() == kept


def test_another_model_against_the_baseline_regresses_and_update_accepts_it(pytester: pytest.Pytester) -> None:
    _write(pytester, "llama-125m", "bandwidth")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    _write(pytester, "tiny-decode", "launch")
    failed = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(
        ["*regressed: decode-b1: bound: bandwidth -> launch*", "*--boundby-update accepts the change*"]
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "--boundby-update").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_wrong_label_fails_the_test(pytester: pytest.Pytester) -> None:
    _write(pytester, "tiny-decode", "bandwidth")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(failed=1)


def test_a_phase_that_was_not_recorded_is_named(pytester: pytest.Pytester) -> None:
    path = str(SAMPLES / "tiny-decode.json.gz")
    pytester.makepyfile(test_model=f"def test_it(boundby_analyze):\n    boundby_analyze({path!r}).phase('verify')\n")
    found = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    found.stdout.fnmatch_lines(["*no verify phase, only prefill-1x32, decode-b1*"])
