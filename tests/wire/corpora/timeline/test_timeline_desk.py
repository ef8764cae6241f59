"""Timeline corpora at the desk: edited in a draft, released by those who may."""

import re
from typing import Any

import orjson
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client

from tests.wire.corpora.timeline.corpora import SLUG, harbour
from tests.wire.desk import at_desk, person, save, words
from wire.corpora.timeline import forms, queries, store
from wire.corpora.timeline.models import CatalogItem, Corpus, Motif, Report, Row, Thread, TimelineEvent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("harbour_clock")]

EVENT = {
    **{"row_id": "new-clock", "row_title": "The clock returns", "row_date": "2022-03-01", "row_layer": "official-science"},
    **{
        "row_summary": "The clock hangs again.",
        "row_source_url": "https://example.org/harbour/return",
        "row_motifs": "stopped-clock",
    },
    **{"row_claim_status": "official"},
}


@pytest.fixture
def corpus(db: None) -> Corpus:  # noqa: ARG001
    return harbour()


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def form(desk: Client, page: str, **changes: object) -> dict[str, object]:
    """A row's form as it is opened, with these changes."""
    opened = desk.get(page).context["adminform"].form
    filled: dict[str, object] = {}
    for name in opened.fields:
        value = opened[name].value()
        if value not in (None, "", False):
            filled[name] = opened.fields[name].prepare_value(value)
    return filled | changes


def change(model: Any, key: str) -> str:
    row = model.objects.get(key=key, until=None, dropped=False)
    return f"/admin/timeline/{model._meta.model_name}/{row.pk}/change/"


@pytest.mark.slow
def test_every_list_and_form_opens(desk: Client) -> None:
    for name in (
        "corpus",
        "report",
        "thread",
        "timelineevent",
        "motif",
        "catalogitem",
        "sourcefamily",
        "corpusrelease",
        "motifedge",
    ):
        assert desk.get(f"/admin/timeline/{name}/").status_code == 200, name
    for model in (Report, Thread, TimelineEvent):
        row = model.objects.first()
        assert row is not None
        assert desk.get(change(model, row.key)).status_code == 200
    assert desk.get("/admin/timeline/report/add/").status_code == 200


@pytest.mark.slow
def test_a_row_that_is_saved_unchanged_stays_the_same(desk: Client, corpus: Corpus) -> None:
    rows: dict[type[Row], tuple[str, ...]] = {  # with every field that a row may have, and with as few as there are
        Report: ("hc-1", "hc-2", "hc-5"),
        Thread: ("clock-and-tide", "lamp-and-memory"),
        TimelineEvent: ("tide-wave",),
    }
    for model, keys in rows.items():
        for key in keys:
            page = change(model, key)
            answer = desk.post(page, form(desk, page))
            assert answer.status_code == 302, words(answer)
    assert store.count_changes(corpus) == {}


@pytest.mark.slow
def test_an_edit_waits_for_its_release(desk: Client, corpus: Corpus) -> None:
    page = change(Thread, "lamp-and-memory")
    answer = desk.post(page, form(desk, page, row_skeptical_frame="A white lamp beside a green shade."), follow=True)
    assert answer.status_code == 200
    (thread,) = queries.story_threads(SLUG, thread_id="lamp-and-memory").threads
    assert thread.frames.skeptical is None
    assert "1 change" in words(desk.get("/admin/timeline/corpus/"))
    release = f"/admin/timeline/corpus/{corpus.pk}/release/"
    shown = words(desk.get(release))
    assert (
        f"Thread changed: {Thread.objects.draft(corpus.pk).get(key='lamp-and-memory')} lamp-and-memory (Skeptical frame)" in shown
    )
    desk.post(release, {"note": "The third frame of the lamp."})
    (thread,) = queries.story_threads(SLUG, thread_id="lamp-and-memory").threads
    assert thread.frames.skeptical == "A white lamp beside a green shade."
    assert queries.story_threads(SLUG, thread_id="lamp-and-memory", as_of=1).threads[0].frames.skeptical is None
    assert LogEntry.objects.filter(change_message__contains="Released 2: The third frame").exists()
    assert "Nothing changed since release 2" in words(desk.get(release))


