"""Kernels get their parts by the order in which a decoder runs them, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from graphreplay import (
    ACT,
    AFTER,
    ATTEND,
    BEFORE,
    COMBINE,
    DENSE,
    EMBED,
    GEMM,
    GROUPED,
    HEAD,
    MIXTURE,
    NORM,
    ROPE,
    SPARSE,
    SPLIT,
    WRITE,
    layers,
)

from boundby.analyzers.facts import from_config
from boundby.analyzers.graph_costs.order import MisfitError, Named, Role, roles_in_order
from boundby.analyzers.kernel_names import recognise

DENSE_FACTS, SPARSE_FACTS = from_config(DENSE), from_config(SPARSE)


def told(names: Sequence[str], facts=DENSE_FACTS) -> list[Role | None]:
    return roles_in_order([Named(recognise(name), name) for name in names], facts)


def operators(names: Sequence[str], facts=DENSE_FACTS) -> list[str | None]:
    return [None if role is None else role.operator for role in told(names, facts)]


def test_a_dense_layer_runs_qkv_o_gate_up_and_down() -> None:
    one = ["norm", "qkv_proj", "rope", "kv_write", "attention", "attention", "o_proj", "norm"]
    one += ["gate_up_proj", "act_and_mul", "down_proj"]
    assert operators(layers(3)) == ["embedding", *one * 3, "norm", "lm_head"]


def test_every_norm_is_one_of_two_a_layer_and_the_last() -> None:
    assert [role.layer for role in told(layers(3)) if role and role.operator == "norm"] == list(range(7))


def test_kernels_of_one_call_share_its_role() -> None:
    split = (ATTEND, COMBINE, GEMM, SPLIT, NORM, GEMM, ACT, GEMM)
    roles = told(layers(3, split))
    assert [role for role in roles if role and role.operator == "o_proj"] == [Role("o_proj", n // 2) for n in range(6)]


def test_separate_projections_have_their_own_names() -> None:
    before, after = (NORM, GEMM, GEMM, GEMM, ROPE, WRITE), (ATTEND, GEMM, NORM, GEMM, GEMM, ACT, GEMM)
    one = ["norm", "q_proj", "k_proj", "v_proj", "rope", "kv_write"]
    one += ["attention", "o_proj", "norm", "gate_proj", "up_proj", "act_and_mul", "down_proj"]
    assert operators(layers(3, after, before=before)) == ["embedding", *one * 3, "norm", "lm_head"]


def test_a_mixture_runs_a_router_and_its_experts() -> None:
    one = ["norm", "qkv_proj", "rope", "kv_write", "attention", "o_proj", "norm", "router", None]
    assert operators(layers(3, MIXTURE), SPARSE_FACTS) == [
        "embedding", *[*one, "experts_up", "experts_down"] * 3, "norm", "lm_head",
    ]  # fmt: skip


def test_without_lm_head_the_last_product_is_down() -> None:
    assert operators(layers(3)[:-1])[-2:] == ["down_proj", "norm"]


@pytest.mark.parametrize(
    ("names", "facts", "why"),
    [
        (layers(2), DENSE_FACTS, "2 layers were seen where the model has 3"),
        (layers(3, (*AFTER, GEMM, GEMM)), DENSE_FACTS, r"\[4\] products where the model has 2 or 3"),
        (layers(3, MIXTURE), DENSE_FACTS, "products"),
        (layers(3), SPARSE_FACTS, "products"),
        (layers(3, (ATTEND, GEMM, NORM, GEMM, GROUPED)), DENSE_FACTS, "products"),
        ([*layers(3), HEAD], DENSE_FACTS, "layer 2 has 5 products"),
        ([EMBED, GEMM, *layers(3)[1:]], DENSE_FACTS, "2 products come before the first attention"),
        (layers(3, (ATTEND, GEMM, ACT, NORM, GEMM, GEMM)), DENSE_FACTS, "activation outside"),
        ([*layers(2)[:-2], *BEFORE, ATTEND, GEMM, GEMM, NORM, HEAD], DENSE_FACTS, "layer 2 has a norm inside"),
    ],
)  # fmt: skip
def test_an_order_that_is_not_the_models_tells_nothing(names: list[str], facts, why: str) -> None:
    with pytest.raises(MisfitError, match=why):
        told(names, facts)


def test_a_model_with_more_norms_keeps_its_norms_unknown() -> None:
    after = (ATTEND, COMBINE, GEMM, NORM, NORM, GEMM, ACT, GEMM)
    assert operators(layers(3, after)).count("norm") == 3 + 1
