import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from example_analyses import contested, prefill_h100

import boundby.analyzers
from boundby.analyzers.analysis import Analysis
from boundby.analyzers.errors import EmptyTraceError, UnreadableTraceError
from boundby.reports import cli
from boundby.reports.delivery import page_names
from boundby.tracer.errors import TracerError


@pytest.fixture
def analyzed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stands in for the analysis: `answers[path]` is what a path gives, an answer or an error."""
    answers: dict[str, Any] = {"good.json": prefill_h100(), "other.json": contested()}

    def analyze(source: str, **options: Any) -> Analysis:
        answers["options"] = options
        answer = answers[source]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    stand_in = ModuleType("boundby.analyzers.analyze")
    stand_in.analyze = analyze  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "boundby.analyzers.analyze", stand_in)
    monkeypatch.setattr(boundby.analyzers, "analyze", stand_in, raising=False)
    return answers


def test_json_alone_stands_on_stdout(analyzed: dict[str, Any], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["analyze", "good.json", "--json", "-"]) == 0
    out = capsysbinary.readouterr().out
    assert out == prefill_h100().to_json() + b"\n"


def test_options_reach_the_analysis(analyzed: dict[str, Any]) -> None:
    given = ["--device", "H100", "--model", "config.json", "--capture", "c", "--mapping", "m", "--json", "-"]
    assert cli.run(["analyze", "good.json", *given]) == 0
    assert analyzed["options"] == {
        "device": "H100",
        "model": "config.json",
        "capture": "c",
        "mapping": "m",
        "frames": False,
        "timelines": False,
    }


def test_files_are_written_and_named_on_stderr(
    analyzed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["analyze", "good.json", "--json", f"{tmp_path}/a.json", "--parquet", f"{tmp_path}/tables"]) == 0
    said = capsys.readouterr()
    assert "COMPUTE-BOUND" in said.out
    assert f"wrote {tmp_path}/a.json" in said.err
    assert json.loads((tmp_path / "a.json").read_bytes())["phases"][0]["bound"] == "compute"
    assert (tmp_path / "tables" / "phases.parquet").exists()


@pytest.mark.parametrize("arguments", [["--quiet", "analyze", "good.json"], ["analyze", "good.json", "-q"]])
def test_quiet_leaves_only_the_result(
    analyzed: dict[str, Any], arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*arguments, "--json", f"{tmp_path}/a.json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "COMPUTE-BOUND" in said.out


@pytest.mark.parametrize(("error", "code"), [(UnreadableTraceError("no"), 3), (EmptyTraceError("no"), 4)])
def test_an_error_is_one_line_and_its_exit_code(
    analyzed: dict[str, Any], error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    analyzed["bad.json"] = error
    assert cli.run(["analyze", "bad.json", "-q"]) == code
    said = capsys.readouterr()
    assert said.err == "boundby: no\n"
    assert said.out == ""


def test_the_readable_ones_of_several_are_told_and_the_exit_code_is_the_first_failures(
    analyzed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    analyzed["bad.json"] = EmptyTraceError("bad.json: empty")
    analyzed["worse.json"] = UnreadableTraceError("worse.json: unreadable")
    assert cli.run(["analyze", "good.json", "bad.json", "worse.json", "other.json", "--json", "-", "-q"]) == 4
    said = capsys.readouterr()
    assert said.err == "boundby: bad.json: empty\nboundby: worse.json: unreadable\n"
    assert len(json.loads(said.out)) == 2


def test_a_surprise_is_one_line_that_names_debug(analyzed: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    analyzed["bad.json"] = ZeroDivisionError("division\nby zero")
    assert cli.run(["analyze", "bad.json", "-q"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError: division\\nby zero" in line
    assert "--debug" in line


def test_debug_lets_the_traceback_through(analyzed: dict[str, Any]) -> None:
    analyzed["bad.json"] = ZeroDivisionError("boom")
    with pytest.raises(ZeroDivisionError):
        cli.run(["analyze", "bad.json", "--debug"])


def test_an_interruption_is_exit_130(analyzed: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    analyzed["slow.json"] = KeyboardInterrupt()
    assert cli.run(["analyze", "slow.json", "-q"]) == 130
    assert capsys.readouterr().err == "interrupted; nothing half-written was left\n"


@pytest.mark.parametrize(
    "arguments", [["nope"], ["analyze"], ["analyze", "x", "--nope"], ["analyze", "x", "--top", "-1"]]
)
def test_wrong_usage_is_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 2
    said = capsys.readouterr()
    assert "Error" in said.err
    assert said.out == ""


def test_several_pages_need_a_folder(analyzed: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["analyze", "good.json", "other.json", "--html", "page.html"]) == 2
    assert "need a folder" in capsys.readouterr().err


def test_an_unwritable_output_is_refused_before_the_work(analyzed: dict[str, Any], tmp_path: Path) -> None:
    analyzed["good.json"] = AssertionError("analysed for nothing")
    assert cli.run(["analyze", "good.json", "--json", str(tmp_path)]) == 5


def test_page_names_are_distinct_and_stay_in_the_folder() -> None:
    assert page_names(
        ["a/x.pt.trace.json.gz", "b/x.json", "../../etc/passwd", "s3://b/k.json?sig=secret", "..", "X.json"]
    ) == [
        "x.html",
        "x-2.html",
        "passwd.html",
        "k.html",
        "trace.html",
        "X-3.html",
    ]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_help_loads_none_of_the_heavy_packages() -> None:
    heavy = "polars numpy pandas matplotlib jinja2 torch transformers rich.console pyarrow"
    done = python(
        "import sys; from boundby.reports import cli; code = cli.run(['--help']);"
        f"print('LOADED', sorted(set({heavy.split()!r}) & set(sys.modules)), code)"
    )
    assert "LOADED [] 0" in done.stdout
    assert "analyze" in done.stdout


def test_a_closed_pipe_ends_quietly() -> None:
    code = (
        "import os, sys; from boundby.reports import cli; read, write = os.pipe(); os.close(read); os.dup2(write, 1);"
        "sys.argv = ['boundby', '--help']; cli.main()"
    )
    done = python(code)
    assert done.returncode == 0
    assert done.stderr == ""


def test_recording_without_torch_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from boundby.reports import cli;"
        f"sys.exit(cli.run(['profile', 'random:tiny', '--out', {str(tmp_path)!r}, '-q']))"
    )
    done = python(code)
    assert done.returncode == 6
    assert done.stderr == "boundby: recording needs torch, which is not installed; pip install 'boundby[trace]'\n"


def test_a_full_disk_behind_stdout_is_one_line_and_exit_5() -> None:
    code = "import sys; from boundby.reports import cli; sys.argv = ['boundby', '--help']; cli.main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert done.stderr == "boundby: the result cannot be written (No space left on device); choose another place\n"


def test_a_terminal_without_the_symbols_still_gets_the_answer() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r}); from example_analyses import prefill_h100;"
        "from boundby.reports import cli; from boundby.reports.delivery import deliver;"
        "cli.run = lambda _: deliver([prefill_h100()]); cli.main()"
    )
    done = python(code, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "? PREFILL  COMPUTE-BOUND" in done.stdout


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, analyzed: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Stands in for the recorder: remembers how it was called, and "writes" a trace that the analysis knows."""
    calls: dict[str, Any] = {}

    def record(spec: str, **options: Any) -> SimpleNamespace:
        options.pop("progress")("prefill", 0.5)
        calls.update(options, spec=spec)
        trace = options["out"] / "trace.json.gz"
        analyzed[str(trace)] = prefill_h100()
        return SimpleNamespace(trace_path=trace)

    monkeypatch.setattr("boundby.reports.commands.profile.recorder", lambda _: SimpleNamespace(record=record))
    return calls