@pytest.mark.slow
def test_a_new_row_is_checked_by_the_rules_of_files(desk: Client, corpus: Corpus) -> None:
    add = "/admin/timeline/timelineevent/add/"
    wrong = EVENT | {"corpus": corpus.pk, "row_source_url": "http://example.org/", "row_motifs": "stopped-clock\ngone"}
    errors = save(desk, add, wrong).context["adminform"].form.errors
    assert "needs a Source URL that begins with https://" in str(errors["row_source_url"])
    assert "Names the unknown motif gone: add it first" in str(errors["row_motifs"])
    assert not TimelineEvent.objects.filter(key="new-clock").exists()
    assert save(desk, add, EVENT | {"corpus": corpus.pk}).status_code == 302
    row = TimelineEvent.objects.get(key="new-clock")
    assert (row.since, row.row["motifs"], row.position) == (None, ["stopped-clock"], 6)
    assert "This id is already taken." in words(save(desk, add, EVENT | {"corpus": corpus.pk}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "lists"),
    [
        (Motif, {"aliases": []}),
        (TimelineEvent, {"motifs": []}),
        (Thread, {"motifs": [], "anchor_ids": [], "report_ids": [], "suggested_questions": []}),
        (CatalogItem, {"motifs": [], "source_links": [], "related_report_ids": []}),
        (Report, {"motifs": []}),
    ],
)
def test_the_first_row_of_a_corpus_needs_no_other_rows_and_its_lists_may_be_empty(
    desk: Client, model: Any, lists: dict[str, Any]
) -> None:
    desk.post("/admin/timeline/corpus/add/", {"slug": "lighthouse", "name": "The lighthouse", "kind": "folklore", "seen": ""})
    corpus, add = Corpus.objects.get(slug="lighthouse"), f"/admin/timeline/{model._meta.model_name}/add/"
    new = {"row_id": "first"}
    for name, field in desk.get(f"{add}?corpus={corpus.pk}").context["adminform"].form.fields.items():
        choices = [value for value, _ in getattr(field.widget, "choices", ()) if value]
        if field.required and name != "corpus":
            new.setdefault(name, choices[-1] if choices else "2026-03-02")
    if model is Report:
        types = Report.objects.get(key="hc-2").row
        claim = types["claims"][0]
        new |= {
            "row_claims": f"Text: A lamp.\nClaim type: {claim['claim_type']}\nStatus: {claim['status']}",
            "row_evidence_grade": "firsthand",
            "row_source__source_type": types["source"]["source_type"],
            "row_source__author_policy": types["source"]["author_policy"],
        }
    answer = save(desk, add, new | {"corpus": corpus.pk, "row_layer": "community-wave", "row_claim_status": "interpretive"})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    row = model.objects.get(corpus=corpus, key="first").row
    assert {name: row[name] for name in lists} == lists
    released = desk.post(f"/admin/timeline/corpus/{corpus.pk}/release/", {"note": "The first."}, follow=True)
    assert "Release 1 is public." in words(released)


def test_a_release_is_offered_only_where_there_are_changes(desk: Client, corpus: Corpus) -> None:
    page = f"/admin/timeline/corpus/{corpus.pk}/change/"
    assert "Release…" not in words(desk.get(page))
    store.drop_draft_rows(TimelineEvent, [TimelineEvent.objects.get(key="first-batch").pk])
    assert "Release…" in words(desk.get(page))


def test_a_list_of_a_corpus_without_rows_says_that_it_is_empty(desk: Client, corpus: Corpus) -> None:
    store.drop_draft_rows(TimelineEvent, list(TimelineEvent.objects.values_list("pk", flat=True)))
    answer = desk.get(f"/admin/timeline/timelineevent/?corpus__id__exact={corpus.pk}")
    assert "Nothing here yet. Add the first one" in words(answer)
    assert f'/add/?_changelist_filters=corpus__id__exact%3D{corpus.pk}">Add the first one' in answer.content.decode()


