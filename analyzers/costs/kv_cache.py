"""Writes into a KV cache: the new keys and values read once, written once at the cache's width; slots read."""

from __future__ import annotations

from .arguments import Arguments, Tensor
from .cost import Cost
from .registry import formula


def stored(values: list[Tensor], cache: Tensor, slots: Tensor) -> Cost:
    """Store the rows of `values` that have a slot (padding has none) at the cache's width."""
    read = written = 0.0
    for value in values:
        rows = value.shape[0] if value.shape else 0
        share = min(slots.numel / rows, 1.0) if rows else 0.0
        read += share * value.bytes
        written += share * value.numel * cache.width
    return Cost(family="cache", bytes_read=read + slots.bytes, bytes_written=written)


@formula(
    "_C_cache_ops::reshape_and_cache",
    "_C_cache_ops::reshape_and_cache_flash",
    "aiter::reshape_and_cache",
    "aiter::reshape_and_cache_flash",
    "aiter::reshape_and_cache_with_pertoken_quant",
    "aiter::reshape_and_cache_with_block_quant",
    "aiter::reshape_and_cache_with_block_quant_for_asm_pa",
)
def reshape_and_cache(a: Arguments) -> Cost:
    """(key[T, H, D], value[T, H, D], key cache, value cache, slots[T], ...); the forms that quantise have their scales
    before the slots."""
    at = 6 if "_quant" in a.name else 4
    return stored([a.tensor(0), a.tensor(1)], a.tensor(2), a.tensor(at))


@formula("_C_cache_ops::concat_and_cache_mla", "aiter::concat_and_cache_mla")
def concat_and_cache_mla(a: Arguments) -> Cost:
    """(latent[T, R], rope part[T, P], cache, slots[T], ...)."""
    return stored([a.tensor(0), a.tensor(1)], a.tensor(2), a.tensor(3))


@formula("sglang::store_cache")
def sglang_store(a: Arguments) -> Cost:
    """(key[T, H D], value, key cache, value cache, slots[T], ...)."""
    return stored([a.tensor(0), a.tensor(1)], a.tensor(2), a.tensor(4))


@formula("sgl_kernel::store_kv_cache")
def sgl_store(a: Arguments) -> Cost:
    """(key cache, value cache, slots[T], key, value)."""
    return stored([a.tensor(3), a.tensor(4)], a.tensor(0), a.tensor(2))
