"""The editors' own takes at the desk: of days that are open, one editor after another, and with a way back."""

import datetime as dt
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from sources.models import Publication
from tests.factories import DAY, NOW, entry, publish, published
from tests.wire.archives import dump
from tests.wire.desk import at_desk, story_form, words
from tests.wire.publishing.test_concurrency import at_once
from wire import queries
from wire.models import EditorTake, Snapshot, Story

pytestmark = pytest.mark.django_db
ADD = "/admin/wire/editortake/add/"
LIST = "/admin/wire/editortake/"


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def today() -> dt.date:
    """A day that is open and holds a story."""
    now = dt.datetime.now(dt.UTC)
    publish(entry(published_at=now), now=now)
    return now.date()


def page_of(day: dt.date) -> str:
    return f"{LIST}{EditorTake.objects.get(wire_date=day).pk}/change/"


def opened(desk: Client, day: dt.date) -> dict[str, Any]:
    """What the form of a day's take holds when its page is opened."""
    found = re.search(r'<input type="hidden" name="seen" value="([^"]*)"', desk.get(page_of(day)).content.decode())
    assert found
    return {"markdown": EditorTake.objects.get(wire_date=day).markdown, "seen": found[1]}


def written(desk: Client, day: dt.date, markdown: str) -> None:
    assert desk.post(ADD, {"wire_date": day, "markdown": markdown}).status_code == 302
    assert queries.get_editor_take(day).markdown.startswith(markdown)


def test_a_take_of_a_sealed_day_is_refused_and_no_correction_publishes_it(desk: Client) -> None:
    story = published()
    answer = desk.post(ADD, {"wire_date": DAY, "markdown": "# Mine"})
    assert "2026-01-15 is final" in words(answer)
    assert "# Mine" in answer.content.decode(), "the text is not lost"
    assert not EditorTake.objects.exists()
    form = story_form(story, author="Ada", reason="Typo in the author.")
    assert desk.post(f"/admin/wire/story/{story.pk}/change/", form).status_code == 302
    assert desk.get(f"/api/provenance/{DAY}.json").json()["reason"] == "Typo in the author."
    assert queries.get_editor_take(DAY).title == "Editor's Take: 15 January 2026"


@pytest.mark.slow
def test_the_take_of_a_day_that_sealed_meanwhile_stays_as_it_is(desk: Client) -> None:
    EditorTake.objects.create(wire_date=DAY, markdown="# Ours")
    publish(entry())
    for markdown in ("# Other", ""):
        answer = desk.post(page_of(DAY), opened(desk, DAY) | {"markdown": markdown})
        assert "2026-01-15 is final" in words(answer)
    assert EditorTake.objects.get().markdown == "# Ours"
    assert Snapshot.objects.count() == 1