def test_a_row_that_is_deleted_leaves_with_the_next_release(desk: Client, corpus: Corpus) -> None:
    event = TimelineEvent.objects.get(key="first-batch")
    desk.post(f"/admin/timeline/timelineevent/{event.pk}/delete/", {"post": "yes"})
    assert queries.events(SLUG).total == 6
    desk.post(f"/admin/timeline/corpus/{corpus.pk}/release/", {"note": "Without the batch."})
    assert (queries.events(SLUG).total, queries.events(SLUG, as_of=1).total) == (5, 6)


def test_a_draft_that_breaks_a_rule_is_not_released(desk: Client, corpus: Corpus) -> None:
    report = Report.objects.get(key="hc-2")
    desk.post(f"/admin/timeline/report/{report.pk}/delete/", {"post": "yes"})
    answer = desk.post(f"/admin/timeline/corpus/{corpus.pk}/release/", {"note": "Without a report."})
    assert answer.status_code == 422
    assert "names the unknown report hc-2" in words(answer)
    assert queries.get_corpus(SLUG).release == 1
    discard = f"/admin/timeline/corpus/{corpus.pk}/release/?undo"
    assert "All unreleased changes are lost" in words(desk.get(discard))
    assert store.count_changes(corpus) != {}
    desk.post(discard)
    assert store.count_changes(corpus) == {}


@pytest.mark.slow
def test_saving_what_somebody_else_changed_meanwhile_is_refused(desk: Client) -> None:
    page = change(Thread, "lamp-and-memory")
    opened = form(desk, page, row_title="Mine")
    desk.post(page, form(desk, page, row_title="Theirs"))
    answer = desk.post(page, opened)
    assert answer.status_code == 302  # the row that was opened is in the draft no more
    assert Thread.objects.get(key="lamp-and-memory", until=None, dropped=False).row["title"] == "Theirs"


@pytest.mark.slow
def test_a_corpus_is_a_form_whose_empty_parts_are_as_usual(desk: Client, corpus: Corpus) -> None:
    page = f"/admin/timeline/corpus/{corpus.pk}/change/"
    before = corpus.written
    assert desk.post(page, form(desk, page)).status_code == 302
    corpus.refresh_from_db()
    assert orjson.loads(corpus.written) == orjson.loads(before), "saved unchanged it stays the same"
    assert "If empty: " in words(desk.get(page))
    changes = {"name": "Another name", "slug": "other", "vocabularies__families": "tide\nlamp", "lanes__official": "Harbour office"}
    assert desk.post(page, form(desk, page, **changes)).status_code == 302
    corpus.refresh_from_db()
    written = orjson.loads(corpus.written)
    assert (corpus.name, corpus.slug, written["vocabularies"]["families"]) == ("Another name", SLUG, ["tide", "lamp"])
    assert written["lanes"]["official"] == "Harbour office"
    assert queries.get_corpus(SLUG).name == "The harbour clock", "until it is released"
    assert desk.post(page, form(desk, page) | {"lanes__official": ""}).status_code == 302
    corpus.refresh_from_db()
    assert "official" not in orjson.loads(corpus.written).get("lanes", {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("homepage", "ftp://example.org", "begins with https://"),
        ("official_domains", "example.org\nno host", "Entry 2: write a host"),
        ("vocabularies__families", "Two Words", "Entry 1: use lower-case letters"),
        ("vocabularies__layers", "id: tide\nlane: sideways\nrule: x", "official"),
        ("vocabularies__layers", "tide", "Line 1 is no"),
        ("kind", "mood", "Select a valid choice"),
        ("name", "", "This field is required"),
        ("phrases__citation", "a\u202eb", "control characters"),
    ],
)
def test_what_the_check_says_of_a_corpus_stands_at_its_field(
    desk: Client, corpus: Corpus, field: str, value: str, says: str
) -> None:
    page = f"/admin/timeline/corpus/{corpus.pk}/change/"
    errors = desk.post(page, form(desk, page) | {field: value}).context["adminform"].form.errors
    assert errors.keys() == {field}
    assert says in str(errors[field])


