"""The lock: 24 publications, changed by dated replacement only."""

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.errors import RosterLocked
from sources import queries, roster
from sources.models import Feed, Publication, RosterRevision
from tests.contract import refused
from tests.factories import NOW, entry, publish, story_of, take
from wire import queries as wire_queries
from wire.ingest import corrections
from wire.ingest.normalise import Rejected
from wire.models import WireState

pytestmark = pytest.mark.django_db

# SHA-256 of the roster that ships. If this test fails, the public roster changed: that is a replacement, never an edit.
FINGERPRINT = "3d59be3099226e652ade7f2d583c3d7bed70e7f0f8eae473fd4d042b769d44b0"
GAZETTE: dict[str, Any] = {
    "slug": "quince-gazette",
    "name": "Quince Gazette",
    "aliases": ["The QG"],
    "domains": ["gazette.example"],
    "tier": 2,
    "homepage": "https://gazette.example/",
    "feeds": [{"feed_type": "rss", "url": "https://gazette.example/rss", "ai_only": False}],
}


def publication(slug: str) -> Publication:
    return Publication.objects.get(slug=slug)


def replace_fortune() -> RosterRevision:
    return corrections.replace_publication(publication("fortune"), GAZETTE, reason="Fortune closed its feeds.", now=NOW)


def owners() -> dict[str, tuple[str, dt.date | None]]:
    return {slug: (owner, since) for slug, owner, since in Publication.objects.values_list("slug", "owner", "owner_since")}


def errors() -> list[str]:
    return [str(error.msg) for error in run_checks(databases=["default"]) if str(error.id).startswith("sources.")]


def test_a_migrated_database_holds_the_24_in_their_tiers_and_is_founded_once() -> None:
    assert Publication.objects.active().count() == Publication.objects.count() == 24
    tiers = list(Publication.objects.values_list("tier", flat=True))
    assert [tiers.count(tier) for tier in (1, 2, 3, 4)] == [7, 6, 10, 1]
    roster.create_if_missing()
    assert RosterRevision.objects.count() == 1
    RosterRevision.objects.all().delete()
    with pytest.raises(RosterLocked):
        roster.create_if_missing([GAZETTE])  # one is not 24
    assert not RosterRevision.objects.exists()


def test_anyone_can_recompute_the_fingerprint_from_the_public_roster(client: Client) -> None:
    assert (
        roster.get_current_roster().fingerprint
        == roster.compute_fingerprint(roster.list_members(Publication.objects.active()))
        == FINGERPRINT
    )
    answer = client.get("/api/sources.json").json()
    rows = sorted(
        ({key: source[key] for key in ("name", "tier", "domain")} for source in answer["sources"]), key=lambda row: row["name"]
    )
    canonical = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(canonical).hexdigest() == answer["roster_sha256"] == FINGERPRINT


def test_who_owns_a_publication_is_outside_the_fingerprint() -> None:
    Publication.objects.update(owner="Quince House", owner_since=dt.date(2026, 1, 1))
    assert roster.compute_fingerprint(roster.list_members(Publication.objects.active())) == FINGERPRINT
    assert errors() == []


def test_a_wire_that_is_upgraded_gets_the_owners_that_a_new_one_is_founded_with() -> None:
    founded = owners()
    assert founded["wired"] == founded["ars-technica"] == ("Condé Nast", None)
    assert founded["techcrunch"] == ("Regent", dt.date(2025, 3, 21))
    assert founded["semafor"] == ("", None)
    Publication.objects.update(owner="", owner_since=None)
    migration = import_module("sources.migrations.0004_owner")
    migration.name_owners(apps, SimpleNamespace(connection=connection))
    assert owners() == founded


def test_a_wire_that_is_upgraded_gets_the_aliases_that_a_new_one_is_founded_with() -> None:
    migration = import_module("sources.migrations.0005_aliases")
    founded = dict(Publication.objects.values_list("slug", "aliases"))
    for row in Publication.objects.filter(slug__in=migration.ALIASES):
        row.aliases = [alias for alias in row.aliases if alias not in migration.ALIASES[row.slug]]
        row.save()
    assert dict(Publication.objects.values_list("slug", "aliases")) != founded
    for _ in range(2):
        migration.add_aliases(apps, SimpleNamespace(connection=connection))
        assert dict(Publication.objects.values_list("slug", "aliases")) == founded


