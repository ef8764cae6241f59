"""docs/mcp-articles.md: its examples are answered to the byte, and its tables say what is served."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings as site
from pytest_django import Settings

from config.errors import InvalidArgument
from mcpserver.servers import articles
from mcpserver.tooling.arguments import Arguments, parse_arguments
from tests.almanac import SLUG, publishers
from tests.mcpserver.documented import Example, examples
from wire.corpora.articles.models import Publisher
from wire.models import WireState
from wire.schemas.params import MAX_QUERY

DOCUMENT: Final = (Path(site.BASE_DIR) / "docs" / "mcp-articles.md").read_text(encoding="utf-8")
EXAMPLES: Final = examples(DOCUMENT)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    table = re.findall(r"^\|.*\|$", DOCUMENT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0], re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_example_is_answered_as_it_stands_there(settings: Settings) -> None:
    assert len(EXAMPLES) == 9
    WireState.objects.update(is_sample=True)
    publishers("sample")
    free, costing = ([one for one in EXAMPLES if ("x402" in one.shown) is costs] for costs in (False, True))
    for example in free:
        assert asked(example) == example.shown, example.command
    settings.WIRE_X402_FACILITATOR = "http://127.0.0.1:9"
    (example,) = costing
    Publisher.objects.filter(slug=SLUG).update(price=json.loads(example.shown)["result"]["structuredContent"]["accepts"][0])
    answered, shown = (read_whole(text) for text in (asked(example), example.shown))
    assert answered == shown


def asked(example: Example) -> str:
    slug = [*example.words[1:], SLUG][0]
    return example.answered(example.ask(f"/mcp/articles/{slug}").body.decode())


def read_whole(body: str) -> dict[str, Any]:
    """A result and the JSON in its text: Postgres gives the members of a price in an order of its own."""
    result: dict[str, Any] = json.loads(body)["result"]
    (content,) = result["content"]
    return result | {"content": json.loads(content["text"])}


def test_the_table_of_arguments_is_what_is_listed() -> None:
    told: dict[str, dict[str, list[str]]] = {}
    tool = ""
    for name, argument, _, default, bounds in rows("Tools"):
        tool = name.strip("`") or tool
        told.setdefault(tool, {})[argument.split("`")[1]] = ["added" if "*added*" in argument else "", default, bounds]
    assert told.keys() == articles.TOOLS.keys()
    for name, spec in articles.TOOLS.items():
        schema = spec.to_listing(lambda schema: schema).input_schema
        assert told[name].keys() == schema["properties"].keys()
        for argument, (added, default, bounds) in told[name].items():
            told_schema = schema["properties"][argument]
            assert (default == "required") is (argument in schema.get("required", ()))
            assert (added == "added") is (argument not in {"query", "url", "limit"})
            if "default" in told_schema:
                assert default.strip("`") == str(told_schema["default"])
            assert not _numbers(told_schema) - set(map(int, re.findall(r"[0-9]+", bounds))), (name, argument)


def _numbers(schema: dict[str, Any]) -> set[int]:
    """The bounds in a schema."""
    found = {int(value) for name, value in schema.items() if name in {"minimum", "maximum", "maxLength"}}
    return found.union(*(_numbers(part) for part in schema.get("anyOf", ())))


def test_bounds_that_are_not_listed_are_those_of_the_document() -> None:
    bounds = {argument.split("`")[1]: text for _, argument, _, _, text in rows("Tools")}
    assert f"at most {articles.MAX_URL} characters" in bounds["url"]
    assert f"at most {MAX_QUERY} characters" in bounds["query"]
    bounded: tuple[tuple[type[Arguments], str, int], ...] = (
        (articles.GetArticle, "url", articles.MAX_URL),
        (articles.SearchContent, "query", MAX_QUERY),
    )
    for model, name, most in bounded:
        assert parse_arguments(model, {name: "a" * most})
        with pytest.raises(InvalidArgument, match=f"at most {most:,} characters"):
            parse_arguments(model, {name: "a" * (most + 1)})


def test_the_codes_of_the_table_are_the_documentations_and_examples_show_those_that_need_no_fault() -> None:
    codes = {code for code, _, _ in rows("Errors")}
    assert codes == {"-32601", "-32602", "-32603"}
    shown = " ".join(example.shown for example in EXAMPLES)
    assert all(f'"code":{code}' in shown for code in codes - {"-32603"})
