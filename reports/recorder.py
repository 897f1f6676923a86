"""The recorder, if it is installed: the only way from this room to torch, taken when a command needs it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from boundby.analyzers.errors import RecordingError


def recorder(module: str) -> Any:
    """The module `boundby.tracer.<module>`. Raises `RecordingError` where torch or transformers is missing."""
    # The profiler's library prints its own comings and goings on stderr at its default level.
    os.environ.setdefault("KINETO_LOG_LEVEL", "9")
    try:
        return import_module(f"boundby.tracer.{module}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing == "boundby":
            raise
        message = f"recording needs {missing}, which is not installed; pip install 'boundby[trace]'"
        raise RecordingError(message) from error
