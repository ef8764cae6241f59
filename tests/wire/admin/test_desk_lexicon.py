"""The lexicon at the desk: what a term would change, and whole files of terms in and out."""

import csv
import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from sources.models import Publication
from tests.factories import entry, next_lexicon, publish, second_feed, see, story_of
from tests.wire.desk import at_desk, save, words
from wire.admin import lexicon as lexicon_admin
from wire.admin.lexicon import MAX_ERRORS, MAX_ROWS, MAX_SHOWN
from wire.ingest import classifier_terms, corrections
from wire.models import LexiconTerm, Story
from wire.publishing.publish import publish_pending
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

ADD = "/admin/wire/lexiconterm/add/"
IMPORT = "/admin/wire/lexiconterm/import/"
HEAD = "kind,target,term,weight\n"
ROW = f"{HEAD}topic,nvidia,pickled chips,2\n"
ITEM = {"kind": "topic", "target": "nvidia", "term": "pickled chips", "weight": 1}


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


@pytest.fixture
def bare() -> None:
    """No shipped term speaks for anything."""
    LexiconTerm.objects.all().delete()
    LexiconTerm.objects.create(kind="relevance", target="ai", term="Quince", weight=3)


def term(**changes: object) -> dict[str, Any]:
    form = {"kind": "category", "target": "funding", "term": "pickles", "weight": "2", "_preview": "1"}
    return form | changes


def test_a_new_term_begins_without_kind_and_target(desk: Client) -> None:
    page = desk.get(ADD).content.decode()
    assert page.count('<option value="" selected>Select value</option>') == 2


@pytest.mark.usefixtures("bare")
def test_a_preview_shows_what_would_change_and_saves_nothing(desk: Client) -> None:
    publish(made := entry(title="Quince raises pickles"), entry(title="Quince lowers jars"))
    answer = desk.post(ADD, term())
    shown = words(answer)
    assert "1 of the newest 2 stories would change" in shown
    assert "Quince raises pickles category: Industry → Funding" in shown
    assert "changes stored ones, except 1 of these: it was loaded from an archive or fetched so long ago that" in shown
    assert 'value="pickles"' in answer.content.decode()
    assert "correct the error" not in shown
    assert not LexiconTerm.objects.filter(term="pickles").exists()
    assert story_of(made).category == "industry"


@pytest.mark.usefixtures("bare")
def test_a_preview_says_where_a_term_is_found_but_decides_nothing(desk: Client) -> None:
    LexiconTerm.objects.create(kind="category", target="agents", term="robot", weight=60)
    publish(entry(title="Quince raises pickles"), entry(title="Quince robot eats pickles"), entry(title="Quince lowers jars"))
    shown = words(desk.post(ADD, term()))
    assert "1 of the newest 3 stories would change The term is found in 2 of them, but decides nothing in 1, where" in shown
    shown = words(desk.post(ADD, term(weight="200")))
    assert "2 of the newest 3 stories would change The term is found in 2 of them. " in shown
    shown = words(desk.post(ADD, term(kind="topic", target="nvidia", term="jars", weight="0.1")))
    assert "0 of the newest 3 stories would change The term is found in 1 of them, but decides nothing in 1, where" in shown


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_a_preview_of_a_changed_term_puts_it_in_the_place_of_the_old_and_shows_topics_and_relevance(desk: Client) -> None:
    publish(entry(title="Quince raises pickles"))
    assert "topics: none → nvidia" in words(desk.post(ADD, term(kind="topic", target="nvidia")))
    assert "about AI: yes → no" in words(desk.post(ADD, term(kind="relevance", target="ai", weight="-9")))
    known = LexiconTerm.objects.create(kind="category", target="funding", term="pickles", weight=2)
    shown = words(save(desk, f"/admin/wire/lexiconterm/{known.pk}/change/", term(weight="0")))
    assert "category: Funding → Industry" in shown
    known.refresh_from_db()
    assert known.weight == 2


