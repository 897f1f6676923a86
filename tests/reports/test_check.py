"""`boundby check`: exit codes, baselines, where the gates come from, and what CI is told."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from example_analyses import decode_mi300x
from example_comparisons import GATES, after, before

from boundby.analyzers.comparison import Baseline
from boundby.reports import cli
from boundby.reports.commands.check import configured_gates


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a check that regresses, in a folder with no configuration, outside CI."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("before.json").write_bytes(before().to_json())
    Path("after.json").write_bytes(after().to_json())
    return ["after.json", "--baseline", "before.json"]


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        ("bytes_per_token:2%", 0),
        ("bound", 1),
        ("efficiency", 2),
        ("efficiency,bound", 1),
        ("ttft:5%", 2),
    ],
    ids=["passes", "fails", "could not tell", "failing outranks not telling", "no gate applies"],
)
def test_the_exit_code(gates: str, code: int, sides: list[str]) -> None:
    assert cli.run(["check", *sides, "--fail-on", gates, "-q"]) == code


def test_lenient_forgives_doubt_and_no_failure(sides: list[str]) -> None:
    assert cli.run(["check", *sides, "--fail-on", "efficiency", "--lenient", "-q"]) == 0
    assert cli.run(["check", *sides, "--fail-on", "bound", "--lenient", "-q"]) == 1


def test_the_gates_end_the_terminal_s_output(sides: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["check", *sides, "--fail-on", "bound,bytes_per_token:2%,efficiency"])
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "  FAIL  decode-b1: bound: bandwidth -> launch",
        "    ok  decode-b1: bytes_per_token: 2,000,000,000 -> 2,000,000,000 (+0.0%)",
        "     ?  decode-b1: efficiency is not known on both sides",
        "1 failed, 1 could not tell, 1 passed",
    ]


def test_files_for_ci(sides: list[str]) -> None:
    outputs = ["--json", "out/check.json", "--markdown", "out/check.md", "--junit", "out/check.xml"]
    assert cli.run(["check", *sides, "--fail-on", GATES, "-q", *outputs]) == 1
    gates = json.loads(Path("out/check.json").read_bytes())["gates"]
    assert [g["outcome"] for g in gates] == ["fail", "fail", "pass", "fail", "unknown"]
    assert Path("out/check.md").read_text().startswith("## boundby: 3 failed, 1 could not tell, 1 passed\n")
    assert ET.parse("out/check.xml").getroot().get("failures") == "3"


def test_github_gets_a_summary_and_annotations(
    sides: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("summary.md").write_text("earlier\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert cli.run(["check", *sides, "--fail-on", "bound"]) == 1
    assert Path("summary.md").read_text().startswith("earlier\n## boundby: 1 failed\n")
    assert "::error title=boundby bound::decode-b1: bound: bandwidth -> launch\n" in capsys.readouterr().err


def test_annotations_are_given_under_quiet_too(
    sides: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    cli.run(["check", *sides, "--fail-on", "bound", "-q", "--json", "-"])
    assert capsys.readouterr().err == "::error title=boundby bound::decode-b1: bound: bandwidth -> launch\n"


def test_a_saved_baseline_is_the_recording_reduced(sides: list[str], tmp_path: Path) -> None:
    Path("analysis.json").write_bytes(decode_mi300x().to_json())
    assert cli.run(["check", "analysis.json", "--save-baseline", "new/base.json", "-q"]) == 0
    assert Path("new/base.json").read_bytes() == Baseline.of(decode_mi300x()).to_json()
    assert cli.run(["check", "analysis.json", "--baseline", "new/base.json", "--fail-on", "bound", "-q"]) == 0


def test_gates_come_from_the_nearest_pyproject(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.boundby.check]\nfail_on = "bound"\n')
    assert configured_gates(inner) == "bound"
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.boundby.check]\nfail_on = ["itl:5%", "bound"]\n')
    assert configured_gates(inner) == "itl:5%,bound"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.boundby.check]\nfail_on = 3\n", "must be a string or a list of strings, not 3"),
        ("[tool.boundby\n", "is not valid TOML"),
        ("[tool]\nboundby = 1\n", "must be a table"),
    ],
)
def test_a_wrong_configuration_is_one_line(
    text: str, said: str, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pyproject.toml").write_text(text)
    assert cli.run(["check", *sides, "-q"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["after.json"], 2, "either --baseline FILE"),
        (["after.json", "--baseline", "b", "--save-baseline", "c"], 2, "either --baseline FILE"),
        (["after.json", "--baseline", "missing.json"], 2, "missing.json: no such file"),
        (["missing.json", "--baseline", "before.json"], 3, "missing.json"),
        (["after.json", "--baseline", "before.json", "--fail-on", "speed"], 2, "no gate is called 'speed'"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], code: int, said: str, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", *arguments, "-q"]) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
