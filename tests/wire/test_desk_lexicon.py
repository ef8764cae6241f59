"""The lexicon at the desk: what a term would change, and whole files of terms in and out."""

import json
import os
import secrets
import stat
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sources.models import Publication
from tests.factories import entry, publish, second_feed, see, story_of
from tests.wire.desk import at_desk, person, save, words
from wire import editorial, preview
from wire.models import LexiconTerm, Story
from wire.publish import publish_pending
from wire.vocabulary import Category

pytestmark = pytest.mark.django_db

ADD = "/admin/wire/lexiconterm/add/"
IMPORT = "/admin/wire/lexiconterm/import/"
CSV = 0  # the place of a format in the form's list
JSON = 1


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


@pytest.mark.usefixtures("bare")
def test_a_preview_shows_what_would_change_and_saves_nothing(desk: Client) -> None:
    publish(made := entry(title="Quince raises pickles"), entry(title="Quince lowers jars"))
    answer = desk.post(ADD, term())
    shown = words(answer)
    assert "1 of the newest 2 stories would change" in shown
    assert "Quince raises pickles category: Industry → Funding" in shown
    assert 'value="pickles"' in answer.content.decode()
    assert "correct the error" not in shown
    assert not LexiconTerm.objects.filter(term="pickles").exists()
    assert story_of(made).category == "industry"


@pytest.mark.usefixtures("bare")
def test_a_preview_of_a_changed_term_puts_it_in_the_place_of_the_old(desk: Client) -> None:
    publish(entry(title="Quince raises pickles"))
    known = LexiconTerm.objects.create(kind="category", target="funding", term="pickles", weight=2)
    shown = words(save(desk, f"/admin/wire/lexiconterm/{known.pk}/change/", term(weight="0")))
    assert "category: Funding → Industry" in shown
    known.refresh_from_db()
    assert known.weight == 2


@pytest.mark.usefixtures("bare")
def test_topics_and_relevance_are_previewed_too(desk: Client) -> None:
    publish(entry(title="Quince raises pickles"))
    topic = words(desk.post(ADD, term(kind="topic", target="nvidia")))
    assert "topics: none → nvidia" in topic
    relevance = words(desk.post(ADD, term(kind="relevance", target="ai", weight="-9")))
    assert "about AI: yes → no" in relevance


@pytest.mark.usefixtures("bare")
def test_what_editors_set_and_feeds_about_ai_alone_are_left_out() -> None:
    publish(made := entry(title="Quince raises pickles"))
    editorial.classify(story_of(made).chatbotnews_id, category=Category.ANALYSIS, topics=[], reason="It is.")
    for kind, target in (("category", "funding"), ("topic", "nvidia")):
        assert preview.changes(LexiconTerm(kind=kind, target=target, term="pickles", weight=9)) == ([], 1)
    see(second_feed("wired"), entry(title="Quince sells pickles", url="https://www.wired.com/story/pickles", publisher="Wired"))
    publish_pending()
    off = LexiconTerm(kind="relevance", target="ai", term="sells", weight=-99)
    assert preview.changes(off) == ([], 2)


@pytest.mark.usefixtures("bare")
def test_fifty_are_shown_with_the_total(desk: Client) -> None:
    publish(*(entry(title=f"Quince {n} raises pickles") for n in range(53)))
    answer = desk.post(ADD, term())
    assert "53 of the newest 53 stories would change" in words(answer)
    assert "The newest 50 of them." in words(answer)
    assert answer.content.count(b"category: Industry") == 50


@pytest.mark.parametrize(
    ("field", "value"), [("kind", ""), ("kind", "x"), ("target", "nvidia"), ("weight", "much"), ("term", ""), ("term", "\u202ex")]
)
def test_a_term_that_cannot_be_is_told_and_not_previewed(desk: Client, field: str, value: str) -> None:
    answer = desk.post(ADD, term(**{field: value}))
    assert list(answer.context["adminform"].form.errors) == [field]
    assert "stories would change" not in words(answer)


