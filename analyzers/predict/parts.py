"""FLOPs and bytes of each operator of one step, from a model's facts.

A linear layer over n tokens: 2 n FLOPs per weight; it reads its weights once, its inputs, and writes its outputs.
Attention over queries q with contexts k: 2 (d_qk + d_v) H FLOPs per query-key pair that a causal kernel computes (d the
head sizes, H the heads), and reads the cached keys and values once. A mixture of E experts with k of them a token, over n
tokens with unknown routing: E (1 - (1 - k/E)^n) experts are expected to be read.
"""

from __future__ import annotations

import msgspec

from ..facts import DTYPE_BYTES, ModelFacts


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one step, sums over its sequences."""

    batch: int
    query: int
    """New tokens."""
    context: int
    """Tokens that attention reads: cached ones plus the new ones."""
    pairs: float
    """Query-key pairs that a causal kernel computes."""
    lm_head_tokens: int
    """Tokens whose logits are computed."""

    @classmethod
    def prefill(cls, batch: int, prompt: int, *, cached: int = 0, all_logits: bool = False) -> Workload:
        """`batch` prompts of `prompt` new tokens each, behind `cached` ones. Pairs of one sequence: q k - q (q-1) / 2 with
        k = cached + q, which is q (q + 1) / 2 for an empty cache."""
        q, k = prompt, cached + prompt
        pairs = batch * (q * k - q * (q - 1) / 2)
        return cls(
            batch=batch,
            query=batch * q,
            context=batch * k,
            pairs=pairs,
            lm_head_tokens=batch * q if all_logits else batch,
        )

    @classmethod
    def decode(cls, batch: int, context: int) -> Workload:
        """One new token for each of `batch` sequences; `context` tokens each, the new one included."""
        return cls(
            batch=batch, query=batch, context=batch * context, pairs=float(batch * context), lm_head_tokens=batch
        )


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One operator of a step, summed over the layers that have it."""

    name: str
    part: str
    calls: int
    """Layers that run it."""
    flops: float
    weight_bytes: float
    kv_bytes: float = 0.0
    activation_bytes: float = 0.0

    @property
    def bytes(self) -> float:
        """All compulsory traffic."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes


def experts_touched(experts: int, per_token: int, tokens: int) -> float:
    """Expected number of distinct experts that `tokens` tokens visit when each picks `per_token` of them evenly."""
    if not experts:
        return 0.0
    return float(experts * (1.0 - (1.0 - per_token / experts) ** tokens))


def parts_of_step(facts: ModelFacts, work: Workload) -> tuple[Part, ...]:
    """Every operator of one forward pass, in the order of the model."""
    parts = [_embedding(facts, work), *_attention(facts, work)]
    dense = facts.layers - facts.moe_layers
    if dense:
        parts += _feed_forward(facts, work, dense)
    if facts.moe_layers:
        parts += _mixture(facts, work)
    parts += [_norms(facts, work), _lm_head(facts, work)]
    return tuple(parts)


def _activation(facts: ModelFacts) -> float:
    return DTYPE_BYTES.get(facts.dtype, 2.0)


def _linear(
    name: str, part: str, calls: int, tokens: float, inputs: float, outputs: float, *, facts: ModelFacts, each: float
) -> Part:
    weights = inputs * outputs
    return Part(
        name=name,
        part=part,
        calls=calls,
        flops=2.0 * tokens * weights * calls,
        weight_bytes=weights * each * calls,
        activation_bytes=tokens * (inputs + outputs) * _activation(facts) * calls,
    )


def _embedding(facts: ModelFacts, work: Workload) -> Part:
    a = _activation(facts)
    tables = 2 if facts.positions else 1
    rows = work.query * facts.hidden * a * tables
    written = work.query * facts.hidden * a * tables
    return Part(
        name="embedding",
        part="embedding",
        calls=1,
        flops=0.0,
        weight_bytes=rows,
        activation_bytes=written + 8 * work.query,
    )


def _attention(facts: ModelFacts, work: Workload) -> list[Part]:
    a, each, n, layers = _activation(facts), facts.weight_bytes_each, work.query, facts.layers
    h, d = facts.heads, facts.hidden
    out_width = h * facts.v_head_dim
    if facts.mla:
        q_weights = d * facts.q_lora + facts.q_lora * h * facts.qk_dim if facts.q_lora else d * h * facts.qk_dim
        kv_weights = d * (facts.kv_lora + facts.rope_head_dim)
        up_weights = facts.kv_lora * h * (facts.head_dim + facts.v_head_dim)
        weights = q_weights + kv_weights + up_weights
        # The up-projection is applied to every cached token by a naive cache, and absorbed into q and out otherwise:
        # counted once a new token, which is what both must at least do.
        wide = h * facts.qk_dim + facts.kv_lora + facts.rope_head_dim + h * (facts.head_dim + facts.v_head_dim)
        qkv = Part(
            name="qkv_proj",
            part="attention",
            calls=layers,
            flops=2.0 * n * weights * layers,
            weight_bytes=weights * each * layers,
            activation_bytes=n * (d + wide) * a * layers,
        )
    else:
        width = h * facts.head_dim + facts.kv_heads * (facts.head_dim + facts.v_head_dim)
        qkv = _linear("qkv_proj", "attention", layers, n, d, width, facts=facts, each=each)
    score_width = facts.qk_dim + facts.v_head_dim
    full = layers - facts.window_layers
    limited = min(work.pairs, work.query * float(facts.window)) if facts.window else 0.0
    pairs = full * work.pairs + facts.window_layers * limited
    seen = full * work.context + facts.window_layers * min(
        work.context, work.batch * (facts.window + work.query // max(work.batch, 1))
    )
    kv_each = facts.kv_elements_per_token / layers * facts.kv_bytes_each
    core = Part(
        name="attention",
        part="attention",
        calls=layers,
        flops=2.0 * h * score_width * pairs,
        weight_bytes=0.0,
        kv_bytes=seen * kv_each,
        activation_bytes=n * (h * facts.qk_dim + out_width) * a * layers,
    )
    out = _linear("o_proj", "attention", layers, n, out_width, d, facts=facts, each=each)
    return [qkv, core, out]


def _feed_forward(facts: ModelFacts, work: Workload, layers: int) -> list[Part]:
    n, d, f, each = work.query, facts.hidden, facts.ffn, facts.weight_bytes_each
    a = _activation(facts)
    wide = f * (facts.ffn_matrices - 1)
    act = n * (wide + f) * a * layers
    return [
        _linear("gate_up_proj" if facts.gated else "up_proj", "mlp", layers, n, d, wide, facts=facts, each=each),
        Part(
            name="act_and_mul",
            part="mlp",
            calls=layers,
            flops=float(n * f * layers),
            weight_bytes=0.0,
            activation_bytes=act,
        ),
        _linear("down_proj", "mlp", layers, n, f, d, facts=facts, each=each),
    ]


def _mixture(facts: ModelFacts, work: Workload) -> list[Part]:
    n, d, layers, a = work.query, facts.hidden, facts.moe_layers, _activation(facts)
    touched = experts_touched(facts.experts, facts.experts_per_token, n)
    visits = n * facts.experts_per_token
    weights = facts.expert_weights
    parts = [
        _linear("router", "moe", layers, n, d, facts.experts, facts=facts, each=a),
        Part(
            name="experts",
            part="moe",
            calls=layers,
            flops=2.0 * visits * weights * layers,
            weight_bytes=touched * weights * facts.expert_bytes_each * layers,
            activation_bytes=visits * (2 * d + 2 * facts.ffn_matrices * facts.expert_ffn) * a * layers,
        ),
    ]
    if facts.shared_ffn:
        shared = facts.shared_weights
        parts.append(
            Part(
                name="shared_expert",
                part="moe",
                calls=layers,
                flops=2.0 * n * shared * layers,
                weight_bytes=shared * facts.weight_bytes_each * layers,
                activation_bytes=n * (2 * d + 2 * facts.ffn_matrices * facts.shared_ffn) * a * layers,
            )
        )
    return parts


def _norms(facts: ModelFacts, work: Workload) -> Part:
    a = _activation(facts)
    count = 2 * facts.layers + 1
    moved = 2 * work.query * facts.hidden * a * count
    return Part(
        name="norm",
        part="norm",
        calls=count,
        flops=float(4 * work.query * facts.hidden * count),
        weight_bytes=count * facts.hidden * a,
        activation_bytes=moved,
    )


def _lm_head(facts: ModelFacts, work: Workload) -> Part:
    return _linear(
        "lm_head", "lm_head", 1, work.lm_head_tokens, facts.hidden, facts.vocab, facts=facts, each=_activation(facts)
    )
