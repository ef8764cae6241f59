"""Whatever a small wire goes through, its dump restores it."""

import datetime as dt
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import InvalidArgument
from sources.models import Publication
from tests.examples import examples
from tests.factories import NOW, entry, take
from tests.wire.archives import comes_back_whole, empty_wire, replace_publication
from wire.ingest import corrections
from wire.models import EditorTake, Story
from wire.publishing.publish import publish_pending
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

PUBLISHERS = ["TechCrunch", "Reuters", "Google News"]
HEADLINES = st.sampled_from(
    ["Quince buys Lantern for $90 million", "Quince buys Lantern", "Gherkin ships", "⚙️ Ünïcode “quotes” \\ <b>"]
)
TEXTS = st.characters(codec="utf-8", exclude_characters="\x00")
TAKE = st.tuples(
    st.just("take"),
    st.fixed_dictionaries(
        {
            "title": HEADLINES | st.text(TEXTS, min_size=1, max_size=30),
            "url": st.integers(0, 5).map("https://techcrunch.com/{}".format),
            "publisher": st.sampled_from(PUBLISHERS),
            "published_at": st.integers(10, 15).map("2026-01-{}T10:00:00Z".format),
            "guid": st.sampled_from(["", "g-1", "g-2"]),
            "author": st.sampled_from(["", "Ada Quill"]),
            "credited_source": st.sampled_from(["", "Daily Bugle"]),
            "summary": st.text(TEXTS, max_size=600),
        }
    ),
)
PUBLISH = st.tuples(st.just("publish"), st.integers(0, 9))
STEPS = st.one_of(
    TAKE,
    PUBLISH,
    st.tuples(st.just("correct"), HEADLINES),
    st.tuples(st.just("withdraw"), st.none()),
    st.tuples(st.just("classify"), st.sampled_from(Category)),
    st.tuples(st.just("write"), st.text(TEXTS, max_size=40)),
    st.tuples(st.just("replace"), st.none()),
    st.tuples(st.just("join"), st.none()),
    st.tuples(st.just("part"), st.none()),
    st.tuples(st.just("merge"), st.none()),
)
LIVES = st.tuples(st.lists(TAKE, min_size=2, max_size=6), st.lists(STEPS, max_size=8)).map(lambda parts: [*parts[0], *parts[1]])


def live_one_life(steps: list[tuple[str, Any]]) -> None:
    for number, (step, value) in enumerate(steps):
        now = NOW + dt.timedelta(days=number)
        story = Story.objects.order_by("chatbotnews_id").values_list("chatbotnews_id", flat=True).first()
        events = Story.objects.live().order_by().values_list("event", flat=True).distinct()
        one, other = min(events, default=""), max(events, default="")
        match step:
            case "take":
                take(entry(**value), now=now)
            case "publish":
                publish_pending(now=now + dt.timedelta(days=value))
            case "write":
                EditorTake.objects.update_or_create(wire_date=dt.date(2026, 1, 12), defaults={"markdown": value})
            case "replace":
                newest = Publication.objects.active().exclude(name__in=PUBLISHERS).order_by("slug")[0]
                replace_publication(newest.slug, f"quill-{number}", f"Quill {number}")
            case "correct" if story:
                with suppress(InvalidArgument):  # one that was withdrawn, or a headline of markup alone
                    corrections.correct_texts(story, headline=value, reason="Wrong.", now=now)
            case "withdraw" if story:
                corrections.withdraw_story(story, reason="Gone.", now=now)
            case "join" if one != other:
                corrections.join_storylines(other, one)
            case "part" if one:
                with suppress(InvalidArgument):  # one that begins its storyline
                    corrections.split_storyline(other)
            case "merge" if one != other:
                corrections.merge_events([other, one], reason="One.", now=now)
            case "classify" if story:
                with suppress(InvalidArgument):
                    corrections.classify_story(story, category=value, topics=[Topic.XAI], reason="So.", now=now)


@pytest.mark.slow
@given(LIVES)
@examples(5)
def test_any_small_wire_comes_back_whole(tmp_path: Path, steps: list[tuple[str, Any]]) -> None:
    empty_wire()
    live_one_life(steps)
    comes_back_whole(tmp_path)
