"""Which stories are one event."""

import datetime as dt
import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wire.snapshots.cluster import NOTICED, WINDOW, Item, _alike, _Vectors, assign, nearest

NOON = dt.datetime(2026, 1, 15, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
DEAL = ("Osprey Labs buys Quince Robotics for $9 billion", "Osprey Labs to acquire Quince Robotics in $9 billion deal")
ALIKE = ("Quince Robotics is bought by Osprey", "Osprey board agrees on a price for rival Quince")
OTHER = "Marmalade Compute opens a data center on a glacier"


def item(name: str, headline: str, at: dt.datetime = NOON, event_id: str | None = None) -> Item:
    return Item(name, headline, at, event_id)


def groups(items: list[Item]) -> set[frozenset[str]]:
    events = assign(items)
    return {frozenset(name for name in events if events[name] == event) for event in events.values()}


def test_two_headlines_about_one_happening_are_one_event_with_the_first_ones_id() -> None:
    assert assign([item("b", DEAL[0], NOON + HOUR), item("a", DEAL[1]), item("c", OTHER)]) == {"a": "a", "b": "a", "c": "c"}


def test_a_shared_name_or_phrase_alone_joins_nothing() -> None:
    headlines = ["OpenAI opens an office in Paris", "OpenAI releases a new image model", "Why OpenAI wants your calendar"]
    assert len(groups([item(str(n), headline) for n, headline in enumerate(headlines)])) == 3


ADS = (
    (
        "Ads Are Coming to ChatGPT",
        "OpenAI will test advertisements in ChatGPT for users of the free and Go tiers in the United States.",
    ),
    ("OpenAI to put advertisements in ChatGPT", "OpenAI says free and Go users of ChatGPT in the United States will soon see ads."),
)


def test_summaries_join_what_headlines_alone_do_not() -> None:
    def told(one: str, two: str) -> list[Item]:
        pairs = zip("ab", ADS, (one, two), strict=True)
        return [Item(name, headline, NOON, None, summary, "") for name, (headline, _), summary in pairs]

    assert len(groups(told("", ""))) == 2
    assert len(groups(told(ADS[0][1], ADS[1][1]))) == 1


def test_two_stories_of_one_publisher_must_be_more_alike() -> None:
    def told(*publishers: str) -> list[Item]:
        return [Item(name, text, NOON, None, "", one) for name, text, one in zip("ab", ALIKE, publishers, strict=True)]

    assert len(groups(told("Wired", "Reuters"))) == 1
    assert len(groups(told("Wired", "Wired"))) == 2


def test_another_version_is_another_event_and_no_answer() -> None:
    headlines = ["OpenAI releases GPT-5.3 to all developers", "OpenAI releases GPT-5.4 to all developers"]
    assert len(groups([item(str(n), headline) for n, headline in enumerate(headlines)])) == 2
    assert nearest(headlines[1], [item("a", headlines[0])]) is None


def test_a_name_swapped_is_not_confirmed() -> None:
    known = [item("a", "Apple chooses Google's Gemini for Siri")]
    assert nearest("Apple picks Gemini for Siri", known) is not None
    for name in (
        "Apple picks Claude for Siri",
        "Apple chooses Anthropic's Claude for Siri",
        "Samsung chooses Google's Gemini for Siri",
    ):
        assert nearest(name, known) is None


def test_stories_more_than_ten_days_apart_are_never_one_event() -> None:
    assert len(groups([item("a", DEAL[0]), item("b", DEAL[0], NOON + WINDOW + HOUR)])) == 2
    assert len(groups([item("a", DEAL[0]), item("b", DEAL[0], NOON + HOUR)])) == 1


def test_no_chain_of_look_alikes_spans_more_than_ten_days() -> None:
    weekly = [item(str(n), DEAL[0], NOON + n * dt.timedelta(days=4)) for n in range(6)]
    for group in groups(weekly):
        days = sorted(int(name) * 4 for name in group)
        assert days[-1] - days[0] <= 10


def test_what_was_fixed_stays_apart_and_together() -> None:
    fixed = [item("a", DEAL[0], event_id="one"), item("b", DEAL[1], event_id="two"), item("c", OTHER, event_id="one")]
    assert assign(fixed) == {"a": "one", "b": "two", "c": "one"}


def test_a_new_story_joins_a_fixed_event_and_takes_its_id() -> None:
    assert assign([item("z", DEAL[0], NOON + HOUR, "old"), item("a", DEAL[1])]) == {"z": "old", "a": "old"}


def test_nothing_is_an_answer_too() -> None:
    assert assign([]) == {}
    assert nearest("anything", []) is None
    assert assign([item("a", ""), item("b", "")]) == {"a": "a", "b": "b"}


def test_the_nearest_story_answers_to_a_headline_and_a_stranger_to_none() -> None:
    known = [item("a", DEAL[0]), item("b", OTHER)]
    found = nearest("Quince Robotics bought by Osprey Labs", known)
    assert found is not None
    assert found[0].chatbotnews_id == "a"
    assert 0.5 <= found[1] <= 1
    assert nearest("Lantern recalls its talking kettle", known) is None


WORDS = ["osprey", "quince", "buys", "glacier", "model", "opens", "robot", "court", "OpenAI", "kettle"]


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.integers(0, 400)), max_size=25), st.integers()
)
def test_the_order_of_arrival_makes_no_difference(told: list[tuple[list[str], int]], seed: int) -> None:
    items = [item(f"{n:02d}", " ".join(words), NOON + hours * HOUR) for n, (words, hours) in enumerate(told)]
    shuffled = random.Random(seed).sample(items, len(items))
    assert assign(items) == assign(shuffled)


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1), max_size=5), max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_whoever_is_alike_is_found(told: list[dict[str, float]], settled: list[bool]) -> None:
    """As if each were compared with each."""
    vectors = _Vectors(told)
    whole = np.zeros((len(told), 8))
    whole[vectors.texts, vectors.features] = vectors.weights
    found = {(one, two): similarity for one, two, similarity in _alike(vectors, settled[: len(told)])}
    for one in range(len(told)):
        for two in range(one):
            expected = 0.0 if settled[one] and settled[two] else whole[one] @ whole[two]
            similarity = found.pop((one, two), 0.0) or found.pop((two, one), 0.0)
            assert abs(similarity - expected) < 1e-9 or max(similarity, expected) < NOTICED + 1e-9
    assert not found
