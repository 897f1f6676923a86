"""Where a model's facts come from: a Hugging Face config, a folder or hub id that has one, or a recording."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from boundby.tracer.marks import Recording

from .errors import UsageError
from .hub import cached_or_fetched
from .model_facts import DTYPE_BYTES, UNITS, ModelFacts
from .quantization import Stored, stored_as

__all__ = ["DTYPE_BYTES", "UNITS", "ModelFacts", "facts_for", "from_config", "from_path", "from_recording"]


_PLAIN_FFN = (
    *("gpt2", "gpt_bigcode", "gpt_neox", "gptj", "codegen", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2"),
    *("nemotron", "persimmon"),
)
"""Model types whose feed-forward layer has two matrices."""
_TIED = (
    "gpt2",
    "gpt_bigcode",
    "opt",
    "bloom",
    "falcon",
    "mpt",
    "gemma",
    "gemma2",
    "gemma3_text",
    "starcoder2",
    "cohere",
)
_BIASED = ("gpt2", "gpt_bigcode", "opt", "starcoder2", "gpt_neox", "bloom")
_NORM_BIASES = (*_BIASED, "phi", "falcon", "stablelm")
_OTHER_MIXERS = re.compile(r"linear|mamba|recurrent|conv|ssm|rwkv")
"""Kinds of layers that mix tokens by other means than attention."""


def from_config(
    config: dict[str, Any], *, name: str = "", dtype: str | None = None, weight_bytes: float | None = None
) -> ModelFacts:
    """Facts from a Hugging Face config. `dtype` goes before the config's own, `weight_bytes` (a weight of the linear layers)
    before its quantisation. Raises `UsageError` naming what is missing, or what the analytic model does not know."""
    nested = config.get("text_config")
    if isinstance(nested, dict):
        config = {**config, **nested}

    def get(*keys: str, default: Any = None) -> Any:
        return next((config[k] for k in keys if config.get(k) is not None), default)

    kind = str(get("model_type", default=""))
    required = {
        "hidden_size": get("hidden_size", "n_embd", "d_model"),
        "num_hidden_layers": get("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        "num_attention_heads": get("num_attention_heads", "n_head", "n_heads", "num_heads"),
        "vocab_size": get("vocab_size"),
    }
    missing = [key for key, value in required.items() if not value]
    if missing:
        raise UsageError(f"model config {name or ''}: has no {', '.join(missing)}; give a decoder's config.json")
    _refuse_other_mixers(config, name or kind)
    hidden, layers, heads, vocab = required.values()
    experts = get("num_local_experts", "n_routed_experts", "num_experts", default=0)
    ffn = get(
        "intermediate_size_mlp" if kind.startswith("llama4") else "intermediate_size", "intermediate_size", "n_inner"
    )
    ffn = ffn or get("ffn_dim", "ffn_hidden_size", default=4 * hidden)
    expert_ffn = get("moe_intermediate_size", "intermediate_size", default=ffn) if experts else 0
    mla = get("kv_lora_rank", default=0)
    head_dim = get("qk_nope_head_dim", default=hidden // heads) if mla else get("head_dim", default=hidden // heads)
    plain = str(dtype or get("dtype", "torch_dtype", default="bfloat16")).removeprefix("torch.")
    full = DTYPE_BYTES.get(plain, 2.0)
    kept = Stored(weight_bytes, weight_bytes) if weight_bytes else stored_as(config.get("quantization_config"), full)
    window, window_layers = _windows(config, layers)
    return ModelFacts(
        name=name or kind,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(config, heads),
        head_dim=head_dim,
        v_head_dim=get("v_head_dim", default=head_dim),
        ffn=ffn,
        gated=kind not in _PLAIN_FFN,
        vocab=vocab,
        tied=bool(get("tie_word_embeddings", default=kind in _TIED)),
        experts=experts,
        experts_per_token=get("num_experts_per_tok", "experts_per_token", default=0),
        expert_ffn=expert_ffn,
        shared_ffn=_shared(config, kind, expert_ffn) if experts else 0,
        dense_layers=_dense_layers(config, layers) if experts else 0,
        positions=get("n_positions", "max_position_embeddings", default=0)
        if kind in ("gpt2", "gpt_bigcode", "opt")
        else 0,
        q_lora=get("q_lora_rank", default=0),
        kv_lora=mla,
        rope_head_dim=get("qk_rope_head_dim", default=0) if mla else 0,
        window=window,
        window_layers=window_layers,
        biases=kind in _BIASED,
        qkv_bias=kind in ("qwen2", "qwen2_moe") or bool(config.get("attention_bias")),
        norm_biases=kind in _NORM_BIASES,
        norms_per_layer={"gemma2": 4, "gemma3_text": 4, "cohere": 1}.get(kind, 2),
        qk_norm=kind in ("qwen3", "qwen3_moe", "gemma3_text"),
        shared_gate=kind == "qwen2_moe",
        expert_biases=kind == "gpt_oss",
        dtype=plain,
        weight_bytes_each=kept.linear,
        expert_bytes_each=kept.experts,
        product_unit=kept.unit,
        kv_bytes_each=full,
    )


def _refuse_other_mixers(config: dict[str, Any], name: str) -> None:
    kinds = {str(k) for k in config.get("layer_types") or config.get("layers_block_type") or []}
    other = sorted(k for k in kinds if _OTHER_MIXERS.search(k))
    if not other and any(
        key in config for key in ("state_size", "mamba_d_state", "ssm_state_size", "linear_num_key_heads")
    ):
        other = ["state space or linear attention"]
    if config.get("is_encoder_decoder"):
        other.append("encoder and decoder")
    if other:
        raise UsageError(f"model {name}: has layers that the analytic model does not know ({', '.join(other)})")


def _kv_heads(config: dict[str, Any], heads: int) -> int:
    if config.get("multi_query") and not config.get("new_decoder_architecture"):
        return 1
    return next((config[k] for k in ("num_key_value_heads", "num_kv_heads") if config.get(k)), heads)


def _positions(config: dict[str, Any], kind: str) -> int:
    """Rows of a learned table of positions; OPT's starts at 2."""
    if kind not in ("gpt2", "gpt_bigcode", "opt"):
        return 0
    rows = config.get("n_positions") or config.get("max_position_embeddings") or 0
    return int(rows) + (2 if kind == "opt" else 0)


