"""Checks without the database: settings that contradict each other, key files, the disk."""

import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection

from wire.ops.doctor.finding import Finding, fail, ok, warn
from wire.publishing import signing

LEAST_FREE: Final = 200_000_000  # bytes: a day of fetched feeds, a WAL and the logs
SHORTEST_SECRET: Final = 50  # characters, as Django's own check has it
SHORTEST_TOKEN: Final = 20  # characters
LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}


def check_settings() -> Iterator[Finding]:
    """Yield one finding for each contradiction, or one that there is none."""
    found = [make("settings", what, advice) for is_so, make, what, advice in _contradictions() if is_so]
    yield from found or [ok("settings", f"Nothing contradicts; the site is {settings.WIRE_SITE_URL}.")]


def _contradictions() -> Iterator[tuple[bool, Callable[[str, str, str], Finding], str, str]]:
    https = settings.WIRE_SITE_URL.startswith("https://")
    open_to_all = settings.HOST not in LOOPBACK
    secret = settings.SECRET_KEY
    weak = len(secret) < SHORTEST_SECRET or len(set(secret)) < 5 or secret.startswith("django-insecure-")
    clear = f"HOST={settings.HOST} lets other machines in, and WIRE_SITE_URL is no https address: passwords travel in clear."
    proxy = "Put a proxy with TLS in front and set WIRE_SITE_URL=https://…, or HOST=127.0.0.1."
    mcp_in_clear = https and not settings.WIRE_MCP_URL.startswith("https://")
    unlimited = https and settings.WIRE_RATE_LIMIT == "off"
    short_token = 0 < len(settings.WIRE_METRICS_TOKEN) < SHORTEST_TOKEN
    stored = "Unset it: a good one is made and stored."
    yield settings.DEBUG and (https or open_to_all), fail, "DEBUG=1 shows tracebacks and settings to strangers.", "Take DEBUG away."
    yield weak, fail, "SECRET_KEY can be guessed, and with it an editor's session.", stored
    yield open_to_all and not https, warn, clear, proxy
    yield mcp_in_clear, warn, f"The site is https, MCP is at {settings.WIRE_MCP_URL}.", "Set WIRE_MCP_URL=https://…."
    yield unlimited, warn, "WIRE_RATE_LIMIT=off on a public site.", "Take it away; `off` is for benchmarks."
    yield short_token, warn, "WIRE_METRICS_TOKEN can be guessed.", f"Use {SHORTEST_TOKEN} random characters or more."


def check_key_files() -> Iterator[Finding]:
    """Check that nobody else can read files of keys and of SQLite; only the database knows if the key is the right one."""
    secret, key = Path(settings.WIRE_DATA_DIR) / "keys" / "secret_key", signing.key_file()
    named = {
        secret: ("secret key", "It comes from the environment."),
        key: ("key file", "There is none yet; the first publish makes it."),
    }
    for file, (name, absent) in named.items():
        if is_open_to_others(file):
            yield _open_to_others(name, file)
        elif file == key and (error := signing_key_error()):
            found = f"{file} cannot be read as an Ed25519 key: {error}."
            yield fail(name, found, "Put it back from a backup; nothing is published.")
        else:
            yield ok(name, "Its file is its owner's alone." if file.exists() else absent)
    for file in sorted(key.parent.glob("[!.]*")):
        if file not in named and is_open_to_others(file):
            yield _open_to_others("key file", file)
    for file in database_files():
        if is_open_to_others(file):
            yield _open_to_others("database file", file)


def is_open_to_others(file: Path) -> bool:
    return file.exists() and bool(stat.S_IMODE(file.stat().st_mode) & 0o077)


def _open_to_others(name: str, file: Path) -> Finding:
    found = f"{file} has mode {stat.S_IMODE(file.stat().st_mode):04o}: others can read it or put another in its place."
    return fail(name, found, f"chmod 600 {file}")


def signing_key_error() -> Exception | None:
    """Return why the key file cannot be used, if it exists."""
    try:
        signing.key_in_force()
    except (OSError, TypeError, ValueError) as error:
        return error
    return None


def check_disk() -> Finding:
    """Compare the free bytes of the data directory's disk with the size of the database there."""
    directory = Path(settings.WIRE_DATA_DIR)
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return fail("disk", f"The data directory cannot be looked at: {error}.", "Make it, or set WIRE_DATA_DIR.")
    size = sum(file.stat().st_size for file in database_files() if file.exists())
    found = f"{free / 1e9:.1f} GB free, the database takes {size / 1e9:.1f} GB."
    if free < LEAST_FREE:
        return fail("disk", found, "Make room now: publishing stops when the disk is full; what is published stays.")
    if free < size:
        return warn("disk", found, "Make room: neither a migration that copies a table nor a backup on this disk would fit.")
    return ok("disk", found)


def database_files() -> list[Path]:
    """Return SQLite's file and its WAL; [] for Postgres."""
    if connection.vendor != "sqlite":
        return []
    name = str(connection.settings_dict["NAME"])
    return [Path(name), Path(f"{name}-wal")]
