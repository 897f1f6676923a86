"""What the hook calls each forward, on a real model of a few hundred thousand parameters; and that it leaves it as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from boundby.tracer.hook import PhaseTracer, StepHook  # noqa: E402
from boundby.tracer.models import load_model  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

Call = tuple[str, int, int, int]
GREEDY: dict[str, Any] = {"max_new_tokens": 3, "pad_token_id": 0, "do_sample": False}


@pytest.fixture(scope="module")
def model() -> Any:
    return load_model("random:tiny", device="cpu")


@pytest.fixture
def ids() -> Any:
    return torch.randint(0, 512, (1, 20), generator=torch.Generator().manual_seed(0))


def marks(model: Any, run: Callable[[], Any]) -> list[Call]:
    """(kind, batch, new tokens, cached tokens) of each forward."""
    hook, seen = StepHook(model), []
    hook.before_call = lambda mark: seen.append((mark.kind, mark.batch, mark.query, mark.cached))
    hook.install()
    try:
        run()
    finally:
        hook.remove()
    return seen


def test_greedy_generation(model: Any, ids: Any) -> None:
    assert marks(model, lambda: model.generate(ids, **GREEDY)) == [
        ("prefill", 1, 20, 0),
        ("decode", 1, 1, 20),
        ("decode", 1, 1, 21),
    ]


def test_sampling(model: Any, ids: Any) -> None:
    found = marks(model, lambda: model.generate(ids, **{**GREEDY, "do_sample": True}))
    assert found == [("prefill", 1, 20, 0), ("decode", 1, 1, 20), ("decode", 1, 1, 21)]


def test_beams_are_sequences(model: Any, ids: Any) -> None:
    found = marks(model, lambda: model.generate(ids, num_beams=3, **GREEDY))
    assert [(kind, batch) for kind, batch, _, _ in found] == [("prefill", 3), ("decode", 3), ("decode", 3)]


def test_a_prefill_in_chunks(model: Any, ids: Any) -> None:
    found = marks(model, lambda: model.generate(ids, prefill_chunk_size=8, **GREEDY))
    assert found[:4] == [("prefill", 1, 8, 0), ("chunk", 1, 8, 8), ("chunk", 1, 4, 16), ("decode", 1, 1, 20)]


def test_a_static_cache_counts_what_is_in_it(model: Any, ids: Any) -> None:
    found = marks(model, lambda: model.generate(ids, cache_implementation="static", **GREEDY))
    assert found == [("prefill", 1, 20, 0), ("decode", 1, 1, 20), ("decode", 1, 1, 21)]


def test_a_padded_batch_counts_its_padding(model: Any) -> None:
    ids = torch.ones(2, 20, dtype=torch.long)
    mask = torch.tensor([[0] * 5 + [1] * 15, [1] * 20])
    found = marks(model, lambda: model.generate(ids, attention_mask=mask, **GREEDY))
    assert found == [("prefill", 2, 20, 0), ("decode", 2, 1, 20), ("decode", 2, 1, 21)]


def test_assisted_generation_verifies(model: Any, ids: Any) -> None:
    draft = load_model("random:tiny", device="cpu")
    found = marks(model, lambda: model.generate(ids, assistant_model=draft, **{**GREEDY, "max_new_tokens": 12}))
    kinds = [kind for kind, *_ in found]
    assert kinds[0] == "prefill"
    assert "verify" in kinds
    assert "chunk" not in kinds


def test_embeddings_instead_of_ids(model: Any, ids: Any) -> None:
    found = marks(model, lambda: model.generate(inputs_embeds=model.get_input_embeddings()(ids), **GREEDY))
    assert found[0] == ("prefill", 1, 20, 0)


def test_a_loop_written_by_hand_with_the_cache_by_position(model: Any, ids: Any) -> None:
    class Old(torch.nn.Module):
        def forward(self, input_ids: Any, past: Any = None) -> Any:
            return input_ids, ((torch.zeros(1, 2, 20, 4), torch.zeros(1, 2, 20, 4)),)

    old = Old()
    assert marks(old, lambda: old(ids, old(ids)[1])) == [("prefill", 1, 20, 0), ("chunk", 1, 20, 20)]


def test_a_reader_of_ones_own_serves_another_signature() -> None:
    class Other(torch.nn.Module):
        def forward(self, *, tokens: list[int]) -> int:
            return len(tokens)

    other, seen = Other(), []
    hook = StepHook(other, phase=lambda _args, kwargs: ("decode", 4, len(kwargs["tokens"]), 99))
    hook.before_call = lambda mark: seen.append(str(mark))
    hook.install()
    assert other(tokens=[1, 2]) == 2
    hook.remove()
    assert seen == ["boundby.step[decode b=4 q=2 k=99 i=0]"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_the_model_is_as_it_was_whatever_is_raised(
    model: Any, ids: Any, error: type[BaseException], tmp_path: Any
) -> None:
    before = model.forward

    def fail(*_: Any) -> None:
        raise error("stop")

    handle = model.model.layers[2].register_forward_hook(fail)
    try:
        with (
            pytest.raises(error),
            PhaseTracer(model, out=tmp_path, warmup_steps=0, untraced_steps=0, calibration=False),
        ):
            model(ids)
    finally:
        handle.remove()
    assert model.forward == before
    assert "forward" not in vars(model)


def test_a_class_that_sets_its_own_forward_gets_it_back() -> None:
    module = torch.nn.Linear(2, 2)
    own = module.forward
    module.forward = own  # an instance attribute, as some wrappers leave
    hook = StepHook(module)
    hook.install()
    hook.remove()
    assert vars(module)["forward"] == own


@pytest.fixture(scope="module")
def recorded(model: Any, tmp_path_factory: Any) -> tuple[PhaseTracer, dict[str, Any]]:
    from boundby.analyzers.reading import read_trace

    ids = torch.ones(1, 24, dtype=torch.long)
    options = {"warmup_steps": 1, "untraced_steps": 3, "traced_steps": 2, "calibration": False}
    with PhaseTracer(model, out=tmp_path_factory.mktemp("traced"), **options) as tracer:
        for _ in range(2):
            model.generate(ids, max_new_tokens=8, pad_token_id=0, do_sample=False)
    assert tracer.trace_path is not None
    return tracer, {"trace": read_trace(tracer.trace_path)}


def test_some_steps_are_timed_then_a_few_traced_and_a_prefill_at_its_second_occurrence(recorded: Any) -> None:
    tracer, found = recorded
    names = found["trace"].spans["name"].to_list()
    assert [name.split(" i=")[0] for name in names] == [
        "boundby.step[decode b=1 q=1 k=28",
        "boundby.step[decode b=1 q=1 k=29",
        "boundby.step[prefill b=1 q=24 k=0",
    ]
    untraced = {u.kind: u for u in tracer.hook.untraced()}
    assert (len(untraced["decode"].samples_us), untraced["decode"].cached_first, untraced["decode"].cached_last) == (
        3,
        25,
        27,
    )
    assert len(untraced["prefill"].samples_us) == 1


def test_the_record_says_what_was_run_and_nothing_of_the_environment(recorded: Any, monkeypatch: Any) -> None:
    raw = recorded[1]["trace"].header.metadata["boundby"]
    assert raw["model"]["parameters"] == sum(p.numel() for p in recorded[0].hook.model.parameters())
    assert raw["model"]["parameter_bytes"] == 4 * raw["model"]["parameters"]
    # 6 layers, one KV head of 16, keys and values, 4 bytes each.
    assert raw["model"]["kv_bytes_per_token"] == 6 * 2 * 1 * 16 * 4
    assert raw["model"]["config"]["hidden_size"] == 64
    assert raw["settings"]["dtype"] == "float32"
    assert set(raw) == {
        "schema",
        "model",
        "workload",
        "settings",
        "versions",
        "device",
        "calibration",
        "untraced",
        "memory",
    }
    assert "host_name" not in recorded[1]["trace"].header.metadata
