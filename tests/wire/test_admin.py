"""The editors' desk, through the browser's own requests."""

import datetime as dt
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from sources.models import Publication
from tests.factories import entry, next_lexicon, publish, story_of
from tests.wire.desk import save
from wire import queries, taxonomy
from wire.models import EditorTake, LexiconTerm, Snapshot, Story

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("editor"))
    return client


def story_form(story: Story, **changes: object) -> dict[str, object]:
    assert story.current is not None
    told = story.current
    form: dict[str, object] = {
        "headline": told.headline,
        "summary": told.summary_medium,
        "author": told.author or "",
        "category": told.category,
        "topics": told.topics,
        "seen": told.revision,
        "reason": "",
        "revisions-TOTAL_FORMS": 0,
        "revisions-INITIAL_FORMS": 0,
    }
    return form | changes


@pytest.mark.parametrize(
    "page",
    [
        *("sources/publication", "wire/story", "wire/snapshot", "wire/signingkey", "wire/editortake", "wire/lexiconterm"),
        *("sources/rosterrevision", "wire/editortake/add", "wire/lexiconterm/add"),
    ],
)
def test_every_page_opens(desk: Client, page: str) -> None:
    publish(entry())
    assert desk.get(f"/admin/{page}/").status_code == 200


def test_a_correction_is_published_with_its_reason(desk: Client) -> None:
    made = entry()
    publish(made)
    story = story_of(made)
    changes = story_form(story, headline="What it <b>really</b> said", reason="The headline was garbled.")
    assert desk.post(f"/admin/wire/story/{story.pk}/change/", changes).status_code == 302
    story = story_of(made)
    assert story.current is not None
    assert (story.current.headline, story.status, story.current.reason) == (
        "What it really said",
        "corrected",
        "The headline was garbled.",
    )


def test_a_change_without_a_reason_is_refused(desk: Client) -> None:
    made = entry()
    publish(made)
    story = story_of(made)
    answer = desk.post(f"/admin/wire/story/{story.pk}/change/", story_form(story, headline="Other"))
    assert b"Every change needs a reason" in answer.content
    assert story_of(made).status == "live"


def test_an_override_of_category_survives_the_publishers_next_edit(desk: Client) -> None:
    made = entry()
    publish(made)
    story = story_of(made)
    changes = story_form(story, category="analysis", topics=["nvidia"], reason="It is an essay.")
    assert desk.post(f"/admin/wire/story/{story.pk}/change/", changes).status_code == 302
    publish(entry(url=made.url, title="OpenAI raises $40 million in a funding round"))
    story = story_of(made)
    assert story.current is not None
    assert (story.category, story.current.topics, story.current.revision) == ("analysis", ["nvidia"], 3)


def test_a_withdrawn_story_is_out_of_the_editors_reach(desk: Client) -> None:
    made = entry()
    publish(made)
    story = story_of(made)
    changes = story_form(story, withdraw="on", reason="Retracted.")
    assert desk.post(f"/admin/wire/story/{story.pk}/change/", changes).status_code == 302
    assert story_of(made).status == "withdrawn"
    assert desk.post(f"/admin/wire/story/{story.pk}/change/", story_form(story, headline="Back")).status_code == 403


def test_snapshots_keys_and_publications_cannot_be_added_or_deleted(desk: Client) -> None:
    publish(entry())
    publication = Publication.objects.get(slug="wired")
    sequence = Snapshot.objects.get().sequence
    for page in (
        "wire/snapshot/add",
        f"wire/snapshot/{sequence}/delete",
        "wire/signingkey/add",
        "sources/publication/add",
        "sources/rosterrevision/add",
    ):
        assert desk.get(f"/admin/{page}/").status_code == 403, page
    assert desk.post(f"/admin/sources/publication/{publication.pk}/delete/", {"post": "yes"}).status_code == 403


