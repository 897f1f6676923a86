"""Whole forward passes of real model code, recorded here on the CPU, against torch's own counter and closed forms."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from costrecording import Recorded, record  # noqa: E402 - after the check that torch is here
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count  # noqa: E402

BATCH, PROMPT, VOCABULARY = 2, 16, 97
SIZES = {
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": VOCABULARY,
}


def _config(name: str, attention: str) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "llama": lambda: transformers.LlamaConfig(**SIZES),
        "gqa": lambda: transformers.Qwen2Config(**SIZES, num_key_value_heads=2),
        "gpt2": lambda: transformers.GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=VOCABULARY),
        "moe": lambda: transformers.Qwen3MoeConfig(
            **SIZES, num_key_value_heads=2, moe_intermediate_size=32, num_experts=8, num_experts_per_tok=2, head_dim=16
        ),
        "mla": lambda: transformers.DeepseekV3Config(
            **SIZES,
            num_key_value_heads=4,
            n_routed_experts=8,
            num_experts_per_tok=2,
            moe_intermediate_size=32,
            n_shared_experts=1,
            kv_lora_rank=16,
            q_lora_rank=24,
            qk_rope_head_dim=8,
            qk_nope_head_dim=16,
            v_head_dim=16,
            n_group=2,
            topk_group=1,
            first_k_dense_replace=1,
        ),
    }
    config = made[name]()
    config._attn_implementation = attention
    return config


def _cpu_flash(query: Any, key: Any, value: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return sdpa_flop_count(query, key, value)


def _step(name: str, attention: str, kind: str, folder: Path) -> tuple[Recorded, int]:
    """A recording of one step, and torch's count of it. Torch does not know its own CPU attention op by itself."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(_config(name, attention)).eval()
    tokens = torch.randint(0, VOCABULARY, (BATCH, PROMPT))
    # transformers renamed the argument in 5.24 and warns of the old name.
    cache = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    with torch.no_grad():
        past = model(tokens, use_cache=True).past_key_values

    def run() -> None:
        if kind == "prefill":
            model(tokens, use_cache=True)
        else:
            new = 1 if kind == "decode" else 4
            model(tokens[:, :new], use_cache=True, **{cache: copy.deepcopy(past)})

    custom = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _cpu_flash}
    with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=custom) as counter:
        run()
    return record(run, folder), counter.get_total_flops()


def _uncut(recorded: Recorded) -> float:
    return sum(c.flops_uncut if c.flops_uncut is not None else c.flops for _, c in recorded.standing)


