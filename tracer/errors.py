"""What can go wrong while recording. One line each: the value at fault, then the remedy."""

from __future__ import annotations


class TracerError(Exception):
    """A model that cannot be loaded or does not fit, or a recording that is unusable. Exit code 6 of the commands."""

    exit_code = 6