@pytest.mark.slow
def test_a_corpus_begins_at_the_desk_with_a_name_and_a_kind(desk: Client) -> None:
    add = "/admin/timeline/corpus/add/"
    new = {"slug": "lighthouse", "name": "The lighthouse", "kind": "news", "seen": ""}
    assert "The corpus harbour-clock already exists." in words(desk.post(add, new | {"slug": SLUG}))
    wrong = desk.post(add, new | {"slug": "Two Words"}).context["adminform"].form.errors
    assert wrong.keys() == {"slug"}, "not also at the name, which is filled in"
    assert desk.post(add, new | {"kind": ""}).context["adminform"].form.errors.keys() == {"kind"}
    assert desk.post(add, new).status_code == 302
    made = Corpus.objects.get(slug="lighthouse")
    assert orjson.loads(made.written) == {"slug": "lighthouse", "name": "The lighthouse", "kind": "news"}


@pytest.mark.slow
def test_a_looker_reads_a_corpus_and_has_no_form(corpus: Corpus) -> None:
    looker, client = person("looker"), Client()
    looker.user_permissions.set(Permission.objects.filter(codename="view_corpus"))
    client.force_login(looker)
    page = f"/admin/timeline/corpus/{corpus.pk}/change/"
    assert "harbour-clock" in words(client.get(page))
    assert client.post(page, {"name": "x"}).status_code == 403


def test_nobody_but_editors_may_release(corpus: Corpus) -> None:
    visitor = at_desk()
    assert visitor.get(f"/admin/timeline/corpus/{corpus.pk}/release/").status_code == 403
    assert visitor.get("/admin/timeline/report/").status_code == 403


@pytest.mark.slow
def test_words_rows_and_dates_are_chosen_and_what_a_row_holds_comes_first(desk: Client, corpus: Corpus) -> None:
    page = change(TimelineEvent, "first-batch")
    shown = desk.get(page)
    fields = shown.context["adminform"].form.fields
    layers = [value for value, _ in fields["row_layer"].widget.choices]
    assert "official-science" in layers
    assert (fields["row_motifs"].widget.input_type, fields["row_date"].widget.input_type) == ("checkbox", "date")
    assert "Source URL" in words(shown)
    motifs = [value for value, _ in fields["row_motifs"].widget.choices]
    assert len(motifs) == 3
    assert desk.post(page, form(desk, page, row_motifs=motifs, row_layer=layers[-1]), follow=True).status_code == 200
    row = TimelineEvent.objects.draft(corpus.pk).get(key="first-batch").row
    assert (row["motifs"], row["layer"]) == (motifs, layers[-1])
    again = desk.get(change(TimelineEvent, "first-batch")).context["adminform"].form.fields["row_motifs"].widget.choices
    assert [value for value, _ in again] == motifs


@pytest.mark.slow
def test_a_report_is_written_without_a_name_of_a_program(desk: Client, corpus: Corpus) -> None:
    fields = desk.get("/admin/timeline/report/add/").context["adminform"].form.fields
    assert not [
        text for field in fields.values() for text in (field.label, field.help_text) if re.search("[a-z]_[a-z]", text or "")
    ]
    assert {"Source author policy", "Location label", "Location latitude"} <= {field.label for field in fields.values()}
    help_text = fields["row_anchors"].help_text
    assert help_text.startswith("Dated events that the report is linked to. One “Name: value” per line")
    assert fields["row_motifs"].help_text.startswith("What recurs from report to report")
    for line in ("Anchor ID: clock-repair", "Date: 2026-06-29", "Source URL: https://example.org/clock", "Layer: ", "Relation: "):
        assert f"\n{line}" in help_text.replace(">", ">\n")
    types = Report.objects.draft(corpus.pk).get(key="hc-1").row
    claims = f"Text: The chime is back.\nClaim type: {types['claims'][0]['claim_type']}"
    page = change(Report, "hc-1")
    wrong = form(desk, page, row_claims=claims, row_location__latitude=91, row_location__label="")
    wrong["row_source__source_url"] = "harbour"
    errors = desk.post(page, wrong).context["adminform"].form.errors
    assert "Entry 1, Status is missing" in str(errors["row_claims"])
    assert errors["row_location__label"] == ["Is missing"]
    assert errors["row_location__latitude"] == ["Input should be less than or equal to 90"]
    assert str(errors["row_source__source_url"][0]).startswith("Not a web address")
    status = types["claims"][0]["status"]
    answer = desk.post(
        page,
        form(
            desk,
            page,
            row_claims=f"{claims}\nstatus: {status}\nSource URL: https://example.org/harbour/x",
            row_source__language="de",
            row_location__label="The quay",
        ),
    )
    assert answer.status_code == 302, words(answer)
    row = Report.objects.draft(corpus.pk).get(key="hc-1").row
    assert [claim["text"] for claim in row["claims"]] == ["The chime is back."]
    assert (row["source"], row["location"]["label"]) == (types["source"] | {"language": "de"}, "The quay")


