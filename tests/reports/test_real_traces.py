"""The reports of real traces: what a reader asks is answered, and every answer fits the published schema."""

import json
import re
from functools import cache
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from boundby.analyzers.analysis import Analysis
from boundby.analyzers.analyze import analyze
from boundby.reports.delivery import as_json
from boundby.reports.html import LARGEST_PAGE, render

SCHEMA = json.loads(files("boundby.reports").joinpath("schema/analysis.schema.json").read_text())
H100 = "hf-qwen1.5-0.5b-prefill-h100.json.gz"


@cache
def answer(path: Path) -> Analysis:
    return analyze(str(path), timelines=True)


def text_of(page: str, section: str) -> str:
    """The words of one section of a page."""
    found = re.search(rf'<section id="{section}".*?</section>', page, re.DOTALL)
    assert found is not None
    words = re.sub(r"<(script|svg).*?</\1>|<[^>]*>", " ", found.group(0), flags=re.DOTALL)
    return " ".join(unescape(words).replace("\u00a0", " ").split())


def test_every_real_answer_fits_the_schema_and_makes_a_page(shared_traces: Path) -> None:
    for path in sorted(shared_traces.glob("*.json.gz")):
        Draft202012Validator(SCHEMA).validate(json.loads(as_json([answer(path)], many=False)))
        assert len(render(answer(path)).encode()) <= LARGEST_PAGE


@pytest.fixture
def h100(shared_traces: Path) -> str:
    return render(answer(shared_traces / H100))


def test_what_bounds_it(h100: str) -> None:
    assert "Prefill is bandwidth-bound" in text_of(h100, "verdicts")


def test_which_kernels(h100: str) -> None:
    # By the trace itself: 168 GEMM kernels, then the elementwise multiplications.
    rows = re.findall(r'<tr id="k-[^>]*>.*?</tr>', h100, re.DOTALL)
    words = [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in rows[:2]]
    assert "sm90_xmma_gemm_bf16bf16" in words[0]
    assert " 168 8.85 ms" in words[0].replace("\u00a0", " ")
    assert "elementwise_kernel" in words[1]


def test_what_if_the_elementwise_kernels_were_fused(h100: str) -> None:
    said = text_of(h100, "findings")
    assert re.search(r"elementwise.* saves about [0-9.]+ ms, [0-9]+ %", said)
    assert "torch.compile" in said


def test_is_the_gpu_idle_and_why(h100: str) -> None:
    assert re.search(r"device busy 9\d %", text_of(h100, "verdicts"))
    causes = text_of(h100, "time").split("Launch time, by cause")[1]
    assert "Python and framework between launches" in causes


def test_how_near_to_its_peak_the_gemm_runs(h100: str) -> None:
    row = re.search(r'<tr id="op-[^>]*-1" .*?</tr>', h100, re.DOTALL)
    assert row is not None
    words = " ".join(unescape(re.sub(r"<[^>]*>", " ", row.group(0))).replace("\u00a0", " ").split())
    # 611 TFLOP/s of the 989 that an H100 has in bf16.
    assert "aten::mm [8944,1024] [1024,2816]" in words
    assert "611 TFLOP/s" in words
    assert "62 %" in words
