"""Typed readers of environment variables. A value that cannot be read stops the start with a sentence that says why."""

import datetime as dt
import ipaddress
import os
import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config.url_secrets import mask_addresses

T = TypeVar("T")

PREFIXES: Final = ("WIRE_", "FACTCHECKS_")
_PROGRAMS: Final = {"WIRE_URL"}  # of the examples, and of programs that ask a wire
_names: set[str] = set()


def text(name: str, default: str = "") -> str:
    """Return the variable's value, or the content of the file that `{name}_FILE` points to (as container secrets come)."""
    _names.add(name)
    file = os.environ.get(f"{name}_FILE")
    if file and name in os.environ:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one of them.")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(f"{name}_FILE points to {file!r}, which cannot be read: {error}.") from error
    return os.environ.get(name, default).strip()


def find_unknown_names() -> dict[str, str]:
    """Return variables that are named like settings but are not; with each the setting that it resembles most, or ""."""
    looks = (name for name in os.environ if name.startswith(PREFIXES) and name.removesuffix("_FILE") not in _names | _PROGRAMS)
    return {name: next(iter(get_close_matches(name, sorted(_names), 1)), "") for name in sorted(looks)}


def choose_set_name(name: str, former: str) -> str:
    """Whichever of two names of a variable is set; the first if both or neither."""
    is_set = name in os.environ or f"{name}_FILE" in os.environ
    return former if not is_set and (former in os.environ or f"{former}_FILE" in os.environ) else name


def boolean(name: str, default: bool) -> bool:
    """`1`, `true`, `yes`, `on` or `0`, `false`, `no`, `off`, in any case."""
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    return _parse_variable(name, default, lambda raw: words[raw.lower()], "1 or 0")


def choice(name: str, default: str, *others: str) -> str:
    known = {word: word for word in (default, *others)}
    return _parse_variable(name, default, lambda raw: known[raw], " or ".join(known))


def integer(name: str, default: int, minimum: int, maximum: int) -> int:
    def parse(raw: str) -> int:
        value = int(raw)
        if not minimum <= value <= maximum:
            raise ValueError(raw)
        return value

    return _parse_variable(name, default, parse, f"a whole number from {minimum} to {maximum}")


def path(name: str, default: Path) -> Path:
    return _parse_variable(name, default, lambda raw: Path(raw).expanduser().resolve(), "a path")


def web_address(name: str, default: str = "") -> str:
    """Return an http(s) address without trailing slash, query or fragment; the default, or nothing, where none is given."""
    form = r"https?://[A-Za-z0-9.\-\[\]:]+(/[^?#\s]*)?"
    return _parse_variable(name, default, partial(_match_form, form), "an address such as https://wire.example").rstrip("/")


def endpoint(name: str) -> str:
    """Return an http(s) address as it is given, with a slash at its end and a query, or nothing."""
    form = r"https?://[A-Za-z0-9.\-\[\]:]+(/[^#\s]*)?"
    return _parse_variable(name, "", partial(_match_form, form), "an address such as https://hub.example/")


def database(name: str) -> dict[str, Any] | None:
    """Django's settings for the database at an address, or None without one."""

    def parse(raw: str) -> dict[str, Any]:
        parsed: dict[str, Any] = dict(dj_database_url.parse(raw))
        if parsed["ENGINE"] != "django.db.backends.postgresql":
            raise ValueError(raw)
        return parsed

    return _parse_variable(name, None, parse, "an address such as postgres://user:password@host:5432/name", secret=True)


def redis(name: str) -> str:
    form = r"(redis|rediss|unix)://[^\s]+"
    return _parse_variable(name, "", partial(_match_form, form), "an address such as redis://host:6379/0", secret=True)


def rate(name: str, default: str) -> str:
    """Return requests in a period, as `60/m` or `1000/h`, or `off`."""
    return _parse_variable(name, default, partial(_match_form, r"off|[1-9][0-9]{0,6}/[smhd]"), "a rate such as 60/m, or off")


def duration(name: str, default: str) -> dt.timedelta | None:
    """Seconds, minutes, hours or days, as `30m` or `6h`; None for `off`."""
    return _parse_variable(name, read_duration(default), read_duration, "a time such as 30m, or off")


def read_duration(raw: str) -> dt.timedelta | None:
    if raw == "off":
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,7})([smhd])", raw)
    if not match:
        raise ValueError(raw)
    return int(match[1]) * dt.timedelta(seconds={"s": 1, "m": 60, "h": 3600, "d": 86_400}[match[2]])


Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Networks = tuple[Network, ...]


def networks(name: str) -> Networks:
    """Comma-separated networks and addresses: 10.0.0.0/8, 2001:db8::1. All of the internet (/0) is none that anybody means."""
    return _parse_networks(name, lambda network: network.prefixlen > 0, "networks such as 10.0.0.0/8, none of them /0")


def loopback_networks(name: str) -> Networks:
    return _parse_networks(name, lambda one: one.is_loopback, "loopback networks such as 127.0.0.0/8, and no others")


def _parse_networks(name: str, allowed: Callable[[Network], bool], expected: str) -> Networks:
    def parse(raw: str) -> Networks:
        found = tuple(ipaddress.ip_network(word.strip()) for word in raw.split(","))
        if not all(map(allowed, found)):
            raise ValueError(raw)
        return found

    return _parse_variable(name, (), parse, expected)


def word_list(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def _match_form(form: str, raw: str) -> str:
    """Return a text of this form. Raises: ValueError, also for an address with a port that is none."""
    if not re.fullmatch(form, raw) or ("://" in raw and urlsplit(raw).port == 0):
        raise ValueError(raw)
    return raw


def _parse_variable(name: str, default: T, parse: Callable[[str], T], expected: str, *, secret: bool = False) -> T:
    """No message shows a secret value, such as an address that may hold a password."""
    raw = text(name)
    if not raw:
        return default
    try:
        return parse(raw)
    except (KeyError, ValueError) as error:
        shown = name if secret else f"{name}={mask_addresses(raw)!r}"
        raise ImproperlyConfigured(f"{shown} cannot be read: expected {expected}.") from (None if secret else error)
