"""`roles_in_order`: which operator of the model each kernel of one forward pass is, by the order in which a decoder runs them.

A decoder layer is known by its attention: q, k, v (one product or three) before it, the output projection after it,
then the feed-forward layer or the router and its experts, then the next layer's q, k, v. The pass holds as many of
these periods as the model has layers; the one product after the last period is lm_head. Where the counts differ from
the model's in any layer nothing is told: one extra product would shift every name after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..facts import ModelFacts
from ..kernel_names import KernelName


class MisfitError(Exception):
    """The kernels do not run in the order of this model; says why, for a note."""


class Role(NamedTuple):
    """What one kernel does: an operator, and its layer (-1 outside the layers). Kernels that share a role and a layer do
    one call of it together (split-K reductions, attention and its combination)."""

    operator: str
    layer: int


class Named(NamedTuple):
    """A kernel as the order sees it."""

    short: KernelName
    full: str


_HELPER = re.compile(r"splitK_?reduce|reduce_1Block|PostGSU|dot_kernel", re.IGNORECASE)
"""Second kernels of a product: they finish what the one before them began."""
_EXPERT_PRODUCT = re.compile(
    r"matmul_ogs|fused_moe_kernel|moe.*gemm|gemm.*moe|group(ed)?_?(gemm|mm|matmul)|moe_wna16|bmm_|fused_moe_wna",
    re.IGNORECASE,
)
_NOT_PRODUCT = re.compile(r"finalize|scatter|align|sort|sum|topk|routing", re.IGNORECASE)
_PREPARES = re.compile(r"metadata|prepare|indices|plan", re.IGNORECASE)


def is_product(kernel: Named) -> bool:
    """A matrix product of its own, not the second half of one and not the experts'."""
    return kernel.short.family == "gemm" and not _HELPER.search(kernel.full)


def is_expert_product(kernel: Named) -> bool:
    """A product over the experts' weights."""
    name = kernel.full
    return kernel.short.family == "moe" and bool(_EXPERT_PRODUCT.search(name)) and not _NOT_PRODUCT.search(name)


def _attends(kernel: Named) -> bool:
    return kernel.short.family == "attention" and not _PREPARES.search(kernel.full)


def layer_starts(kernels: Sequence[Named]) -> list[int]:
    """Where each layer's attention begins: the first attention kernel after a product. Their number is that of the layers."""
    starts, waiting = [], False
    for at, kernel in enumerate(kernels):
        if is_product(kernel):
            waiting = True
        elif waiting and _attends(kernel):
            starts.append(at)
            waiting = False
    return starts


def roles_in_order(kernels: Sequence[Named], facts: ModelFacts) -> list[Role | None]:
    """Per kernel of one forward pass, in the order of its stream: its role, None where the order does not tell one.

    Raises `MisfitError` where the order is not that of the model."""
    starts = layer_starts(kernels)
    if len(starts) != facts.layers:
        raise MisfitError(f"{len(starts)} layers were seen where the model has {facts.layers}")
    if facts.layers < 2:
        raise MisfitError("a model of one layer has no period")
    if facts.mla:
        raise MisfitError("the projections of latent attention are not told by their order")
    segments = [range(a, b) for a, b in zip([0, *starts], [*starts, len(kernels)], strict=True)]
    products = [[at for at in segment if is_product(kernels[at])] for segment in segments]
    n_qkv = len(products[0])
    if n_qkv not in (1, 3):
        raise MisfitError(f"{n_qkv} products come before the first attention, where one or three make q, k and v")
    roles: list[Role | None] = [None] * len(kernels)
    inner = _inner_products([len(p) - 1 - n_qkv for p in products[1:-1]], facts)
    _before_attention(kernels, roles, segments[0], products[0], 0, facts)
    for layer in range(facts.layers):
        tails = (n_qkv,) if layer < facts.layers - 1 else (0, 1)
        _after_attention(kernels, roles, segments[layer + 1], products[layer + 1], layer, inner[layer], tails, facts)
    _continue_helpers(kernels, roles)
    return roles


def _before_attention(
    kernels: Sequence[Named],
    roles: list[Role | None],
    segment: range,
    products: Sequence[int],
    layer: int,
    facts: ModelFacts,
) -> None:
    """q, k, v and what stands between them and attention; in front of the first of them the input norm."""
    names = ("qkv_proj",) if len(products) == 1 else ("q_proj", "k_proj", "v_proj")
    for at, name in zip(products, names, strict=True):
        roles[at] = Role(name, layer)
    normed = [at for at in range(segment.start, products[0]) if kernels[at].short.family == "norm"]
    if len(normed) == 1:
        roles[normed[0]] = Role("norm", 2 * layer)
    for at in range(products[-1] + 1, segment.stop):
        family = kernels[at].short.family
        operator = {"rope": "rope", "cache": "kv_write", "norm": "qk_norm" if facts.qk_norm else None}.get(family)
        if operator and not _PREPARES.search(kernels[at].full):
            roles[at] = Role(operator, layer)
    if layer == 0 and len(normed) == 1:
        at = normed[0] - 1
        if at >= segment.start and kernels[at].short.family in ("index", "embedding"):
            roles[at] = Role("embedding", -1)


