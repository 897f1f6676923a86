"""Many traces: found, analysed in parallel, resumed, shown; bad ones and dying workers cost themselves only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import polars as pl
import pytest

from boundby.reports.batch import run as running
from boundby.reports.batch.index import render_index
from boundby.reports.batch.inputs import find_inputs
from boundby.reports.batch.ranks import job_and_rank
from boundby.reports.batch.rows import COLUMNS, job_rows, rows_of
from boundby.reports.batch.store import load_all
from boundby.reports.cli import run as command

SAMPLE = Path(__file__).resolve().parents[3] / "sample_traces" / "tiny-decode.json.gz"


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Two copies of a sample in a folder and a folder within, and a file that is no trace."""
    folder = tmp_path / "traces"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(SAMPLE, folder / "a.json.gz")
    shutil.copy(SAMPLE, folder / "deep" / "b.json.gz")
    (folder / "bad.json").write_text("<html>")
    (folder / "notes.txt").write_text("not asked for")
    return folder


def test_folders_globs_and_files_name_each_trace_once(traces: Path) -> None:
    names = [Path(i.source).name for i in find_inputs([str(traces), str(traces / "a.json.gz"), str(traces / "*.gz")])]
    assert sorted(names) == ["a.json.gz", "b.json.gz", "bad.json"]


def test_the_heaviest_trace_comes_first(traces: Path) -> None:
    (traces / "big.json").write_bytes(b"[" + b" " * 20_000_000)
    assert Path(find_inputs([str(traces)])[0].source).name == "big.json"


def test_a_url_of_a_folder_is_listed(traces: Path) -> None:
    assert len(find_inputs([f"file://{traces}"])) == 3


