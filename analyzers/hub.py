"""The config of a model on the Hugging Face hub, without torch and without the model."""

from __future__ import annotations

import importlib
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from .errors import UsageError


def cached_or_fetched(model: str) -> Path:
    """The config of a hub id: from the cache that Hugging Face's libraries keep, else fetched by theirs. Raises
    `UsageError`."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    folder = Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / f"models--{model.replace('/', '--')}"
    kept = sorted(folder.glob("snapshots/*/config.json"), key=lambda file: file.stat().st_mtime)
    if kept:
        return kept[-1]
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError:
        raise UsageError(
            f"model {model}: is no file or folder here, and huggingface_hub is not installed to fetch its config; "
            "give a config.json"
        ) from None
    try:
        if not {"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} & os.environ.keys():
            # Without a network the library retries for half a minute; a name that does not resolve tells it at once.
            socket.getaddrinfo(urlsplit(importlib.import_module("huggingface_hub.constants").ENDPOINT).hostname, 443)
        return Path(hub.hf_hub_download(model, "config.json"))
    except (OSError, ValueError, RuntimeError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            f"model {model}: is no file or folder here and its config cannot be fetched ({said[0]}); give a config.json"
        ) from None
