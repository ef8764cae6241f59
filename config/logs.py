"""Log records, each on one line, as text or as JSON (WIRE_LOG), which nothing that a client sends can forge or break.

A record carries the id of the request it belongs to, and never the client's address, nor what an address of the web has in its
parameters: feeds take tokens there.
"""

import datetime as dt
import json
import logging
import re
import secrets
from contextvars import ContextVar
from typing import Any, Final

from config.url_secrets import mask_addresses

request_id: Final[ContextVar[str]] = ContextVar("request_id", default="")  # in threads that Django answers in, too

_PLAIN: Final = re.compile(rb"[A-Za-z0-9_-]{8,64}")
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class JsonLines(logging.Formatter):
    """`{"time", "level", "logger", "message", "request_id"?, "exception"?}`, ASCII only: whatever is odd in it is escaped."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _format_time(record), "level": record.levelname, "logger": record.name, "message": _mask_message(record)}
        if request_id.get():
            line["request_id"] = request_id.get()
        if record.exc_info:
            line["exception"] = mask_addresses(self.formatException(record.exc_info))
        return json.dumps(line).replace("\x7f", "\\u007f")


class TextLines(logging.Formatter):
    """A line for people. What belongs to a line before, as tracebacks do, is indented; only a record begins at the margin."""

    def format(self, record: logging.LogRecord) -> str:
        of_request = f" [{request_id.get()}]" if request_id.get() else ""
        line = f"{_format_time(record)} {record.levelname} {record.name}{of_request}: {_escape(_mask_message(record))}"
        if record.exc_info:
            line += "".join(f"\n    {_escape(part)}" for part in mask_addresses(self.formatException(record.exc_info)).split("\n"))
        return line


def _mask_message(record: logging.LogRecord) -> str:
    return mask_addresses(record.getMessage())


def _format_time(record: logging.LogRecord) -> str:
    moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def build_logging_config(form: str) -> dict[str, Any]:
    """Django's LOGGING for `json` or `text` lines on standard error; uvicorn's own too, but its access log, which names clients."""
    formatter = {"json": "config.logs.JsonLines", "text": "config.logs.TextLines"}[form]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        # Both by name: what is configured here overrides what uvicorn's own options set for it and of what is below it.
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "uvicorn.access": {"handlers": [], "propagate": False},
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
    }


def add_request_ids(app: Any) -> Any:
    """The ASGI `app`, each request under an id of its own, or under the client's `X-Request-Id` if that is a short plain token.

    Answers with status 5xx and pages with `no-store` have it as a header. Others may be cached for many.
    """

    async def with_id(scope: Any, receive: Any, send: Any) -> None:
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        own = given.decode() if _PLAIN.fullmatch(given) else secrets.token_hex(8)
        is_page = not scope["path"].startswith("/api/")

        async def send_with_id(message: Any) -> None:
            headers = message.get("headers", ())
            is_private = any(name.lower() == b"cache-control" and b"no-store" in content for name, content in headers)
            if message["type"] == "http.response.start" and (message["status"] >= 500 or (is_page and is_private)):
                message = {**message, "headers": [*headers, (b"x-request-id", own.encode())]}
            await send(message)

        token = request_id.set(own)
        try:
            await app(scope, receive, send_with_id)
        finally:
            request_id.reset(token)

    return with_id
