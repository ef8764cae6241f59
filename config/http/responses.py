"""Finished JSON answers, their caching rules, and the one shape of every error."""

import base64
import datetime as dt
from collections.abc import Mapping
from email.utils import format_datetime
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpResponse
from ninja import Field, Schema

from config.errors import PaymentRequired, WireError

JSON: Final = "application/json"
# The edge may keep an answer for five minutes, and for a day when the origin is down.
SHARED: Final = "public, max-age=60, s-maxage=300, stale-while-revalidate=60, stale-if-error=86400"
BRIEFLY: Final = "public, max-age=60, stale-if-error=86400"


class ErrorOut(Schema):
    """The JSON of every error."""

    error: str = Field(description="Stable code.")
    message: str
    hint: str = Field(description="What to do next.")


def error_schemas(*statuses: int) -> dict[int, type[Schema]]:
    """Return the documented error answers of a route; each refuses parameters that it does not take."""
    return dict.fromkeys((400, *statuses), ErrorOut)


def schema_response(schema: Schema, caching: str) -> HttpResponse:
    """Return a schema as a finished body; not validated again, since queries built it."""
    return HttpResponse(schema.model_dump_json(by_alias=True), content_type=JSON, headers={"Cache-Control": caching})


def json_response(body: bytes, caching: str) -> HttpResponse:
    return HttpResponse(body, content_type=JSON, headers={"Cache-Control": caching})


def mark_as_memento(response: HttpResponse, path: str, moment: dt.datetime) -> HttpResponse:
    """An answer as of a moment, marked as a memento of the address without it (RFC 7089); of a moment to come, as one of now."""
    moment = min(moment, dt.datetime.now(dt.UTC))
    original = f"{settings.WIRE_SITE_URL}{path}"
    response["Memento-Datetime"] = format_datetime(moment.astimezone(dt.UTC), usegmt=True)
    response["Link"] = f'<{original}>; rel="original", <{settings.WIRE_SITE_URL}/api/timegate{path}>; rel="timegate"'
    return response


def dump_json(value: Any, caching: str) -> HttpResponse:
    return json_response(orjson.dumps(value), caching)


def error_response(error: WireError) -> HttpResponse:
    """Return an error in the contract's shape; never cached. One that asks for payment has x402's terms beside it as well."""
    body = {**(error.terms if isinstance(error, PaymentRequired) else {}), **error.as_dict()}
    headers = {"Cache-Control": "no-store", **error.headers}
    return HttpResponse(orjson.dumps(body), status=error.status, content_type=JSON, headers=headers)


def encode_header_json(value: Mapping[str, Any]) -> str:
    return base64.b64encode(orjson.dumps(value)).decode()