@pytest.mark.usefixtures("bare")
def test_what_editors_set_and_feeds_about_ai_alone_are_left_out() -> None:
    publish(made := entry(title="Quince raises pickles"))
    corrections.classify_story(story_of(made).chatbotnews_id, category=Category.ANALYSIS, topics=[], reason="It is.")
    for kind, target in (("category", "funding"), ("topic", "nvidia")):
        assert classifier_terms.preview_changes(LexiconTerm(kind=kind, target=target, term="pickles", weight=9)) == ([], 1, 0, 0)
    see(second_feed("wired"), entry(title="Quince sells pickles", url="https://www.wired.com/story/pickles", publisher="Wired"))
    publish_pending()
    off = LexiconTerm(kind="relevance", target="ai", term="sells", weight=-99)
    assert classifier_terms.preview_changes(off) == ([], 2, 0, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_fifty_are_shown_with_the_total(desk: Client) -> None:
    publish(*(entry(title=f"Quince {n} raises pickles") for n in range(53)))
    answer = desk.post(ADD, term())
    assert "53 of the newest 53 stories would change" in words(answer)
    assert "Only the newest 50 are shown." in words(answer)
    assert answer.content.count(b"category: Industry") == 50


@pytest.mark.slow
def test_a_term_that_cannot_be_is_told_and_not_previewed(desk: Client) -> None:
    wrong = [("kind", ""), ("kind", "x"), ("target", "nvidia"), ("weight", "much"), ("term", ""), ("term", "\u202ex")]
    for field, value in wrong:
        answer = desk.post(ADD, term(**{field: value}))
        assert list(answer.context["adminform"].form.errors) == [field]
        assert "stories would change" not in words(answer)
    known = LexiconTerm.objects.create(kind="topic", target="openai", term="quince")
    again = desk.post(ADD, term(kind="topic", target="openai", term="quince"))
    assert list(again.context["adminform"].form.errors) == ["term"]
    assert f'already: <a href="/admin/wire/lexiconterm/{known.pk}/change/">change that one</a>.' in again.content.decode()


@pytest.mark.slow
def test_a_term_that_an_editor_touched_is_kept_through_updates_of_the_lexicon(desk: Client, tmp_path: Path) -> None:
    term = LexiconTerm.objects.filter(kind="topic", target="nvidia").first()
    assert term is not None
    form = {"kind": term.kind, "target": term.target, "term": term.term, "weight": "0.25"}
    assert save(desk, f"/admin/wire/lexiconterm/{term.pk}/change/", form).status_code == 302
    classifier_terms.sync_shipped_terms(next_lexicon(tmp_path, quince=1.0))
    term.refresh_from_db()
    assert (term.weight, term.origin) == (0.25, "editor")


def bring(desk: Client, content: str | bytes) -> Any:
    """The page that shows what a file would change, or what is wrong with it."""
    return desk.post(IMPORT, {"file": SimpleUploadedFile("terms", content if isinstance(content, bytes) else content.encode())})


def confirm(desk: Client, answer: Any) -> Any:
    return desk.post(IMPORT, {"shown": answer.context["confirm"].initial["shown"], "confirmed": "1"}, follow=True)


def rows(number: int, target: str = "nvidia") -> str:
    return "".join(f"topic,{target},pickled chips {n},2\n" for n in range(number))


@pytest.mark.slow
def test_a_file_is_tried_first_and_saved_once_confirmed(desk: Client) -> None:
    plain = LexiconTerm.objects.filter(kind="category").exclude(term__contains=",").exclude(term__contains='"')
    same, other = plain[0], plain[1]
    lines = [f"{weight},{one.term},{one.target},{one.kind}\n" for weight, one in ((same.weight, same), (0.125, other))]
    tried = bring(desk, f"weight, term, target, kind\n{''.join(lines)}2,pickled chips,nvidia,topic\n")
    assert "2 terms would change" in words(tried)
    assert f"{other.target}: {other.term} (+0.125) {other.weight:+g}" in words(tried)
    assert not LexiconTerm.objects.filter(term="pickled chips").exists()
    assert "Saved: 2 terms." in words(confirm(desk, tried))
    made = LexiconTerm.objects.get(term="pickled chips")
    assert (made.weight, made.origin) == (2, "editor")
    assert {log.get_edited_object() for log in LogEntry.objects.all()} == {made, other}
    told = {one.pk: (one.weight, one.origin) for one in LexiconTerm.objects.filter(pk__in=[same.pk, other.pk])}
    assert told == {same.pk: (same.weight, "shipped"), other.pk: (0.125, "editor")}
    assert "The file changes nothing." in words(bring(desk, ROW))


@pytest.mark.usefixtures("bare")
def test_objects_may_name_the_columns_in_any_order_and_the_last_row_of_a_term_counts(desk: Client) -> None:
    second = {"weight": 2, "term": "b chip", "target": "nvidia", "kind": "topic"}
    confirm(desk, bring(desk, json.dumps([ITEM, second, ITEM | {"weight": 5}])))
    assert set(LexiconTerm.objects.filter(kind="topic").values_list("term", "weight")) == {("pickled chips", 5), ("b chip", 2)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("kind,target,term,wieght\n" + rows(500), "has kind, target, term, wieght"),
        ("kind;target;term;weight\n" + rows(500), "has kind;target;term;weight"),
        ("kind,target,term,term,weight\n" + rows(500), "a column twice"),
        (rows(500), "has topic, nvidia, pickled chips 0, 2"),
        (f"{'x' * 9000},term\n1\n", "x" * 100 + "."),
        (HEAD + "topic,nvidia,chips, pickled,1\n", "row 1 must have exactly the columns kind, target, term, weight"),
        (json.dumps([{"kind": "topic", "target": "nvidia", "word": "x", "weight": 1}]), "has kind, target, word, weight"),
        (json.dumps([["topic", "nvidia", "x", 1]]), "row 1 must have"),
        (json.dumps(ITEM), "row 1 must have"),
        (HEAD + 'topic,nvidia,"' + "x" * 200_000 + '",1\n', "cannot be read"),
        (HEAD, "no rows"),
        ("", "empty"),
        ("[]", "no rows"),
        ("[" * 9000, "cannot be read"),
        ("{} and so on", "cannot be read"),
        ((HEAD + "topic,nvidia,Zoë,1\n").encode("cp1252"), "not text in UTF-8"),
        (HEAD + rows(MAX_ROWS + 1), f"more than {MAX_ROWS:,} rows"),
        (json.dumps([ITEM] * (MAX_ROWS + 1)), f"more than {MAX_ROWS:,} rows"),
        ("[" * 2 * MAX_ROWS + "[", f"more than {MAX_ROWS:,} rows"),  # brackets without end are no rows and are not built
    ],
    ids=range(19),
)
@pytest.mark.usefixtures("bare")
def test_a_file_that_is_no_table_of_terms_is_refused_whole(desk: Client, content: str | bytes, told: str) -> None:
    answer = bring(desk, content)
    assert told in words(answer)
    assert "confirm" not in answer.context
    assert len(answer.content) < 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        *({"target": "funding-round"}, {"kind": "nonsense"}, {"weight": float("nan")}, {"weight": 10**400}, {"weight": None}),
        *(
            {"term": ""},
            {"term": None},
            {"term": "\ud800"},
            {"term": "a\0b"},
            {"term": "\u202ex"},
            {"kind": "\ud800"},
            {"target": []},
        ),
    ],
    ids=range(12),
)
@pytest.mark.usefixtures("bare")
def test_a_file_with_a_term_that_cannot_be_changes_nothing_and_names_its_row(desk: Client, wrong: dict[str, object]) -> None:
    answer = bring(desk, json.dumps([ITEM, ITEM | wrong]))
    assert "Row 2: " in words(answer)
    assert "Nothing was changed" in words(answer)
    assert "confirm" not in answer.context
    confirmed = desk.post(IMPORT, {"shown": json.dumps([ITEM, ITEM | wrong]), "confirmed": "1"})
    assert "Row 2: " in words(confirmed)
    assert LexiconTerm.objects.count() == 1