def test_a_preview_asks_for_the_permission_that_saving_asks_for() -> None:
    assert at_desk().post(ADD, term()).status_code == 403


def bring(desk: Client, content: str, form: int) -> Any:
    name = ("terms.csv", "terms.json")[form]
    file = SimpleUploadedFile(name, content.encode())
    return desk.post(IMPORT, {"format": form, "import_file": file, "resource": ""})


def confirm(desk: Client, answer: Any) -> Any:
    return desk.post("/admin/wire/lexiconterm/process_import/", answer.context["confirm_form"].initial, follow=True)


def test_a_file_is_tried_first_and_taken_in_once_confirmed(desk: Client) -> None:
    shipped = LexiconTerm.objects.filter(kind="category").exclude(term__contains=",").exclude(term__contains='"')[0]
    row = f"{shipped.kind},{shipped.target},{shipped.term},{shipped.weight}"
    tried = bring(desk, f"kind,target,term,weight\n{row}\ntopic,nvidia,pickled chips,2\n", CSV)
    assert not LexiconTerm.objects.filter(term="pickled chips").exists()
    confirm(desk, tried)
    made = LexiconTerm.objects.get(term="pickled chips")
    assert (made.weight, made.origin) == (2, "editor")
    assert LogEntry.objects.get().get_edited_object() == made
    shipped.refresh_from_db()
    assert shipped.origin == "shipped"


ROW = "kind,target,term,weight\ntopic,nvidia,pickled chips,2\n"
PROCESS = "/admin/wire/lexiconterm/process_import/"


def kept() -> list[Path]:
    folder = Path(settings.WIRE_DATA_DIR) / "imports"
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("place", ["tmp", "imports", "data", "above"])
def test_no_file_but_one_that_was_shown_is_read_or_deleted(desk: Client, place: str) -> None:
    bring(desk, ROW, CSV)
    data = Path(settings.WIRE_DATA_DIR)
    folder = {"tmp": Path(tempfile.gettempdir()), "imports": data / "imports", "data": data, "above": data.parent}[place]
    planted = folder / secrets.token_hex(16)
    planted.write_text(ROW.replace("pickled", "planted"))
    try:
        for name in (planted.name, str(planted), f"../{planted.name}", "no such file", "\0"):
            form = {"import_file_name": name, "original_file_name": "terms.csv", "format": "0", "resource": ""}
            answer = desk.post(PROCESS, form, follow=True)
            assert answer.status_code == 200
            assert "was not found" in words(answer)
            assert planted.exists()
    finally:
        planted.unlink()
    assert not LexiconTerm.objects.filter(term__in=["pickled chips", "planted chips"]).exists()


def test_what_another_editor_was_shown_is_not_confirmed_nor_as_another_format(desk: Client) -> None:
    form = bring(desk, ROW, CSV).context["confirm_form"].initial
    other = Client()
    other.force_login(person("other", "editor"))
    assert "was not found" in words(other.post(PROCESS, form, follow=True))
    for format_ in (str(JSON), "99", "x", ""):
        assert "was not found" in words(desk.post(PROCESS, {**form, "format": format_}, follow=True))
    assert not LexiconTerm.objects.filter(term="pickled chips").exists()
    assert desk.post(PROCESS, form).status_code == 302
    assert LexiconTerm.objects.filter(term="pickled chips").exists()


def test_confirming_twice_is_told_and_leaves_no_file(desk: Client) -> None:
    before = kept()
    tried = bring(desk, ROW, CSV)
    assert "Import finished" in words(confirm(desk, tried))
    assert kept() == before
    again = confirm(desk, tried)
    assert again.status_code == 200
    assert "import the file again" in words(again)


def test_two_imports_can_wait_at_once(desk: Client) -> None:
    first, second = bring(desk, ROW, CSV), bring(desk, ROW.replace("chips", "wafers"), CSV)
    for tried in (second, first):
        assert "Import finished" in words(confirm(desk, tried))