def _windows(config: dict[str, Any], layers: int) -> tuple[int, int]:
    """The window in tokens, and how many layers have it."""
    kinds = [str(k) for k in config.get("layer_types") or []]
    limited = sum("sliding" in k or "chunked" in k for k in kinds)
    if any("chunked" in k for k in kinds):
        return int(config.get("attention_chunk_size") or 0), limited
    window = config.get("sliding_window") or 0
    if not window or not config.get("use_sliding_window", True):
        return 0, 0
    if not kinds:
        every = config.get("sliding_window_pattern") or (2 if config.get("model_type") == "gemma2" else 0)
        limited = layers - layers // every if every else layers
    return (window, limited) if limited else (0, 0)


def _shared(config: dict[str, Any], kind: str, expert_ffn: int) -> int:
    """Inner width of the experts that every token visits."""
    if kind.startswith("llama4"):
        return expert_ffn
    return int(config.get("shared_expert_intermediate_size") or (config.get("n_shared_experts") or 0) * expert_ffn)


def _dense_layers(config: dict[str, Any], layers: int) -> int:
    """Layers without a mixture: the first ones, those listed, or all but every n-th."""
    if config.get("moe_layers"):
        return layers - len(config["moe_layers"])
    if config.get("mlp_layer_types"):
        return sum(str(k) == "dense" for k in config["mlp_layer_types"])
    every = config.get("decoder_sparse_step") or config.get("interleave_moe_layer_step") or 1
    listed = set(config.get("mlp_only_layers") or [])
    leading = config.get("first_k_dense_replace") or 0
    return sum(n < leading or n in listed or (n + 1) % every != 0 for n in range(layers))


def from_recording(recording: Recording) -> ModelFacts | None:
    """Facts that our recorder wrote; None when it wrote no config of a decoder."""
    config = recording.model.get("config")
    if not isinstance(config, dict):
        return None
    dtype = recording.settings.get("dtype")
    try:
        facts = from_config(config, name=str(recording.model.get("name", "")), dtype=dtype)
    except (UsageError, TypeError, ZeroDivisionError):
        return None
    size, count = recording.model.get("parameter_bytes"), recording.model.get("parameters")
    kv = recording.model.get("kv_bytes_per_token")
    each = kv / facts.kv_elements_per_token if isinstance(kv, (int, float)) and kv > 0 else facts.kv_bytes_each
    return msgspec.structs.replace(
        facts,
        recorded_bytes=float(size) if isinstance(size, (int, float)) else None,
        recorded_parameters=count if isinstance(count, int) else None,
        kv_bytes_each=each,
        kv_expanded=facts.mla and each > 8.0,
    )


def from_path(text: str, *, weight_bytes: float | None = None) -> ModelFacts:
    """Facts from a config.json, the folder that holds it, or a hub id (the local cache first). Raises `UsageError`."""
    path = Path(text)
    file = path / "config.json" if path.is_dir() else path
    if not path.exists() and path.suffix != ".json" and re.fullmatch(r"[\w.-]+/[\w.-]+", text):
        file = cached_or_fetched(text)
    try:
        config = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"model {text}: {file} cannot be read ({error.strerror or error}); give a config.json"
        ) from None
    except ValueError:
        raise UsageError(f"model {text}: {file} is not JSON; give a Hugging Face config.json") from None
    if not isinstance(config, dict):
        raise UsageError(f"model {text}: {file} is no Hugging Face config")
    name = text if file.parent != path else str(config.get("_name_or_path") or path.stem)
    return from_config(config, name=name, weight_bytes=weight_bytes)


def facts_for(recording: Recording | None, model: str | None) -> ModelFacts | None:
    """The user's model, or the recording's own; None when neither tells one."""
    if model is not None:
        return from_path(model)
    return None if recording is None else from_recording(recording)