def test_an_upgrade_takes_no_alias_from_the_publication_that_an_editor_gave_it_to() -> None:
    Publication.objects.filter(slug="the-register").update(aliases=[])
    Publication.objects.filter(slug="semafor").update(aliases=["the reg"])
    import_module("sources.migrations.0005_aliases").add_aliases(apps, SimpleNamespace(connection=connection))
    assert publication("the-register").aliases == []


def test_the_check_that_migrate_runs_first_asks_for_no_column_that_migrate_has_yet_to_add() -> None:
    with CaptureQueriesContext(connection) as captured:
        assert errors() == []
    assert "sources_publication" in str(captured.captured_queries)
    assert "owner" not in str(captured.captured_queries)


def test_no_publication_can_be_deleted() -> None:
    with pytest.raises(RosterLocked):
        publication("fortune").delete()
    with pytest.raises(RosterLocked):
        Publication.objects.all().delete()
    with pytest.raises(RosterLocked):
        Publication.objects.filter(slug="fortune").delete()
    assert Publication.objects.count() == 24


@pytest.mark.parametrize(
    "seat",
    [{"seat": 25}, {"seat": 0}, {"seat": 7}, {"seat": None}, {"seat": 1, "retired_on": dt.date(2026, 1, 1)}],
    ids=["25", "0", "taken", "neither seated nor retired", "both"],
)
def test_the_database_refuses_a_25th_seat(seat: dict[str, Any]) -> None:
    facts = {key: value for key, value in GAZETTE.items() if key != "feeds"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Publication.objects.create(**facts, admitted_on=dt.date(2026, 1, 1), **seat)
    with pytest.raises(IntegrityError), transaction.atomic():
        Publication.objects.filter(slug="fortune").update(tier=5)


def test_a_replacement_is_one_out_one_in_and_dated() -> None:
    version = WireState.objects.get().version
    revision = replace_fortune()
    assert (revision.number, revision.on, revision.reason) == (2, NOW.date(), "Fortune closed its feeds.")
    assert (revision.retired, revision.admitted) == (publication("fortune"), publication("quince-gazette"))
    assert Publication.objects.active().count() == 24
    assert publication("fortune").retired_on == publication("quince-gazette").admitted_on == NOW.date()
    assert WireState.objects.get().version > version
    assert Feed.objects.filter(publication__slug="quince-gazette").count() == 1
    assert errors() == []


def test_replacements_are_public_with_their_reason_newest_first(client: Client) -> None:
    replace_fortune()
    other = GAZETTE | {"slug": "other", "name": "Other", "feeds": []}
    corrections.replace_publication(publication("wired"), other, reason="Wired <i>merged</i>.", now=NOW + dt.timedelta(days=40))
    assert client.get("/api/sources.json?tier=1").json()["replacements"] == [
        {"on": "2026-02-25", "roster_revision": 3, "retired": "Wired", "admitted": "Other", "reason": "Wired <i>merged</i>."},
        {
            "on": "2026-01-16",
            "roster_revision": 2,
            "retired": "Fortune",
            "admitted": "Quince Gazette",
            "reason": "Fortune closed its feeds.",
        },
    ]


def test_who_comes_back_without_a_word_of_its_owner_keeps_it() -> None:
    replace_fortune()
    wired = roster.replace_publication(publication("wired"), GAZETTE | {"slug": "other", "name": "Other"}, reason="Closed.").retired
    assert wired is not None
    back = {name: getattr(wired, name) for name in ("slug", "name", "aliases", "domains", "tier", "homepage")}
    roster.replace_publication(publication("other"), back | {"feeds": []}, reason="Back.")
    assert owners()["wired"] == ("Condé Nast", None)
    sold = {"feeds": [], "owner": "Quince House", "owner_since": "2026-02-01"}
    roster.replace_publication(publication("quince-gazette"), GAZETTE | {"slug": "third", "name": "Third"} | sold, reason="Sold.")
    assert owners()["third"] == ("Quince House", dt.date(2026, 2, 1))


def test_a_replacement_changes_the_fingerprint_of_what_is_published_from_then_on() -> None:
    publish(entry())
    replace_fortune()
    listed = queries.list_sources()
    assert (listed.roster_revision, listed.in_force_since) == (2, NOW.date())
    assert listed.roster_sha256 != FINGERPRINT
    day = wire_queries.get_today(NOW)
    assert day.source_integrity.roster_sha256 == listed.roster_sha256
    assert wire_queries.get_archived_day(day.wire_date, 1).source_integrity.roster_sha256 == FINGERPRINT


def test_a_retired_publication_is_no_longer_in_the_roster_and_its_dates_are_told(client: Client) -> None:
    admitted = publication("fortune").admitted_on
    replace_fortune()
    assert queries.verify_source("Quince Gazette").in_roster
    assert queries.verify_source("The QG").canonical_name == "Quince Gazette"
    for name in ("Fortune", "fortune.com"):
        verdict = queries.verify_source(name)
        assert (verdict.in_roster, verdict.tier, verdict.canonical_name) == (False, None, None)
        assert f"from {admitted} until 2026-01-16" in verdict.notes
        assert verdict.closest_match != "Fortune"
    error = refused(client.get("/api/search.json", {"query": "quince", "source": "Fortune"}), 422, "not_in_roster")
    assert "until 2026-01-16" in error["message"]


def test_stories_of_a_retired_publication_stay_as_they_were() -> None:
    made = entry(title="Quince ships", publisher="Fortune", url="https://fortune.com/q")
    publish(made)
    story_id = story_of(made).chatbotnews_id
    before = wire_queries.get_story(story_id)
    replace_fortune()
    assert wire_queries.get_story(story_id) == before
    assert (before.original_publisher, before.original_publisher_tier) == ("Fortune", 3)
    assert [story.chatbotnews_id for story in wire_queries.search_wire("quince", tier=3).stories] == [story_id]


def test_new_items_of_a_retired_publication_are_refused_and_of_the_admitted_one_taken() -> None:
    replace_fortune()
    late, new = (
        entry(publisher="Fortune", url="https://fortune.com/q"),
        entry(publisher="Quince Gazette", url="https://gazette.example/q"),
    )
    outcomes = take(late, new)
    assert isinstance(outcomes[0], Rejected)
    assert outcomes[0].code == "not_in_roster"
    assert outcomes[1] == "accepted"


def test_who_is_retired_cannot_be_retired_again_nor_a_member_be_admitted() -> None:
    gone = publication("fortune")
    replace_fortune()
    with pytest.raises(RosterLocked):
        roster.replace_publication(gone, GAZETTE | {"slug": "other", "name": "Other"}, reason="Again.")
    with pytest.raises(RosterLocked):
        roster.replace_publication(publication("wired"), GAZETTE, reason="Again.")
    assert RosterRevision.objects.count() == 2


def test_a_retired_publication_may_come_back() -> None:
    replace_fortune()
    fact = next(fact for fact in json.loads(roster.ROSTER_FILE.read_text(encoding="utf-8")) if fact["slug"] == "fortune")
    roster.replace_publication(publication("quince-gazette"), fact, reason="It is back.", on=dt.date(2026, 2, 1))
    assert roster.get_current_roster().fingerprint == FINGERPRINT
    assert publication("fortune").retired_on is None
    assert queries.verify_source("Fortune").in_roster


DIFFERS = "The roster's publications do not match the fingerprint of its latest revision."
BROKEN: dict[str, tuple[Callable[[], object], str]] = {
    "one is missing": (
        lambda: Publication.objects.filter(slug="fortune").update(seat=None, retired_on=dt.date(2026, 1, 1)),
        "The roster holds 23 publications instead of 24.",
    ),
    "one was edited": (lambda: Publication.objects.filter(slug="fortune").update(tier=1), DIFFERS),
    "its history is gone": (lambda: RosterRevision.objects.all().delete(), DIFFERS),
}


@pytest.mark.parametrize(("change", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_roster_fails_the_system_check(change: Callable[[], object], told: str) -> None:
    assert errors() == []
    change()
    assert errors() == [told]