def _after_attention(
    kernels: Sequence[Named],
    roles: list[Role | None],
    segment: range,
    products: Sequence[int],
    layer: int,
    inner: int,
    tails: Sequence[int],
    facts: ModelFacts,
) -> None:
    """Attention itself, the output projection, the feed-forward part with its `inner` products, and then the head of
    the next layer or lm_head: one of `tails` products."""
    mixture = _is_mixture(facts, layer)
    experts = [at for at in segment if is_expert_product(kernels[at])]
    fits = len(experts) in (1, 2) if mixture else not experts
    if not fits or len(products) - 1 - inner not in tails:
        raise MisfitError(
            f"layer {layer} has {len(products)} products and {len(experts)} over experts after its attention, "
            "which is not the model's order"
        )
    for at in range(segment.start, products[0]):
        if _attends(kernels[at]):
            roles[at] = Role("attention", layer)
    roles[products[0]] = Role("o_proj", layer)
    body, tail = products[1 : 1 + inner], products[1 + inner :]
    if mixture:
        _mixture(roles, body, experts, layer)
    else:
        _dense(kernels, roles, segment, body, layer, facts)
    ends = max([*body, *experts])
    _norm_between(kernels, roles, products[0], min([*body, *experts]), 2 * layer + 1)
    if layer < facts.layers - 1:
        _before_attention(kernels, roles, range(ends + 1, segment.stop), tail, layer + 1, facts)
    else:
        if tail:
            roles[tail[0]] = Role("lm_head", -1)
        _norm_between(kernels, roles, ends, tail[0] if tail else segment.stop, 2 * facts.layers)


def _is_mixture(facts: ModelFacts, layer: int) -> bool:
    return facts.experts > 0 and layer >= facts.dense_layers


def _inner_products(counts: Sequence[int], facts: ModelFacts) -> list[int]:
    """Per layer: how many products its feed-forward part has. `counts` gives those of all layers but the last, which
    lm_head may follow: its count is that of the layers of its kind."""
    found: dict[bool, set[int]] = {True: set(), False: set()}
    for layer, count in enumerate(counts):
        found[_is_mixture(facts, layer)].add(count)
    gates = 1 + (1 if facts.shared_gate else 0)
    possible = {
        True: {gates + 2, gates + 3} if facts.shared_ffn else {1},
        False: {2, 3} if facts.gated else {2},
    }
    last = _is_mixture(facts, facts.layers - 1)
    for mixture, seen in found.items():
        if (len(seen) != 1 and (seen or mixture == last)) or not seen <= possible[mixture]:
            wanted = " or ".join(str(n) for n in sorted(possible[mixture]))
            raise MisfitError(f"the feed-forward parts have {sorted(seen)} products where the model has {wanted}")
    return [next(iter(found[_is_mixture(facts, layer)])) for layer in range(facts.layers)]


def _mixture(roles: list[Role | None], body: Sequence[int], experts: Sequence[int], layer: int) -> None:
    for at in body:
        # The shared expert may run before, after or beside the router: together they are told, apart they are not.
        roles[at] = Role("router" if len(body) == 1 else "router and shared_expert", layer)
    names = ("experts",) if len(experts) == 1 else ("experts_up", "experts_down")
    for at, name in zip(experts, names, strict=True):
        roles[at] = Role(name, layer)


def _dense(
    kernels: Sequence[Named],
    roles: list[Role | None],
    segment: range,
    body: Sequence[int],
    layer: int,
    facts: ModelFacts,
) -> None:
    if len(body) == 3:
        names: tuple[str, ...] = ("gate_proj", "up_proj", "down_proj")
    else:
        names = ("gate_up_proj" if facts.gated else "up_proj", "down_proj")
    for at, name in zip(body, names, strict=True):
        roles[at] = Role(name, layer)
    activations = [at for at in segment if kernels[at].short.family == "activation"]
    if any(not body[0] < at < body[-1] for at in activations):
        raise MisfitError(f"layer {layer} has its activation outside of its feed-forward part")
    if any(kernels[at].short.family == "norm" for at in range(body[0], body[-1])):
        raise MisfitError(f"layer {layer} has a norm inside of its feed-forward part")
    if len(activations) == 1:
        roles[activations[0]] = Role("act_and_mul", layer)


def _norm_between(kernels: Sequence[Named], roles: list[Role | None], after: int, before: int, number: int) -> None:
    """The one norm between two kernels; two or more mean a model with norms that the facts do not tell."""
    normed = [at for at in range(after + 1, before) if kernels[at].short.family == "norm"]
    if len(normed) == 1:
        roles[normed[0]] = Role("norm", number)


def _continue_helpers(kernels: Sequence[Named], roles: list[Role | None]) -> None:
    """The second kernel of a product takes the product's role, where it follows directly."""
    for at in range(1, len(kernels)):
        before = roles[at - 1]
        if kernels[at].short.family == "gemm" and not is_product(kernels[at]) and is_product(kernels[at - 1]):
            roles[at] = before
