"""OpenTelemetry traces: a span for each request, where its variables name a collector and the extra `traces` is installed."""

import logging
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from config.http.request_guard import App, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

NAME: Final = "chatbotnews-wire"
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def is_tracing_wanted() -> bool:
    return any(os.environ.get(name) for name in ENDPOINTS) and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"


def is_tracing_on() -> bool:
    return is_tracing_wanted() and find_spec("opentelemetry.sdk") is not None


def add_traces(app: App, name_door: Callable[[str], str]) -> App:
    """Return `app` with traces, or `app` itself where they are off, so that they cost nothing there."""
    if not is_tracing_wanted():
        return app
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning("Traces are off: OpenTelemetry is not installed. Install the extra: chatbotnews-wire[traces].")
        return app
    name = os.environ.get("OTEL_SERVICE_NAME") or NAME
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)  # the MCP SDK's own spans go there too, below those of requests
    return TracedApp(app, provider.get_tracer(NAME), name_door)


class TracedApp:
    """An ASGI application whose requests are spans, below the caller's if it sent `traceparent`. Attributes follow OpenTelemetry's
    conventions for HTTP. No query, no header and no address of a client is in them.
    """

    def __init__(self, app: App, tracer: Any, name_door: Callable[[str], str]) -> None:
        self._app = app
        self._tracer = tracer
        self._name_door = name_door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, StatusCode

        door = self._name_door(scope["path"])
        caller = extract({name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]})
        attributes = {"http.request.method": scope["method"], "url.path": scope["path"], "wire.door": door}
        named = f"{scope['method']} {door}"
        quiet = {"record_exception": False, "set_status_on_exception": False}  # texts of exceptions may quote a query
        with self._tracer.start_as_current_span(named, caller, SpanKind.SERVER, attributes, **quiet) as span:

            async def send_noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(StatusCode.ERROR)
                await send(message)

            try:
                await self._app(scope, receive, send_noted)
            except BaseException:
                span.set_status(StatusCode.ERROR)
                raise
