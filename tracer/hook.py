"""`PhaseTracer`: wraps a model's outermost forward, names each call, times some without the profiler and traces a few.

Baseline first, profiler last: a profiler slows the host down, also for a while after it has stopped.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import torch

from .lengths import LengthReader, Lengths
from .marks import Recording, StepKind, StepMark, Untraced
from .modules import ModuleMarks
from .session import Session, synchronize

Shape = tuple[StepKind, int, int]
PhaseReader = Callable[[tuple[Any, ...], Mapping[str, Any]], "tuple[StepKind, int, int, int] | None"]
"""A user's reader of a call: (kind, sequences, new tokens each, cached tokens each), or None for a call to leave alone."""


class StepHook:
    """The wrapped forward. Per call it does what `mode` says: "off" nothing, "time" measures, "trace" opens a span."""

    def __init__(
        self, model: torch.nn.Module, *, phase: PhaseReader | None = None, device: torch.device | None = None
    ) -> None:
        self.model = model
        self.mode = "off"
        self.index = 0
        self.device = device or _device_of(model)
        self.samples: dict[Shape, list[tuple[int, float]]] = {}
        """Per shape: (cached tokens, microseconds) of each timed call."""
        self.before_call: Callable[[StepMark], None] | None = None
        self.after_call: Callable[[StepMark], None] | None = None
        self._phase = phase
        self._reader = LengthReader()
        self._own = "forward" in vars(model)
        self._original = model.forward

    def install(self) -> None:
        """Put the wrapper in the model's place of `forward`."""
        original = self._original

        @functools.wraps(original)
        def forward(*args: Any, **kwargs: Any) -> Any:
            mark = self._mark(args, kwargs)
            if mark is None:
                return original(*args, **kwargs)
            if self.before_call is not None:
                self.before_call(mark)
            try:
                return self._run(mark, original, args, kwargs)
            finally:
                if self.after_call is not None:
                    self.after_call(mark)

        self.model.forward = forward

    def remove(self) -> None:
        """Give the model its own forward back."""
        if self._own:
            self.model.forward = self._original
        elif "forward" in vars(self.model):
            del self.model.forward

    def untraced(self) -> list[Untraced]:
        """The timed calls, by shape."""
        found = []
        for (kind, batch, query), timed in self.samples.items():
            cached, times = [c for c, _ in timed], [t for _, t in timed]
            found.append(
                Untraced(
                    kind=kind,
                    batch=batch,
                    query=query,
                    cached_first=min(cached),
                    cached_last=max(cached),
                    samples_us=[round(t, 3) for t in times],
                    median_us=round(statistics.median(times), 3),
                )
            )
        return found

    def _mark(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> StepMark | None:
        if self._phase is not None:
            told = self._phase(args, kwargs)
            if told is None:
                return None
            kind, lengths = told[0], Lengths(*told[1:])
        else:
            read = self._reader.read(args, kwargs)
            if read is None:
                return None
            kind, lengths = self._reader.name(read), read
        mark = StepMark(kind, lengths.batch, lengths.query, lengths.cached, self.index)
        self.index += 1
        return mark

    def _run(
        self, mark: StepMark, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        if self.mode == "trace":
            synchronize(self.device)
            with torch.profiler.record_function(str(mark)):
                result = original(*args, **kwargs)
            synchronize(self.device)
            return result
        if self.mode == "time":
            synchronize(self.device)
            start = time.perf_counter()
            result = original(*args, **kwargs)
            synchronize(self.device)
            elapsed = (time.perf_counter() - start) * 1e6
            self.samples.setdefault((mark.kind, mark.batch, mark.query), []).append((mark.cached, elapsed))
            return result
        return original(*args, **kwargs)


class PhaseTracer:
    """Record prefill and decode of a model while you use it.

        with PhaseTracer(model, out="traces") as tracer:
            model.generate(**inputs, max_new_tokens=64)
            model.generate(**inputs, max_new_tokens=64)
        print(tracer.trace_path)

    The first calls of each shape are left alone (`warmup_steps`), the next are timed without the profiler
    (`untraced_steps`), then `traced_steps` are traced; a prefill seen once is traced at its next occurrence. The model is
    restored and the profiler stopped whatever is raised, and what was recorded by then is kept. `phase` serves modules with
    another signature; `calibration` measures the machine's peaks first (seconds, once a machine: later runs read them);
    `modules` marks the model's parts; `stacks` records Python stacks; `metadata` adds to the record.
    Raises `TracerError` where a device that should have recorded kernels did not."""

    def __init__(
        self,
        model: torch.nn.Module,
        out: str | Path = "boundby-out",
        *,
        warmup_steps: int = 2,
        untraced_steps: int = 8,
        traced_steps: int = 8,
        modules: bool = False,
        stacks: bool = False,
        phase: PhaseReader | None = None,
        metadata: Recording | None = None,
        calibration: bool = True,
    ) -> None:
        self.hook = StepHook(model, phase=phase)
        self.out = Path(out)
        self.trace_path: Path | None = None
        self._limits = (warmup_steps, untraced_steps, traced_steps)
        self._seen: dict[Shape, int] = {}
        self._session = Session(self.out, device=self.hook.device, stacks=stacks)
        self._modules = ModuleMarks(model) if modules else None
        self._metadata = metadata
        self._calibration = calibration

    def __enter__(self) -> PhaseTracer:
        if self._calibration and not (self._metadata and self._metadata.calibration):
            from .calibrate import calibrate

            measured = calibrate(self.hook.device).facts()
            self._metadata = msgspec.structs.replace(self._metadata or Recording(), calibration=measured)
        self.hook.install()
        self.hook.before_call, self.hook.after_call = self._before, self._after
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._session.stop()
        finally:
            if self._modules is not None:
                self._modules.remove()
            self.hook.remove()
        if self._session.recorded:
            self.trace_path = self._session.write(self.recording(), check=error is None)

    def recording(self) -> Recording:
        """The record that goes into the trace: the model's and machine's facts, and the untraced times."""
        from .describe import describe

        return describe(self.hook.model, self.hook.device, self.hook.untraced(), given=self._metadata)

    def _quota(self, mark: StepMark) -> tuple[int, int]:
        """How many calls of this shape are untouched and timed before it is traced."""
        warm, timed, _ = self._limits
        return (0, 1) if mark.kind in ("prefill", "chunk") else (warm, timed)

    def _before(self, mark: StepMark) -> None:
        shape = (mark.kind, mark.batch, mark.query)
        count = self._seen.get(shape, 0)
        warm, timed = self._quota(mark)
        traced = 1 if mark.kind in ("prefill", "chunk") else self._limits[2]
        if count < warm:
            self.hook.mode = "off"
        elif count < warm + timed:
            self.hook.mode = "time"
        elif count < warm + timed + traced:
            self._session.start()
            if self._modules is not None:
                self._modules.install()
            self.hook.mode = "trace"
        else:
            self.hook.mode = "off"
        if self.hook.mode != "trace":
            self._session.stop()
            if self._modules is not None:
                self._modules.remove()
        self._seen[shape] = count + 1

    def _after(self, mark: StepMark) -> None:
        shape = (mark.kind, mark.batch, mark.query)
        warm, timed = self._quota(mark)
        traced = 1 if mark.kind in ("prefill", "chunk") else self._limits[2]
        if self.hook.mode == "trace" and self._seen.get(shape, 0) >= warm + timed + traced:
            self._session.stop()
        self.hook.mode = "off"


def _device_of(model: torch.nn.Module) -> torch.device:
    parameter = next(iter(model.parameters()), None)
    return parameter.device if parameter is not None else torch.device("cpu")
