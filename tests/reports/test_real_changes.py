"""Real changes to a real model, recorded here: each is caught by the gate that reads its cause, in words that name it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from boundby.analyzers.analyze import analyze  # noqa: E402
from boundby.analyzers.comparison import Baseline, Comparison, GateResult, compare, parse_gates, run_gates  # noqa: E402
from boundby.tracer import record as recording  # noqa: E402
from boundby.tracer.calibrate import calibrate  # noqa: E402
from boundby.tracer.models import load_model  # noqa: E402

pytestmark = pytest.mark.slow

GATES = parse_gates(
    "kernels_per_step:0,syncs_per_step:0,new_kernels,vanished_kernels,"
    "flops_per_token:1%,bytes_per_token:2%,kv_bytes_per_token:0,itl:10%"
)
COUNTS = parse_gates(
    "bound,kernels_per_step:0,syncs_per_step:0,new_kernels,vanished_kernels,flops_per_token:0,bytes_per_token:0"
)
Recorder = Callable[..., Baseline]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Records a change of the tiny model, in bfloat16, on one measurement of this machine."""
    folder = tmp_path_factory.mktemp("recordings")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # ops this small gain nothing from a second, and wait for it where the machine is shared
    measured = calibrate(torch.device("cpu"))
    patch = pytest.MonkeyPatch()
    patch.setattr(recording, "calibrate", lambda _device: measured)

    def made(name: str, change: Callable[[Any], None] | None = None, *, attn: str = "sdpa", **options: Any) -> Baseline:
        model = load_model("random:tiny", dtype="bfloat16", device="cpu", attn=attn)
        if change is not None:
            change(model)
        sizes = {"prompt_tokens": 64, "new_tokens": 12}
        result = recording.record(model, out=folder, name=f"{name}.json.gz", **sizes, **options)
        return Baseline.of(analyze(str(result.trace_path)))

    yield made
    patch.undo()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def base(record: Recorder) -> Baseline:
    return record("base")


def decode(before: Baseline, after: Baseline, gates: Any = GATES) -> tuple[Comparison, dict[str, GateResult]]:
    """The comparison, and by gate what it says of decode."""
    comparison = compare(before, after)
    results = [r for r in run_gates(comparison, gates) if r.phase.startswith("decode")]
    return comparison, {r.gate.split(":")[0]: r for r in results}


def failed(results: dict[str, GateResult]) -> set[str]:
    """The gates on cause that failed; those on time depend on what else this machine does."""
    return {name for name, r in results.items() if r.outcome == "fail"} - {"itl"}


def test_the_same_code_repeats_every_count_exactly(base: Baseline, record: Recorder) -> None:
    comparison = compare(base, record("again"))
    assert comparison.environment == {}
    assert {(r.gate, r.outcome) for r in run_gates(comparison, COUNTS)} == {(str(g), "pass") for g in COUNTS}


def test_eager_attention_is_named_by_its_ops(base: Baseline, record: Recorder) -> None:
    comparison, results = decode(base, record("eager", attn="eager"))
    assert comparison.environment["settings_attn_implementation"] == ("sdpa", "eager")
    assert {"new_kernels", "vanished_kernels", "kernels_per_step"} <= failed(results)
    gone = {k.name for k in comparison.phases[1].kernels if not k.after_calls}
    assert "aten::_scaled_dot_product_flash_attention_for_cpu" in gone
    softmaxes = [k for k in comparison.phases[1].kernels if k.name == "aten::_softmax"]
    assert [(k.before_calls, k.after_calls) for k in softmaxes] == [(0.0, 6.0)]  # one a layer


def test_a_static_cache_is_named_by_its_writes(base: Baseline, record: Recorder) -> None:
    comparison, results = decode(base, record("static", cache="static"))
    assert comparison.environment["settings_cache"] == ("dynamic", "static")
    assert "new_kernels" in failed(results)
    writes = [k for k in comparison.phases[1].kernels if k.name == "aten::index_copy_"]
    assert [(k.before_calls, k.after_calls) for k in writes] == [(0.0, 12.0)]  # keys and values of six layers


def test_an_added_item_is_a_sync_per_step(base: Baseline, record: Recorder) -> None:
    def read(model: Any) -> None:
        model.model.norm.register_forward_hook(lambda _module, _inputs, result: (result.sum().item(), None)[1])

    _, results = decode(base, record("item", read))
    assert results["syncs_per_step"].message == "syncs_per_step: 0 -> 1"
    # sum, item and the read itself.
    assert {"syncs_per_step", "kernels_per_step", "new_kernels"} == failed(results)


def test_a_cast_in_the_mlp_is_bytes_without_flops(base: Baseline, record: Recorder) -> None:
    def cast(model: Any) -> None:
        for layer in model.model.layers:
            mlp = layer.mlp

            def forward(x: Any, mlp: Any = mlp) -> Any:
                wide = mlp.act_fn(mlp.gate_proj(x)).float() * mlp.up_proj(x).float()
                return mlp.down_proj(wide.to(x.dtype))

            mlp.forward = forward

    comparison, results = decode(base, record("cast", cast))
    assert {"bytes_per_token", "kernels_per_step"} <= failed(results)
    assert results["flops_per_token"].outcome == "pass"
    casts = [k for k in comparison.phases[1].kernels if k.name == "aten::_to_copy"]
    assert [k.after_calls - k.before_calls for k in casts] == [18.0]  # two up and one down in each of six layers


def test_a_doubled_layer_is_a_sixth_more_of_everything(base: Baseline, record: Recorder) -> None:
    def double(model: Any) -> None:
        layer = copy.deepcopy(model.model.layers[-1])
        layer.self_attn.layer_idx = len(model.model.layers)
        model.model.layers.append(layer)
        model.config.num_hidden_layers += 1
        if getattr(model.config, "layer_types", None):
            model.config.layer_types = [*model.config.layer_types, model.config.layer_types[-1]]

    comparison, results = decode(base, record("doubled", double))
    assert {"flops_per_token", "bytes_per_token", "kernels_per_step", "kv_bytes_per_token"} == failed(results)
    # 64 x (64 + 16 + 16 + 64) + 3 x 64 x 176 weights and two norms of 64: a layer.
    before, after = comparison.environment["model_parameters"]
    assert after - before == 64 * 160 + 3 * 64 * 176 + 128
    # A KV row: keys and values of one head of 16, two bytes each, in seven layers instead of six.
    assert results["kv_bytes_per_token"].message == "kv_bytes_per_token: 384 -> 448 (+16.7%)"


def test_a_batch_of_two_is_other_work_not_slower_code(base: Baseline, record: Recorder) -> None:
    comparison, results = decode(base, record("batch", batch=2))
    assert comparison.environment == {"workload_batch": (1, 2)}
    assert failed(results) == set()
    assert results["kernels_per_step"].outcome == "pass"
    assert results["bytes_per_token"].outcome == "improved"  # the weights are read once for two tokens
    assert results["itl"].message == "itl: other work was timed (batch: 1 -> 2)"
