"""`boundby profile MODEL`: record prefill and decode, account for the time, write the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..messages import progress, say
from ..recorder import recorder

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE, TWIN = "report.html", "analysis.json"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("profile")(profile)


def profile(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A Hugging Face id, folder or .gguf, pkg.module:factory, or random:NAME."),
    ],
    batch: Annotated[int, typer.Option(min=1, help="Sequences at a time.")] = 1,
    prompt_tokens: Annotated[int, typer.Option(min=1, help="Tokens of each prompt.")] = 512,
    new_tokens: Annotated[int, typer.Option(min=2, help="Tokens to generate per sequence.")] = 32,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, float16; else the model's own.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, xpu.")] = "auto",
    attn: Annotated[str | None, typer.Option(help="Attention: eager, sdpa, flash_attention_2, …")] = None,
    cache: Annotated[str, typer.Option(help="KV cache: dynamic, static, …")] = "dynamic",
    compile_: Annotated[
        str | None, typer.Option("--compile", metavar="MODE", help="torch.compile with this mode, such as default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the prompt and random weights.")] = 0,
    modules: Annotated[bool, typer.Option("--modules", help="Mark the model's parts in the trace.")] = False,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Let the model's repository run its own code here.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="For the trace, report.html and analysis.json.")] = Path(
        "boundby-out"
    ),
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="The report, elsewhere.")] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE|-", help="The JSON, elsewhere; - prints only it.")] = None,
) -> None:
    """Record a model's prefill and decode on this machine and say what bounds each.

    Leaves the trace, report.html and analysis.json in --out and prints the verdicts.
    """
    settings: dict[str, Any] = {
        "batch": batch,
        "prompt_tokens": prompt_tokens,
        "new_tokens": new_tokens,
        "dtype": dtype,
        "device": device,
        "attn": attn,
        "cache": cache,
        "compile": compile_,
        "seed": seed,
        "modules": modules,
    }
    if trust_remote_code:
        settings["trust_remote_code"] = True
    _prepare(out, html, json)
    trace = _record(model, out, settings)
    _report(trace, html or out / PAGE, out / TWIN, json)


def _prepare(out: Path, html: Path | None, json: str | None) -> None:
    from .. import output

    output.folder(out)
    for path in (html, Path(json) if json not in {None, "-"} else None):
        if path is not None:
            output.check_writable(path)


def _record(model: str, out: Path, settings: Mapping[str, Any]) -> Path:
    record = recorder("record").record
    with progress(f"recording {model}") as update:
        result = record(model, **settings, out=out, progress=lambda doing, done=None: update(doing, done))
    say(f"wrote {result.trace_path}")
    return Path(result.trace_path)


def _report(trace: Path, page: Path, twin: Path, json: str | None) -> None:
    from boundby.analyzers.analyze import analyze

    from ..delivery import as_json, deliver
    from ..output import write

    analysis = analyze(str(trace), timelines=True)
    write(twin, as_json([analysis], many=False))
    say(f"wrote {twin}")
    deliver([analysis], html=page, json=json)
