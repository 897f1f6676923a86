"""`record`: the main job's recording of one model. Baseline first, profiler last; a few steps of each phase."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from .calibrate import calibrate
from .describe import describe
from .errors import TracerError
from .hook import StepHook
from .marks import Recording
from .models import load_model
from .modules import ModuleMarks
from .session import Session

PREFILLS, TRACED_PREFILLS, MOST_TRACED = 8, 3, 16
"""Timed prefills, as many as a comparison of times needs; prefills and decode steps in the trace."""
Progress = Callable[[str, float | None], None]


class RecordResult(NamedTuple):
    """What a recording left."""

    trace_path: Path
    recording: Recording


def record(
    spec: str | torch.nn.Module,
    *,
    batch: int = 1,
    prompt_tokens: int = 512,
    new_tokens: int = 32,
    dtype: str | None = None,
    device: str = "auto",
    attn: str | None = None,
    cache: str = "dynamic",
    compile: str | None = None,  # noqa: A002 - the word users know from torch
    seed: int = 0,
    modules: bool = False,
    trust_remote_code: bool = False,
    out: str | Path = "boundby-out",
    name: str = "trace.json.gz",
    progress: Progress | None = None,
) -> RecordResult:
    """Record prefill and decode of a model and write one trace to `out`.

    `spec` is what `load_model` takes, or a model. Prompts are random tokens of `seed`. Each phase is first run untouched,
    then timed without the profiler, then traced. Raises `TracerError`."""
    say = progress or (lambda _doing, _done: None)
    if isinstance(spec, str):
        say(f"loading {spec}", None)
        model = load_model(
            spec,
            dtype=dtype,
            device=device,
            attn=attn,
            seed=seed,
            trust_remote_code=trust_remote_code,
            say=lambda text: say(text, None),
        )
    else:
        model = spec.eval()
    runner: Any = model if compile is None else torch.compile(model, mode=None if compile == "default" else compile)
    hook = StepHook(runner, device=_device(model))
    say("calibrating this machine", 0.1)
    measured = calibrate(hook.device)
    loop = _Loop(runner, model, hook.device, batch=batch, prompt=prompt_tokens, new=new_tokens, cache=cache, seed=seed)
    session = Session(Path(out), device=hook.device)
    hook.install()
    try:
        _run(loop, hook, session, ModuleMarks(model) if modules else None, say)
    except torch.OutOfMemoryError as error:
        raise TracerError(
            f"out of memory at batch {batch} and {prompt_tokens} prompt tokens; use a smaller --batch or --prompt-tokens"
        ) from error
    finally:
        session.stop()
        hook.remove()
    given = Recording(
        model={"name": spec if isinstance(spec, str) else type(spec).__name__},
        workload={"batch": batch, "prompt_tokens": prompt_tokens, "new_tokens": new_tokens, "seed": seed},
        settings={"cache": cache, "compile": compile or False},
        calibration=measured.facts(),
    )
    recording = describe(model, hook.device, hook.untraced(), given=given)
    say("writing the trace", 0.95)
    return RecordResult(session.write(recording, name=name), recording)


def _run(loop: _Loop, hook: StepHook, session: Session, marks: ModuleMarks | None, say: Progress) -> None:
    say("warming up", 0.2)
    loop.run(new=4)
    say("timing without the profiler", 0.3)
    gc.collect()
    gc.disable()
    try:
        hook.mode = "time"
        for _ in range(PREFILLS - 1):
            loop.run(new=0)
        loop.run(new=loop.new)
        hook.mode = "off"
        say("tracing", 0.7)
        session.start()
        if marks is not None:
            marks.install()
        loop.run(new=2)
        session.discard()
        session.start()
        hook.mode = "trace"
        for _ in range(TRACED_PREFILLS - 1):
            loop.run(new=0)
        loop.run(new=min(loop.new, MOST_TRACED))
    finally:
        hook.mode = "off"
        gc.enable()
        if marks is not None:
            marks.remove()
        session.stop()


class _Loop:
    """One prefill and some decode steps, greedily, as a server would: only the last token's logits are computed."""

    def __init__(
        self,
        runner: Any,
        model: torch.nn.Module,
        device: torch.device,
        *,
        batch: int,
        prompt: int,
        new: int,
        cache: str,
        seed: int,
    ) -> None:
        self.runner = runner
        self.model = model
        self.new = new
        self._cache = cache
        self._length = prompt + new + 1
        self._batch = batch
        config = getattr(model, "config", None)
        vocabulary = getattr(config, "vocab_size", None) or 256
        limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        if isinstance(limit, int) and self._length > limit:
            raise TracerError(
                f"{prompt} prompt and {new} new tokens are more than the model's {limit} positions; use fewer --prompt-tokens"
            )
        random = torch.Generator().manual_seed(seed)
        self._ids = torch.randint(0, vocabulary, (batch, prompt), generator=random).to(device)
        takes = inspect.signature(model.forward).parameters
        # transformers renamed the argument in 5.24; the old name warns at every call.
        self._past = "cache" if "cache" in takes else "past_key_values"
        self._options: dict[str, Any] = {"use_cache": True} if "use_cache" in takes else {}
        if "logits_to_keep" in takes:
            self._options["logits_to_keep"] = 1

    @torch.inference_mode()
    def run(self, new: int) -> None:
        """Prefill, then `new` decode steps."""
        past = {self._past: self._new_cache()}
        result = self.runner(input_ids=self._ids, **past, **self._options)
        for _ in range(new):
            token = result.logits[:, -1:].argmax(-1)
            result = self.runner(input_ids=token, **past, **self._options)

    def _new_cache(self) -> Any:
        import transformers

        config: Any = getattr(self.model, "config", None)
        if self._cache == "dynamic":
            return transformers.DynamicCache(config=config) if config is not None else None
        if self._cache == "static":
            return transformers.StaticCache(config=config, max_cache_len=self._length)
        raise TracerError(f"cache {self._cache!r} is not known; use dynamic or static")


def _device(model: torch.nn.Module) -> torch.device:
    parameter = next(iter(model.parameters()), None)
    return parameter.device if parameter is not None else torch.device("cpu")
