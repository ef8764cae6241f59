"""What the wire said at a moment, and pinned citations, which say for ever what they said."""

import datetime as dt
from email.utils import parsedate_to_datetime

import pytest
from django.test import Client

from citations.format.formats import CitationFormat, cite_story
from config.errors import NotFound, Withdrawn
from tests.factories import DAY, NOW, entry, publish, published
from tests.mcpserver.asgi import request
from wire import queries
from wire.ingest import corrections
from wire.models import Story
from wire.publishing.story_json import to_citable
from wire.schemas.story import StoryOut
from wire.text.choices import Category

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)


def corrected() -> Story:
    """A story that was corrected an hour after it was published, and withdrawn an hour after that."""
    story = published(title="Quince Robotics sells 12 robots")
    corrections.correct_texts(story.chatbotnews_id, headline="Quince Robotics sells 21 robots", reason="A slip.", now=NOW + HOUR)
    corrections.withdraw_story(story.chatbotnews_id, reason="No robot was sold.", now=NOW + 2 * HOUR)
    return story


def as_of(story: Story, moment: dt.datetime) -> StoryOut:
    return StoryOut.model_validate_json(queries.get_story_as_of(story.chatbotnews_id, moment))


def test_a_story_is_what_it_was_at_each_moment() -> None:
    story = corrected()
    assert (as_of(story, NOW).headline, as_of(story, NOW).status) == ("Quince Robotics sells 12 robots", "live")
    later = as_of(story, NOW + HOUR)
    assert (later.headline, later.status, later.revision) == ("Quince Robotics sells 21 robots", "corrected", 2)
    assert as_of(story, NOW + 2 * HOUR).status == "withdrawn"
    assert as_of(story, NOW + 2 * HOUR).citation_objects is None
    with pytest.raises(NotFound, match="not public then"):
        as_of(story, NOW - HOUR)


def test_a_day_and_its_provenance_are_those_of_the_moment() -> None:
    publish(entry())
    publish(entry(), now=NOW + HOUR)
    first, second = (queries.get_day_as_of(moment) for moment in (NOW, NOW + HOUR))
    assert [len(day.stories) for day in (first, second)] == [1, 2]
    assert queries.get_provenance_as_of(NOW, DAY).revision == 1
    assert queries.get_provenance_as_of(NOW + 2 * HOUR).revision == 2
    assert [memento.url[-10:] for memento in queries.list_mementos(DAY)] == ["revision=1", "revision=2"]
    with pytest.raises(NotFound, match="published nothing by then"):
        queries.get_day_as_of(NOW - HOUR)
    with pytest.raises(NotFound, match="was not yet published then"):
        queries.get_day_as_of(NOW - HOUR, DAY)


@pytest.mark.parametrize("category", Category)
@pytest.mark.usefixtures("sample_wire")
def test_a_category_as_of_now_is_the_category(category: Category) -> None:
    moment, cursor, then, now = dt.datetime(2026, 10, 17, tzinfo=dt.UTC), None, list[bytes](), None
    while True:
        page = queries.get_category_as_of(category, moment, 7, cursor)
        then += page.story_json
        cursor = page.head.next_cursor
        if cursor is None:
            break
    now = queries.get_category(category, 100).story_json
    assert then == now
    earlier = queries.get_category_as_of(category, dt.datetime(2026, 10, 1, tzinfo=dt.UTC))
    assert earlier.story_json == []


def test_a_pinned_citation_says_for_ever_what_it_said(client: Client) -> None:
    story = published(title="Quince Robotics sells 12 robots", summary="")
    pin = f"{story.chatbotnews_id}@r1"
    before = queries.get_pinned_citation(pin, CitationFormat.LAYERED)
    assert before is not None
    assert before.citation.endswith(f"/story/{pin}")
    corrections.correct_texts(story.chatbotnews_id, headline="Quince Robotics sells 21 robots", reason="A slip.", now=NOW + HOUR)
    assert queries.get_pinned_citation(pin, CitationFormat.LAYERED) == before
    (found,) = queries.verify_citation(before.citation).citations
    assert (found.verdict, found.cited_revision, found.revision) == ("outdated", 1, 2)
    whole = queries.get_pinned_story(f"{pin}:{story.current.story_sha256[:12]}")  # type: ignore[union-attr]
    assert StoryOut.model_validate_json(whole or b"").headline == "Quince Robotics sells 12 robots"
    assert client.get(f"/story/{pin}")["Location"] == f"/story/{story.chatbotnews_id}#revision-1"
    assert client.get(f"/api/stories/{pin}.json").json()["revision"] == 1