def test_an_import_that_nobody_confirmed_is_gone_at_the_next_after_a_day(desk: Client) -> None:
    old = bring(desk, ROW, CSV)
    (name,) = [file for file in kept() if file.name == old.context["confirm_form"].initial["import_file_name"]]
    assert os.name == "nt" or stat.S_IMODE(name.stat().st_mode) == 0o600
    os.utime(name, (time.time() - 86_500,) * 2)
    new = bring(desk, ROW, CSV)
    assert name not in kept()
    assert "import the file again" in words(confirm(desk, old))
    assert "Import finished" in words(confirm(desk, new))


def test_an_imported_weight_makes_the_term_an_editors(desk: Client) -> None:
    shipped = LexiconTerm.objects.filter(kind="topic", target="nvidia")[0]
    row = {"kind": "topic", "target": "nvidia", "term": shipped.term, "weight": 0.125}
    confirm(desk, bring(desk, json.dumps([row]), JSON))
    shipped.refresh_from_db()
    assert (shipped.weight, shipped.origin) == (0.125, "editor")


@pytest.mark.parametrize("row", ["topic,funding-round,x,1", "nonsense,nvidia,x,1", "topic,nvidia,x,nan", "topic,nvidia,,1"])
def test_a_file_with_a_term_that_cannot_be_changes_nothing(desk: Client, row: str) -> None:
    before = LexiconTerm.objects.count()
    answer = bring(desk, f"kind,target,term,weight\ntopic,nvidia,pickled chips,2\n{row}\n", CSV)
    assert "confirm_form" not in answer.context
    assert LexiconTerm.objects.count() == before


@pytest.mark.parametrize("term", [r"\ud800", r"a\u0000b", r"\u202ex"])
@pytest.mark.parametrize("others", ["", '{"kind": "topic", "target": "nvidia", "term": "pickled chips", "weight": 1},'])
def test_a_file_with_a_term_that_cannot_be_shown_changes_nothing(desk: Client, term: str, others: str) -> None:
    before = LexiconTerm.objects.count()
    answer = bring(desk, f'[{others} {{"kind": "topic", "target": "nvidia", "term": "{term}", "weight": 1}}]', JSON)
    assert answer.status_code == 200
    assert "confirm_form" not in answer.context
    assert LexiconTerm.objects.count() == before


@pytest.mark.parametrize("form", [CSV, JSON])
def test_the_lexicon_is_taken_out_as_a_file(desk: Client, form: int) -> None:
    fields = {f"termresource_{name}": "on" for name in ("kind", "target", "term", "weight")}
    answer = desk.post("/admin/wire/lexiconterm/export/", {"format": form, "resource": "", **fields})
    assert answer.status_code == 200
    lines = json.loads(answer.content) if form == JSON else answer.content.decode().splitlines()[1:]
    assert len(lines) == LexiconTerm.objects.count()


def test_the_roster_is_taken_out_but_never_in() -> None:
    desk = at_desk("publisher")
    fields = {f"publicationresource_{name}": "on" for name in ("slug", "name", "domains", "tier", "seat")}
    answer = desk.post("/admin/sources/publication/export/", {"format": JSON, "resource": "", **fields})
    assert {row["slug"] for row in json.loads(answer.content)} == set(Publication.objects.values_list("slug", flat=True))
    assert desk.get("/admin/sources/publication/import/").status_code in {302, 404}


def test_files_are_for_those_who_may() -> None:
    nobody = at_desk()
    assert [nobody.get(f"/admin/{page}/").status_code for page in ("wire/lexiconterm/import", "wire/lexiconterm/export")] == [
        403,
        403,
    ]
    assert bring(nobody, "kind,target,term,weight\ntopic,nvidia,pickled chips,2\n", CSV).status_code == 403
    assert not Story.objects.exists()
