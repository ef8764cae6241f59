"""What can be looked at without a database: settings that contradict each other, key files, the disk."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection

from wire import signing
from wire.doctor.finding import Finding, fail, ok, warn

LEAST_FREE: Final = 200_000_000  # bytes: a day of fetched feeds, a WAL and the logs
SHORTEST_SECRET: Final = 50  # characters, as Django's own check has it
SHORTEST_TOKEN: Final = 20  # characters
LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}


def settings_agree() -> Iterator[Finding]:
    """One finding for each contradiction, or one that there is none."""
    found = list(_contradictions())
    yield from found or [ok("settings", f"Nothing contradicts; the site is {settings.WIRE_SITE_URL}.")]


def _contradictions() -> Iterator[Finding]:
    https = settings.WIRE_SITE_URL.startswith("https://")
    open_to_all = settings.HOST not in LOOPBACK
    secret = settings.SECRET_KEY
    if settings.DEBUG and (https or open_to_all):
        yield fail("settings", "DEBUG=1 shows tracebacks and settings to strangers.", "Take DEBUG away.")
    if len(secret) < SHORTEST_SECRET or len(set(secret)) < 5 or secret.startswith("django-insecure-"):
        yield fail(
            "settings",
            "SECRET_KEY can be guessed, and with it an editor's session.",
            "Take it away: a good one is made and kept in the data directory.",
        )
    if open_to_all and not https:
        yield warn(
            "settings",
            f"HOST={settings.HOST} lets other machines in, and WIRE_SITE_URL is no https address: passwords travel in clear.",
            "Put a proxy with TLS in front and set WIRE_SITE_URL=https://…, or HOST=127.0.0.1.",
        )
    if https and not settings.WIRE_MCP_URL.startswith("https://"):
        yield warn("settings", f"The site is https, the MCP door is {settings.WIRE_MCP_URL}.", "Set WIRE_MCP_URL=https://….")
    if https and settings.WIRE_RATE_LIMIT == "off":
        yield warn("settings", "WIRE_RATE_LIMIT=off on a public site.", "Take it away; `off` is for benchmarks.")
    if 0 < len(settings.WIRE_METRICS_TOKEN) < SHORTEST_TOKEN:
        yield warn("settings", "WIRE_METRICS_TOKEN can be guessed.", f"Use {SHORTEST_TOKEN} random characters or more.")
    if https and settings.WIRE_FETCH_ALLOW:
        yield warn("settings", "WIRE_FETCH_ALLOW opens this machine's own services to feeds.", "Take it away; it is for tests.")


def secret_key_file() -> Finding:
    file = Path(settings.WIRE_DATA_DIR) / "keys" / "secret_key"
    if not file.exists():
        return ok("secret key", "It comes from the environment.")
    return _for_owner_only(file, "secret key") or ok("secret key", "Its file is its owner's alone.")


def signing_key_file() -> Finding:
    """The file alone; whether it is the right key only the database can tell (`news.signing_key`)."""
    file = signing.key_file()
    if not file.exists():
        return ok("key file", "There is none yet; the first publish makes it.")
    try:
        key = signing.key_in_force()
    except (OSError, TypeError, ValueError) as error:
        return fail(
            "key file", f"{file} cannot be read as an Ed25519 key: {error}.", "Put it back from a backup; nothing is published."
        )
    return _for_owner_only(file, "key file") or ok("key file", f"It holds the key {key} and is its owner's alone.")


def _for_owner_only(file: Path, name: str) -> Finding | None:
    mode = stat.S_IMODE(file.stat().st_mode)
    if not mode & 0o077:
        return None
    return fail(name, f"{file} has mode {mode:04o}: others can read it or put another in its place.", f"chmod 600 {file}")


def disk() -> Finding:
    directory = Path(settings.WIRE_DATA_DIR)
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return fail("disk", f"The data directory cannot be looked at: {error}.", "Make it, or set WIRE_DATA_DIR.")
    return enough_room(free, sum(file.stat().st_size for file in database_files() if file.exists()))


def enough_room(free: int, size: int) -> Finding:
    """Bytes free where the data directory is, and of the database there (0 when it is elsewhere)."""
    told = f"{free / 1e9:.1f} GB free, the database takes {size / 1e9:.1f} GB." if size else f"{free / 1e9:.1f} GB free."
    if free < LEAST_FREE:
        return fail("disk", told, "Make room now: publishing stops when the disk is full; what is published stays.")
    if free < size:
        return warn("disk", told, "Make room: neither a migration that copies a table nor a backup on this disk would fit.")
    return ok("disk", told)


def database_files() -> list[Path]:
    """Of SQLite: the file, and what was not copied into it yet. Of Postgres none."""
    if connection.vendor != "sqlite":
        return []
    name = str(connection.settings_dict["NAME"])
    return [Path(name), Path(f"{name}-wal")]
