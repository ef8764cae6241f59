"""Which wire `manage.py serve` shows: the one that the operator chose, else the sample until something real is there."""

import os
from pathlib import Path
from typing import Final

from django.apps import apps
from django.conf import settings
from django.db import Error

from wire.models import Snapshot

OF_DATABASES: Final = {f"{name}{file}" for name in ("DATABASE_URL", "DATABASE_REPLICA_URL") for file in ("", "_FILE")}


def read_choice() -> str:
    """Return what the operator chose: "on" for the sample, "off" for the live wire, or "". A file without text means "on"."""
    try:
        return get_choice_file().read_text().strip() or "on"
    except FileNotFoundError:
        return ""


def is_sample_wanted() -> bool:
    choice = read_choice()
    return choice == "on" or (not choice and not has_live_content())


def choose_wire(*, sample: bool) -> None:
    """Store the choice; a running `serve` follows within seconds."""
    draft = get_choice_file().with_suffix(".part")  # a half-written choice would be followed, too
    draft.write_text("on" if sample else "off")
    draft.replace(get_choice_file())


def get_choice_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "serve-sample"


def has_live_content() -> bool:
    """Return if anything was published or entered; an app says in `has_content` of its AppConfig if it holds such content."""
    try:
        apart = [app.has_content for app in apps.get_app_configs() if hasattr(app, "has_content")]
        return Snapshot.objects.exists() or any(has_content() for has_content in apart)
    except Error:
        return False  # away for a while, which is no reason to stop serving the sample


def get_sample_dir() -> Path:
    """Return where the sample wire lies: beside the default data directory, or within one that an operator named."""
    live = Path(settings.WIRE_DATA_DIR)
    return (live.parent if live == settings.DEFAULT_DATA_DIR else live) / "sample"


def build_sample_environment() -> dict[str, str]:
    """Return the environment of processes that work on the sample wire."""
    env = {name: value for name, value in os.environ.items() if name not in OF_DATABASES}
    return env | {"WIRE_DATA_DIR": str(get_sample_dir())}