def test_a_batch_keeps_every_trace_and_counts_the_bad_one(traces: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    assert command(["batch", str(traces), "-o", str(out), "--jobs", "2"]) == 0
    assert capsys.readouterr().out == f"3 traces, 1 failed: {out / 'index.html'}\n"
    entries = {Path(e.source).name: e for e in load_all(out / "traces")}
    assert {name: e.error is None for name, e in entries.items()} == {
        "a.json.gz": True,
        "b.json.gz": True,
        "bad.json": False,
    }
    assert (out / "traces" / entries["a.json.gz"].page).stat().st_size > 10_000
    phases = pl.read_parquet(out / "tables" / "phases.parquet")
    assert phases["bound"].to_list() == ["launch"] * 4
    assert command(["batch", str(traces), "-o", str(out), "--strict", "-q"]) == 1


def test_a_second_run_does_nothing_and_a_changed_trace_is_done_again(traces: Path, tmp_path: Path) -> None:
    from boundby.reports.batch.run import plan

    out = tmp_path / "out"
    command(["batch", str(traces), "-o", str(out), "--jobs", "1", "-q"])
    options: dict[str, Any] = {"device": None, "model": None, "pages": True}
    assert plan(find_inputs([str(traces)]), out / "traces", **options) == []
    (traces / "bad.json").write_text("<html> another")
    assert [Path(t.source).name for t in plan(find_inputs([str(traces)]), out / "traces", **options)] == ["bad.json"]
    assert len(plan(find_inputs([str(traces)]), out / "traces", device="mi300x", model=None, pages=True)) == 3


def test_the_page_is_made_again_from_what_was_kept(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command(["batch", str(traces), "-o", str(out), "--jobs", "1", "-q"])
    page = (out / "index.html").read_text()
    (out / "index.html").unlink()
    assert command(["batch", "-o", str(out), "--index-only", "-q"]) == 0
    assert (out / "index.html").read_text() == page


def _dies_on_b(task: Any) -> tuple[str, str | None]:
    if "b.json" in task.source:
        os.kill(os.getpid(), signal.SIGKILL)
    return _REAL(task)


_REAL = running.analyse_one


def test_a_worker_that_is_killed_loses_its_own_trace_only(traces: Path, tmp_path: Path, monkeypatch: Any) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(running, "analyse_one", _dies_on_b)
    out = tmp_path / "out"
    assert command(["batch", str(traces), "-o", str(out), "--jobs", "2", "-q"]) == 0
    entries = {Path(e.source).name: e for e in load_all(out / "traces")}
    assert set(entries) == {"a.json.gz", "b.json.gz", "bad.json"}
    assert entries["a.json.gz"].error is None
    assert "worker process died" in (entries["b.json.gz"].error or "")
    monkeypatch.setattr(running, "analyse_one", _REAL)
    assert command(["batch", str(traces), "-o", str(out), "--jobs", "1", "-q"]) == 0
    assert {Path(e.source).name: e.error is None for e in load_all(out / "traces")}["b.json.gz"]


@pytest.mark.parametrize(
    ("source", "metadata", "job", "rank"),
    [
        ("run/1757000000.1-TP-1-DECODE.trace.json.gz", {}, "run/*-TP*-DECODE.trace.json.gz", 1),
        ("w_rank3.1757000000123456789.pt.trace.json.gz", {}, "w_rank*.*.pt.trace.json.gz", 3),
        ("trace.json.gz", {"distributed": {"rank": 2, "world_size": 8}}, "trace.json.gz", 2),
        ("trace.json.gz", {"distributed": {"rank": 0, "world_size": 1}}, "", None),
        ("transform.json.gz", {}, "", None),
    ],
)
def test_ranks_of_one_job(source: str, metadata: dict[str, Any], job: str, rank: int | None) -> None:
    assert job_and_rank(source, metadata) == (job, rank)


def test_the_straggler_of_a_job_is_named() -> None:
    base = dict.fromkeys(COLUMNS) | {"job": "j", "phase": "decode-b1", "communication": 0.1}
    rows = [{**base, "rank": r, "wall_us": w, "busy": 0.5} for r, w in ((0, 100.0), (1, 100.0), (2, 150.0))]
    (job,) = job_rows(rows)
    assert (job["ranks"], job["slowest_rank"], job["slowest_over_median"]) == (3, 2, 1.5)
    # Busy 50, 50, 75: the mean is 58.33, the most 75.
    assert job["imbalance"] == pytest.approx(75 / (175 / 3) - 1)
    assert job["communication"] == pytest.approx(0.1)


def _many(n: int) -> list[dict[str, Any]]:
    row = {
        "trace": "",
        "model": "Qwen3-8B",
        "engine": "vllm",
        "device": "NVIDIA H100 80GB HBM3",
        "phase": "decode-b32",
        "kind": "decode",
        "bound": "bandwidth",
        "margin": 0.41237,
        "contested": False,
        "wall_us": 10_366.887,
        "busy": 0.935123,
        "efficiency": 0.61234,
        "launch": 0.0652,
        "communication": 0.0,
        "coverage": 0.98765,
        "warnings": 1,
        "job": "",
        "rank": None,
        "page": "x",
        "error": None,
    }
    return [
        {
            **row,
            "trace": f"s3://bucket/runs/2026-11/worker-{i:05d}.pt.trace.json.gz",
            "page": f"worker-{i:05d}-0123456789ab.html",
        }
        for i in range(n)
    ]


def test_ten_thousand_rows_stay_under_five_megabytes() -> None:
    page = render_index(_many(10_000))
    assert len(page.encode()) < 5_000_000
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert len(data["rows"]) == 10_000
    assert "9,800 more rows" in page


def test_hostile_names_are_inert_on_the_page() -> None:
    (row,) = _many(1)
    page = render_index(
        [
            {
                **row,
                "trace": "</script><script>alert(1)</script>",
                "device": "<img src=x onerror=alert(1)>",
                "error": "{{7*7}}",
            }
        ]
    )
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "{{7*7}}" in page


def test_a_trace_without_a_result_is_a_row_with_its_error() -> None:
    from boundby.reports.batch.store import Entry

    (row,) = rows_of([Entry(source="x.json", content="", version="", options="", page="", error="no events")])
    assert (row["trace"], row["bound"], row["error"]) == ("x.json", "error", "no events")


def test_a_dask_cluster_of_two_workers_analyses_them_all(traces: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    out = tmp_path / "out"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        code = command(
            ["batch", str(traces), "-o", str(out), "--backend", "dask", "--scheduler", cluster.scheduler_address, "-q"]
        )
    assert code == 0
    assert len(load_all(out / "traces")) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x-not-there"], "no trace there"),
        ([], "name files"),
        (["x", "--backend", "dask"], "go together"),
        (["x", "--backend", "slurm"], "is not processes or dask"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], said: str, tmp_path: Path, capsys: Any) -> None:
    assert command(["batch", *arguments, "-o", str(tmp_path / "o")]) in (2, 3)
    assert said in capsys.readouterr().err