@pytest.mark.parametrize("kind", ["prefill", "decode", "verify"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["llama", "gqa", "gpt2"])
def test_flops_are_those_of_torchs_counter(name: str, attention: str, kind: str, tmp_path: Path) -> None:
    """Torch's counter does not cut causal attention, so the uncut figures are compared."""
    recorded, counted = _step(name, attention, kind, tmp_path)
    assert _uncut(recorded) == pytest.approx(counted, rel=1e-3)
    assert recorded.unknown == set()


def _attention_cut(layers: int, heads: int, d: int, dv: int) -> float:
    """What causal kernels leave out of a prompt: per sequence, head and layer, S (S - 1) / 2 pairs of 2 (d + dv) FLOPs."""
    return layers * BATCH * heads * 2 * (d + dv) * PROMPT * (PROMPT - 1) / 2


def test_causal_prefill_counts_the_triangle(tmp_path: Path) -> None:
    recorded, counted = _step("llama", "sdpa", "prefill", tmp_path)
    assert recorded.total("flops") == counted - _attention_cut(2, 4, 16, 16)


@pytest.mark.parametrize(("kind", "new", "context"), [("prefill", 16, 16), ("decode", 1, 17), ("verify", 4, 20)])
def test_mixture_of_experts_equals_its_closed_form(kind: str, new: int, context: int, tmp_path: Path) -> None:
    """Per token: projections of 64 to 4 x 16, 2 x 16, 2 x 16 and back, a router of 8, 2 experts of 3 x 64 x 32, and the head."""
    recorded, _ = _step("moe", "sdpa", kind, tmp_path)
    per_token = 2 * (2 * (64 * 64 * 2 + 64 * 32 * 2 + 64 * 8 + 2 * 3 * 64 * 32)) + 2 * 64 * VOCABULARY
    scores = 2 * 4 * BATCH * 4 * 16 * new * context
    assert _uncut(recorded) == pytest.approx(per_token * BATCH * new + scores, rel=1e-3)
    assert recorded.total("flops", "moe") == 2 * 2 * BATCH * new * 2 * 3 * 64 * 32


@pytest.mark.parametrize(("kind", "new", "context"), [("prefill", 16, 16), ("decode", 1, 17), ("verify", 4, 20)])
def test_latent_attention_equals_its_closed_form(kind: str, new: int, context: int, tmp_path: Path) -> None:
    """DeepSeek-V3's layers as transformers runs them: queries by 64 -> 24 -> 4 x 24, a latent by 64 -> 16 + 8 that is cached and
    unfolded for the whole context, 16 -> 4 x (16 + 16), out of 4 x 16; one dense layer, one of 1 + 2 experts."""
    recorded, _ = _step("mla", "eager", kind, tmp_path)
    projections = 64 * 24 + 24 * 96 + 64 * 24 + 64 * 64
    per_token = 2 * (2 * projections + 3 * 64 * 160 + 64 * 8 + 3 * 3 * 64 * 32 + 64 * VOCABULARY)
    unfolding = 2 * 2 * 16 * 128 * BATCH * context
    pairs = 2 * 2 * BATCH * 4 * (24 + 16) * new * context
    assert _uncut(recorded) == pytest.approx(per_token * BATCH * new + unfolding + pairs, rel=1e-3)


def test_bytes_of_one_llama_layer_by_hand(tmp_path: Path) -> None:
    """One decoder layer in fp32, eager attention, 32 tokens of 64: every op that transformers runs, one line each."""
    config = transformers.LlamaConfig(**{**SIZES, "num_hidden_layers": 1}, num_key_value_heads=2)
    config._attn_implementation = "eager"
    layer = transformers.models.llama.modeling_llama.LlamaDecoderLayer(config, 0).eval()
    x = torch.randn(2, 16, 64)
    rotation = torch.randn(1, 16, 16), torch.randn(1, 16, 16)
    mask = torch.zeros(1, 1, 16, 16)
    recorded = record(lambda: layer(x, attention_mask=mask, position_embeddings=rotation), tmp_path)

    t = 32 * 64 * 4  # the hidden states; queries are as large, keys and values half
    row = 32 * 4  # a value per token
    norm = 2 * t  # square
    norm += t + row  # mean
    norm += 2 * row  # add epsilon
    norm += 2 * row  # reciprocal root
    norm += 2 * t + row  # scale
    norm += 2 * t + 64 * 4  # weight
    q, kv, table = t, t // 2, 16 * 16 * 4
    projections = (t + 64 * 64 * 4 + q) + 2 * (t + 32 * 64 * 4 + kv) + (q + 64 * 64 * 4 + t)
    rope = 0
    for h in (q, kv):
        rope += 2 * h + table  # times cosines
        rope += 2 * (h // 2)  # the half that is negated
        rope += 2 * h  # joined
        rope += 2 * h + table  # times sines
        rope += 3 * h  # sum
    scores = 2 * 4 * 16 * 16 * 4
    attention = 2 * (kv + q)  # keys and values repeated for their query heads
    attention += 2 * q  # bmm wants its queries in one piece
    attention += q + q + scores  # Q K^T
    attention += 2 * scores  # times the scale
    attention += 2 * scores + 16 * 16 * 4  # plus the mask
    attention += 2 * scores  # softmax
    attention += scores + q + q  # times V
    attention += 2 * q  # heads back beside each other
    inner = 32 * 160 * 4
    mlp = 2 * (t + 64 * 160 * 4 + inner) + 2 * inner + 3 * inner + (inner + 160 * 64 * 4 + t)
    residuals = 2 * 3 * t
    by_hand = 2 * norm + projections + rope + attention + mlp + residuals
    assert recorded.total("bytes") == pytest.approx(by_hand, rel=0.02)


def test_weights_of_a_decode_step_are_the_models_less_its_embedding(tmp_path: Path) -> None:
    recorded, _ = _step("gqa", "sdpa", "decode", tmp_path)
    model = transformers.AutoModelForCausalLM.from_config(_config("gqa", "sdpa"))
    matrices = sum(p.numel() * 4 for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n)
    assert recorded.total("weight_bytes") == matrices