@pytest.mark.usefixtures("bare")
def test_reading_stops_when_enough_is_known_to_be_wrong(desk: Client) -> None:
    shown = words(bring(desk, HEAD + rows(500, "nonsense")))
    assert f"Row {MAX_ERRORS}: " in shown
    assert f"Row {MAX_ERRORS + 1}: " not in shown
    assert "Reading stopped here." in shown


@pytest.mark.usefixtures("bare")
def test_an_import_that_fails_when_it_is_confirmed_changes_nothing(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object) -> None:
        raise OperationalError("database is locked")

    tried = bring(desk, HEAD + rows(3))
    monkeypatch.setattr(lexicon_admin, "log_change", fails)
    assert confirm(desk, tried).status_code == 503
    assert LexiconTerm.objects.count() == 1


@pytest.mark.usefixtures("bare")
def test_of_many_changes_the_first_are_shown_and_all_are_saved(desk: Client) -> None:
    answer = bring(desk, HEAD + rows(MAX_SHOWN + 10))
    assert f"pickled chips {MAX_SHOWN - 1} " in words(answer)
    assert f"pickled chips {MAX_SHOWN} " not in words(answer)
    assert f"{MAX_SHOWN + 10} terms would change Only the first {MAX_SHOWN} are shown." in words(answer)
    assert f"Saved: {MAX_SHOWN + 10} terms" in words(confirm(desk, answer))
    assert LexiconTerm.objects.filter(origin="editor").count() >= MAX_SHOWN + 10
    assert LogEntry.objects.count() == MAX_SHOWN + 10