def test_a_pin_that_does_not_hold_is_refused() -> None:
    story = corrected()
    for wrong in ("@r9", "@r1:00000000", "@r1:" + "f" * 64):
        with pytest.raises(NotFound):
            queries.get_pinned_story(story.chatbotnews_id + wrong)
    assert queries.get_pinned_story(story.chatbotnews_id) is None
    with pytest.raises(Withdrawn):
        queries.get_pinned_citation(f"{story.chatbotnews_id}@r1", CitationFormat.LAYERED)
    wrong_hash = f"See http://localhost:8000/story/{story.chatbotnews_id}@r1:00000000"
    (found,) = queries.verify_citation(wrong_hash).citations
    assert found.verdict == "wrong"


def test_a_memento_names_its_moment_and_its_original(client: Client) -> None:
    story = published()
    path = f"/api/stories/{story.chatbotnews_id}.json"
    answer = client.get(f"{path}?as_of=2026-01-16T12:00:00Z")
    assert answer["Memento-Datetime"] == "Fri, 16 Jan 2026 12:00:00 GMT"
    assert f'<http://localhost:8000{path}>; rel="original"' in answer["Link"]
    assert answer.json() == client.get(path).json()


@pytest.mark.parametrize(("path", "asked", "status"), [
    ("/api/today.json", "Fri, 16 Jan 2026 12:00:00 GMT", 302),
    ("/api/today.json", "some time", 400),
    ("/api/search.json", "Fri, 16 Jan 2026 12:00:00 GMT", 404),
    ("//elsewhere.example/", "Fri, 16 Jan 2026 12:00:00 GMT", 404),
])  # fmt: skip
def test_a_timegate_leads_to_the_memento(path: str, asked: str, status: int) -> None:
    answer = request("GET", f"/api/timegate{path}", headers={"accept-datetime": asked})
    assert answer.status == status
    if status == 302:
        assert answer["location"] == "http://localhost:8000/api/today.json?as_of=2026-01-16T12:00:00Z"
        assert answer["vary"] == "accept-datetime"


def test_a_moment_to_come_is_no_memento(client: Client) -> None:
    published()
    said = client.get("/api/today.json?as_of=2126-01-01T00:00:00Z")["Memento-Datetime"]
    assert parsedate_to_datetime(said) <= dt.datetime.now(dt.UTC)
    leads_to = request("GET", "/api/timegate/api/today.json", headers={"accept-datetime": "Tue, 01 Jan 2126 00:00:00 GMT"})
    assert "2126" not in str(leads_to["location"])


def test_a_timegate_keeps_what_else_is_asked() -> None:
    found = request(
        "GET", "/api/timegate/api/categories/launches.json?limit=2", headers={"accept-datetime": "Fri, 16 Jan 2026 12:00:00 GMT"}
    )
    assert str(found["location"]).endswith("/api/categories/launches.json?limit=2&as_of=2026-01-16T12:00:00Z")


def test_a_pinned_story_has_pinned_permalinks_and_none_once_it_was_withdrawn() -> None:
    story = published(title="Quince Robotics sells 12 robots", summary="")
    pin = f"{story.chatbotnews_id}@r1"
    found = StoryOut.model_validate_json(queries.get_pinned_story(pin) or b"")
    assert found.permalink.endswith(pin)
    assert found.citation_objects is not None
    assert queries.verify_citation(found.citation_objects.layered_ready).verified == 1
    corrections.withdraw_story(story.chatbotnews_id, reason="It was made up.", now=NOW + HOUR)
    found = StoryOut.model_validate_json(queries.get_pinned_story(pin) or b"")
    assert (found.status, found.citation_objects) == ("withdrawn", None)