@pytest.mark.slow
def test_a_saved_row_is_named_by_its_title_and_ids_are_typed_where_there_are_many(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = change(Thread, "lamp-and-memory")
    saved = desk.post(page, form(desk, page, row_title="The lamp"), follow=True).content.decode()
    assert re.search("The thread “<a [^>]*>The lamp</a>” was changed successfully", saved)
    assert f'href="/timeline/{SLUG}/threads">Public page as it is now</a>' in saved
    monkeypatch.setattr(forms, "OFFERED", 1)
    fields = desk.get(change(Thread, "lamp-and-memory")).context["adminform"].form.fields
    assert fields["row_report_ids"].help_text == "One per line."


@pytest.mark.slow
def test_a_new_row_begins_in_the_corpus_of_its_list_and_is_offered_its_words_alone(desk: Client, corpus: Corpus) -> None:
    other = Corpus.objects.get(pk=corpus.pk)
    other.pk, other.slug = None, "tides"
    other.written = orjson.dumps(orjson.loads(other.written) | {"kind": "news", "vocabularies": {}}).decode()
    other.save()

    def get_layers(form: Any) -> set[str]:
        return {value for value, _ in form.fields["row_layer"].widget.choices}

    add = "/admin/timeline/timelineevent/add/"
    of_list = desk.get(f"{add}?_changelist_filters=corpus__id__exact%3D{other.pk}").context["adminform"].form
    of_all = desk.get(add).context["adminform"].form
    refused = desk.post(add, {"corpus": corpus.pk}).context["adminform"].form
    assert of_list["corpus"].value() == str(other.pk)
    assert "official-science" in get_layers(refused) - get_layers(of_list)
    assert get_layers(of_all) == get_layers(of_list) | get_layers(refused)


@pytest.mark.slow
def test_a_thread_needs_no_frames(desk: Client) -> None:
    page = change(Thread, "lamp-and-memory")
    assert desk.post(page, form(desk, page) | {"row_belief_frame": "", "row_neutral_frame": ""}).status_code == 302
    row = Thread.objects.get(key="lamp-and-memory", until=None, dropped=False).row
    assert (row["belief_frame"], row["neutral_frame"]) == (None, None)


def test_a_new_corpus_shows_the_fields_it_needs_and_presets_no_kind(desk: Client) -> None:
    opened = desk.get("/admin/timeline/corpus/add/").context["adminform"]
    first, *others = opened
    assert [field for field in first.fields if field != "seen"] == ["name", "slug", "kind", "about", "licence"]
    assert all(section.is_collapsible for section in others)
    assert not opened.form["kind"].value()
    assert "If empty: All rights reserved." in opened.form["licence"].help_text


@pytest.mark.slow
def test_another_row_begins_in_the_same_corpus(desk: Client, corpus: Corpus) -> None:
    add = "/admin/timeline/timelineevent/add/"
    shown = save(desk, add, EVENT | {"corpus": corpus.pk, "_addanother": "1"}, follow=True)
    assert shown.context["adminform"].form["corpus"].value() == str(corpus.pk)
