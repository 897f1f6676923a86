"""The `boundby` command: which commands there are, and how errors end. Each command is a file in `commands/`."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from boundby.analyzers.errors import BoundbyError, OutputError
from boundby.tracer.errors import TracerError
from boundby.tracer.version import VERSION

from . import commands
from .messages import SETTINGS, fail

ORDER = ("profile", "analyze", "predict", "devices", "calibrate")
"""Of the help. Command X is `register(app)` of `commands/X.py`, imported only when it is needed."""

INTERRUPTED = 130


class Commands(TyperGroup):
    """Commands that load on first use, each with the switches that all of them share."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Every command's name."""
        found = {module.name for module in iter_modules(commands.__path__)}
        return [name for name in ORDER if name in found] + sorted(found.difference(ORDER))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        import_module(f"boundby.reports.commands.{cmd_name}").register(app)
        command = typer.main.get_command(app)
        command.params.extend(_shared_switches())
        return command


def _remember(parameter: typer.CallbackParam, value: bool) -> None:
    if value and parameter.name:
        setattr(SETTINGS, parameter.name, True)


def _shared_switches() -> list[Any]:
    shared = typer.Typer(add_completion=False, rich_markup_mode=None)

    @shared.command()
    def switches(
        quiet: Annotated[
            bool,
            typer.Option("--quiet", "-q", callback=_remember, expose_value=False, help="Only results and errors."),
        ] = False,
        debug: Annotated[
            bool,
            typer.Option("--debug", callback=_remember, expose_value=False, help="Show the traceback of an error."),
        ] = False,
    ) -> None:
        """Only its parameters are wanted: typer offers no other way to make them that holds over its versions."""

    return [param for param in typer.main.get_command(shared).params if param.name in {"quiet", "debug"}]


app = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"boundby {VERSION}")
        raise typer.Exit


@app.callback()
def boundby(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What is each phase of a language model bound by, and what would make it faster?

    Every command takes --quiet and --debug. Exit codes: 0 done, 1 a regression or a fault, 2 wrong usage,
    3 an unreadable input, 4 a trace without events, 5 an output that cannot be written, 6 a model that cannot be
    recorded, 130 interrupted.
    """


def main() -> None:
    """Run the command line; every way it can end is an exit code and at most one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without µ or ▲ shows "?", rather than an error
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `arguments` and return the exit code. Under --debug errors pass through as they are."""
    SETTINGS.quiet = SETTINGS.debug = False
    command = typer.main.get_command(app)
    command.params.extend(_shared_switches())
    try:
        if "_BOUNDBY_COMPLETE" in os.environ:
            command.main(arguments, prog_name="boundby")  # answers the shell and exits
        # Not `main` otherwise: it turns interruptions and closed pipes into exit codes of its own.
        with command.make_context("boundby", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as ending:
        return ending.exit_code
    except (KeyboardInterrupt, typer.Abort):
        fail("interrupted; nothing half-written was left")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()  # the reader (head, a pager) has had enough
    except Exception as error:  # noqa: BLE001
        return _ending(error)
    return 0


def _abandon_stdout() -> None:
    # What is still buffered would fail once more when Python closes stdout.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ending(error: Exception) -> int:
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # a usage error of click, vendored or not
        error.show()  # type: ignore[attr-defined]
        return int(error.exit_code)
    if SETTINGS.debug:
        raise error
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EIO}:
        _abandon_stdout()
        fail(f"boundby: the result cannot be written ({error.strerror}); choose another place")
        return OutputError.exit_code
    if isinstance(error, (BoundbyError, TracerError)):
        fail(f"boundby: {error}")
        return error.exit_code
    fail(f"boundby: unexpected {type(error).__name__}: {error}; run again with --debug and report what it shows")
    return 1
