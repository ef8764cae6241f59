"""Traces: a span for each request where a collector is named; off, and not so much as a wrapper, otherwise."""

import asyncio
import logging
import sys
from typing import Any

import pytest

from config.http import traces
from config.http.request_guard import Message, Receive, Scope, Send

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def app(scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 503 if scope["path"] == "/api/away" else 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x"})


def name_door(path: str) -> str:
    return "rest" if path.startswith("/api/") else "site"


def ask(traced: Any, path: str, **headers: str) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(traced({"type": "http", "method": "GET", "path": path, "query_string": b"q=secret", "headers": fields}, None, send))
    return sent


def test_without_a_collector_nothing_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in traces.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    assert traces.add_traces(app, name_door) is app
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert traces.add_traces(app, name_door) is app
    assert not traces.is_tracing_on()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with caplog.at_level(logging.WARNING):
        assert traces.add_traces(app, name_door) is app
    assert "chatbotnews-wire[traces]" in caplog.text


def test_a_request_is_a_span_below_its_callers_with_status_and_door_and_without_its_query() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    provider, exporter = sdk.TracerProvider(), in_memory.InMemorySpanExporter()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    traced = traces.TracedApp(app, provider.get_tracer("test"), name_door)
    assert [message["type"] for message in ask(traced, "/day", traceparent=PARENT)] == ["http.response.start", "http.response.body"]
    ask(traced, "/api/away")
    day, away = exporter.get_finished_spans()
    assert (day.name, away.name) == ("GET site", "GET rest")
    assert f"{day.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{day.parent.span_id:016x}" == "b7ad6b7169203331"
    assert dict(day.attributes) == {
        "http.request.method": "GET",
        "url.path": "/day",
        "wire.door": "site",
        "http.response.status_code": 200,
    }
    assert (day.status.is_ok, away.status.is_ok) == (True, False)