def test_profile_records_with_its_options_and_leaves_page_and_twin(
    recorded: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert cli.run(["profile", "random:tiny", "--batch", "4", "--compile", "default", "--out", str(out)]) == 0
    assert {
        key: recorded[key] for key in ("spec", "batch", "prompt_tokens", "new_tokens", "compile", "cache", "modules")
    } == {
        "spec": "random:tiny",
        "batch": 4,
        "prompt_tokens": 512,
        "new_tokens": 32,
        "compile": "default",
        "cache": "dynamic",
        "modules": False,
    }
    assert "trust_remote_code" not in recorded
    said = capsys.readouterr()
    assert "COMPUTE-BOUND" in said.out
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((out / "analysis.json").read_bytes())["schema_version"] == "1.0"


def test_profile_refuses_a_place_it_cannot_write_before_recording(recorded: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert cli.run(["profile", "random:tiny", "--out", str(tmp_path / "file"), "-q"]) == 5
    assert recorded == {}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stands in for the calibration of a machine."""
    calls: dict[str, Any] = {}

    def calibrate(device: str, *, fresh: bool, progress: Any) -> Calibrated:
        calls.update(device=device, fresh=fresh)
        return Calibrated()

    stand_in = SimpleNamespace(pick_device=lambda name: f"<{name}>", calibrate=calibrate)
    monkeypatch.setattr("boundby.reports.commands.calibrate.recorder", lambda _: stand_in)
    return calls


class Calibrated(msgspec.Struct):
    device: str = "two cores"
    kind: str = "cpu"
    torch: str = "2.13.0"
    threads: int = 2
    peak_tflops: dict[str, float] = msgspec.field(default_factory=lambda: {"fp32": 0.192})
    bandwidth_gb_s: float = 22.0
    copy_gb_s: float = 20.0
    smallest_kernel_us: float = 2.5
    launch_latency_us: float = 1.5
    spread: dict[str, float] = msgspec.field(default_factory=lambda: {"peak_fp32": 0.027, "bandwidth": 0.01})


def test_calibrate_shows_each_figure_with_its_spread(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["calibrate", "--device", "cpu", "--fresh"]) == 0
    assert measured == {"device": "<cpu>", "fresh": True}
    rows = {
        tuple(line.split()[:-1]): line.split()[-1] for line in capsys.readouterr().out.replace(" %", "%").splitlines()
    }
    assert rows["GEMM", "fp32", "192", "GFLOP/s"] == "2.7%"
    assert rows["memory,", "read", "22.0", "GB/s"] == "1.0%"
    assert rows["smallest", "kernel", "2.50", "µs"] == "–"


def test_calibrate_prints_json_alone(measured: dict[str, Any], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["calibrate", "--json", "-"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["bandwidth_gb_s"] == 22.0


def test_a_recorder_s_error_is_one_line_and_exit_6(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def record(spec: str, **options: Any) -> None:
        raise TracerError("model 'nope' cannot be loaded; check its name")

    monkeypatch.setattr("boundby.reports.commands.profile.recorder", lambda _: SimpleNamespace(record=record))
    assert cli.run(["profile", "nope", "--out", str(tmp_path), "-q"]) == 6
    assert capsys.readouterr().err == "boundby: model 'nope' cannot be loaded; check its name\n"
