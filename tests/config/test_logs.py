"""A log line is one line, whatever a client sends; it says when, where and for which request, and never for whom."""

import io
import json
import logging
import logging.config
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import path

from config import logs
from tests.mcpserver.asgi import request

FORGED = 'quince\n2026-01-16T12:00:00.000Z ERROR wire: all is lost\r\x1b[2J\x7f\x85\u2028 "end'


def view(_request: HttpRequest) -> HttpResponse:
    logging.getLogger("wire.test").warning("asked for %s", FORGED)
    return HttpResponse("", headers={"Cache-Control": "no-store"})


def public(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("", headers={"Cache-Control": "public, max-age=60"})


def broken(_request: HttpRequest) -> HttpResponse:
    raise RuntimeError(FORGED)


urlpatterns = [path("view", view), path("public", public), path("broken", broken)]


@pytest.fixture(params=["json", "text"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def written(form: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What goes to standard error through the real handler."""
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    before = logging.getLogger().handlers[:], logging.getLogger().level
    logging.config.dictConfig(logs.build_logging_config(form))
    yield stderr
    logging.getLogger().handlers[:] = before[0]
    logging.getLogger().setLevel(before[1])
    for logger in map(logging.getLogger, ("uvicorn", "uvicorn.access")):
        logger.handlers[:], logger.propagate = [], True
        logger.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True)
def site(settings: Any) -> None:
    settings.ROOT_URLCONF = settings.PUBLIC_URLCONF = __name__


def records(written: io.StringIO) -> list[dict[str, Any]]:
    lines = written.getvalue().splitlines()
    assert all(re.fullmatch(r"[ -~]*", line) for line in lines)
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("form", ["json"], indirect=True)
def test_a_json_line_says_what_where_when_and_for_which_request(written: io.StringIO) -> None:
    answer = request("GET", "/view", client="203.0.113.7")
    [record] = records(written)
    assert list(record) == ["time", "level", "logger", "message", "request_id"]
    assert (record["level"], record["logger"]) == ("WARNING", "wire.test")
    assert record["message"] == f"asked for {FORGED}"
    assert record["request_id"] == answer["x-request-id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])
    assert "203.0.113.7" not in written.getvalue()


def test_no_line_can_be_forged(written: io.StringIO, form: str) -> None:
    request("GET", "/view")
    assert len(written.getvalue().splitlines()) == 1
    request("GET", "/broken")
    lines = written.getvalue().splitlines()
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for line in lines for sign in line)
    begun = [line for line in lines if not line.startswith("    ")]
    assert len(begun) == 2
    assert all(re.match(r'(\{"time": ")?\d{4}-\d\d-\d\dT[\d:.]+Z', line) for line in begun)
    assert ("\n    RuntimeError: quince" in written.getvalue()) is (form == "text")


def test_a_path_with_a_line_in_it_is_one_line(written: io.StringIO) -> None:
    request("GET", "/nowhere%0Aquince")
    scope_path = "/nowhere\n2026-01-16T12:00:00.000Z ERROR wire: all is lost"
    request("GET", scope_path)
    assert len(written.getvalue().splitlines()) == 2


def test_uvicorn_writes_the_same_lines_and_none_that_names_a_client(written: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").error("stopped")
    logging.getLogger("uvicorn.access").critical("192.0.2.1 asked")
    assert len(written.getvalue().splitlines()) == 1
    assert re.search(r"\d{4}-\d\d-\d\dT[\d:.]+Z", written.getvalue())


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("form", ["text"], indirect=True)
def test_a_short_plain_token_of_the_clients_is_kept_and_nothing_else_is() -> None:
    for given in ("abc-DEF_0123", "0" * 64):
        assert request("GET", "/view", headers={"X-Request-Id": given})["x-request-id"] == given
    for given in ("", "short", "0" * 65, "quince marmalade", "abcdefgh\n", "ключ-ключ", '"12345678"'):
        headers = {"X-Request-Id": given.encode().decode("latin-1")}
        assert re.fullmatch(r"[0-9a-f]{16}", request("GET", "/view", headers=headers)["x-request-id"] or "")


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("form", ["text"], indirect=True)
def test_what_caches_may_keep_bears_nobodys_id() -> None:
    assert request("GET", "/public", headers={"X-Request-Id": "abcdefgh"})["x-request-id"] is None
    assert request("GET", "/broken", headers={"X-Request-Id": "abcdefgh"})["x-request-id"] == "abcdefgh"
    assert request("GET", "/view")["x-request-id"] != request("GET", "/view")["x-request-id"]
    assert logs.request_id.get() == ""


def test_half_a_character_is_escaped_too() -> None:
    for formatter in (logs.JsonLines(), logs.TextLines()):
        line = formatter.format(logging.LogRecord("wire", logging.INFO, "", 0, "half \ud800", None, None))
        assert "half \\ud800" in line
