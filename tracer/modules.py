"""Spans for the parts of a model (attention, mlp, norm, embedding, lm_head, layers), from forward hooks."""

from __future__ import annotations

import re
from typing import Any

import torch

from .marks import ModuleMark, Part

_PARTS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("lm_head", re.compile(r"(^|\.)(lm_head|embed_out|output)$")),
    ("embedding", re.compile(r"(^|\.)(embed_tokens|wte|wpe|word_embeddings|tok_embeddings|embed_in)$")),
    ("moe", re.compile(r"(^|\.)(block_sparse_moe|moe|mlp\.experts)$")),
    ("attention", re.compile(r"(^|\.)(self_attn|attn|attention|self_attention)$")),
    ("mlp", re.compile(r"(^|\.)(mlp|feed_forward|ffn)$")),
    ("norm", re.compile(r"(^|\.)([a-z_]*norm[a-z_]*|ln_\w+)$")),
    ("layer", re.compile(r"(^|\.)(layers|h|blocks)\.\d+$")),
)


def part_of_module(path: str) -> Part | None:
    """The part that a module's dotted path names, or None for one that needs no span."""
    return next((part for part, pattern in _PARTS if pattern.search(path)), None)


class ModuleMarks:
    """Opens a span around each named part's forward while installed."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._targets = [
            (module, str(ModuleMark(part, path)))
            for path, module in model.named_modules()
            if (part := part_of_module(path)) is not None
        ]
        self._handles: list[Any] = []
        self._open: list[Any] = []

    def install(self) -> None:
        """Add the hooks; again is nothing."""
        if self._handles:
            return
        for module, name in self._targets:
            self._handles.append(module.register_forward_pre_hook(self._enter(name), prepend=True))
            self._handles.append(module.register_forward_hook(self._leave, always_call=True))

    def remove(self) -> None:
        """Take the hooks away and close what an exception left open."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        while self._open:
            self._open.pop().__exit__(None, None, None)

    def _enter(self, name: str) -> Any:
        def hook(_module: torch.nn.Module, _args: Any) -> None:
            span = torch.profiler.record_function(name)
            span.__enter__()  # type: ignore[no-untyped-call]
            self._open.append(span)

        return hook

    def _leave(self, _module: torch.nn.Module, _args: Any, _output: Any) -> None:
        if self._open:
            self._open.pop().__exit__(None, None, None)
