"""Generated requests against all that REST documents: no fault of ours, no answer that the document does not describe.

`make fuzz` runs the same for longer: FUZZ_EXAMPLES is how many requests are made up for each address.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "50"))
# Ids and days of the sample wire, and one of each that it does not have: made-up ones alone would only ever be refused.
STORIES = ["cbn-06ff206kfxbb", "cbn-3m958kdm977c", "cbn-kjxvahh521hq", "cbn-000000000000"]
DAYS = ["2026-10-12", "2026-10-15", "2026-10-16"]

schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())
schema.config.generation.update(max_examples=EXAMPLES, deterministic="FUZZ_EXAMPLES" not in os.environ, database="none")


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Requests stay on the test's own connection, whose transaction is rolled back; Django's test client does the same."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schema.hook
def map_path_parameters(context: schemathesis.HookContext, path_parameters: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Every other request asks for something that is there."""
    known = {"story_id": STORIES, "day": DAYS}
    for name, value in (path_parameters or {}).items():
        number = sum(map(ord, str(value)))
        if name in known and number % 2:
            path_parameters[name] = known[name][number // 2 % len(known[name])]
    return path_parameters


@pytest.mark.django_db
@pytest.mark.usefixtures("sample_wire", "one_connection")
@schema.parametrize()
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_the_document_describes(case: schemathesis.Case) -> None:
    # What is a word, a name or a cursor no schema can say, so a request that fits the document may still be refused.
    case.call_and_validate(excluded_checks=[schemathesis.checks.positive_data_acceptance])
