"""`ModelFacts`: the sizes of a language model that its costs follow from."""

from __future__ import annotations

import sys

import msgspec

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
    """All linear layers of a block have biases (GPT-2)."""
    qkv_bias: bool = False
    norm_biases: bool = False
    norms_per_layer: int = 2
    qk_norm: bool = False
    shared_gate: bool = False
    """A gate of one row weighs the shared expert."""
    expert_biases: bool = False
    """Experts, the router and the output projection have biases, and heads have sinks (gpt-oss)."""
    dtype: str = "bfloat16"
    weight_bytes_each: float = 2.0
    """Bytes of a weight of the linear layers, scales included."""
    expert_bytes_each: float = 2.0
    product_unit: str = ""
    """The dtype class that quantised products run in where activations are quantised too; "" means `unit`."""
    kv_bytes_each: float = 2.0
    kv_expanded: bool = False
    """Multi-head latent attention whose cache holds whole keys and values, not the latent vector."""
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
        norms = (self.norms_per_layer * self.layers + 1) * d * (2 if self.norm_biases else 1)
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
        """Bytes that one more token of context takes while it is inside every window."""
        return self.kv_elements_per_token * self.kv_bytes_each

    def kv_bytes(self, context: float) -> float:
        """Bytes of one sequence's cache; a layer with a window keeps the window's tokens only."""
        growing = self.layers - self.window_layers
        tokens = growing * context + self.window_layers * min(context, float(self.window))
        return self.kv_bytes_per_token / self.layers * tokens

    def context_in(self, size: float) -> int:
        """The longest context of one sequence whose cache takes no more than `size` bytes."""
        each = self.kv_bytes_per_token / self.layers
        tokens = size / (each * self.layers)
        if self.window_layers and tokens > self.window:
            growing = self.layers - self.window_layers
            if not growing:
                return sys.maxsize
            tokens = (size / each - self.window_layers * self.window) / growing
        return max(int(tokens), 0)

    @property
    def unit(self) -> str:
        """The dtype class that multiplies."""
        return UNITS.get(self.dtype, "bf16")