def test_a_take_of_a_day_without_stories_waits_for_the_first_and_one_of_a_day_to_come_is_refused(desk: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    foreseen = {"wire_date": now.date() + dt.timedelta(days=1), "markdown": "# Foreseen"}
    assert "is in the future" in words(desk.post(ADD, foreseen))
    answer = desk.post(ADD, {"wire_date": now.date(), "markdown": "# Early"}, follow=True)
    assert "It is published with the first story of the day." in words(answer)
    assert queries.get_editor_take(today()).title == "Early"
    assert EditorTake.objects.count() == 1


@pytest.mark.slow
def test_a_take_left_empty_gives_the_day_its_generated_brief_again_unless_the_wire_refuses(desk: Client) -> None:
    day = today()
    generated = queries.get_editor_take(day).markdown
    written(desk, day, "# Mine")
    fortune = Publication.objects.filter(slug="fortune")
    fortune.update(name="Misfortune")
    assert "Nothing was changed." in words(desk.post(page_of(day), opened(desk, day) | {"markdown": ""}, follow=True))
    assert (EditorTake.objects.get().markdown, LogEntry.objects.filter(action_flag=3).count()) == ("# Mine", 0)
    fortune.update(name="Fortune")
    answer = desk.post(page_of(day), opened(desk, day) | {"markdown": " \n"}, follow=True)
    assert answer.redirect_chain == [(LIST, 302)]
    assert "Cleared: the generated brief is back." in words(answer)
    assert queries.get_editor_take(day).markdown == generated
    assert not EditorTake.objects.exists()
    log = LogEntry.objects.latest("pk")
    assert (log.is_deletion(), log.get_change_message()) == (True, "Cleared: the generated brief is back.")


@pytest.mark.slow
def test_a_form_that_was_opened_before_another_editor_saved_or_does_not_say_changes_nothing(desk: Client) -> None:
    day = today()
    assert "Write a text." in words(desk.post(ADD, {"wire_date": day, "markdown": ""}))
    written(desk, day, "# Draft")
    other = at_desk("publisher")
    first, second = opened(desk, day), opened(other, day)
    assert other.post(page_of(day), first | {"markdown": "# First"}).status_code == 302
    for seen in (second, {"seen": ""}, {"seen": "2026-01-15"}, {}):
        for markdown in ("# Second", ""):
            answer = desk.post(page_of(day), seen | {"markdown": markdown})
            assert "Somebody else saved this meanwhile." in words(answer)
            assert markdown in answer.content.decode(), "the text is not lost"
    assert queries.get_editor_take(day).title == "First"
    assert EditorTake.objects.get().author == "publisher"


@pytest.mark.slow
def test_it_says_when_it_was_written_last(desk: Client, tmp_path: Path) -> None:
    day = today()
    written(desk, day, "# Draft")
    EditorTake.objects.update(updated_at=NOW)
    assert desk.post(page_of(day), opened(desk, day) | {"markdown": "# Final"}).status_code == 302
    after = EditorTake.objects.get().updated_at
    assert after > NOW
    records = [json.loads(line) for line in dump(tmp_path / "dump.ndjson").splitlines()]
    (take,) = [record for record in records if record.get("kind") == "take"]
    assert dt.datetime.fromisoformat(take["updated_at"]) == after.replace(microsecond=0)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_editors_who_save_at_once_one_is_kept_and_the_others_are_told() -> None:
    day = today()
    desks = [at_desk("editor"), at_desk("publisher"), at_desk("editor", "publisher")]
    written(desks[0], day, "# Draft")
    page, form = page_of(day), opened(desks[0], day)
    texts = [f"# Number {number}" for number in range(3)]
    posts: list[Callable[[], Any]] = [
        partial(desk.post, page, form | {"markdown": text}) for desk, text in zip(desks, texts, strict=True)
    ]
    assert sorted(answer.status_code for answer in at_once(posts)) == [200, 200, 302]
    assert queries.get_editor_take(day).title == EditorTake.objects.get().markdown.removeprefix("# ")


def test_a_second_take_of_a_day_is_refused_and_what_was_typed_stays(desk: Client) -> None:
    day = today()
    written(desk, day, "# Mine\n\nOne editor's brief.")
    answer = desk.post(ADD, {"wire_date": day, "markdown": "Another editor's brief."})
    assert answer.status_code == 200
    assert f"{day.day} {day:%b %Y} already has a take: change that one . The text below was not saved." in words(answer)
    assert f'<a href="{page_of(day)}">change that one</a>' in answer.content.decode()
    assert "already exists" not in words(answer)
    assert "Another editor&#x27;s brief." in answer.content.decode()


def test_a_take_without_a_title_of_its_own_has_the_days(desk: Client, client: Client) -> None:
    day = today()
    text = "A quiet day. [OpenAI][1] shipped.\n\n## More\n\nNo.\n\n[1]: https://openai.example/"
    answer = desk.post(ADD, {"wire_date": day, "markdown": text}, follow=True)
    assert f'See the <a href="/editor-take/{day}">public page</a>.' in answer.content.decode()
    found = queries.get_editor_take(day)
    assert found.title == f"Editor's Take: {day.day} {day:%B %Y}"
    assert f"Take of {day}, A quiet day. Source: " in found.citation_ready
    assert client.get(f"/editor-take/{day}").content.decode().count("<h1") == 1
    assert 'A quiet day. <a href="https://openai.example/">OpenAI</a> shipped.' in client.get(f"/day/{day}").content.decode()


def test_the_form_starts_from_the_generated_take_of_the_newest_open_day(desk: Client) -> None:
    day = today()
    initial = desk.get(ADD).context["adminform"].form.initial
    assert initial["wire_date"] == day
    assert initial["markdown"].startswith("The day's one story is “[")
    assert initial["markdown"] in queries.get_editor_take(day).markdown
    assert "by rules" not in initial["markdown"]
    assert f"The form starts from the generated brief of {day:%-d %b %Y}." in words(desk.get(ADD))


@pytest.mark.slow
def test_the_form_starts_from_another_day_when_its_address_says_so(desk: Client) -> None:
    publish(entry())
    initial = desk.get(f"{ADD}?wire_date={DAY}").context["adminform"].form.initial
    assert (initial["wire_date"], initial["markdown"].startswith("The day's one story")) == (DAY, True)
    assert desk.get(f"{ADD}?wire_date=2001-01-01").context["adminform"].form.initial["markdown"] == ""
    empty = desk.get(f"{ADD}?wire_date=yesterday")
    assert "No published day needs a take" in words(empty), "the only day is final"


@pytest.mark.slow
def test_a_day_that_has_a_take_leads_to_it(desk: Client) -> None:
    day = today()
    written(desk, day, "# Mine")
    assert desk.get(f"{ADD}?wire_date={day}")["Location"] == page_of(day)
    assert "wire_date" not in desk.get(ADD).context["adminform"].form.initial


@pytest.mark.slow
def test_a_preview_shows_the_take_as_its_page_will_and_saves_nothing(desk: Client) -> None:
    day = today()
    text = "A quiet day. [OpenAI](https://openai.example/) <b>shipped</b>."
    answer = desk.post(ADD, {"wire_date": day, "markdown": text, "_preview": "Preview"})
    shown = answer.content.decode()
    assert f"<h1>Editor's Take: {day.day} {day:%B %Y}</h1>" in shown
    assert 'A quiet day. <a href="https://openai.example/">OpenAI</a> &lt;b&gt;shipped&lt;/b&gt;.' in shown
    assert "Written by the editors of ChatbotNews.ai" in shown
    assert not EditorTake.objects.exists()
    assert "lead nowhere" not in shown
    own = Story.objects.published().first()
    assert own is not None
    text = f"[A](https://wire.example/story/cbn-nope) [b](/story/{own.chatbotnews_id})"
    shown = words(desk.post(ADD, {"wire_date": day, "markdown": text, "_preview": "Preview"}))
    assert "Its links lead nowhere: there is no story cbn-nope." in shown
    assert "To bring a generated brief back, open the saved take" in words(desk.post(ADD, {"wire_date": day, "markdown": ""}))
    written(desk, day, "# Mine")
    changed = desk.post(page_of(day), opened(desk, day) | {"markdown": "# Other", "_preview": "Preview"})
    assert "<h1>Other</h1>" in changed.content.decode()
    assert queries.get_editor_take(day).title == "Mine"
    cleared = desk.post(page_of(day), opened(desk, day) | {"markdown": "", "_preview": "Preview"})
    assert "the generated brief comes back" in words(cleared)
    assert EditorTake.objects.exists()
