"""Which stories are one event."""

import datetime as dt
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.publishing.grouping import linkage
from wire.publishing.grouping.candidates import WINDOW, Item
from wire.publishing.grouping.cluster import DOUBTFUL, group_stories, score_pairs
from wire.publishing.grouping.headline_lookup import find_nearest_story
from wire.publishing.grouping.linkage import Pairs, link_items
from wire.publishing.grouping.pair_context import build_context_columns
from wire.publishing.grouping.pair_features import TermIndex
from wire.publishing.grouping.pair_model import load_models

NOON = dt.datetime(2026, 1, 15, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
DEAL = ("Osprey Labs buys Quince Robotics for $9 billion", "Osprey Labs to acquire Quince Robotics in $9 billion deal")
ALIKE = ("Quince Robotics is bought by Osprey", "Osprey board agrees on a price for rival Quince")
OTHER = "Marmalade Compute opens a data center on a glacier"


def item(name: str, headline: str, at: dt.datetime = NOON, event_id: str | None = None) -> Item:
    return Item(name, headline, at, event_id)


def assign(items: list[Item]) -> dict[str, str]:
    return group_stories(items).events


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
    def make_pair(one: str, two: str) -> list[Item]:
        pairs = zip("ab", ADS, (one, two), strict=True)
        return [Item(name, headline, NOON, None, summary, "") for name, (headline, _), summary in pairs]

    assert len(groups(make_pair("", ""))) == 2
    assert len(groups(make_pair(ADS[0][1], ADS[1][1]))) == 1


def test_two_stories_of_one_publisher_must_be_more_alike() -> None:
    def score(*publishers: str) -> float:
        stories = [Item(name, text, NOON, None, "", one) for name, text, one in zip("ab", ALIKE, publishers, strict=True)]
        return float(score_pairs(stories, load_models()).probabilities[0])

    assert score("Wired", "Reuters") > score("Wired", "Wired")


def test_another_version_is_another_event_and_no_answer() -> None:
    headlines = ["OpenAI releases GPT-5.3 to all developers", "OpenAI releases GPT-5.4 to all developers"]
    assert len(groups([item(str(n), headline) for n, headline in enumerate(headlines)])) == 2
    assert find_nearest_story(headlines[1], [item("a", headlines[0])]) is None


def test_a_name_swapped_is_not_confirmed() -> None:
    known = [item("a", "Apple chooses Google's Gemini for Siri")]
    assert find_nearest_story("Apple picks Gemini for Siri", known) is not None
    for name in (
        "Apple picks Claude for Siri",
        "Apple chooses Anthropic's Claude for Siri",
        "Samsung chooses Google's Gemini for Siri",
    ):
        assert find_nearest_story(name, known) is None


def test_stories_further_apart_than_the_window_are_never_one_event() -> None:
    assert len(groups([item("a", DEAL[0]), item("b", DEAL[0], NOON + WINDOW + HOUR)])) == 2
    assert len(groups([item("a", DEAL[0]), item("b", DEAL[0], NOON + HOUR)])) == 1


def test_no_chain_of_look_alikes_spans_more_than_the_window() -> None:
    daily = [item(str(n), DEAL[0], NOON + n * dt.timedelta(days=2)) for n in range(6)]
    for names in groups(daily):
        days = sorted(int(name) * 2 for name in names)
        assert days[-1] - days[0] <= WINDOW.days


def test_what_was_fixed_stays_apart_and_together() -> None:
    fixed = [item("a", DEAL[0], event_id="one"), item("b", DEAL[1], event_id="two"), item("c", OTHER, event_id="one")]
    assert assign(fixed) == {"a": "one", "b": "two", "c": "one"}


def test_a_new_story_joins_a_fixed_event_and_takes_its_id() -> None:
    assert assign([item("z", DEAL[0], NOON + HOUR, "old"), item("a", DEAL[1])]) == {"z": "old", "a": "old"}


def test_nothing_is_an_answer_too() -> None:
    assert assign([]) == {}
    assert find_nearest_story("anything", []) is None
    assert assign([item("a", ""), item("b", "")]) == {"a": "a", "b": "b"}


def test_the_nearest_story_answers_to_a_headline_and_a_stranger_to_none() -> None:
    known = [item("a", DEAL[0]), item("b", OTHER)]
    found = find_nearest_story("Quince Robotics bought by Osprey Labs", known)
    assert found is not None
    assert found[0].chatbotnews_id == "a"
    assert 0.5 <= found[1] <= 1
    assert find_nearest_story("Lantern recalls its talking kettle", known) is None


WORDS = ["osprey", "quince", "buys", "glacier", "model", "opens", "robot", "court", "OpenAI", "kettle"]


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.integers(0, 400)), max_size=25), st.integers()
)
def test_the_order_of_arrival_makes_no_difference(rows: list[tuple[list[str], int]], seed: int) -> None:
    items = [item(f"{n:02d}", " ".join(words), NOON + hours * HOUR) for n, (words, hours) in enumerate(rows)]
    shuffled = random.Random(seed).sample(items, len(items))
    assert assign(items) == assign(shuffled)


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1), max_size=5), max_size=12),
    st.dictionaries(st.sampled_from("abcdefghi"), st.floats(0.01, 1), max_size=5),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_an_index_multiplies_as_if_each_text_were_read(
    texts: list[dict[str, float]], query: dict[str, float], first: int, last: int
) -> None:
    start, stop = sorted((min(first, len(texts)), min(last, len(texts))))
    found = TermIndex(texts).dot(query, slice(start, stop))
    assert found.tolist() == pytest.approx(
        [sum(text.get(term, 0) * weight for term, weight in query.items()) for text in texts[start:stop]]
    )


