"""`Evidence`: what a trace itself tells of the model it ran: shapes recorded outside of the graphs, and template arguments
and names of the kernels inside of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ..costs.cost import Call, Cost
from ..facts import ModelFacts
from .order import Named, is_expert_product, is_product

_SAMPLES = re.compile(r"argmax|softmax|topk|sort|multinomial|sampl|logits", re.IGNORECASE)
_SMALLEST_VOCABULARY = 8192
_PADDED_TO = (1, 64, 128, 256, 512)
"""Multiples to which engines pad a vocabulary."""

_HEAD_AND_RATIO = re.compile(r"paged_attention_ll4mi_QKV\w*<[^>]*?DataType\)\d+, \d+, (\d+), \d+, \w+, (\d+)")
"""ROCm's paged attention: <type, query type, cache type, page, head size, threads, aligned, heads per KV head, ...>."""
_CACHE_ROW = re.compile(r"store_kvcache<(\d+)l?,")
"""SGLang's cache write: <bytes of one token's keys, ...>."""
_HEAD_SIZES = (
    re.compile(r"[Ff]lash_(?:fwd|split)\w*kernel_traits<(\d+)"),
    re.compile(r"paged_attention_(?:v1|v2)_kernel<[^<>]*?, (\d+), \d+, \d+"),
    re.compile(r"fmhaSm\w*?H(?:Qk)?(\d+)"),
    re.compile(r"fmha_\w*?_hdim_?(\d+)|fmha_fwd_d(\d+)_"),
)
_QUANTISED = frozenset(("fp8", "int8", "fp4", "int4"))


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """None or empty where the trace is silent. Sizes in elements, `cache_row` in bytes."""

    layers: int
    vocabulary: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    ratio: int | None = None
    """Query heads per KV head."""
    cache_row: int | None = None
    """Bytes of one token's keys in one layer's cache."""
    products: frozenset[tuple[int, int]] = frozenset()
    """Weights of the products recorded with shapes, [inner, outer]."""
    mixture: bool = False
    qk_norm: bool = False
    """Norms stand between the first products and attention in every layer."""
    dtypes: frozenset[str] = frozenset()
    """Types that the products' names tell."""
    expert_dtypes: frozenset[str] = frozenset()

    @property
    def tells_sizes(self) -> bool:
        """Enough to know a model by: its vocabulary or a product, and something of its heads."""
        return bool(self.vocabulary or self.products) and any((self.kv_heads, self.cache_row, self.ratio, self.heads))

    def against(self, facts: ModelFacts) -> str | None:
        """The first thing seen that this model does not have; None where all fits."""
        differences = (
            ("layers", self.layers, facts.layers),
            ("query heads", self.heads, facts.heads),
            ("KV heads", self.kv_heads, facts.kv_heads),
            ("elements a head", self.head_dim, facts.head_dim),
            ("query heads per KV head", self.ratio, facts.heads // max(facts.kv_heads, 1)),
        )
        for what, seen, has in differences:
            if seen is not None and seen != has:
                return f"{seen} {what} were seen where the model has {has}"
        if self.vocabulary and not _is_vocabulary(self.vocabulary, facts):
            return f"logits of {self.vocabulary} tokens were seen where the model has {facts.vocab}"
        if self.cache_row and cache_width(self.cache_row, facts) is None:
            return (
                f"{self.cache_row} bytes of keys a token and layer were seen, which no width of the model's heads gives"
            )
        if self.mixture != (facts.experts > 0):
            return "experts were seen in one only of the trace and the model"
        if self.qk_norm and not facts.qk_norm:
            return "norms of queries and keys were seen, which the model does not have"
        if _plain(self.dtypes) != (facts.weight_bytes_each >= 2) and self.dtypes:
            return "the products' weights have another width in the trace than in the model's config"
        if _plain(self.expert_dtypes) != (facts.expert_bytes_each >= 2) and self.expert_dtypes:
            return "the experts' weights have another width in the trace than in the model's config"
        return None

    def unexplained(self, facts: ModelFacts) -> bool:
        """A product was recorded that this model does not have."""
        return any(not _is_product_of(facts, *shape) for shape in self.products)


def cache_width(row: int, facts: ModelFacts) -> float | None:
    """Bytes of a cached number, from the bytes of one token's keys; None where no width of numbers fits."""
    elements = facts.kv_heads * facts.head_dim
    return row / elements if elements and row / elements in (1.0, 2.0, 4.0) else None


def evidence_of(kernels: Sequence[Named], starts: Sequence[int], calls: Iterable[tuple[Call, Cost | None]]) -> Evidence:
    """What the kernels of one pass (layers begin at `starts`) and the recorded calls tell."""
    sizes: dict[str, set[int]] = {}
    products: set[tuple[int, int]] = set()
    for call, cost in calls:
        for what, size in _of_call(call, cost):
            sizes.setdefault(what, set()).add(size)
        products |= set(_weights(call, cost))
    names = {kernel.full for kernel in kernels}
    for what, size in (found for name in names for found in _of_name(name)):
        sizes.setdefault(what, set()).add(size)
    told = {what: seen.pop() for what, seen in sizes.items() if len(seen) == 1}
    return Evidence(
        layers=len(starts),
        products=frozenset(products),
        mixture=any(is_expert_product(kernel) for kernel in kernels),
        qk_norm=bool(starts) and all(_normed_before(kernels, at) for at in starts),
        dtypes=_types(k for k in kernels if is_product(k)),
        expert_dtypes=_types(k for k in kernels if is_expert_product(k)),
        **told,
    )


def _types(kernels: Iterable[Named]) -> frozenset[str]:
    return frozenset(
        dtype for kernel in kernels for dtype in kernel.short.dtypes if dtype not in ("fp32", "int64", "bool")
    )


def _plain(dtypes: frozenset[str]) -> bool:
    return not dtypes & _QUANTISED


def _normed_before(kernels: Sequence[Named], attention: int) -> bool:
    """A norm stands between the last product and this attention."""
    for at in range(attention - 1, -1, -1):
        if is_product(kernels[at]):
            return False
        if kernels[at].short.family == "norm":
            return True
    return False


def _of_name(name: str) -> Iterator[tuple[str, int]]:
    if found := _HEAD_AND_RATIO.search(name):
        yield "head_dim", int(found[1])
        yield "ratio", int(found[2])
    if found := _CACHE_ROW.search(name):
        yield "cache_row", int(found[1])
    for pattern in _HEAD_SIZES:
        if found := pattern.search(name):
            yield "head_dim", int(next(group for group in found.groups() if group))


def _of_call(call: Call, cost: Cost | None) -> Iterator[tuple[str, int]]:
    dims = [d for d in call.dims if isinstance(d, (list, tuple)) and d and all(type(n) is int for n in d)]
    if not dims:
        return
    samples = (cost is not None and cost.family == "sampling") or _SAMPLES.search(call.name)
    if samples and len(dims[0]) == 2 and dims[0][1] >= _SMALLEST_VOCABULARY:
        yield "vocabulary", dims[0][1]
    if len(dims) < 2 or len(dims[0]) != 3 or len(dims[1]) != 3:
        return
    if "cache" in call.name and dims[0] == dims[1]:
        yield "kv_heads", dims[0][1]
        yield "head_dim", dims[0][2]
    elif "attention" in call.name and dims[0][2] == dims[1][2]:
        yield "heads", dims[0][1]
        yield "kv_heads", dims[1][1]
        yield "head_dim", dims[0][2]


def _weights(call: Call, cost: Cost | None) -> Iterator[tuple[int, int]]:
    """The weights of a product with a plain formula: mm(x[n, k], w[k, m])."""
    if cost is None or cost.family != "gemm" or call.name not in ("aten::mm", "aten::addmm"):
        return
    matrices = [d for d in call.dims if isinstance(d, (list, tuple)) and len(d) == 2]
    if len(matrices) >= 2:
        yield matrices[-1][0], matrices[-1][1]


def _is_vocabulary(size: int, facts: ModelFacts) -> bool:
    return any(size == -(-facts.vocab // multiple) * multiple for multiple in _PADDED_TO)


def _is_product_of(facts: ModelFacts, inner: int, outer: int) -> bool:
    d, q = facts.hidden, facts.heads * facts.head_dim
    kv = facts.kv_heads * facts.head_dim
    f = {facts.ffn, 2 * facts.ffn, facts.shared_ffn, 2 * facts.shared_ffn, facts.experts}
    if inner == d and (outer in {q, kv, q + 2 * kv, *f} or _is_vocabulary(outer, facts)):
        return True
    return outer == d and inner in {facts.heads * facts.v_head_dim, facts.ffn, facts.shared_ffn}
