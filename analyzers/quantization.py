"""How a Hugging Face config says that weights are stored, and in what they multiply."""

from __future__ import annotations

from typing import Any, NamedTuple

from .errors import UsageError


class Stored(NamedTuple):
    """Bytes of one weight, scales included, of linear layers and of experts; and the dtype class of their products where
    activations are quantised too ("" where weights are widened first)."""

    linear: float
    experts: float
    unit: str = ""


def stored_as(config: Any, full: float) -> Stored:
    """What `quantization_config` says; `full` bytes a weight without one. Raises `UsageError` for an unknown method."""
    if not isinstance(config, dict):
        return Stored(full, full)
    method = str(config.get("quant_method", "")).lower()
    if method == "mxfp4":
        return Stored(full, 0.5 + 1 / 32)  # 4-bit values, one 8-bit scale a block of 32 (OCP microscaling formats)
    reader = _METHODS.get(method)
    if reader is None:
        raise UsageError(f"model config: quantisation {method!r} is unknown; pass --weight-dtype")
    return reader(config)


def _grouped(config: dict[str, Any]) -> Stored:
    bits, group = config.get("bits", config.get("w_bit", 4)), config.get("group_size", 128)
    each = _with_scale(bits, group)
    return Stored(each, each)


def _with_scale(bits: int, group: Any) -> float:
    """A 16-bit scale and a zero point of the weight's width for each group."""
    return bits / 8 + (2.0 + bits / 8) / group if isinstance(group, int) and group > 0 else bits / 8


def _fp8(config: dict[str, Any]) -> Stored:
    block = config.get("weight_block_size")
    each = 1.0 + (4.0 / (block[0] * block[1]) if block else 0.0)
    return Stored(each, each, "fp8")


def _bitsandbytes(config: dict[str, Any]) -> Stored:
    # 4 bits and a 32-bit scale for 64 weights; 8 bits multiply as integers.
    four = config.get("load_in_4bit") or config.get("_load_in_4bit")
    return Stored(0.5 + 4.0 / 64, 0.5 + 4.0 / 64) if four else Stored(1.0, 1.0, "int8")


def _compressed(config: dict[str, Any]) -> Stored:
    """compressed-tensors: the first group's weights and whether its inputs are quantised."""
    groups = config.get("config_groups") or {}
    group: dict[str, Any] = next(iter(groups.values()), {}) if isinstance(groups, dict) else {}
    weights, inputs = group.get("weights") or {}, group.get("input_activations")
    bits, kind = weights.get("num_bits", 8), weights.get("type", "float")
    each = bits / 8 + (2.0 / weights["group_size"] if weights.get("group_size") else 0.0)
    unit = {(8, "float"): "fp8", (8, "int"): "int8", (4, "float"): "fp4", (4, "int"): "int4"}.get((bits, kind), "")
    return Stored(each, each, unit if inputs else "")


def _modelopt(config: dict[str, Any]) -> Stored:
    fp4 = "FP4" in str(config.get("quant_algo", "")).upper()
    # NVFP4: 4 bits and an 8-bit scale for 16 weights.
    return Stored(0.5 + 1 / 16, 0.5 + 1 / 16, "fp4") if fp4 else Stored(1.0, 1.0, "fp8")


_METHODS = {
    "gptq": _grouped,
    "awq": _grouped,
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
}