@given(
    st.dictionaries(st.tuples(st.integers(0, 7), st.integers(0, 7)), st.sampled_from([0.1, 0.3, 0.6, 0.9]), max_size=20),
    st.lists(st.integers(0, 6), min_size=8, max_size=8),
    st.lists(st.sampled_from([None, None, "one", "two"]), min_size=8, max_size=8),
)
def test_groups_are_whole_and_keep_what_was_fixed(
    probabilities: dict[tuple[int, int], float], days: list[int], fixed: list[str | None]
) -> None:
    scored = {(one, other): value for (one, other), value in probabilities.items() if one < other}
    ones, others = ([pair[side] for pair in scored] for side in (0, 1))
    pairs = Pairs(np.array(ones, np.intp), np.array(others, np.intp), np.array(list(scored.values()), float))
    found = link_items(pairs, np.array(days, float), fixed, threshold=0.5, span=4)
    assert sorted(place for places in found for place in places) == list(range(8))
    for places in found:
        assert len({fixed[place] for place in places} - {None}) <= 1
        if not any(fixed[place] for place in places):
            assert max(days[place] for place in places) - min(days[place] for place in places) <= 4
    for name in ("one", "two"):
        assert sum(any(fixed[place] == name for place in places) for places in found) <= 1


def test_a_group_holds_together_though_its_component_is_linked_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two groups of nine whose members alternate, and one weak pair that makes them one component.
    alike = [(one, other) for one in range(18) for other in range(one + 1, 18) if one % 2 == other % 2]
    ones, others = np.array([*alike, (0, 1)], np.intp).T
    pairs = Pairs(ones, others, np.array([0.9] * len(alike) + [0.6]))
    monkeypatch.setattr(linkage, "LARGEST", 9)
    found = link_items(pairs, np.zeros(18), [None] * 18, threshold=0.5, span=4)
    assert sorted(found) == [list(range(0, 18, 2)), list(range(1, 18, 2))]


def read_columns(*pairs: tuple[int, int, float]) -> dict[tuple[int, int], tuple[float, float]]:
    """Competition and support of each pair, among stories of publications 0, 1, 1 and 2."""
    ones, others, probabilities = (np.array(column) for column in zip(*pairs, strict=True))
    columns = build_context_columns(Pairs(ones, others, probabilities), np.array([0, 1, 1, 2]))
    rounded = (np.round(columns[name], 6).tolist() for name in ("competition", "support"))
    return dict(zip(zip(ones.tolist(), others.tolist(), strict=True), zip(*rounded, strict=True), strict=True))


def test_another_report_of_the_same_publication_competes_with_a_pair() -> None:
    found = read_columns((0, 1, 0.9), (0, 2, 0.6), (0, 3, 0.7))
    assert found == {(0, 1): (0.6, 0), (0, 2): (0.9, 0), (0, 3): (0, 0)}


def test_two_reports_of_one_event_by_one_publication_do_not_compete() -> None:
    assert read_columns((0, 1, 0.9), (0, 2, 0.6), (1, 2, 1 - 1e-9))[0, 2][0] == pytest.approx(0, abs=1e-6)


def test_a_third_story_that_is_like_both_supports_a_pair() -> None:
    found = read_columns((0, 1, 0.4), (0, 3, 0.9), (1, 3, 0.8))
    assert [support for _, support in found.values()] == [0.72, 0.32, 0.36]


def test_events_that_may_be_one_are_told_with_their_likeliest_stories() -> None:
    models = {name: replace(model, threshold=2.0) for name, model in load_models().items()}  # whatever would be joined is in doubt
    found = group_stories([item("a", DEAL[0]), item("b", DEAL[1], NOON + HOUR), item("c", OTHER)], models)
    (doubt,) = found.doubts
    assert (doubt.story, doubt.other, doubt.probability >= DOUBTFUL) == ("a", "b", True)
    assert found.events == {"a": "a", "b": "b", "c": "c"}
