"""The wheel holds all that is needed, and reads a trace in an environment of its own, without torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "tracer", "analyzers", "reports", "src")


def _build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _copy(target: Path) -> Path:
    target.mkdir()
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, symlinks=True, ignore=skip)
        else:
            shutil.copy(source, target / part)
    return target


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = _build(_copy(folder / "source"), folder)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("boundby-*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_rooms(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        f"boundby/{file.relative_to(ROOT)}"
        for room in ("tracer", "analyzers", "reports")
        for file in (ROOT / room).rglob("*")
        if file.suffix in (".py", ".html", ".css", ".js", ".json") and "__pycache__" not in file.parts
    }
    assert wanted - inside == set()
    assert "boundby/py.typed" in inside
    assert {
        "boundby/analyzers/devices.json",
        "boundby/analyzers/kernel_names.json",
        "boundby/reports/templates/report.html",
    } <= inside
    assert "boundby/reports/schema/analysis.schema.json" in inside


@pytest.mark.slow
def test_the_wheel_reads_a_trace_where_there_is_no_torch(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    assert subprocess.run([str(python), "-c", "import torch"], check=False, capture_output=True).returncode == 1
    sample = ROOT / "sample_traces" / "llama-125m.json.gz"
    command = [
        str(tmp_path / "env" / "bin" / "boundby"),
        "analyze",
        str(sample),
        "--json",
        "-",
        "--html",
        str(tmp_path / "r.html"),
    ]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    assert {p["kind"]: p["bound"] for p in json.loads(done.stdout)["phases"]} == {
        "prefill": "compute",
        "decode": "bandwidth",
    }
    assert (tmp_path / "r.html").stat().st_size > 10_000
    profile = [str(tmp_path / "env" / "bin" / "boundby"), "profile", "random:tiny", "--out", str(tmp_path / "o")]
    refused = subprocess.run(profile, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert refused.returncode == 6
    assert "pip install 'boundby[trace]'" in refused.stderr


@pytest.mark.slow
def test_a_clone_without_the_links_does_not_build(tmp_path: Path) -> None:
    copy = _copy(tmp_path / "source")
    for room in ("tracer", "analyzers", "reports"):
        (copy / "src" / "boundby" / room).unlink()
        (copy / "src" / "boundby" / room).write_text(f"../../{room}")  # what git leaves where links are off
    assert _build(copy, tmp_path / "out").returncode != 0


def test_help_loads_no_table_no_chart_and_no_torch() -> None:
    code = (
        "import sys; from boundby.reports.cli import run; run(['--help']);"
        "print(sorted({'polars', 'numpy', 'matplotlib', 'pandas', 'torch', 'jinja2'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_analyze_to_json_loads_no_chart_no_pandas_and_no_page() -> None:
    sample = ROOT / "sample_traces" / "tiny-decode.json.gz"
    code = (
        f"import sys; from boundby.reports.cli import run; run(['analyze', {str(sample)!r}, '--json', '-', '-q']);"
        "print(sorted({'matplotlib', 'pandas', 'torch', 'jinja2', 'scipy', 'pyarrow'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
