"""What each op of a trace has to compute and to move: one file a family, one decorator to register a formula."""

from . import (  # noqa: F401 - importing a family registers its formulas
    activation,
    attention,
    cat,
    communication,
    convolution,
    copy,
    elementwise,
    embedding,
    gemm,
    gemm_kernels,
    index,
    kv_cache,
    moe,
    moe_routing,
    norm,
    paged_attention,
    quantize,
    quantized_gemm,
    reduction,
    rope,
    sampling,
    scan,
    softmax,
    triton,
    varlen_attention,
    views,
)
from .anchors import Anchoring, anchor_rows
from .cost import Call, Cost, Family, KnownBy, Unit
from .pricing import cost_of, costs_of, prevailing_dtype
from .registry import find, formula, formula_names, free_names, is_free

__all__ = [
    "Anchoring",
    "Call",
    "Cost",
    "Family",
    "KnownBy",
    "Unit",
    "anchor_rows",
    "cost_of",
    "costs_of",
    "find",
    "formula",
    "formula_names",
    "free_names",
    "is_free",
    "prevailing_dtype",
]
