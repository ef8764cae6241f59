"""One spelling of schemas that clients load everywhere, in every server's list of tools, and another where it is asked for."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from mcpserver.tooling.json_schema import spell_nullable_types
from tests.mcpserver.asgi import LEGACY, MODERN, message, request, rpc, rpc_headers
from tests.publishers import publisher

pytestmark = pytest.mark.django_db(transaction=True)

PATHS: Final = ("/mcp", "/mcp/factchecks", "/mcp/timeline", "/mcp/gateway", "/mcp/articles/chef")
every_server = pytest.mark.parametrize("path", PATHS)


@pytest.fixture(autouse=True)
def chef() -> None:
    publisher()


def list_tools(path: str, era: str = MODERN) -> list[dict[str, Any]]:
    asked = message("tools/list", era=era)
    answer = request("POST", path, json.dumps(asked).encode(), rpc_headers(asked, era))
    found: list[dict[str, Any]] = answer.result["tools"]
    return found


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from walk(part)


@every_server
def test_what_may_be_null_is_any_of_and_nothing_beside_it_repeats_it(path: str) -> None:
    for tool in list_tools(path):
        for schema in (part for name in ("inputSchema", "outputSchema") for part in walk(tool[name])):
            assert not isinstance(schema.get("type"), list), (tool["name"], schema)
            assert schema.get("additionalProperties") is not False
            if isinstance(schema.get("anyOf"), list) and {"type": "null"} in schema["anyOf"]:
                assert schema.keys() <= {"anyOf", "description", "default"}, (tool["name"], schema)


@every_server
def test_an_unknown_argument_is_refused_by_name_although_no_schema_says_so(path: str) -> None:
    for tool in list_tools(path):
        needed = dict.fromkeys(tool["inputSchema"].get("required", []), "x")
        answer = rpc("tools/call", {"name": tool["name"], "arguments": {**needed, "colour": "red"}}, LEGACY, path)
        assert "'colour' is an unknown argument." in json.dumps(answer.json())


@every_server
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_client_that_reads_no_any_of_gets_lists_of_types(path: str, era: str) -> None:
    usual, listed = list_tools(path, era), list_tools(f"{path}?schemas=types", era)
    assert [tool["name"] for tool in listed] == [tool["name"] for tool in usual]
    for tool, plain in zip(usual, listed, strict=True):
        for name, schema in tool["inputSchema"]["properties"].items():
            found = plain["inputSchema"]["properties"][name]
            assert "anyOf" not in found
            assert Draft202012Validator(found).is_valid(None) == Draft202012Validator(schema).is_valid(None)
            if "default" in schema:
                assert Draft202012Validator(found).is_valid(schema["default"])
    assert list_tools(path, era) == usual


def test_other_answers_are_the_same_where_lists_of_types_are_asked_for() -> None:
    asked = message("tools/call", {"name": "list_sources", "arguments": {}})
    body, headers = json.dumps(asked).encode(), rpc_headers(asked)
    assert request("POST", "/mcp?schemas=types", body, headers).body == request("POST", "/mcp", body, headers).body


def test_a_list_of_types_holds_each_type_that_any_of_holds() -> None:
    number = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}], "default": 1.5, "description": "How many."}
    assert spell_nullable_types(number) == {
        "type": ["number", "integer", "null"],
        "minimum": 0,
        "default": 1.5,
        "description": "How many.",
    }
    word = {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    assert spell_nullable_types(word) == {"type": ["string", "null"], "enum": ["a", "b", None]}
    either: dict[str, Any] = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}
    assert spell_nullable_types(either) == either
