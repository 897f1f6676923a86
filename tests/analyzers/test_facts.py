"""Parameters counted from a config equal those of the model that transformers builds from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from boundby.analyzers.errors import UsageError
from boundby.analyzers.facts import from_config, from_path
from boundby.tracer.configs import RANDOM_CONFIGS

BASE = {
    "hidden_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 512,
    "vocab_size": 1000,
}
MOE = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128}
MLA = {
    "num_key_value_heads": 8,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 128,
    "q_lora_rank": 64,
    "kv_lora_rank": 32,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
    "n_shared_experts": 1,
}
CONFIGS: list[tuple[str, dict[str, Any]]] = [
    ("llama", BASE),
    ("llama", {**BASE, "tie_word_embeddings": True}),
    ("gpt2", {"n_embd": 256, "n_layer": 3, "n_head": 8, "vocab_size": 1000, "bos_token_id": 0, "eos_token_id": 0}),
    ("qwen2", BASE),
    ("qwen3", BASE),
    ("mixtral", {**BASE, "num_local_experts": 4}),
    ("qwen2_moe", {**BASE, **MOE, "shared_expert_intermediate_size": 192}),
    ("qwen3_moe", {**BASE, **MOE}),
    ("gpt_oss", {**BASE, "num_local_experts": 8, "head_dim": 32}),
    ("gemma", {**BASE, "head_dim": 32}),
    ("deepseek_v2", {**BASE, **MLA}),
    ("deepseek_v3", {**BASE, **MLA}),
    ("deepseek_v3", {**BASE, **MLA, "q_lora_rank": None}),
    ("gemma2", {**BASE, "head_dim": 32}),
    ("gemma3_text", {**BASE, "head_dim": 32}),
    ("phi3", {**BASE, "pad_token_id": 0}),
    ("mistral", BASE),
    ("starcoder2", BASE),
    ("qwen2_moe", {**BASE, **MOE, "shared_expert_intermediate_size": 192, "decoder_sparse_step": 2}),
    ("qwen3_moe", {**BASE, **MOE, "mlp_only_layers": [0]}),
    ("llama4_text", {**BASE, "num_local_experts": 4, "intermediate_size_mlp": 768, "interleave_moe_layer_step": 2}),
    ("glm4_moe", {**BASE, **MLA, "head_dim": 32, "kv_lora_rank": None, "q_lora_rank": None}),
    ("gpt_neox", {k: v for k, v in BASE.items() if k != "num_key_value_heads"}),
    ("gpt_bigcode", {"n_embd": 256, "n_layer": 3, "n_head": 8, "vocab_size": 1000}),
    *(
        (c["model_type"], {k: v for k, v in c.items() if k != "model_type"})
        for n, c in RANDOM_CONFIGS.items()
        if "8b" not in n
    ),
]


@pytest.mark.parametrize(("kind", "sizes"), CONFIGS, ids=[f"{n}-{k}" for n, (k, _) in enumerate(CONFIGS)])
def test_parameters_are_those_of_the_model(kind: str, sizes: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(kind, **sizes)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    assert from_config(config.to_dict()).parameters == sum(p.numel() for p in model.parameters())


LLAMA2_13B = {
    "model_type": "llama",
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "vocab_size": 32000,
}


@pytest.mark.parametrize(
    ("kv_heads", "params", "kv_bytes"), [(40, 13_015_449_600, 838_860_800), (8, 11_337_728_000, 167_772_160)]
)
def test_llama_2_13b_as_cs336_counts_it(kv_heads: int, params: int, kv_bytes: int) -> None:
    # CS336 (spring 2025), lecture 10: matrices alone, and the cache of 1,024 tokens in 16 bits.
    facts = from_config({**LLAMA2_13B, "num_key_value_heads": kv_heads})
    assert facts.linear_parameters + facts.embedding_parameters == params
    assert facts.kv_bytes_per_token * 1024 == kv_bytes


def test_llama_3_70b_in_int8_caches_160_kb_a_token() -> None:
    facts = from_config(
        {
            "hidden_size": 8192,
            "num_hidden_layers": 80,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "vocab_size": 128256,
            "intermediate_size": 28672,
        }
    )
    assert facts.kv_elements_per_token == 163_840


def test_mxfp4_experts_are_counted_packed_with_their_scales() -> None:
    facts = from_config(
        {**BASE, "model_type": "gpt_oss", "num_local_experts": 8, "quantization_config": {"quant_method": "mxfp4"}}
    )
    assert facts.expert_bytes_each == 0.5 + 1 / 32
    assert facts.weight_bytes_each == 2.0


@pytest.mark.parametrize(
    ("quantised", "linear", "experts", "unit"),
    [
        # 4 bits, and for 128 of them a 16-bit scale and a 4-bit zero point.
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 0.5 + 2.5 / 128, 0.5 + 2.5 / 128, ""),
        ({"quant_method": "awq", "bits": 4, "group_size": 64}, 0.5 + 2.5 / 64, 0.5 + 2.5 / 64, ""),
        # DeepSeek-V3: one 32-bit scale a block of 128 x 128.
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 1 + 4 / 16384, 1 + 4 / 16384, "fp8"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 1.0, 1.0, "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 0.5625, 0.5625, "fp4"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {"weights": {"num_bits": 8, "type": "int"}, "input_activations": {"num_bits": 8}}
                },
            },
            1.0,
            1.0,
            "int8",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128}}},
            },
            0.5 + 2 / 128,
            0.5 + 2 / 128,
            "",
        ),
    ],
)
def test_quantised_weights_count_packed_with_their_scales(
    quantised: dict[str, Any], linear: float, experts: float, unit: str
) -> None:
    facts = from_config({**BASE, "model_type": "llama", "quantization_config": quantised})
    assert facts.weight_bytes_each == pytest.approx(linear)
    assert facts.expert_bytes_each == pytest.approx(experts)
    assert facts.product_unit == unit


def test_an_unknown_quantisation_is_not_guessed() -> None:
    config = {**BASE, "quantization_config": {"quant_method": "novel"}}
    with pytest.raises(UsageError, match="'novel' is unknown; pass --weight-dtype"):
        from_config(config)
    assert from_config(config, weight_bytes=0.5).weight_bytes_each == 0.5


def test_embeddings_norms_and_the_output_layer_stay_unquantised() -> None:
    facts = from_config({**BASE, "model_type": "llama"}, weight_bytes=1.0)
    # A layer: q 256 x 256, k and v 256 x 64 each, o 256 x 256, three of 256 x 512; tables 2 x 1000 x 256; norms 7 x 256.
    layer = 256 * 256 * 2 + 2 * 256 * 64 + 3 * 256 * 512
    assert facts.weight_bytes == 3 * layer + 2 * (2 * 1000 * 256 + 7 * 256)


@pytest.mark.parametrize(
    ("config", "window", "layers"),
    [
        ({"model_type": "mistral", "sliding_window": 4096}, 4096, 3),
        ({"model_type": "mistral", "sliding_window": None}, 0, 0),
        ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, 0, 0),
        ({"model_type": "gemma2", "sliding_window": 4096}, 4096, 2),
        (
            {
                "model_type": "gpt_oss",
                "sliding_window": 128,
                "layer_types": ["sliding_attention", "full_attention"] * 2,
            },
            128,
            2,
        ),
    ],
)
def test_layers_with_a_window(config: dict[str, Any], window: int, layers: int) -> None:
    facts = from_config({**BASE, **config})
    assert (facts.window, facts.window_layers) == (window, layers)


def test_a_layer_with_a_window_caches_no_more_than_the_window() -> None:
    kinds = ["sliding_attention", "full_attention"]
    facts = from_config({**BASE, "num_hidden_layers": 2, "layer_types": kinds, "sliding_window": 128})
    # 2 heads of 32 numbers, keys and values, 2 bytes: 256 bytes a token and layer.
    assert facts.kv_bytes(100) == 2 * 100 * 256
    assert facts.kv_bytes(1000) == (128 + 1000) * 256
    assert facts.context_in(facts.kv_bytes(1000)) == 1000
    assert facts.context_in(facts.kv_bytes(100)) == 100


@pytest.mark.parametrize(
    "config",
    [
        {"layer_types": ["linear_attention", "full_attention", "linear_attention"]},
        {"mamba_d_state": 16},
        {"is_encoder_decoder": True},
    ],
)
def test_layers_of_another_kind_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="does not know"):
        from_config({**BASE, **config})


def test_one_key_head_serves_all_queries_in_a_multi_query_model() -> None:
    assert from_config({"model_type": "falcon", **BASE, "num_key_value_heads": None, "multi_query": True}).kv_heads == 1


def test_a_hub_id_is_read_from_the_local_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models--some--model" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**BASE, "model_type": "llama"}))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    facts = from_path("some/model")
    assert (facts.name, facts.hidden) == ("some/model", 256)


def test_a_config_of_something_else_is_refused_by_what_it_lacks(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"has no hidden_size, num_hidden_layers, num_attention_heads, vocab_size"):
        from_config({"model_type": "resnet"})
    with pytest.raises(UsageError, match=r"config\.json cannot be read"):
        from_path(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="is not JSON"):
        from_path(str(tmp_path))