def test_an_editors_own_take_is_published_in_place_of_the_generated_one(desk: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    publish(made := entry(published_at=now), now=now)
    day = story_of(made).wire_date
    answer = desk.post("/admin/wire/editortake/add/", {"wire_date": day, "markdown": "# Mine\n\nOne thing happened."})
    assert answer.status_code == 302
    assert queries.get_editor_take(day).title == "Mine"
    assert EditorTake.objects.get().author == "editor"


def test_a_term_that_an_editor_touched_is_kept_through_updates_of_the_lexicon(desk: Client, tmp_path: Path) -> None:
    term = LexiconTerm.objects.filter(kind="topic", target="nvidia").first()
    assert term is not None
    form = {"kind": term.kind, "target": term.target, "term": term.term, "weight": "0.25"}
    assert save(desk, f"/admin/wire/lexiconterm/{term.pk}/change/", form).status_code == 302
    taxonomy.sync(next_lexicon(tmp_path, quince=1.0))
    term.refresh_from_db()
    assert (term.weight, term.origin) == (0.25, "editor")


def test_a_form_that_was_opened_before_a_newer_revision_changes_nothing(desk: Client) -> None:
    made = entry(title="Quince ships")
    publish(made)
    story = story_of(made)
    stale = story_form(story, category="funding", reason="It is about money.", seen=1)
    publish(entry(title="Quince ships early", url=made.url))
    answer = desk.post(f"/admin/wire/story/{story.pk}/change/", stale)
    assert "The story got a new revision meanwhile" in answer.content.decode()
    assert story_of(made).current.headline == "Quince ships early"  # type: ignore[union-attr]


def test_a_form_that_does_not_say_what_was_seen_changes_nothing(desk: Client) -> None:
    publish(made := entry(title="Quince ships"))
    story = story_of(made)
    blind = story_form(story, headline="Other", reason="It was garbled.", seen="")
    answer = desk.post(f"/admin/wire/story/{story.pk}/change/", blind)
    assert "The story got a new revision meanwhile" in answer.content.decode()
    assert story_of(made).current.headline == "Quince ships"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("aliases", "said"),
    [
        ('["Reuters", "OpenAI"]', "Reuters is read as Reuters."),
        ("5", "Give a list of names"),
        ("[1]", "Give a list of names"),
        ("[null]", "Give a list of names"),
        ('["TC", " "]', "Give a list of names"),
        ('["TC", "Тhe Verge"]', "Тhe Verge resembles The Verge."),
        ('["Rcuters"]', "Rcuters resembles Reuters: one would be taken for the other."),
        ('["W1red"]', "W1red resembles Wired"),
    ],
)
def test_an_alias_never_names_another_publication(desk: Client, aliases: str, said: str) -> None:
    techcrunch = Publication.objects.get(slug="techcrunch")
    feeds = {f"feeds-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    answer = save(desk, f"/admin/sources/publication/{techcrunch.pk}/change/", {"aliases": aliases, **feeds})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    techcrunch.refresh_from_db()
    assert techcrunch.aliases == []


@pytest.mark.parametrize("alias", [r"\ud800", r"a\u0000b", r"\u202esretueR", r"T\u200bC", "x" * 121, "x" * 10_000])
def test_an_alias_that_no_page_or_dump_can_show_is_refused_and_shown_as_escapes(desk: Client, alias: str, tmp_path: Path) -> None:
    techcrunch = Publication.objects.get(slug="techcrunch")
    page = f"/admin/sources/publication/{techcrunch.pk}/change/"
    feeds = {f"feeds-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    answer = save(desk, page, {"aliases": f'["{alias}"]', **feeds})
    assert "is no name: it has at most 120 characters" in answer.content.decode()
    assert f"[&quot;{alias}&quot;]" in answer.content.decode()
    assert desk.get(page).status_code == 200
    call_command("dumpwire", str(tmp_path / "dump.jsonl"))
    techcrunch.refresh_from_db()
    assert techcrunch.aliases == []


def test_a_look_alike_is_never_vouched_for(desk: Client) -> None:
    techcrunch = Publication.objects.get(slug="techcrunch")
    feeds = {f"feeds-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    save(desk, f"/admin/sources/publication/{techcrunch.pk}/change/", {"aliases": '["TC", "Тhe Verge"]', **feeds})
    assert not desk.get("/api/verify-source.json", {"publication_name": "Тhe Verge"}).json()["in_roster"]


def test_the_names_of_the_roster_are_saved_as_they_are(desk: Client) -> None:
    for publication in Publication.objects.all():
        feeds = {f"feeds-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
        form = {"aliases": json.dumps(publication.aliases), **feeds}
        assert save(desk, f"/admin/sources/publication/{publication.pk}/change/", form).status_code == 302, publication


def test_an_alias_of_ones_own_may_be_added(desk: Client) -> None:
    techcrunch = Publication.objects.get(slug="techcrunch")
    feeds = {f"feeds-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    save(desk, f"/admin/sources/publication/{techcrunch.pk}/change/", {"aliases": '["Tech Crunch", "TCrunch"]', **feeds})
    techcrunch.refresh_from_db()
    assert techcrunch.aliases == ["Tech Crunch", "TCrunch"]
