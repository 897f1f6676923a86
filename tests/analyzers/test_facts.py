"""Parameters counted from a config equal those of the model that transformers builds from it."""

from __future__ import annotations

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
    ("deepseek_v3", {**BASE, **MLA}),
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


def test_a_config_of_something_else_is_refused_by_what_it_lacks(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"has no hidden_size, num_hidden_layers, num_attention_heads, vocab_size"):
        from_config({"model_type": "resnet"})
    with pytest.raises(UsageError, match=r"config\.json cannot be read"):
        from_path(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="is not JSON"):
        from_path(str(tmp_path))
