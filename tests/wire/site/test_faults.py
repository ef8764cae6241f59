"""A fault of the wire's own on a page of the site is a 500 that is logged; only what a reader asked for can be a 404."""

from collections.abc import Callable

import pytest
from django.test import Client

from sources.models import RosterRevision
from tests.factories import entry, publish, story_of
from wire.models import Snapshot, StoryJson, StoryRevision

pytestmark = pytest.mark.django_db


def unknown_category() -> object:
    StoryJson.objects.all().delete()  # so that it is rendered again
    return StoryRevision.objects.update(category="gossip")


def unknown_topic() -> object:
    StoryJson.objects.all().delete()
    return StoryRevision.objects.update(topics=["gossip"])


def no_roster() -> object:
    return RosterRevision.objects.all().delete()


def unreadable_link() -> object:
    return Snapshot.objects.update(packed=b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "address"),
    [
        (unknown_category, "/story/{story}"),  # Category() raises ValueError, as it does for an address that names none
        (unknown_topic, "/story/{story}"),
        (no_roster, "/sources"),
        (unreadable_link, "/day/2026-01-15"),
        (unreadable_link, "/feeds/takes.atom"),
    ],
)
def test_it_is_a_500_page_and_the_log_says_why(
    client: Client, caplog: pytest.LogCaptureFixture, damage: Callable[[], object], address: str
) -> None:
    publish(made := entry())
    damage()
    client.raise_request_exception = False
    answer = client.get(address.format(story=story_of(made).chatbotnews_id))
    assert answer.status_code == 500
    assert "There is no such page" not in answer.content.decode()
    (logged,) = [record for record in caplog.records if record.name == "django.request"]
    assert logged.exc_info is not None


@pytest.mark.slow
@pytest.mark.parametrize("number", ["9" * 30, "-" + "9" * 30, "9" * 5000, "1e5", "", "\x00"])
@pytest.mark.parametrize("address", ["/corrections?before={}", "/archive?year={}"])
def test_a_number_that_is_none_or_too_large_is_no_fault_of_ours(client: Client, address: str, number: str) -> None:
    publish(entry())
    assert client.get(address.format(number)).status_code in (200, 404)
