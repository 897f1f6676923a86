import io

import pytest
from example_analyses import (
    ALL,
    H100,
    analysis,
    decode_mi300x,
    hostile,
    launch_bound_cpu,
    no_gpu_data,
    phase,
    prefill_h100,
)

from boundby.analyzers.analysis import Analysis, Shares
from boundby.analyzers.trace import TraceWarning
from boundby.reports.terminal import print_analysis


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(answer: Analysis, file: io.StringIO | None = None, top: int = 8) -> str:
    file = file or io.StringIO()
    print_analysis(answer, file=file, top=top)
    return file.getvalue()


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_wider_than_80_columns(name: str) -> None:
    assert max(len(line) for line in shown(ALL[name]()).splitlines()) <= 80


def test_the_verdict_comes_before_all_tables() -> None:
    lines = shown(prefill_h100()).splitlines()
    verdict = next(n for n, line in enumerate(lines) if "COMPUTE-BOUND" in line)
    warnings = next(n for n, line in enumerate(lines) if line == "WARNINGS")
    shares = next(n for n, line in enumerate(lines) if "where the time goes" in line)
    kernels = next(n for n, line in enumerate(lines) if "kernels by time" in line)
    assert verdict < warnings < shares < kernels
    assert lines[verdict] == "▲ PREFILL  COMPUTE-BOUND  margin 0.48: compute over bandwidth"


def test_a_bandwidth_verdict_says_how_near_the_memory_runs_to_its_speed() -> None:
    text = " ".join(shown(decode_mi300x()).split())
    assert (
        "Decode is bandwidth-bound: 78 % of each 10.8 ms step it streams weights and KV cache from memory, "
        "at 3.29 TB/s overall, 62 % of the memory's speed."
    ) in text


def test_on_a_cpu_nothing_is_said_to_be_launched() -> None:
    text = " ".join(shown(launch_bound_cpu()).split())
    assert "72 % of each 1.20 ms step it spends between operators or starting small ones" in text


def test_without_shares_it_says_why_and_shows_no_table() -> None:
    text = shown(no_gpu_data())
    assert "CAN'T TELL" in text
    assert "GPU activity missing" in text
    assert "where the time goes" not in text


def test_a_near_tie_is_called_contested() -> None:
    tie = analysis(phase("prefill", 1e4, Shares(compute=0.44, bandwidth=0.41, launch=0.15), "compute"), device=H100)
    text = " ".join(shown(tie).split())
    assert "CONTESTED margin 0.03" in text
    assert "contested between compute and bandwidth" in text


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in shown(prefill_h100(), Terminal())
    assert "\x1b[" not in shown(prefill_h100())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shown(prefill_h100(), Terminal())


def test_hostile_names_reach_the_terminal_spelled_out() -> None:
    text = shown(hostile(), top=20)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "\\u202egnp.exe" in text
    assert "[bold]" not in shown(analysis(phase("decode", 1.0, Shares(compute=1.0), "compute", evidence=("x",))))


def test_rich_markup_in_a_name_is_only_text() -> None:
    given = phase("decode", 10.0, Shares(compute=1.0), "compute", evidence=("[red]kernel[/red] :boom:",))
    assert "[red]kernel[/red] :boom:" in shown(analysis(given))


def test_rows_left_out_are_counted() -> None:
    assert "and 898 more" in shown(ALL["many_kernels"](), top=2)


def test_rates_of_mostly_unknown_cost_are_not_told() -> None:
    given = phase(
        "decode",
        1e4,
        Shares(bandwidth=0.93, launch=0.07),
        "bandwidth",
        cost_coverage=0.02,
        achieved_gb_s=0.1,
        achieved_tflops=0.0,
    )
    text = " ".join(shown(analysis(given)).split())
    assert "as told by the kernels' names (the cost of only 2.0 % of its busy time is known)" in text
    assert "B/s overall" not in text


def test_unaccounted_time_is_not_a_rival_bound() -> None:
    given = phase("decode", 1e4, Shares(bandwidth=0.43, unknown=0.35, launch=0.22), "bandwidth", contested=True)
    text = " ".join(shown(analysis(given)).split())
    assert "Decode may be bandwidth-bound: 43 % of its 10.0 ms it streams weights" in text
    assert "but 35 % has no known cause, too much to call it." in text


def test_a_warning_s_count_is_told_once() -> None:
    told = (TraceWarning("a", "509 of 1,707 kernels have no launch", 509), TraceWarning("b", "a name is cut", 3))
    text = shown(analysis(phase("decode", 1.0, Shares(compute=1.0), "compute"), warnings=told))
    assert "a: 509 of 1,707 kernels have no launch\n" in text
    assert "b: a name is cut (3 times)\n" in text
