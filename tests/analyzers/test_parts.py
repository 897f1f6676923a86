"""Which part of the model an op serves, by module, by shapes, by kind."""

from __future__ import annotations

import pytest
from costcalls import BF16, INT64, T, call

from boundby.analyzers.costs import costs_of
from boundby.analyzers.parts import Sizes, part_of, sizes_from

QWEN = Sizes(hidden=4096, vocabulary=151936, heads=32, kv_heads=8, head_size=128, intermediate=12288)
"""Qwen3-8B."""
MOE = Sizes(hidden=2048, vocabulary=151936, heads=32, kv_heads=4, head_size=128, experts=128, expert_widths=(768, 0))
"""Qwen3-30B-A3B."""
LATENT = Sizes(
    hidden=7168,
    vocabulary=129280,
    heads=128,
    head_size=192,
    intermediate=18432,
    experts=256,
    projections=(1536, 512, 576),
)
"""DeepSeek-V3."""


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("model.layers.3.self_attn.q_proj", "attention"),
        ("model.layers.3.self_attn.q_norm", "attention"),
        ("model.layers.3.mlp.down_proj", "mlp"),
        ("model.layers.3.mlp.experts", "moe"),
        ("model.layers.3.block_sparse_moe.gate", "moe"),
        ("model.layers.3.input_layernorm", "norm"),
        ("model.layers.3.post_attention_layernorm", "norm"),
        ("transformer.h.0.ln_1", "norm"),
        ("transformer.h.0.attn.c_attn", "attention"),
        ("transformer.wte", "embedding"),
        ("model.embed_tokens", "embedding"),
        ("model.rotary_emb", "attention"),
        ("lm_head", "lm_head"),
    ],
)
def test_a_modules_mark_decides(path: str, part: str) -> None:
    assert part_of("gemm", sizes=QWEN, dims=([15, 4096], [4096, 151936]), path=path) == part


@pytest.mark.parametrize(
    ("k", "n", "part"),
    [
        (4096, 6144, "attention"),
        (4096, 4096, "attention"),
        (4096, 1024, "attention"),
        (4096, 24576, "mlp"),
        (12288, 4096, "mlp"),
        (4096, 151936, "lm_head"),
        (4096, 77, "other"),
    ],
)
def test_a_product_is_told_by_its_weights_shape(k: int, n: int, part: str) -> None:
    assert part_of("gemm", ("aten::mm",), ([32, k], [k, n]), sizes=QWEN) == part
    assert part_of("gemm", ("aten::linear",), ([32, k], [n, k], [n]), sizes=QWEN) == part


def test_a_router_and_experts_are_moe() -> None:
    assert part_of("gemm", ("aten::mm",), ([32, 2048], [2048, 128]), sizes=MOE) == "moe"
    assert part_of("gemm", ("aten::mm",), ([32, 2048], [2048, 1536]), sizes=MOE) == "moe"
    assert part_of("other", ("vllm::moe_forward",)) == "moe"


@pytest.mark.parametrize(("k", "n"), [(7168, 1536), (1536, 24576), (7168, 576), (512, 32768)])
def test_latent_projections_are_attention(k: int, n: int) -> None:
    assert part_of("gemm", ("aten::mm",), ([32, k], [k, n]), sizes=LATENT) == "attention"


def test_scores_are_attention() -> None:
    assert part_of("gemm", ("aten::bmm",), ([64, 17, 128], [64, 128, 17]), sizes=QWEN) == "attention"


@pytest.mark.parametrize(
    ("family", "dims", "part"),
    [
        ("elementwise", ([1, 32, 17, 128],), "attention"),
        ("cat", ([1, 8, 17, 64],), "attention"),
        ("elementwise", ([1, 17, 12288],), "mlp"),
        ("elementwise", ([1, 17, 4096],), "other"),
        ("softmax", ([1, 151936],), "sampling"),
        ("softmax", ([1, 32, 17, 17],), "attention"),
        ("norm", ([17, 4096],), "norm"),
        ("embedding", ([151936, 4096], [17]), "embedding"),
        ("communication", ([17, 4096],), "communication"),
        ("cache", (), "attention"),
        ("copy", (), "other"),
    ],
)
def test_other_ops_by_shape_then_kind(family: str, dims: tuple[list[int], ...], part: str) -> None:
    assert part_of(family, dims=dims, sizes=QWEN) == part


def test_without_sizes_only_the_kind_tells() -> None:
    assert part_of("gemm", ("aten::mm",), ([32, 4096], [4096, 6144])) == "other"
    assert part_of("attention") == "attention"


def test_odd_shapes_tell_nothing() -> None:
    assert part_of("gemm", dims=("", None, ["4"], [[2], [3]]), sizes=QWEN) == "other"


def test_sizes_from_a_traces_own_shapes() -> None:
    q = T([2, 16, 9, 64], BF16)
    calls = [
        call("aten::embedding", T([1000, 1024], BF16), T([2, 9], INT64), -1, False, False),
        call("aten::_scaled_dot_product_flash_attention", q, q, q, 0.0, True, False, None),
    ]
    sizes = sizes_from(zip(calls, costs_of(calls), strict=True))
    assert sizes == Sizes(hidden=1024, vocabulary=1000, heads=16, head_size=64)
    # Any number of KV heads may be meant; what is no projection of attention is the feed-forward layer.
    assert part_of("gemm", dims=([18, 1024], [1024, 256]), sizes=sizes) == "attention"
    assert part_of("gemm", dims=([18, 1024], [1024, 2816]), sizes=sizes) == "mlp"


def test_a_trace_without_such_ops_tells_no_sizes() -> None:
    assert sizes_from([]) == Sizes()
