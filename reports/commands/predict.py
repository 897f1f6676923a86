"""`boundby predict MODEL --device D`: the analytic model alone. No GPU, no torch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundby.analyzers.errors import UsageError

if TYPE_CHECKING:
    from boundby.analyzers.device import Device
    from boundby.analyzers.predict.forecast import Forecast

BYTES = {
    "fp64": 8.0,
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "int4": 0.5,
    "fp4": 0.5,
}


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("predict")(predict)


def predict(
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="A config.json or its folder, random:NAME; or --params instead."),
    ] = None,
    device: Annotated[str, typer.Option(help="A name of `boundby devices`, or a JSON file of peaks.")] = "",
    devices: Annotated[int, typer.Option(min=1, help="How many, pooled perfectly.")] = 1,
    phase: Annotated[str, typer.Option(help="prefill or decode.")] = "decode",
    batch: Annotated[int, typer.Option(min=1, help="Sequences at a time.")] = 1,
    prompt: Annotated[int, typer.Option(min=1, help="New tokens of each sequence in a prefill.")] = 512,
    context: Annotated[
        int | None, typer.Option(min=1, help="Tokens that a decode step reads; else the prompt's.")
    ] = None,
    params: Annotated[float | None, typer.Option(help="Parameters, instead of MODEL: 30e9.")] = None,
    kv_bytes_per_token: Annotated[float | None, typer.Option(help="Of the cache, with --params.")] = None,
    weight_dtype: Annotated[str | None, typer.Option(help="How weights are stored: bf16, int8, fp8, int4, …")] = None,
    compute_dtype: Annotated[str | None, typer.Option(help="What multiplies: bf16, fp16, fp8, int8, …")] = None,
    memory_limit: Annotated[
        float | None, typer.Option(metavar="GB", help="Memory of one device, instead of its own.")
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write the JSON; - prints it and nothing else.")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw step time against batch (.svg, .png, .pdf).")
    ] = None,
) -> None:
    """Derive each part's FLOPs, bytes, time and bound, the step time, the critical batch, and what fits.

    Assumes every operator at the device's peak, nothing but compulsory traffic, and no launch cost.
    """
    import msgspec

    if phase not in ("prefill", "decode"):
        raise UsageError(f"--phase {phase!r} is not prefill or decode")
    machine = _device(device, memory_limit)
    source = _source(model, params, kv_bytes_per_token, weight_dtype, compute_dtype)

    def run(b: int) -> Forecast:
        told: Forecast = source(machine, devices, phase, b, prompt, context or prompt)
        return told

    told = run(batch)
    if chart is not None:
        from ..charts.predict import draw_batches
        from ..output import replacing

        with replacing(chart) as beside:
            draw_batches(run, told, beside, suffix=chart.suffix)
    if json is not None:
        data = msgspec.json.encode(told) + b"\n"
        if json == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        from ..output import write

        write(Path(json), data)
    from ..predict_table import print_forecast

    print_forecast(told, machine)


def _device(name: str, memory_limit: float | None) -> Device:
    import msgspec

    from boundby.analyzers.device_table import find_device

    if not name:
        raise UsageError("--device is missing; name one of `boundby devices`, e.g. --device h100-sxm")
    found = find_device(name)
    return found if memory_limit is None else msgspec.structs.replace(found, memory_gb=memory_limit)


def _source(
    model: str | None, params: float | None, kv: float | None, weight_dtype: str | None, compute_dtype: str | None
) -> Any:
    """A function (device, devices, phase, batch, prompt, context) -> Forecast for the model that was named."""
    from boundby.analyzers.predict.forecast import forecast_facts, forecast_numbers

    for dtype in (weight_dtype, compute_dtype):
        if dtype is not None and dtype not in BYTES:
            raise UsageError(f"dtype {dtype!r} is unknown; use {', '.join(BYTES)}")
    if (model is None) == (params is None):
        raise UsageError(
            "give either MODEL (a config.json, its folder, or random:NAME) or --params N --kv-bytes-per-token N"
        )
    if params is not None:
        each = BYTES[weight_dtype or "bf16"]
        return lambda device, n, phase, batch, prompt, context: forecast_numbers(
            params=params,
            weight_bytes=params * each,
            kv_bytes_per_token=kv or 0.0,
            unit=compute_dtype or "bf16",
            device=device,
            devices=n,
            phase=phase,
            batch=batch,
            prompt=prompt,
            context=context,
        )
    assert model is not None
    facts = _facts(model, weight_dtype)
    return lambda device, n, phase, batch, prompt, context: forecast_facts(
        facts, device, devices=n, phase=phase, batch=batch, prompt=prompt, context=context, unit=compute_dtype
    )


def _facts(model: str, weight_dtype: str | None) -> Any:
    import msgspec

    from boundby.analyzers.facts import from_config, from_path

    if model.startswith("random:"):
        from boundby.tracer.configs import RANDOM_CONFIGS

        name = model.removeprefix("random:")
        if name not in RANDOM_CONFIGS:
            raise UsageError(f"no built-in model is called {name!r}; there are {', '.join(RANDOM_CONFIGS)}")
        facts = from_config(RANDOM_CONFIGS[name], name=model)
    else:
        facts = from_path(model)
    if weight_dtype is not None:
        each = BYTES[weight_dtype]
        facts = msgspec.structs.replace(facts, weight_bytes_each=each, expert_bytes_each=each)
    return facts
