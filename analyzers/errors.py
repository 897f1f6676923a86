"""The errors a user can meet. Each says which value is at fault and what to do next, and carries its exit code.

Exit codes of every command: 0 done; 1 `check` found a regression; 2 wrong usage, or `check` could not tell;
3 an input cannot be read; 4 the trace holds no events; 5 an output cannot be written; 6 a model cannot be
loaded or recorded here; 130 interrupted.
"""

from __future__ import annotations


class BoundbyError(Exception):
    """A problem the user can act on. `str(error)` is one line: the value at fault, then the remedy."""

    exit_code = 1


class UsageError(BoundbyError):
    """An argument that names nothing: an unknown device, model, option value."""

    exit_code = 2


class UnreadableTraceError(BoundbyError):
    """The input is missing, a directory, or not a profiler trace."""

    exit_code = 3


class EmptyTraceError(BoundbyError):
    """The input is a trace, and holds no events."""

    exit_code = 4


class OutputError(BoundbyError):
    """A result cannot be written where it was asked for."""

    exit_code = 5


class RecordingError(BoundbyError):
    """A model cannot be loaded, does not fit, or its recording is unusable."""

    exit_code = 6
