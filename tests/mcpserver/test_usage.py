"""Usage: how often each name was asked for and how it ended, and nothing of who asked or for what."""

import asyncio
import datetime as dt
import logging
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from mcpserver.tooling import usage
from tests.factories import entry, publish, story_of
from tests.mcpserver.asgi import ERAS, rpc
from wire.models import UsageCount

pytestmark = pytest.mark.django_db(transaction=True)

SECRET: Final = "zyzzyva"  # stands in every argument, and nowhere in what is stored


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    usage._waiting.clear()
    yield
    usage._waiting.clear()


def flush() -> None:
    asyncio.run(usage.flush())


def stored() -> dict[tuple[str, str, str], int]:
    """What is stored, whatever the minute."""
    found: dict[tuple[str, str, str], int] = {}
    for row in UsageCount.objects.all():
        key = (row.kind, row.name, row.outcome)
        found[key] = found.get(key, 0) + row.count
    return found


def tool(name: Any, **arguments: Any) -> None:
    rpc("tools/call", {"name": name, "arguments": arguments})


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_calls_are_counted_by_kind_name_and_outcome(era: str) -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    for _ in range(3):
        rpc("tools/call", {"name": "search_wire", "arguments": {"query": SECRET}}, era)
    rpc("tools/call", {"name": "search_wire", "arguments": {"query": ""}}, era)
    rpc("tools/call", {"name": "search_wire", "arguments": {"query": "a", "source": SECRET}}, era)
    rpc("resources/read", {"uri": "wire://today"}, era)
    rpc("resources/read", {"uri": f"wire://story/{story_id}"}, era)
    rpc("prompts/get", {"name": "daily-briefing", "arguments": {}}, era)
    rpc("prompts/get", {"name": "compare-coverage", "arguments": {}}, era)
    flush()
    assert stored() == {
        ("tools/call", "search_wire", "success"): 3,
        ("tools/call", "search_wire", "error"): 2,
        ("resources/read", "wire://today", "success"): 1,
        ("resources/read", "wire://story/{id}", "success"): 1,
        ("prompts/get", "daily-briefing", "success"): 1,
        ("prompts/get", "compare-coverage", "error"): 1,
    }


def test_a_minute_is_the_finest_time_that_is_stored() -> None:
    tool("list_sources")
    flush()
    (row,) = UsageCount.objects.all()
    assert (row.minute.second, row.minute.microsecond) == (0, 0)
    assert dt.timedelta(0) <= timezone.now() - row.minute < dt.timedelta(minutes=2)
    assert {field.name for field in UsageCount._meta.get_fields()} == {"id", "server", "kind", "name", "minute", "outcome", "count"}


def test_no_argument_and_no_name_of_a_strangers_is_stored() -> None:
    tool("search_wire", query=SECRET, source=SECRET)
    tool(SECRET)
    tool("verify_source_integrity", publication_name=SECRET)
    for uri in (
        f"wire://{SECRET}",
        f"wire://today/{SECRET}",
        f"wire://topic/{SECRET}",
        f"wire://story/{SECRET}",
        f"https://{SECRET}/",
    ):
        rpc("resources/read", {"uri": uri})
    rpc("prompts/get", {"name": SECRET, "arguments": {"event": SECRET}})
    rpc("prompts/get", {"name": "compare-coverage", "arguments": {"event": SECRET}})
    flush()
    assert SECRET not in str(list(UsageCount.objects.values()))
    assert "192.0.2" not in str(list(UsageCount.objects.values()))


def test_unknown_names_collapse_into_one() -> None:
    for n in range(20):
        tool(f"tool-{n}")
        rpc("resources/read", {"uri": f"wire://nowhere/{n}"})
        rpc("resources/read", {"uri": f"wire://today/{'abcdefghijklmnopqrst'[n]}"})
        rpc("prompts/get", {"name": f"prompt-{n}", "arguments": {}})
    flush()
    assert stored() == {
        ("tools/call", "(unknown)", "error"): 20,
        ("resources/read", "(unknown)", "error"): 40,
        ("prompts/get", "(unknown)", "error"): 20,
    }


def test_a_name_that_is_none_is_counted_as_unknown() -> None:
    for name in (5, None, ["search_wire"], {"a": 1}, True, "search_wire\n", "wire://today\n"):
        rpc("tools/call", {"name": name, "arguments": {}})
        rpc("resources/read", {"uri": name})
        rpc("prompts/get", {"name": name, "arguments": {}})
    flush()
    assert {key[1] for key in stored()} <= {"(unknown)"}


def test_what_is_no_call_is_not_counted() -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover", "nope"):
        rpc(method)
    flush()
    assert not usage._waiting
    assert stored() == {}


def test_counts_of_two_flushes_and_of_two_processes_add_up() -> None:
    for number in range(2):
        tool("list_sources")
        tool("list_sources")
        assert sum(stored().values()) == 2 * number, "nothing is written before the flush"
        flush()
    assert sum(stored().values()) == 4
    assert UsageCount.objects.count() <= 2  # one row a minute
    flush()
    assert sum(stored().values()) == 4


def test_a_flush_that_fails_keeps_what_was_counted_for_the_next(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    tool("list_sources")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE wire_usagecount RENAME TO wire_usagecount_away")
    try:
        for _ in range(2):
            with pytest.raises(Exception, match="wire_usagecount"):
                flush()
            tool("list_sources")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE wire_usagecount_away RENAME TO wire_usagecount")
    flush()
    assert stored() == {("tools/call", "list_sources", "success"): 3}
    assert not usage._waiting
