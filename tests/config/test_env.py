"""Settings from the environment: what cannot be read stops the start and names its variable."""

import ipaddress
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

ROOT = Path(__file__).parent.parent.parent
READERS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda name: env.boolean(name, False),
    "integer": lambda name: env.integer(name, 8000, 1, 65535),
    "path": lambda name: env.path(name, Path("/var")),
    "web_address": lambda name: env.web_address(name, "http://localhost"),
    "endpoint": env.endpoint,
    "database": env.database,
    "redis": env.redis,
    "words": env.word_list,
    "networks": env.networks,
    "text": env.text,
}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUINCE", raising=False)
    monkeypatch.delenv("QUINCE_FILE", raising=False)


DEFAULTS = {
    "boolean": False,
    "integer": 8000,
    "path": Path("/var"),
    "web_address": "http://localhost",
    "endpoint": "",
    "database": None,
    "redis": "",
    "words": [],
    "networks": (),
    "text": "",
}


@pytest.mark.parametrize("given", [None, "", "  "])
def test_what_is_not_set_or_empty_is_the_default(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    if given is not None:
        monkeypatch.setenv("QUINCE", given)
    assert {name: read("QUINCE") for name, read in READERS.items()} == DEFAULTS


@pytest.mark.parametrize(
    ("reader", "given", "expected"),
    [
        *(("boolean", word, True) for word in ("1", "true", "Yes", "ON")),
        *(("boolean", word, False) for word in ("0", "False", "no", "off")),
        *(("integer", text, int(text)) for text in ("1", "65535", " 80 ")),
        ("path", "/a/../b", Path("/b")),
        ("path", "~", Path.home().resolve()),
        ("web_address", "https://wire.example/", "https://wire.example"),
        ("web_address", "http://[::1]:8000/news/", "http://[::1]:8000/news"),
        ("endpoint", "https://hub.example/hub/?a=1", "https://hub.example/hub/?a=1"),
        ("words", " a, ,b ,", ["a", "b"]),
        ("text", " quince ", "quince"),
        ("redis", " rediss://cache.example:6379/0 ", "rediss://cache.example:6379/0"),
        ("networks", " 10.0.0.0/8, ::1 ", (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1"))),
    ],
)
def test_a_value_is_read(monkeypatch: pytest.MonkeyPatch, reader: str, given: str, expected: object) -> None:
    monkeypatch.setenv("QUINCE", given)
    assert READERS[reader]("QUINCE") == expected


@pytest.mark.parametrize(
    ("reader", "given"),
    [
        *(("boolean", word) for word in ("2", "maybe", "10")),
        *(("integer", text) for text in ("0", "65536", "-1", "x", "1.5", "1e3")),
        *(
            ("web_address", text)
            for text in (
                "wire.example",
                "https://",
                "https://a?q=1",
                "http://a:b:c",
                "http://x:99999",
                "https://[::1",
            )
        ),
        *(
            ("networks", text)
            for text in ("10.0.0.1/8", "proxy", "10.0.0.0/8,", "0.0.0.0/0", "::/0", "10.0.0.0/33", "10.0.0.0/8 ::1")
        ),
        *(
            ("database", text)
            for text in (
                "quince",
                "mysql://a/b",
                "postgres://a:port/b",
                "/var/db.sqlite3",
            )
        ),
        *(("redis", text) for text in ("redis://127.0.0.1:xx/0", "redis://127.0.0.1:99999/0", "http://a", "redis://")),
    ],
)
def test_a_value_that_cannot_be_read_stops_the_start_and_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, reader: str, given: str
) -> None:
    monkeypatch.setenv("QUINCE", given)
    with pytest.raises(ImproperlyConfigured, match=r"^QUINCE.*cannot be read: expected "):
        READERS[reader]("QUINCE")


@pytest.mark.parametrize("reader", ["database", "redis"])
def test_the_address_of_a_database_is_never_shown_for_it_may_hold_a_password(monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.setenv("QUINCE", "mysql://ada:secret@db.example/wire")
    with pytest.raises(ImproperlyConfigured) as caught:
        READERS[reader]("QUINCE")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_database_address_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUINCE", "postgres://ada:p%40ss@db.example:5433/wire")
    found = env.database("QUINCE")
    assert found is not None
    assert (found["ENGINE"], found["HOST"], found["PORT"]) == ("django.db.backends.postgresql", "db.example", 5433)
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == ("ada", "p@ss", "wire")


def test_a_database_address_may_name_two_servers_as_libpq_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUINCE", "postgres://ada@db-1,db-2/wire?target_session_attrs=read-write")
    found = env.database("QUINCE")
    assert found is not None
    assert (found["HOST"], found["OPTIONS"]) == ("db-1,db-2", {"target_session_attrs": "read-write"})
    monkeypatch.setenv("QUINCE", "postgres://ada@/wire?host=db-1,db-2&port=5432,5433")
    found = env.database("QUINCE")
    assert found is not None
    assert (found["HOST"], found["OPTIONS"]) == ("", {"host": "db-1,db-2", "port": "5432,5433"})


def test_a_value_may_come_in_a_file_which_must_be_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    good = tmp_path / "quince"
    good.write_text("8001\n", encoding="utf-8")
    monkeypatch.setenv("QUINCE_FILE", str(good))
    assert env.integer("QUINCE", 8000, 1, 65535) == 8001
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for file in (tmp_path / "missing", tmp_path, binary):
        monkeypatch.setenv("QUINCE_FILE", str(file))
        with pytest.raises(ImproperlyConfigured, match=f"^QUINCE_FILE points to '{re.escape(str(file))}', which cannot be read"):
            env.text("QUINCE")


def test_a_value_and_a_file_at_once_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUINCE", "golden")
    monkeypatch.setenv("QUINCE_FILE", str(tmp_path / "quince"))
    with pytest.raises(ImproperlyConfigured, match="QUINCE and QUINCE_FILE are both set"):
        env.text("QUINCE")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"PORT": "eight thousand"}, "PORT='eight thousand' cannot be read: expected a whole number from 1 to 65535."),
        ({"DATABASE_REPLICA_URL": "postgres://a.example/wire"}, "DATABASE_REPLICA_URL needs Postgres, there and in DATABASE_URL"),
    ],
)
def test_nothing_starts_with_settings_that_cannot_be_used(tmp_path: Path, given: dict[str, str], says: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-c", "import config.settings"]
    done = subprocess.run(command, cwd=ROOT, env=kept | {"WIRE_DATA_DIR": str(tmp_path)} | given, capture_output=True, text=True)
    assert done.returncode != 0
    assert says in done.stderr


def test_one_of_some_words_is_read_and_any_other_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.choice("QUINCE", "text", "json") == "text"
    monkeypatch.setenv("QUINCE", "json")
    assert env.choice("QUINCE", "text", "json") == "json"
    monkeypatch.setenv("QUINCE", "xml")
    with pytest.raises(ImproperlyConfigured, match="QUINCE='xml' cannot be read: expected text or json"):
        env.choice("QUINCE", "text", "json")


def test_every_variable_is_described() -> None:
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (ROOT / "config" / "settings.py").read_text(encoding="utf-8")))
    described = set(re.findall(r"`([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")))
    assert len(read) > 15
    assert read <= described
