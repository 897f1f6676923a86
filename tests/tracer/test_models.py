"""Which model a word names, and what is said when it names none."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from boundby.tracer import models  # noqa: E402
from boundby.tracer.errors import TracerError  # noqa: E402
from boundby.tracer.models import load_model, pick_device, torch_dtype  # noqa: E402


def test_a_seed_makes_the_same_weights() -> None:
    one, two = (load_model("random:tiny", device="cpu", seed=3) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_sizes_are_said_before_anything_is_allocated() -> None:
    said: list[str] = []
    load_model("random:tiny", device="cpu", dtype="bf16", say=said.append)
    # Embedding and output 2 x 512 x 64; a layer 64 x (64 + 16 + 16 + 64) + 3 x 64 x 176 + 2 x 64; a last norm of 64.
    count = 2 * 512 * 64 + 6 * (64 * 160 + 3 * 64 * 176 + 128) + 64
    assert said == [f"random:tiny: {count / 1e6:.1f} M parameters, {count * 2 / 1e6:.3g} MB in bfloat16"]


def test_a_model_that_does_not_fit_is_refused_with_both_sizes(monkeypatch: Any) -> None:
    monkeypatch.setattr(models, "free_memory", lambda _device: 1_000_000_000)
    with pytest.raises(
        TracerError, match=r"random:llama-8b needs 32\.1 GB for its weights and 1\.0 GB are free on cpu"
    ):
        load_model("random:llama-8b", device="cpu", dtype="float32")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("random:nope", "there are tiny, llama-125m"),
        ("./nowhere", "no such folder"),
        ("./nowhere.gguf", "no such file"),
        ("no_such_module_here:make", "cannot be imported"),
        ("math:nothing", "nothing"),
        ("builtins:dict", "gave a dict, not a torch.nn.Module"),
    ],
)
def test_a_word_that_names_no_model_is_answered_with_what_would(spec: str, said: str) -> None:
    with pytest.raises(TracerError, match=said):
        load_model(spec, device="cpu")


def test_a_factory_serves_as_a_model() -> None:
    assert isinstance(load_model("torch.nn:Identity", device="cpu"), torch.nn.Identity)


def test_dtypes_by_their_short_names() -> None:
    assert [torch_dtype(n) for n in ("bf16", "float16", "fp32", None)] == [
        torch.bfloat16,
        torch.float16,
        torch.float32,
        None,
    ]
    with pytest.raises(TracerError, match="dtype 'int8' is unknown"):
        torch_dtype("int8")


def test_a_device_that_is_not_here_is_refused() -> None:
    with pytest.raises(TracerError, match="none that torch knows"):
        pick_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(TracerError, match="not on this machine"):
            pick_device("cuda")
