"""The action's own shell steps, run as a script: a first run makes the baseline, a second passes, another model fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_traces"


def _run(trace: str, folder: Path) -> tuple[int, str]:
    """Run the steps for a trace in order until one fails; returns that step's exit code and what was said of it."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    chosen = [s for s in steps if s["name"] in ("report", "check")]
    output = folder / "output"
    output.write_text("")
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "TRACE": str(SAMPLES / f"{trace}.json.gz"),
        "BASELINE": "baseline.json",
        "FAIL_ON": "bound,kernels_per_step:0",
        "GITHUB_OUTPUT": str(output),
    }
    code = 0
    for step in chosen:
        code = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=folder, env=env, check=False, capture_output=True
        ).returncode
        if code:
            break
    return code, output.read_text()


def test_the_steps_make_a_baseline_hold_it_and_fail_on_another_model(tmp_path: Path) -> None:
    assert _run("llama-125m", tmp_path) == (0, "exit-code=0\n")
    assert (tmp_path / "baseline.json").exists()
    assert _run("llama-125m", tmp_path) == (0, "exit-code=0\n")
    assert _run("tiny-decode", tmp_path) == (1, "exit-code=1\n")
    assert "Regressed" in (tmp_path / "boundby-out" / "check.md").read_text()
    assert (tmp_path / "boundby-out" / "report.html").exists()


def test_every_step_of_the_action_names_its_shell() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    assert all(("run" in step) == ("shell" in step) for step in steps)
    # Inputs reach the shell through the environment alone: an expression inside a script would be code injection.
    assert not any("${{" in step.get("run", "") for step in steps)
