"""Search: which stories hold what was asked, filters, and what cannot be asked."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import NOW, entry, publish
from wire import queries
from wire.schemas.params import Group, Sort
from wire.schemas.story import StoryOut
from wire.text import tokens
from wire.text.search_query import ALL, Text, list_query_forms

search_wire = partial(queries.search_wire, group=Group.NONE)  # every story, for its place in the list

pytestmark = pytest.mark.django_db


def titles(query: str, **filters: Any) -> list[str]:
    """Headlines found, best first."""
    return [story.headline for story in search_wire(query, **filters).stories]


def holding_all(query: str) -> list[str]:
    """Headlines of those stories found that hold all words, best first. Fewer than five are followed by such as hold some."""
    return [
        story.headline
        for story in search_wire(query).stories
        if any(form.least == ALL and text_of(story).holds(form) for form in list_query_forms(query))
    ]


def text_of(story: StoryOut) -> Text:
    return Text(*map(tokens.tokenize, (story.headline, story.summary_medium)))


def publish_titles(*given: str) -> None:
    publish(*(entry(title=title, summary="") for title in given))


NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
ROBOTS = ["Quince robots learn to swim", "Robots of Quince learn", "Learn to swim, quince robots"]
FOUND: dict[str, tuple[list[str], dict[str, str]]] = {
    "a story must hold every word": (["Quince robots learn", "Quince robots"], {"learn quince": "0", "quince walrus": ""}),
    "other endings of a word are the same word": (
        ["Quince launches a boat"],
        dict.fromkeys(["launch", "launches", "LAUNCHED", "launching", "Launch!"], "0"),
    ),
    "case, accents and width make no difference": (
        ["Café Zürich opens"],
        dict.fromkeys(["Café Zürich", "cafe zurich", "CAFÉ ZÜRICH", "ｃａｆｅ zu\u0308rich", "cafe\u0301 Zurich"], "0"),
    ),
    "every script can be searched": (
        ["東京 opens", "Нейросеть поёт", "نموذج جديد", "Οδυσσεύς returns", "A fine Straße"],
        {"東京": "0", "нейросеть": "1", "نموذج": "2", "ΟΔΥΣΣΕΥΣ": "3", "ﬁne straße": "4", "STRASSE fine": "4"},
    ),
    "a quoted phrase must stand word by word": (
        ROBOTS,
        {'"quince robots"': "02", '"quince robots learn"': "0", '"robots quince"': ""}
        | dict.fromkeys(['"quince robots" "learn to swim" robots', 'swim "quince robots"'], "02"),
    ),
    "a name with signs is found": (
        ["GPT-4 writes C++", "It's alive"],
        {"gpt-4": "0", '"GPT-4"': "0", "c++": "0", "it's alive": "1", "it’s": "1"},
    ),
    "a name with a number is one word however it is spelled": (
        ["GPT-5 writes a poem", "Why GPT 5 cannot cook", "GPT5 in 5 minutes", "5 things that GPT-4 knows", "GPT-55 is a car"],
        dict.fromkeys(["GPT-5", "gpt5", "GPT–5"], "012"),
    ),
    "the last word may be unfinished": (
        ["Quince securities fall"],
        dict.fromkeys(["securit", "Quince secu", "security qui"], "0"),
    ),
    "words that say nothing are not asked of a story": (
        ["Quince future", "The who"],
        {"what is the future of quince": "0", "the who": "1", '"the quince"': ""},
    ),
    "only the first 16 words count": ([NUMBERS], {f"{NUMBERS} walrus": "0", f"walrus {NUMBERS}": ""}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("given", "expected"), FOUND.values(), ids=FOUND)
def test_which_headlines_a_search_finds(given: list[str], expected: dict[str, str]) -> None:
    publish_titles(*given)
    for query, places in expected.items():
        found = holding_all(query)
        assert set(found) == {given[int(place)] for place in places}, query


def test_the_word_itself_comes_before_longer_ones_and_quotes_end_a_word() -> None:
    publish_titles("Metal quince", "Meta quince", "GPT-5.2 pear", "GPT-5 mini pear and more", "Gemini 2.5 Pro", "Gemini 2 Pro at 5")
    assert titles("quince meta") == ["Meta quince", "Metal quince"]
    assert titles("meta quince")[:1] == titles('quince "meta"') == ["Meta quince"]
    assert titles("gpt-5") == ["GPT-5 mini pear and more", "GPT-5.2 pear"]
    assert titles("gemini-2.5") == titles("Gemini 2.5 pro")[:1] == ["Gemini 2.5 Pro"]


def test_words_are_looked_for_in_headline_and_summary_alone_and_no_phrase_runs_from_one_into_the_other() -> None:
    publish(entry(title="Quince ships", summary="Boats arrive. A walrus was there.", author="Ada Heron"))
    assert titles("quince walrus") == titles('"boats arrive"') == ["Quince ships"]
    assert titles("heron") == titles("TechCrunch") == titles('"ships boats"') == []


OPERATORS = [
    *("NEAR(robot quince)", "robot NEAR quince", "robot*", "*", "-robot", "robot -quince", "robot AND quince", "robot OR walrus"),
    *(
        "NOT robot",
        "robot NOT walrus",
        "(robot",
        "robot)",
        '"robot',
        'robot"',
        '""',
        '"',
        "tokens:robot",
        "robot:*",
        "^robot",
        "--",
    ),
    *("robot & quince", "robot | quince", "!robot", "robot <-> quince", "'robot'", "robot''", "robot\\", "%robot%", "rob_t", ";"),
    *("gpt-4", "C++", "it's", "it’s", "{robot}", "$robot", "robot+quince", "robot,quince", "x'; DROP TABLE wire_story; --"),
    *("\0", "robot\0", "🤖", "👩‍🚀 🇺🇳", "!?…", " ", "_", "\u200b"),
]


def test_operators_of_any_database_are_plain_text_and_a_query_without_a_word_is_refused(client: Client) -> None:
    publish_titles("Robots and quince", "GPT-4 is near C++; it's not a walrus or an owl")
    texts = {story.headline: tokens.tokenize(story.headline) for story in queries.get_today().stories}
    for query in OPERATORS:
        answer = client.get("/api/search.json", {"query": query})
        if tokens.words(query):
            words = set(tokens.tokenize(query))
            expected = {headline for headline, told in texts.items() if words & set(told)}
            assert {story["headline"] for story in answer.json()["stories"]} <= expected, query
        else:
            assert refused(answer, 422, "invalid_argument")["message"] == "query has no words.", query


def test_misspelt_words_are_put_right_by_words_of_the_wire_and_the_answer_says_so() -> None:
    publish_titles("Anthropic ships Claude", "Quince tries GPT-5", "Perplexity era begins")
    for query, right in {"antropic": "anthropic", "Antropic cluade": "anthropic claude", "perplexty?": "perplexity?"}.items():
        found = search_wire(query)
        assert (found.stories[0].headline.lower().split()[0], found.suggestion) == (right.split()[0].strip("?"), right)
        assert search_wire(right).suggestion is None
    for query in ("walrus", "zebra", "gpt-6", "anthropic walrus", "claude quince", '"antropic ships"'):
        assert search_wire(query).suggestion is None, query
    assert search_wire("zebra").total == search_wire("antropic", source="Reuters").total == 0


def test_where_few_stories_hold_all_words_those_that_hold_most_follow_then_some_and_the_answer_says_so() -> None:
    publish_titles("Quince robots swim in Oslo", "Quince robots learn", "Robots sing", "Walrus")
    found = search_wire("do the quince robots swim in oslo?")
    assert [story.headline for story in found.stories] == ["Quince robots swim in Oslo", "Quince robots learn", "Robots sing"]
    assert found.matched == "some words"
    assert search_wire("quince robots swim in oslo", sort=Sort.NEWEST).matched == "all words"
    assert search_wire("pears").matched is None
    publish_titles(*(f"Quince robots swim {place}" for place in ("north", "south", "east", "west")))
    assert search_wire("quince robots swim").matched == "all words"


def test_words_that_no_story_of_a_page_contains_are_named(client: Client) -> None:
    publish_titles("Quince robots swim in Oslo", "Quince tries GPT-5", "Robots sing")
    for query, missing in {
        "what did Lufthansa say about quince robots": ["lufthansa"],
        "GPT-6 and quince": ["gpt-6"],
        "quince robots in Bergen?": ["bergen"],
        "quince robots": [],
        "pears": [],
    }.items():
        assert search_wire(query).not_found == missing, query
    assert search_wire("quince robots in Bergen?", sort=Sort.NEWEST).not_found == ["bergen"]
    assert "No story on this page contains <b>bergen</b>." in client.get("/search?query=quince+robots+in+Bergen").text


def test_a_name_is_no_slip_of_a_common_word_nor_of_a_short_one_that_hardly_any_story_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    publish_titles("Quince plays songs", "Anthropic plays more songs", "Walrus tries Solos glasses")
    monkeypatch.setattr("wire.search.service.SELDOM", 2)
    assert search_wire("does Sonos play").suggestion is None
    assert search_wire("who plays sonngs").suggestion == "who plays songs"
    assert search_wire("does Antropic play").suggestion == "does anthropic play"


def test_words_that_ask_do_not_have_to_occur_and_names_may_be_written_in_two_ways() -> None:
    publish_titles("OpenAI unveils GPT-5.2", "ChatGPT in the data center", "Open source AI", "Datacentre GPT 5.2")
    for query in ("what is the latest news about OpenAI?", "Open AI", "openai"):
        assert titles(query)[:1] == ["OpenAI unveils GPT-5.2"], query
    for query in ("GPT 5.2", "GPT-5.2", "gpt5.2"):
        assert set(titles(query)[:2]) == {"OpenAI unveils GPT-5.2", "Datacentre GPT 5.2"}, query
    assert titles("chat gpt") == titles("chatgpt") == ["ChatGPT in the data center"]


def test_a_company_finds_what_is_about_it_and_a_bare_name_leads_with_what_is_new() -> None:
    publish(
        entry(title="OpenAI OpenAI OpenAI", summary="OpenAI", published_at="2024-01-15T10:00:00Z"),
        entry(title="Sam Altman speaks", summary="", published_at="2026-01-15T10:00:00Z"),
    )
    assert titles("openai") == ["Sam Altman speaks", "OpenAI OpenAI OpenAI"]


def test_words_for_a_period_narrow_the_search_and_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.queries.stories.utc_today", lambda: dt.date(2026, 1, 16))
    publish(*(entry(title=f"Quince day {day}", published_at=f"2026-01-{day}T10:00:00Z") for day in (13, 14, 15)))
    for query, days in {"quince yesterday": "15", "quince on 2026-01-13": "13", "quince since 14 January 2026": "1514"}.items():
        found = search_wire(query, sort=Sort.NEWEST)
        assert "".join(story.headline[-2:] for story in found.stories) == days, query
        assert found.period is not None
        assert (found.period.applied, found.period.said) == (True, query.removeprefix("quince "))
    assert [story.headline[-2:] for story in search_wire("January 2026").stories] == ["15", "14", "13"]
    missed = search_wire("quince in 2025")
    assert (missed.total, missed.period and missed.period.applied) == (3, False)
    assert missed.period is not None
    assert missed.period.newest_day == max(story.published_at.date() for story in missed.stories)
    assert missed.period.note is not None
    assert f"No story from “{missed.period.said}”" in missed.period.note
    assert next(iter(missed.values())) == "period"
    since = dt.datetime(2026, 1, 15, tzinfo=dt.UTC)
    bounded = search_wire("quince in January 2026", since=since)
    assert (bounded.total, bounded.period and bounded.period.applied) == (1, False)
    assert search_wire('"in January 2026"').period is None


def test_the_best_comes_first_and_the_newer_one_among_equals() -> None:
    publish(
        entry(title="Walrus ships", summary="Quince was there.", published_at="2026-01-15T11:00:00Z"),
        entry(title="Quince ships", summary="Walrus was there.", published_at="2026-01-15T09:00:00Z"),
        entry(title="Quince boats", summary="Walrus was there.", published_at="2026-01-15T10:00:00Z"),
    )
    assert titles("quince") == ["Quince boats", "Quince ships", "Walrus ships"]
    assert search_wire("quince").ranking == "relevance"


def test_filters_narrow_the_search() -> None:
    publish(
        entry(title="OpenAI launches quince model", published_at="2026-01-14T10:00:00Z"),
        entry(title="Quince raises $90 million in a Series B", publisher="Reuters", url="https://reuters.com/q"),
    )
    launch, round_ = "OpenAI launches quince model", "Quince raises $90 million in a Series B"
    assert set(titles("quince")) == {launch, round_}
    narrowed: list[tuple[dict[str, Any], list[str]]] = [
        ({"category": "launches"}, [launch]),
        ({"category": "funding"}, [round_]),
        ({"category": "agents"}, []),
        ({"topic": "openai"}, [launch]),
        ({"tier": 2}, [launch]),
        ({"tier": 3}, [round_]),
        ({"source": "Reuters"}, [round_]),
        ({"tier": 2, "source": "Reuters"}, []),
    ]
    for filters, found in narrowed:
        assert titles("quince", **filters) == found, filters


def test_since_is_the_first_moment_and_until_the_first_after(client: Client) -> None:
    publish(*(entry(title=f"Quince day {day}", published_at=f"2026-01-{day}T10:00:00Z") for day in (13, 14, 15)))

    def days(**window: str) -> set[str]:
        answer = client.get("/api/search.json", {"query": "quince", "group": "none", **window}).json()
        assert answer["total"] == len(answer["stories"])
        return {story["headline"][-2:] for story in answer["stories"]}

    assert days(since="2026-01-14T10:00:00Z") == {"14", "15"}
    assert days(until="2026-01-14T10:00:00Z") == {"13"}
    assert days(since="2026-01-14", until="2026-01-15") == {"14"}
    assert days(since="2026-01-15", until="2026-01-14") == days(since="2026-01-14", until="2026-01-14") == set()


@pytest.mark.slow
def test_a_question_in_another_language_is_asked_by_its_telling_words() -> None:
    publish_titles("Quince robots open a street in Oslo", "Walrus robots rest", "Figma gets a gross model")
    long = "Welche Straße haben die Quince Roboter denn nun eigentlich in der Stadt Oslo eröffnet und warum nicht in Helsinki?"
    assert titles(long)[0] == "Quince robots open a street in Oslo"
    assert (
        titles("¿Por qué los robots de Quince han abierto una calle en la ciudad de Oslo?")[0]
        == "Quince robots open a street in Oslo"
    )
    for question in (  # not figma, not street, not gross
        "Was macht die Firma mit Quince?",
        "warum ist der Streit um Quince",
        "Was ist die größte Größe von Quince",
    ):
        assert search_wire(question).suggestion is None
    assert search_wire("figna gets a model").suggestion == "figma gets a model"


@pytest.mark.slow
def test_the_description_says_which_end_of_a_period_is_in_it(client: Client) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    parameters = {path: paths[path]["get"]["parameters"] for path in ("/api/search.json", "/api/topics/{topic}.json")}
    told = {(path, one["name"]): one.get("description", "") for path, rows in parameters.items() for one in rows}
    for path in parameters:
        assert "at or after this moment" in told[path, "since"]
    assert "before this moment (not included)" in told["/api/search.json", "until"]
    assert "before this moment (not included)" in client.get("/api/docs").content.decode()
    form = client.get("/search").content.decode()
    for name, label in (("since", "From (UTC, included)"), ("until", "To (UTC, not included)")):
        assert f'<label for="{name}">{label}</label> <input id="{name}" type="date" aria-describedby="period"' in form
    assert '<p class="facts" id="period">' in form


def test_a_source_may_go_by_any_of_its_names(client: Client) -> None:
    publish(entry(title="Quince ships", publisher="Financial Times", url="https://ft.com/q"), entry(title="Quince boats"))
    for source in ("Financial Times", "FT", "ft", "The Financial Times", "ft.com", "https://www.ft.com/", "Finacial Times"):
        answer = client.get("/api/search.json", {"query": "quince", "source": source}).json()
        assert [story["original_publisher"] for story in answer["stories"]] == ["Financial Times"], source


def test_a_source_outside_the_roster_is_refused_naming_the_closest_if_any_is_near(client: Client) -> None:
    named = {"BBC": None, "Tech Crunch Weekly": "TechCrunch", "Reuters Japan": "Reuters", "Wired UK": "Wired"}
    for source, closest in named.items():
        error = refused(client.get("/api/search.json", {"query": "quince", "source": source}), 422, "not_in_roster")
        assert (f"The closest publication is {closest}." if closest else "None of them resembles it.") in error["message"]
        assert "wire://sources" in error["hint"]
    for source in ("", "!!!", "🤖", "\0"):
        error = refused(client.get("/api/search.json", {"query": "quince", "source": source}), 422, "not_in_roster")
        assert "None" not in error["hint"]


def test_an_argument_that_cannot_be_used_is_refused_by_name(client: Client) -> None:
    wrong = [("limit", limit) for limit in ("0", "51", "-234", "x", "10.5", "")] + [
        ("tier", tier) for tier in ("0", "5", "x", "2.5")
    ]
    wrong += [("category", "sports"), ("topic", "Open AI"), ("since", "soon"), ("until", "1768435200"), ("source", "x" * 201)]
    wrong += [("cursor", "x" * 501), ("query", ""), ("query", "q" * 301)]
    for named, value in wrong:
        answer = client.get("/api/search.json", {"query": "q"} | {named: value})
        assert refused(answer, 422, "invalid_argument")["message"].startswith(f"{named}: "), (named, value)
    assert refused(client.get("/api/search.json"), 422, "invalid_argument")["message"].startswith("query: ")


def test_the_longest_query_is_answered(client: Client) -> None:
    publish_titles("Quince ships")
    for query in ("q" * 300, "quince " * 42, '"' * 300, "𠀀" * 300, "㌖" * 300, "㎉" * 300, "語" * 300):
        assert client.get("/api/search.json", {"query": query}).status_code in {200, 422}, query


@pytest.mark.slow
def test_a_word_of_any_length_can_be_published_and_found() -> None:
    letters = ("語", "㌖", "㎉", "q", "𠀀", "ﷺ")
    publish(
        *(entry(title=letter * size, summary=summary * 480) for letter in letters for size, summary in ((1000, letter), (290, "")))
    )
    assert len(queries.get_today(NOW).stories) == 2 * len(letters)
    for letter in letters:
        assert letter * 290 in titles(letter * 290)


def test_an_empty_wire_finds_nothing() -> None:
    found = search_wire("quince")
    assert (found.stories, found.total, found.next_cursor, found.ranking) == ([], 0, None, "relevance")