def test_a_pin_where_none_is_taken_says_so() -> None:
    story = published()
    for asked in (queries.view_event, queries.compare_coverage, queries.get_consensus):
        with pytest.raises(NotFound) as error:
            asked(f"{story.chatbotnews_id}@r1") if asked is not queries.get_consensus else asked(
                story_id=f"{story.chatbotnews_id}@r1"
            )
        assert "A pin is @r" in error.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("form", [CitationFormat.INLINE, CitationFormat.LAYERED])
@pytest.mark.parametrize("withdrawn", [False, True])
def test_a_citation_without_an_id_of_what_was_changed_since_is_outdated(form: CitationFormat, withdrawn: bool) -> None:
    published(title="Nobody here sells robots any more", summary="")
    story = published(title="Quince Robotics sells 12 robots to the town", summary="")
    assert story.current is not None
    cited = cite_story(to_citable(story, story.current), form).split(" Source:")[0]
    assert queries.verify_citation(cited).verified == 1
    if withdrawn:
        corrections.withdraw_story(story.chatbotnews_id, reason="It was made up.", now=NOW + HOUR)
    else:
        corrections.correct_texts(story.chatbotnews_id, headline="A bakery in the town opens", reason="A mix-up.", now=NOW + HOUR)
    (found,) = queries.verify_citation(cited).citations
    assert (found.verdict, found.story_id) == ("outdated", story.chatbotnews_id), found


@pytest.mark.usefixtures("sample_wire")
def test_minutes_are_figures_and_makers_are_no_independent_voices() -> None:
    phone = Story.objects.filter(current__headline__contains="Saturn Telephone")[0]
    found = queries.compare_coverage(phone.chatbotnews_id)
    assert any("79 minutes" in report.figures or "79-minute" in report.figures for report in found.reports), found.reports
    assert not any(report.independent for report in found.reports if report.tier == 1)


@pytest.mark.usefixtures("sample_wire")
def test_coverage_side_by_side_tells_what_only_one_says_and_which_figures_differ() -> None:
    library = Story.objects.filter(current__headline__contains="40,000-book library")[0]
    found = queries.compare_coverage(library.chatbotnews_id)
    assert len(found.reports) >= 4
    assert [report.published_at for report in found.reports] == sorted(report.published_at for report in found.reports)
    verge = next(report for report in found.reports if report.publisher == "The Verge")
    assert {"charges", "policy"} <= set(verge.only_here)
    assert all("40,000 books" in report.figures for report in found.reports if report.publisher in {"Reuters", "The Verge"})


def test_words_of_an_earlier_revision_are_outdated_and_wrong_under_the_pin_of_another() -> None:
    story = published(title="Quince Robotics sells 12 robots", summary="")
    corrections.correct_texts(story.chatbotnews_id, headline="Quince Robotics sells 21 robots", reason="A slip.", now=NOW + HOUR)
    link = f"http://localhost:8000/story/{story.chatbotnews_id}"
    for pin, verdict in (("", "outdated"), ("@r1", "outdated"), ("@r2", "wrong")):
        (found,) = queries.verify_citation(f"Quince Robotics sells 12 robots ({link}{pin}).").citations
        assert found.verdict == verdict, (pin, found)
        layered = "According to TechCrunch, as summarized by ChatbotNews.ai, Quince Robotics sells 12 robots. Source: "
        (found,) = queries.verify_citation(layered + link + pin).citations
        assert found.verdict == verdict, (pin, found)


@pytest.mark.parametrize("asked", ["Fri, 31 Dec 9999 23:59:59 -2359", "Fri, 16 Jan 2026 12:00:00 +99999999999999"])
def test_a_moment_that_no_clock_shows_is_refused(asked: str) -> None:
    assert request("GET", "/api/timegate/api/today.json", headers={"accept-datetime": asked}).status == 400
