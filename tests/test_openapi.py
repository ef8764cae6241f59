"""Generated requests against all that REST documents: no fault of ours, no answer that the document does not describe.

`make fuzz` runs the same for longer: FUZZ_EXAMPLES is how many requests are made up for each address.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from pydantic import BaseModel
from schemathesis import Case, GenerationMode

from config.api import api
from tests.wire.corpora.articles.publishers import publisher
from tests.wire.corpora.timeline.corpora import harbour

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", settings().max_examples // 2))
# What the sample wire has, and some that it has not: made-up values alone would find nothing.
KNOWN: Mapping[str, list[Any]] = {
    "story_id": ["cbn-06ff206kfxbb", "cbn-3m958kdm977c", "cbn-kjxvahh521hq", "cbn-000000000000"],
    "day": ["2026-10-12", "2026-10-15", "2026-10-16"],
    "query": ["fictional", "openai library", '"moon library"', "walrus"],
    "source": ["FT", "reuters.com", "OpenAI", "BBC"],
    "publication_name": ["FT", "reuters.com", "OpenAI", "BBC"],
    "publisher": ["quill", "medlar", "nobody"],
    "corpus": ["harbour-clock", "harbour-clock", "nobody"],
    "report_id": ["hc-1", "hc-5", "hc-99"],
    "thread_id": ["clock-and-tide", "nothing"],
    "motif": ["long-tide", "nothing"],
    "motifs": [["long-tide"], ["stopped-clock", "long-tide"], ["nothing"]],
    "name": ["reports", "release", "nothing"],
    "topic": ["openai", "clock tide"],
    "url": [*(f"https://quill.example/article-{number}" for number in range(3)), "https://elsewhere.example/"],
    "headline": ["OpenAI opens a library on the moon", "Agents plan my picnic", "Nothing of the kind"],
}

TIMELINE = "^/api/timeline/"

schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())
schema.config.generation.update(
    max_examples=EXAMPLES,
    deterministic="FUZZ_EXAMPLES" not in os.environ,
    database="none",
    allow_extra_parameters=False,  # an argument that nobody asked for is left alone
)


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Requests stay on the test's own connection, whose transaction is rolled back; Django's test client does the same."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def publishers(db: None) -> None:  # noqa: ARG001
    """One with articles and one without."""
    publisher("quill", 3)
    publisher("medlar")


@pytest.fixture
def corpus(db: None) -> None:  # noqa: ARG001
    """The small timeline corpus."""
    harbour()


@schema.hook
def map_case(context: schemathesis.HookContext, case: Case[Any]) -> Case[Any]:  # noqa: ARG001
    """Let every other well-formed request ask for something that is there."""
    if case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE:
        for arguments in (case.path_parameters, case.query):
            for name in KNOWN.keys() & arguments.keys():
                number = sum(map(ord, str(arguments[name])))
                if number % 2:
                    arguments[name] = KNOWN[name][number // 2 % len(KNOWN[name])]
    return case


@schema.hook
def filter_case(context: schemathesis.HookContext, case: Case[Any]) -> bool:  # noqa: ARG001
    """Leave out numbers, empty lists and empty objects sent for a text: schemathesis calls them wrong where a text or null may
    stand, but ?category=5 is a text, and so is ?category=.
    """
    if case.meta is None or case.meta.generation.mode == GenerationMode.POSITIVE:
        return True
    texts = {
        parameter["name"]
        for parameter in case.operation.definition.raw.get("parameters", ())
        for one in parameter["schema"].get("anyOf", [parameter["schema"]])
        if one.get("type") == "string" and not one.keys() & {"enum", "format", "pattern"}
    }
    return not any(name in texts and (isinstance(value, int | float) or value in ([], {})) for name, value in case.query.items())


@pytest.mark.django_db
@pytest.mark.usefixtures("sample_wire", "publishers", "one_connection")
@schema.exclude(path_regex=TIMELINE).parametrize()
@settings(suppress_health_check=list(HealthCheck))
@pytest.mark.slow
def test_every_answer_is_one_that_the_document_describes(case: Case[Any]) -> None:
    # What is a word, a name or a cursor no schema can say, so a request that fits the document may still be refused.
    case.call_and_validate(excluded_checks=[schemathesis.checks.positive_data_acceptance])


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("corpus", "one_connection")
@schema.include(path_regex=TIMELINE).parametrize()
@settings(suppress_health_check=list(HealthCheck))
def test_every_answer_about_a_corpus_is_one_that_the_document_describes(case: Case[Any]) -> None:
    case.call_and_validate(excluded_checks=[schemathesis.checks.positive_data_acceptance])


def test_no_two_schemas_have_one_name() -> None:
    """The description knows a schema by its class's name alone: of two, one would stand for both."""

    def below(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
        for one in base.__subclasses__():
            yield one
            yield from below(one)

    rooms: dict[str, set[str]] = defaultdict(set)
    for one in below(BaseModel):
        if one.__module__.startswith(("config.", "sources.", "wire.")):
            rooms[one.__name__].add(one.__module__)
    assert {name: where for name, where in rooms.items() if len(where) > 1} == {}


@pytest.mark.slow
def test_ids_of_operations_stay_when_modules_move() -> None:
    paths = api.get_openapi_schema()["paths"]
    ids = {"sources": "sources_api_sources", "gateway/read": "sources_api_read", "stories/{story_id}": "wire_api_story"}
    assert {name: paths[f"/api/{name}.json"]["get"]["operationId"] for name in ids} == ids
