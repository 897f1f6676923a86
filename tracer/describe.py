"""The record that makes a trace explain itself: whitelisted facts of model, settings and machine, never the environment."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import torch

from .marks import Recording, Untraced
from .version import VERSION

CONFIG_KEYS = [
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "tie_word_embeddings",
    "hidden_act",
    "attention_bias",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "n_shared_experts",
    "num_experts_per_tok",
    "experts_per_token",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "first_k_dense_replace",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "sliding_window",
    "use_sliding_window",
    "layer_types",
    "max_position_embeddings",
    "n_embd",
    "n_layer",
    "n_head",
    "n_inner",
    "n_positions",
    "quantization_config",
]
QUANTIZATION_KEYS = ("quant_method", "bits", "group_size", "weight_block_size", "load_in_4bit", "load_in_8bit")


def describe(
    model: torch.nn.Module, device: torch.device, untraced: Sequence[Untraced] = (), *, given: Recording | None = None
) -> Recording:
    """Everything a reader of the trace may want to know; what `given` says comes first."""
    given = given or Recording()
    return msgspec.structs.replace(
        given,
        model={**model_facts(model), **given.model},
        settings={**settings_of(model), **given.settings},
        versions={**versions(), **given.versions},
        device={**device_facts(device), **given.device},
        untraced=[*given.untraced, *untraced],
        memory={**memory_facts(model, device), **given.memory},
    )


def model_facts(model: torch.nn.Module) -> dict[str, Any]:
    """Class, whitelisted config, parameters and their bytes by dtype, KV bytes a token."""
    by_dtype: dict[str, int] = {}
    count = 0
    for parameter in model.parameters():
        name = str(parameter.dtype).removeprefix("torch.")
        by_dtype[name] = by_dtype.get(name, 0) + parameter.numel() * parameter.element_size()
        count += parameter.numel()
    facts: dict[str, Any] = {
        "class": type(model).__name__,
        "parameters": count,
        "parameter_bytes": sum(by_dtype.values()),
        "parameter_bytes_by_dtype": by_dtype,
    }
    config = getattr(model, "config", None)
    raw: dict[str, Any] = config.to_dict() if config is not None and hasattr(config, "to_dict") else {}
    kept = {key: raw[key] for key in CONFIG_KEYS if _plain(raw.get(key))}
    quantised = raw.get("quantization_config")
    if isinstance(quantised, dict):
        kept["quantization_config"] = {key: quantised[key] for key in QUANTIZATION_KEYS if key in quantised}
    if kept:
        facts["config"] = kept
        kv = _kv_bytes_per_token(kept, next(iter(model.parameters())).element_size() if count else 2)
        if kv is not None:
            facts["kv_bytes_per_token"] = kv
    return facts


def _plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= 1024 and all(isinstance(v, (str, int, float)) for v in value)
    return isinstance(value, (str, int, float, bool))


def _kv_bytes_per_token(config: dict[str, Any], element: int) -> int | None:
    layers = config.get("num_hidden_layers") or config.get("n_layer")
    heads = config.get("num_attention_heads") or config.get("n_head")
    hidden = config.get("hidden_size") or config.get("n_embd")
    if not (layers and heads and hidden):
        return None
    if config.get("kv_lora_rank"):
        # transformers caches the expanded keys and values of latent attention, not the latent vector.
        width = heads * (config["qk_nope_head_dim"] + config["qk_rope_head_dim"] + config["v_head_dim"])
        return int(layers * width * element)
    kv_heads = config.get("num_key_value_heads") or heads
    return int(2 * layers * kv_heads * (config.get("head_dim") or hidden // heads) * element)


def settings_of(model: torch.nn.Module) -> dict[str, Any]:
    """dtype, attention implementation, fp32 matmul precision, threads, compilation."""
    parameter = next(iter(model.parameters()), None)
    config = getattr(model, "config", None)
    found: dict[str, Any] = {
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "threads": torch.get_num_threads(),
        "compile": type(model).__name__ == "OptimizedModule",
    }
    if parameter is not None:
        found["dtype"] = str(parameter.dtype).removeprefix("torch.")
    attention = getattr(config, "_attn_implementation", None)
    if isinstance(attention, str):
        found["attn_implementation"] = attention
    return found


def versions() -> dict[str, str]:
    """Of boundby, Python and the libraries that decide what runs."""
    found = {"boundby": VERSION, "python": platform.python_version()}
    for package in ("torch", "transformers", "triton"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # noqa: PERF203
            continue
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
    if torch.version.hip:
        found["hip"] = torch.version.hip
    return found


def device_facts(device: torch.device) -> dict[str, Any]:
    """Name, kind and memory."""
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        kind = "hip" if torch.version.hip else "cuda"
        return {"name": properties.name, "kind": kind, "memory_bytes": properties.total_memory}
    if device.type == "xpu":
        xpu = torch.xpu.get_device_properties(device)
        return {"name": xpu.name, "kind": "xpu", "memory_bytes": xpu.total_memory}
    return {"name": cpu_name(), "kind": "cpu", "memory_bytes": _cpu_memory()}


def cpu_name() -> str:
    """The processor's marketing name, or its architecture."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _cpu_memory() -> int | None:
    try:
        first = Path("/proc/meminfo").read_text("ascii").splitlines()[0]
        return int(first.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return None


def memory_facts(model: torch.nn.Module, device: torch.device) -> dict[str, Any]:
    """Bytes of the weights, and on a GPU the peak that was allocated and reserved."""
    found: dict[str, Any] = {"weights_bytes": sum(p.numel() * p.element_size() for p in model.parameters())}
    if device.type == "cuda":
        found["peak_bytes"] = torch.cuda.max_memory_allocated(device)
        found["reserved_bytes"] = torch.cuda.max_memory_reserved(device)
    return found
