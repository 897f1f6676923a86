"""The sample traces say what their README says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from boundby.analyzers.analyze import analyze

SAMPLES = Path(__file__).resolve().parents[1] / "sample_traces"
VERDICTS = {
    "tiny-decode": {"prefill": "launch", "decode": "launch"},
    "llama-125m": {"prefill": "compute", "decode": "bandwidth"},
    "gpt2-124m-short-prompt": {"prefill": "compute", "decode": "bandwidth"},
    "smollm2-135m": {"prefill": "compute", "decode": "bandwidth"},
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts_are_those_of_the_readme_and_clear(name: str) -> None:
    phases = analyze(SAMPLES / f"{name}.json.gz").phases
    assert {p.kind: p.bound for p in phases} == VERDICTS[name]
    for phase in phases:
        assert phase.margin is not None
        assert phase.margin > 0.10
        assert not phase.contested
        assert phase.cost_coverage == pytest.approx(1.0, abs=0.01)


def test_every_sample_is_accounted_for_and_small() -> None:
    files = list(SAMPLES.glob("*.json.gz"))
    assert {f.name.removesuffix(".json.gz") for f in files} == set(VERDICTS)
    assert sum(f.stat().st_size for f in files) < 2_000_000


def test_flops_of_a_124_m_parameter_prefill_are_two_per_weight_and_token_plus_attention() -> None:
    (prefill,) = [p for p in analyze(SAMPLES / "llama-125m.json.gz").phases if p.kind == "prefill"]
    tokens, layers, d, f, vocabulary = 512, 12, 768, 2048, 32000
    linear = 2 * tokens * layers * (4 * d * d + 3 * d * f)
    attention = 4 * layers * d * tokens * (tokens + 1) / 2
    head = 2 * d * vocabulary
    assert prefill.flops == pytest.approx(prefill.n_steps * (linear + attention + head), rel=0.001)


def test_a_sample_names_no_machine_and_no_path() -> None:
    import gzip

    for file in SAMPLES.glob("*.json.gz"):
        text = gzip.decompress(file.read_bytes())
        for word in (b'"host_name"', b'"traceName"', b"/home/", b"/root", b"/tmp", b"site-packages"):
            assert word not in text, (file.name, word)