@pytest.mark.slow
def test_the_whole_lexicon_goes_out_as_a_file_and_fits_back_in(desk: Client) -> None:
    count = LexiconTerm.objects.count()
    assert count < MAX_ROWS
    for form, read in (("csv", lambda text: list(csv.DictReader(text.splitlines()))), ("json", json.loads)):
        answer = desk.get(f"/admin/wire/lexiconterm/export.{form}/")
        assert len(read(answer.content.decode())) == count
    assert "0 terms would change" in words(bring(desk, answer.content))


def test_the_roster_goes_out_as_a_file_but_never_in() -> None:
    desk = at_desk("publisher")
    listed = json.loads(desk.get("/admin/sources/publication/export.json/").content)
    assert {row["slug"] for row in listed} == set(Publication.objects.values_list("slug", flat=True))
    assert isinstance(listed[0]["domains"], list)
    assert desk.get("/admin/sources/publication/import/").status_code in {302, 404}


def test_files_and_previews_are_for_those_who_may() -> None:
    nobody = at_desk()
    for page in ("import", "export.csv", "export.json"):
        assert nobody.get(f"/admin/wire/lexiconterm/{page}/").status_code == 403, page
    assert bring(nobody, ROW).status_code == 403
    assert nobody.post(ADD, term()).status_code == 403
    assert not Story.objects.exists()


@pytest.mark.usefixtures("bare")
def test_a_preview_of_stories_that_can_be_rebuilt_names_no_exception(desk: Client) -> None:
    see(second_feed("wired"), entry(title="Quince sells pickles", url="https://www.wired.com/story/pickles", publisher="Wired"))
    publish_pending()
    Story.objects.update(first_seen_at=timezone.now())
    shown = words(desk.post(ADD, term()))
    assert "1 of the newest 1 stories would change" in shown
    assert "changes stored ones." in shown


def test_targets_are_grouped_by_the_kinds_that_may_have_them_and_each_is_there_once(desk: Client) -> None:
    groups = desk.get(ADD).context["adminform"].form.fields["target"].choices
    offered = {name: [value for value, _ in some] for name, some in groups if isinstance(some, list)}
    assert list(offered) == ["Topic", "Category", "Topic and category", "Relevance"]
    assert sorted(chain(*offered.values())) == sorted({*Category.values, *Topic.values, "ai"})
