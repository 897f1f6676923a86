"""GitHub's workflow commands, whole; a name from a trace cannot give a command of its own."""

from __future__ import annotations

from example_comparisons import compared

from boundby.analyzers.comparison import GateResult
from boundby.reports.annotations import github_annotations


def test_failures_are_errors_and_doubts_are_warnings() -> None:
    assert github_annotations(compared()[1]) == [
        "::error title=boundby bound::decode-b1: bound: bandwidth -> launch",
        "::error title=boundby launches_per_step%3A0::decode-b1: launches_per_step: 100 -> 120 (+20.0%25)",
        "::error title=boundby itl%3A5%25::decode-b1: itl: x1.200 (99 %25 interval 1.200 to 1.200, p = 1.6e-05, "
        "fastest tenth x1.200, 10 and 10 samples)",
        "::warning title=boundby efficiency%3A0::decode-b1: efficiency is not known on both sides",
    ]


def test_a_new_line_in_a_name_begins_no_command() -> None:
    (line,) = github_annotations([GateResult("bound", "x\n::set-env name=A::b", "fail", "100%\r\nmore")])
    assert line == "::error title=boundby bound::x\\n::set-env name=A::b: 100%25\\r\\nmore"
