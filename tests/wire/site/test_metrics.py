"""Figures in Prometheus' format for who holds the token; for anybody else there is no such address."""

import datetime as dt
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from sources.models import Feed, FeedHealth
from tests.factories import entry, publish, take
from wire.models import WireState

pytestmark = pytest.mark.django_db

TOKEN = "quince-marmalade-and-orange-peel"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def token(settings: Any) -> None:
    settings.WIRE_METRICS_TOKEN = TOKEN


def figures(client: Client) -> dict[str, float]:
    answer = client.get("/metrics", headers=BEARER)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert answer["Cache-Control"] == "no-store"
    text = answer.content.decode()
    assert all(family.documentation and family.type != "unknown" for family in text_string_to_metric_families(text))
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in samples)}


def test_it_tells_of_the_process_and_the_wire(client: Client) -> None:
    assert "wire_snapshot_age_seconds" not in figures(client)
    publish(entry(), now=dt.datetime.now(dt.UTC) - dt.timedelta(hours=1))
    take(entry(), entry())
    found = figures(client)
    assert (found["wire_pending_stories"], found["wire_vectors_missing"]) == (2, 0)  # without a model nothing is missing
    assert found["wire_version"] == WireState.objects.get().version
    assert 3600 <= found["wire_snapshot_age_seconds"] < 3700
    assert found["process_resident_memory_bytes"] > 10_000_000
    assert found["process_cpu_seconds_total"] > 0
    assert {"wire_kept_answers", "wire_kept_bytes", "wire_snapshots"} <= found.keys()
    assert found["wire_database_up"] == 1


def test_feeds_are_counted_by_how_they_fare(client: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    first, second, third, fourth = Feed.objects.filter(publication__seat__isnull=False).order_by("id")[:4]
    FeedHealth.objects.create(feed=first, failures=3, tried_at=now)
    FeedHealth.objects.create(feed=second, newest_item_at=now - dt.timedelta(days=9), usual_gap=dt.timedelta(hours=1))
    Feed.objects.filter(pk=third.pk).update(active=False)
    FeedHealth.objects.create(feed=fourth, failures=0, failure="The name is unknown.", tried_at=now)  # as without a network
    found = figures(client)
    told = {state: found[f'wire_feeds{{state="{state}"}}'] for state in ("fails", "silent", "off", "answers")}
    assert told == {"fails": 2, "silent": 1, "off": 1, "answers": Feed.objects.count() - 4}
    assert found["wire_feed_last_try_timestamp_seconds"] == int(now.timestamp())


def test_without_a_database_it_says_so_and_tells_of_the_process(client: Client) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("gone")

    with connection.execute_wrapper(away):
        found = figures(client)
    assert found["wire_database_up"] == 0
    assert found["process_resident_memory_bytes"] > 0
    assert "wire_version" not in found


def test_without_the_token_there_is_no_such_address(client: Client, settings: Any) -> None:
    assert client.get("/metrics").status_code == 404
    for said in ("", TOKEN, "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer ключ"):
        assert client.get("/metrics", headers={"Authorization": said}).status_code == 404, said
    settings.WIRE_METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
