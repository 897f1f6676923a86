"""The grammar of our own marks in a trace: span names and the metadata record. No torch here: analyzers read it.

Step span      boundby.step[prefill b=1 q=512 k=0 i=0]
               kind prefill|chunk|decode|verify|mixed|unknown; b sequences; q new tokens per sequence; k cached tokens per
               sequence before the call; i the step's number within the run. Padded batches count padding.
Module span    boundby.module[attention model.layers.3.self_attn]
               part attention|mlp|moe|norm|embedding|lm_head|layer|other, then the module's dotted path.
Metadata       top-level key "boundby" of the trace: a `Recording` as JSON.
"""

from __future__ import annotations

import re
from typing import Any, Literal, cast

import msgspec

METADATA_KEY = "boundby"
StepKind = Literal["prefill", "chunk", "decode", "verify", "mixed", "unknown"]
Part = Literal["attention", "mlp", "moe", "norm", "embedding", "lm_head", "layer", "other"]

_STEP = re.compile(r"^boundby\.step\[(prefill|chunk|decode|verify|mixed|unknown) b=(\d+) q=(\d+) k=(\d+) i=(\d+)\]$")
_MODULE = re.compile(r"^boundby\.module\[(attention|mlp|moe|norm|embedding|lm_head|layer|other) (\S*)\]$")


class StepMark(msgspec.Struct, frozen=True):
    """One step span's name, in parts."""

    kind: StepKind
    batch: int
    query: int
    cached: int
    index: int

    def __str__(self) -> str:
        return f"boundby.step[{self.kind} b={self.batch} q={self.query} k={self.cached} i={self.index}]"

    @classmethod
    def parse(cls, name: str) -> StepMark | None:
        """The mark that `name` spells, or None when it is not one of ours."""
        found = _STEP.match(name)
        if found is None:
            return None
        kind, *numbers = found.groups()
        return cls(cast("StepKind", kind), *map(int, numbers))


class ModuleMark(msgspec.Struct, frozen=True):
    """One module span's name, in parts."""

    part: Part
    path: str

    def __str__(self) -> str:
        return f"boundby.module[{self.part} {self.path}]"

    @classmethod
    def parse(cls, name: str) -> ModuleMark | None:
        """The mark that `name` spells, or None when it is not one of ours."""
        found = _MODULE.match(name)
        return None if found is None else cls(cast("Part", found[1]), found[2])


class Untraced(msgspec.Struct, frozen=True):
    """Times of the same steps without the profiler, each synchronised before and after."""

    kind: StepKind
    batch: int
    query: int
    cached_first: int
    cached_last: int
    samples_us: list[float]
    median_us: float


class Recording(msgspec.Struct, frozen=True):
    """What the recorder writes under `METADATA_KEY`: whitelisted facts only, never the environment."""

    schema: int = 1
    model: dict[str, Any] = {}
    """"name", "config" (the whitelisted keys of a Hugging Face config), "parameters", "parameter_bytes",
    "parameter_bytes_by_dtype" {dtype: bytes}, "kv_bytes_per_token", "class"."""
    workload: dict[str, Any] = {}
    """"batch", "prompt_tokens", "new_tokens", "seed", "command"."""
    settings: dict[str, Any] = {}
    """"dtype", "attn_implementation", "cache_class", "compile", "float32_matmul_precision", "threads"."""
    versions: dict[str, str] = {}
    device: dict[str, Any] = {}
    """"name", "kind" (cuda|hip|xpu|cpu), "driver", "memory_bytes"."""
    calibration: dict[str, Any] = {}
    """"peak_tflops" {dtype: value}, "bandwidth_gb_s", "launch_latency_us", "smallest_kernel_us" (on a CPU the dispatch
    floor of an op), "spread" {figure: relative spread}."""
    untraced: list[Untraced] = []
    memory: dict[str, Any] = {}
    """"peak_bytes", "reserved_bytes", "weights_bytes", "kv_bytes"."""
