"""`prices_of_step`: FLOPs and bytes of one call of each operator of a pass, from the model's facts and the pass's tokens.

The operators' figures are those of `predict.parts` (one layer of them); a kernel that does a part of an operator has the
share of its weights. As everywhere in `costs`, operators that do a few operations per element count no FLOPs. What `parts`
leaves out of its closed form is added here, over n tokens, a bytes an element:

  qk_norm   reads and writes q and k:                 2 n (H + H_kv) D a
  rope      reads and writes q and k in place, reads a position and a row of the table:
                                                      2 n (H + H_kv) D a + n (8 + D a)
  kv_write  reads k and v, writes them to the cache:  n H_kv (D + D_v) (a + a_kv) + 8 n
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..costs.cost import Family, KnownBy
from ..facts import DTYPE_BYTES, ModelFacts
from ..predict.parts import Part, Workload, parts_of_step


class Price(NamedTuple):
    """One call of an operator."""

    family: Family
    part: str
    flops: float
    bytes: float
    weight_bytes: float
    known_by: KnownBy
    shape: tuple[int, int] | None = None
    """A product's weights, [inner, outer]."""


def prices_of_step(facts: ModelFacts, work: Workload) -> dict[str, Price]:
    """Per operator of `order.Role`: one call of it. Attention is left out where the context is unknown (0)."""
    parts = {part.name: part for part in parts_of_step(facts, work)}
    prices = {
        name: _price(part, 1.0 / part.calls, _FAMILIES.get(name, "gemm"))
        for name, part in parts.items()
        if name != "attention"
    }
    prices |= _parts_of_products(facts, parts)
    prices |= _unlisted(facts, work)
    prices = {name: price._replace(shape=_shapes(facts).get(name)) for name, price in prices.items()}
    if work.context:
        prices |= _attention(facts, work)
    return prices


_FAMILIES: dict[str, Family] = {
    "embedding": "embedding",
    "act_and_mul": "activation",
    "norm": "norm",
    "experts": "moe",
}

_MULTIPLY = ("gemm", "moe", "attention")


def _price(part: Part, share: float, family: Family, known_by: KnownBy = "model") -> Price:
    flops = part.flops * share if family in _MULTIPLY else 0.0
    return Price(family, part.part, flops, part.bytes * share, part.weight_bytes * share, known_by)


def _parts_of_products(facts: ModelFacts, parts: dict[str, Part]) -> dict[str, Price]:
    """Kernels that do a part of an operator, or two together."""
    prices: dict[str, Price] = {}
    q, k, v = _qkv_widths(facts)
    qkv = parts["qkv_proj"]
    for name, width in (("q_proj", q), ("k_proj", k), ("v_proj", v)):
        prices[name] = _price(qkv, width / (q + k + v) / qkv.calls, "gemm")
    if facts.gated and "gate_up_proj" in parts:
        half = _price(parts["gate_up_proj"], 0.5 / parts["gate_up_proj"].calls, "gemm")
        prices |= {"gate_proj": half, "up_proj": half}
    if "experts" in parts:
        experts, down = parts["experts"], 1.0 / facts.ffn_matrices
        prices["experts_up"] = _price(experts, (1.0 - down) / experts.calls, "moe")
        prices["experts_down"] = _price(experts, down / experts.calls, "moe")
    if "shared_expert" in parts:
        router, shared = (_price(parts[n], 1.0 / parts[n].calls, "gemm") for n in ("router", "shared_expert"))
        prices["router and shared_expert"] = router._replace(
            flops=router.flops + shared.flops,
            bytes=router.bytes + shared.bytes,
            weight_bytes=router.weight_bytes + shared.weight_bytes,
        )
    return prices


def _unlisted(facts: ModelFacts, work: Workload) -> dict[str, Price]:
    a, n = DTYPE_BYTES.get(facts.dtype, 2.0), work.query
    rotated = n * (facts.heads + facts.kv_heads) * facts.head_dim
    cached = n * facts.kv_heads * (facts.head_dim + facts.v_head_dim)
    return {
        "qk_norm": Price("norm", "attention", 0.0, 2 * rotated * a, 0.0, "model"),
        "rope": Price("rope", "attention", 0.0, 2 * rotated * a + n * (8 + facts.head_dim * a), 0.0, "model"),
        "kv_write": Price("cache", "attention", 0.0, cached * (a + facts.kv_bytes_each) + 8 * n, 0.0, "model"),
    }


def _attention(facts: ModelFacts, work: Workload) -> dict[str, Price]:
    """One layer's attention. Where half of the layers look at a window only, the first and every second one do (the
    order of gpt-oss and Gemma 2): they have a price of their own. Other mixtures share the mean."""

    def one(windows: int) -> Price:
        chosen = msgspec.structs.replace(facts, window_layers=windows)
        part = next(p for p in parts_of_step(chosen, work) if p.name == "attention")
        return _price(part, 1.0 / part.calls, "attention", "span")

    if 2 * facts.window_layers == facts.layers:
        return {"attention": one(0), "attention, window": one(facts.layers)}
    return {"attention": one(facts.window_layers)}


def _qkv_widths(facts: ModelFacts) -> tuple[int, int, int]:
    return facts.heads * facts.head_dim, facts.kv_heads * facts.head_dim, facts.kv_heads * facts.v_head_dim


def _shapes(facts: ModelFacts) -> dict[str, tuple[int, int]]:
    """The weights of each product that one kernel runs, [inner, outer]."""
    d, f = facts.hidden, facts.ffn
    q, k, v = _qkv_widths(facts)
    shapes = {
        "qkv_proj": (d, q + k + v),
        "q_proj": (d, q),
        "k_proj": (d, k),
        "v_proj": (d, v),
        "o_proj": (facts.heads * facts.v_head_dim, d),
        "lm_head": (d, facts.vocab),
    }
    if f:
        wide = {"gate_up_proj": 2 * f} if facts.gated else {}
        shapes |= {name: (d, width) for name, width in {**wide, "gate_proj": f, "up_proj": f}.items()}
        shapes["down_proj"] = (f, d)
    if facts.experts:
        shapes["router"] = (d, facts.experts)
    return shapes
