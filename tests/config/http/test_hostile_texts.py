"""Texts that no database stores, in every parameter that is a text: refused or cleaned, never a fault of the server."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final
from urllib.parse import quote

import pytest
from django.test import Client
from pytest_django import Settings

from config.api import api
from tests.threads import close_query_threads
from wire.corpora.timeline import wire_sync

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample_wire")]

NULS: Final = ("%00", "a%00b")
# An id with NUL, half a pair of UTF-16, bytes that are no UTF-8, and more than any parameter takes.
ODD: Final = ("cbn-00000000000%00", "%ED%A0%80", "%FF%FE", "x" * 5_000)
SAMPLES: Final = {"integer": "1", "number": "1", "boolean": "true", "string": "a"}


def _resolved(schema: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema with references and alternatives in place."""
    for part in (schema, *schema.get("anyOf", ()), *schema.get("allOf", ())):
        part = named.get(str(part.get("$ref", "")).rpartition("/")[2], part)
        if part.get("type") not in (None, "null"):
            return {**part, **schema} if "type" not in schema else schema
    return schema


def _sample(parameter: dict[str, Any], named: dict[str, Any]) -> str:
    if parameter["name"] == "corpus":
        return wire_sync.SLUG  # one that there is, so that what stands beside it is looked up
    schema = _resolved(parameter["schema"], named)
    if "enum" in schema:
        return str(schema["enum"][0])
    return {"date": "2026-10-13", "date-time": "2026-10-13T00:00:00Z"}.get(
        str(schema.get("format")), SAMPLES.get(str(schema.get("type")), "a")
    )


def text_parameters() -> Iterator[tuple[str, str]]:
    """Every parameter that is a text, as an address with `{}` in its place."""
    schema: Any = api.get_openapi_schema()
    named = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        given = methods["get"].get("parameters", ())
        for one in given:
            if _resolved(one["schema"], named).get("type") != "string":
                continue
            address = path
            query = {}
            for other in given:
                value = "{}" if other is one else quote(_sample(other, named), safe="")
                if other["in"] == "path":
                    address = address.replace(f"{{{other['name']}}}", "\x1a" if other is one else value)
                elif other is one or other.get("required"):
                    query[other["name"]] = value
            address = address.replace("\x1a", "{}") + ("?" if query else "")
            yield f"{path} {one['name']}", address + "&".join(f"{name}={value}" for name, value in query.items())


PARAMETERS: Final = list(text_parameters())


def test_the_parameters_of_every_part_are_found() -> None:
    named = " ".join(name for name, _ in PARAMETERS)
    assert len(PARAMETERS) > 40
    for part in ("/api/search", "/api/articles/", "/api/factchecks/", "/api/timeline/", "/api/gateway/requests/"):
        assert part in named


@pytest.fixture(scope="session", autouse=True)
def close_threads(django_db_setup: None) -> Iterator[None]:  # noqa: ARG001
    """Lets go of the threads' connections at the end, so that the test database can be dropped."""
    yield
    close_query_threads()


def _faults(client: Client, values: Iterable[str]) -> list[tuple[str, str, int]]:
    wire_sync.synchronise_corpus()
    client.raise_request_exception = False
    found = []
    for (name, address), value in product(PARAMETERS, values):
        answer = client.get(address.format(value))
        if answer.status_code >= 500:
            found.append((name, value[:20], answer.status_code))
        elif answer.status_code >= 400:
            assert answer.json()["message"], (name, value[:20])
    return found


@pytest.mark.slow
def test_nul_in_no_text_is_a_fault_of_the_server(client: Client, settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "off"  # there are more addresses than a client may ask in a minute
    assert _faults(client, NULS) == []


@pytest.mark.slow
def test_no_other_text_is_a_fault_of_the_server(client: Client, settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "off"
    assert _faults(client, ODD) == []
