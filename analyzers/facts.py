"""`ModelFacts`: the sizes of a language model that its costs follow from, read from a Hugging Face config or a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from boundby.tracer.marks import Recording

from .errors import UsageError

DTYPE_BYTES = {
    "float64": 8.0,
    "float32": 4.0,
    "bfloat16": 2.0,
    "float16": 2.0,
    "float8_e4m3fn": 1.0,
    "float8_e5m2": 1.0,
    "int8": 1.0,
}
UNITS = {"float64": "fp64", "float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "int8": "int8"}


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a decoder. `None` or 0 where a model has no such thing."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    ffn: int
    """Inner width of a dense feed-forward layer; 0 when every layer is a mixture."""
    gated: bool
    vocab: int
    tied: bool
    experts: int = 0
    experts_per_token: int = 0
    expert_ffn: int = 0
    shared_ffn: int = 0
    """Inner width of the experts that every token visits, summed."""
    dense_layers: int = 0
    """Leading layers that are dense in a mixture model."""
    positions: int = 0
    """Rows of a learned position table."""
    q_lora: int = 0
    kv_lora: int = 0
    rope_head_dim: int = 0
    """Multi-head latent attention: ranks, and the part of a head that carries the rotation."""
    window: int = 0
    window_layers: int = 0
    """Layers that attend to the last `window` tokens only."""
    biases: bool = False
    """Linear layers have biases (GPT-2)."""
    qkv_bias: bool = False
    norm_biases: bool = False
    qk_norm: bool = False
    shared_gate: bool = False
    """A gate of one row weighs the shared expert."""
    expert_biases: bool = False
    """Experts, the router and the output projection have biases, and heads have sinks (gpt-oss)."""
    dtype: str = "bfloat16"
    weight_bytes_each: float = 2.0
    """Bytes of a weight of the linear layers, scales included."""
    expert_bytes_each: float = 2.0
    kv_bytes_each: float = 2.0
    recorded_parameters: int | None = None
    recorded_bytes: float | None = None

    @property
    def mla(self) -> bool:
        """Keys and values are cached as one latent vector."""
        return self.kv_lora > 0

    @property
    def moe_layers(self) -> int:
        """Layers with a mixture of experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def qk_dim(self) -> int:
        """Width of a head's query and key."""
        return self.head_dim + self.rope_head_dim if self.mla else self.head_dim

    @property
    def attention_weights(self) -> int:
        """Weights of one layer's attention projections."""
        d, h = self.hidden, self.heads
        out = h * self.v_head_dim * d
        if self.mla:
            q = d * self.q_lora + self.q_lora * h * self.qk_dim if self.q_lora else d * h * self.qk_dim
            down = d * (self.kv_lora + self.rope_head_dim)
            return q + down + self.kv_lora * h * (self.head_dim + self.v_head_dim) + out
        return d * h * self.head_dim + d * self.kv_heads * (self.head_dim + self.v_head_dim) + out

    @property
    def ffn_matrices(self) -> int:
        """3 in a gated feed-forward layer, else 2."""
        return 3 if self.gated else 2

    @property
    def expert_weights(self) -> int:
        """Weights of one expert."""
        return self.ffn_matrices * self.hidden * self.expert_ffn

    @property
    def dense_ffn_weights(self) -> int:
        """Weights of one dense feed-forward layer."""
        return self.ffn_matrices * self.hidden * self.ffn

    @property
    def shared_weights(self) -> int:
        """Weights of one layer's shared experts."""
        return self.ffn_matrices * self.hidden * self.shared_ffn

    @property
    def linear_parameters(self) -> int:
        """Weights that every forward may multiply with: projections, feed-forward layers, experts, routers, lm_head."""
        dense = self.layers - self.moe_layers
        mixture = self.moe_layers * (
            self.experts * self.expert_weights + self.shared_weights + self.hidden * self.experts
        )
        return self.layers * self.attention_weights + dense * self.dense_ffn_weights + mixture + self.lm_head_weights

    @property
    def lm_head_weights(self) -> int:
        """Weights of the output layer (the embedding table's, where tied)."""
        return self.vocab * self.hidden

    @property
    def embedding_parameters(self) -> int:
        """Rows that are only gathered: the token table, unless it is the output layer too, and the position table."""
        return (0 if self.tied else self.vocab * self.hidden) + self.positions * self.hidden

    @property
    def small_parameters(self) -> int:
        """Norms and biases."""
        d = self.hidden
        norms = (2 * self.layers + 1) * d * (2 if self.norm_biases else 1)
        if self.qk_norm:
            norms += 2 * self.layers * self.head_dim
        if self.mla:
            norms += self.layers * (self.kv_lora + self.q_lora)
        qkv = self.heads * self.head_dim + self.kv_heads * (self.head_dim + self.v_head_dim)
        biases = 0
        if self.biases:
            ffn = (self.ffn_matrices - 1) * self.ffn + d
            biases = self.layers * (qkv + d + ffn)
        elif self.qkv_bias:
            biases = self.layers * qkv
        if self.expert_biases:
            expert = (self.ffn_matrices - 1) * self.expert_ffn + d
            biases += self.layers * (d + self.heads + self.experts * (expert + 1))
        if self.shared_gate:
            biases += self.moe_layers * d
        return norms + biases

    @property
    def parameters(self) -> int:
        """All parameters, as stored (a tied table once)."""
        return self.linear_parameters + self.embedding_parameters + self.small_parameters

    @property
    def active_parameters(self) -> int:
        """Parameters that one token multiplies with, the embedding table left out."""
        idle = self.moe_layers * (self.experts - self.experts_per_token) * self.expert_weights
        return self.linear_parameters - idle

    @property
    def weight_bytes(self) -> float:
        """Bytes of all weights in memory."""
        if self.recorded_bytes is not None:
            return self.recorded_bytes
        experts = self.moe_layers * self.experts * self.expert_weights
        unquantised = self.embedding_parameters + self.small_parameters + self.lm_head_weights
        rest = self.parameters - experts - unquantised
        full = DTYPE_BYTES.get(self.dtype, 2.0)
        return experts * self.expert_bytes_each + rest * self.weight_bytes_each + unquantised * full

    @property
    def kv_elements_per_token(self) -> int:
        """Cached numbers of one token over all layers."""
        each = self.kv_lora + self.rope_head_dim if self.mla else self.kv_heads * (self.head_dim + self.v_head_dim)
        return self.layers * each

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes that one more token of context takes (window layers counted as if they grew)."""
        return self.kv_elements_per_token * self.kv_bytes_each

    @property
    def unit(self) -> str:
        """The dtype class that multiplies."""
        return UNITS.get(self.dtype, "bf16")


def from_config(config: dict[str, Any], *, name: str = "", dtype: str | None = None) -> ModelFacts:
    """Facts from a Hugging Face config. Raises `UsageError` naming what is missing."""
    nested = config.get("text_config")
    if isinstance(nested, dict):
        config = {**config, **nested}

    def get(*keys: str, default: Any = None) -> Any:
        return next((config[k] for k in keys if config.get(k) is not None), default)

    hidden, layers = get("hidden_size", "n_embd", "d_model"), get("num_hidden_layers", "n_layer", "num_layers")
    heads, vocab = get("num_attention_heads", "n_head", "num_heads"), get("vocab_size")
    missing = [
        n
        for n, v in (
            ("hidden_size", hidden),
            ("num_hidden_layers", layers),
            ("num_attention_heads", heads),
            ("vocab_size", vocab),
        )
        if not v
    ]
    if missing:
        raise UsageError(f"model config {name or ''}: has no {', '.join(missing)}; give a decoder's config.json")
    kind = str(get("model_type", default=""))
    gpt2 = kind == "gpt2" or "n_embd" in config
    experts = get("num_local_experts", "n_routed_experts", "num_experts", default=0)
    ffn = get("intermediate_size", "n_inner", default=4 * hidden)
    expert_ffn = get("moe_intermediate_size", default=ffn) if experts else 0
    shared = get("shared_expert_intermediate_size", default=0) or get("n_shared_experts", default=0) * expert_ffn
    mla = get("kv_lora_rank", default=0)
    head_dim = get("head_dim", default=hidden // heads)
    if mla:
        head_dim = get("qk_nope_head_dim", default=head_dim)
    stored = str(dtype or get("dtype", "torch_dtype", default="bfloat16")).removeprefix("torch.")
    weight, expert = _quantised(config.get("quantization_config"), DTYPE_BYTES.get(stored, 2.0))
    kinds = config.get("layer_types") or []
    window = get("sliding_window", default=0) if config.get("use_sliding_window", True) else 0
    sliding = sum("sliding" in str(k) for k in kinds) if kinds else (layers if window else 0)
    return ModelFacts(
        name=name or kind,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=get("num_key_value_heads", default=heads),
        head_dim=head_dim,
        v_head_dim=get("v_head_dim", default=head_dim),
        ffn=ffn,
        gated=not gpt2 and kind not in ("opt", "gpt_neox", "phi", "starcoder2"),
        vocab=vocab,
        tied=bool(get("tie_word_embeddings", default=gpt2 or kind in ("gemma", "gemma2", "gemma3_text"))),
        experts=experts,
        experts_per_token=get("num_experts_per_tok", "experts_per_token", default=0),
        expert_ffn=expert_ffn,
        shared_ffn=shared,
        dense_layers=get("first_k_dense_replace", default=0) if experts else 0,
        positions=get("n_positions", "max_position_embeddings", default=0) if gpt2 else 0,
        q_lora=get("q_lora_rank", default=0) or 0,
        kv_lora=mla,
        rope_head_dim=get("qk_rope_head_dim", default=0) if mla else 0,
        window=window or 0,
        window_layers=sliding if window else 0,
        biases=gpt2,
        qkv_bias=kind in ("qwen2", "qwen2_moe") or bool(config.get("attention_bias")),
        norm_biases=gpt2,
        qk_norm=kind in ("qwen3", "qwen3_moe"),
        shared_gate=kind == "qwen2_moe",
        expert_biases=kind == "gpt_oss",
        dtype=stored,
        weight_bytes_each=weight,
        expert_bytes_each=expert,
        kv_bytes_each=DTYPE_BYTES.get(stored, 2.0),
    )


def _quantised(config: Any, full: float) -> tuple[float, float]:
    """Bytes of a weight of linear layers and of experts, scales included."""
    if not isinstance(config, dict):
        return full, full
    method = str(config.get("quant_method", "")).lower()
    if method == "mxfp4":
        return full, 0.5 + 1 / 32  # 4-bit values, one 8-bit scale a block of 32 (OCP microscaling formats)
    if method in ("gptq", "awq"):
        bits, group = config.get("bits", 4), config.get("group_size", 128)
        each = bits / 8 + (2.0 + bits / 8) / group if group and group > 0 else bits / 8
        return each, each
    if method == "fp8":
        block = config.get("weight_block_size")
        each = 1.0 + (4.0 / (block[0] * block[1]) if block else 0.0)
        return each, each
    if method == "bitsandbytes":
        each = 0.5 + 4.0 / 64 if config.get("load_in_4bit") else 1.0
        return each, each
    return full, full


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
    return msgspec.structs.replace(
        facts,
        recorded_bytes=float(size) if isinstance(size, (int, float)) else None,
        recorded_parameters=count if isinstance(count, int) else None,
        kv_bytes_each=kv / facts.kv_elements_per_token
        if isinstance(kv, (int, float)) and kv > 0
        else facts.kv_bytes_each,
    )


def from_path(text: str) -> ModelFacts:
    """Facts from a config.json or the folder that holds it. Raises `UsageError`."""
    path = Path(text)
    file = path / "config.json" if path.is_dir() else path
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
    return from_config(config, name=str(config.get("_name_or_path") or path.stem))


def facts_for(recording: Recording | None, model: str | None) -> ModelFacts | None:
    """The user's model, or the recording's own; None when neither tells one."""
    if model is not None:
        return from_path(model)
    return None if recording is None else from_recording(recording)
