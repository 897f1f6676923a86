"""`boundby compare`: what it prints, and what it pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_comparisons import after, before

from boundby.reports import cli

EXPECTED = """before  before.json
after   after.json
Not recorded alike; times compare only on one machine with one software:
  versions_torch: 2.12 -> 2.13

decode-b1: bandwidth -> launch
  step time x1.200 (99 % interval 1.200 to 1.200, p = 1.6e-05, fastest tenth x1.200, 10 and 10 untraced steps)
  figure               before    after    change
  launches_per_step       100      120    +20.0%
  share_launch           20 %     70 %    +50 points
  kernel     calls a step    time a step
  copy<…>         0 -> 60        +120 µs    new
  norm            40 -> 0        -100 µs    gone
"""


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    a, b = tmp_path / "before.json", tmp_path / "after.json"
    a.write_bytes(before().to_json())
    b.write_bytes(after().to_json())
    return str(a), str(b)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_what_the_terminal_shows(sides: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compare", *sides]) == 0
    assert _lines(capsys.readouterr().out) == EXPECTED.splitlines()


def test_a_recording_against_itself_has_no_tables(sides: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compare", sides[0], sides[0]]) == 0
    assert _lines(capsys.readouterr().out)[3:] == [
        "decode-b1: bandwidth, as before",
        "  step time x1.000 (99 % interval 1.000 to 1.000, p = 1, fastest tenth x1.000, 10 and 10 untraced steps)",
    ]


def test_json_alone_stands_on_stdout(sides: tuple[str, str], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["compare", *sides, "--json", "-"]) == 0
    found = json.loads(capsysbinary.readouterr().out)
    assert found["environment"] == {"versions_torch": ["2.12", "2.13"]}
    assert [k["name"] for k in found["phases"][0]["kernels"]] == ["copy<float>", "norm", "gemm"]


def test_folders_pair_by_name_and_the_rest_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, name in (("a", "run.1.json"), ("a", "run.2.json"), ("b", "run.1.json"), ("b", "other.json")):
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / name).write_bytes(before().to_json())
    assert cli.run(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    said = capsys.readouterr()
    assert said.out.count("decode-b1: bandwidth, as before") == 1
    assert f"run.2: only in {tmp_path / 'a'}; not compared" in said.err
    assert f"other: only in {tmp_path / 'b'}; not compared" in said.err


def test_folders_without_a_shared_name_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side in "ab":
        (tmp_path / side).mkdir()
        (tmp_path / side / f"{side}.json").write_bytes(before().to_json())
    assert cli.run(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "-q"]) == 2
    assert "no file name is in both" in capsys.readouterr().err


def test_a_folder_and_a_file_are_refused(sides: tuple[str, str], tmp_path: Path) -> None:
    assert cli.run(["compare", sides[0], str(tmp_path), "-q"]) == 2
