"""Search: which stories hold what was asked, filters, and what cannot be asked."""

from typing import Any

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import NOW, entry, publish
from wire import queries
from wire.stories import tokens

pytestmark = pytest.mark.django_db


def titles(query: str, **filters: Any) -> list[str]:
    """Headlines found, best first."""
    return [story.headline for story in queries.search_wire(query, **filters).stories]


def publish_titles(*given: str) -> None:
    publish(*(entry(title=title, summary="") for title in given))


NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
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


@pytest.mark.parametrize(("given", "expected"), FOUND.values(), ids=FOUND)
def test_which_headlines_a_search_finds(given: list[str], expected: dict[str, str]) -> None:
    publish_titles(*given)
    for query, places in expected.items():
        found = queries.search_wire(query)
        assert {story.headline for story in found.stories} == {given[int(place)] for place in places}, query
        assert found.total == len(places), query


def test_the_word_itself_comes_before_longer_ones_and_quotes_end_a_word() -> None:
    publish_titles("Metal quince", "Meta quince", "GPT-5.2 pear", "GPT-5 mini pear and more", "Gemini 2.5 Pro", "Gemini 2 Pro at 5")
    assert titles("quince meta") == ["Meta quince", "Metal quince"]
    assert titles("meta quince") == titles('quince "meta"') == ["Meta quince"]
    assert titles("gpt-5") == ["GPT-5 mini pear and more", "GPT-5.2 pear"]
    assert titles("gemini-2.5") == titles("Gemini 2.5 pro") == ["Gemini 2.5 Pro"]


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
    texts = {story.headline: tokens.tokens(story.headline) for story in queries.get_today().stories}
    for query in OPERATORS:
        answer = client.get("/api/search.json", {"query": query})
        if tokens.words(query):
            asked = tokens.parse(query)
            expected = {headline for headline, words in texts.items() if tokens.holds(" ".join(words), len(words), asked)}
            assert {story["headline"] for story in answer.json()["stories"]} == expected, query
        else:
            assert refused(answer, 422, "invalid_argument")["message"] == "query has no words.", query


def test_nothing_found_suggests_what_would_find_something_with_the_same_filters() -> None:
    publish_titles("Anthropic ships Claude", "Quince tries GPT-5")
    suggestions = {
        "antropic": "anthropic",
        "Antropic cluade": "anthropic claude",
        "gpt-6": "gpt-5",
        "anthropic walrus": "anthropic",
    }
    suggestions |= {"anthropic gpt-5": "anthropic", "claude gpt-5 quince": "gpt-5 quince"}
    for query, suggested in suggestions.items():
        found = queries.search_wire(query)
        assert (found.total, found.suggestion) == (0, suggested)
        assert queries.search_wire(suggested).total > 0
        assert queries.search_wire(suggested).suggestion is None
    assert queries.search_wire("walrus").suggestion is queries.search_wire("antropic", source="Reuters").suggestion is None


def test_the_best_comes_first_and_the_newer_one_among_equals() -> None:
    publish(
        entry(title="Walrus ships", summary="Quince was there.", published_at="2026-01-15T11:00:00Z"),
        entry(title="Quince ships", summary="Walrus was there.", published_at="2026-01-15T09:00:00Z"),
        entry(title="Quince boats", summary="Walrus was there.", published_at="2026-01-15T10:00:00Z"),
    )
    assert titles("quince") == ["Quince boats", "Quince ships", "Walrus ships"]
    assert queries.search_wire("quince").ranking == "relevance"


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
        answer = client.get("/api/search.json", {"query": "quince", **window}).json()
        assert answer["total"] == len(answer["stories"])
        return {story["headline"][-2:] for story in answer["stories"]}

    assert days(since="2026-01-14T10:00:00Z") == {"14", "15"}
    assert days(until="2026-01-14T10:00:00Z") == {"13"}
    assert days(since="2026-01-14", until="2026-01-15") == {"14"}
    assert days(since="2026-01-15", until="2026-01-14") == days(since="2026-01-14", until="2026-01-14") == set()


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
        assert (closest or "The closest publication is ") in error["message"]
        assert "wire://sources" in error["hint"]
    for source in ("", "!!!", "🤖", "\0"):
        error = refused(client.get("/api/search.json", {"query": "quince", "source": source}), 422, "not_in_roster")
        assert "None" not in error["hint"]


def test_an_argument_that_cannot_be_used_is_refused_by_name(client: Client) -> None:
    wrong = [("limit", limit) for limit in ("0", "51", "-234", "x", "10.5", "")] + [
        ("tier", tier) for tier in ("0", "5", "x", "2.5")
    ]
    wrong += [("category", "sports"), ("topic", "OpenAI"), ("since", "soon"), ("until", "1768435200"), ("source", "x" * 201)]
    wrong += [("cursor", "x" * 501), ("query", ""), ("query", "q" * 301)]
    for named, value in wrong:
        answer = client.get("/api/search.json", {"query": "q"} | {named: value})
        assert refused(answer, 422, "invalid_argument")["message"].startswith(f"{named}: "), (named, value)
    assert refused(client.get("/api/search.json"), 422, "invalid_argument")["message"].startswith("query: ")


def test_the_longest_query_is_answered(client: Client) -> None:
    publish_titles("Quince ships")
    for query in ("q" * 300, "quince " * 42, '"' * 300, "𠀀" * 300, "㌖" * 300, "㎉" * 300, "語" * 300):
        assert client.get("/api/search.json", {"query": query}).status_code in {200, 422}, query


def test_a_word_of_any_length_can_be_published_and_found() -> None:
    letters = ("語", "㌖", "㎉", "q", "𠀀", "ﷺ")
    publish(
        *(entry(title=letter * size, summary=summary * 480) for letter in letters for size, summary in ((1000, letter), (290, "")))
    )
    assert len(queries.get_today(NOW).stories) == 2 * len(letters)
    for letter in letters:
        assert letter * 290 in titles(letter * 290)


def test_an_empty_wire_finds_nothing() -> None:
    found = queries.search_wire("quince")
    assert (found.stories, found.total, found.next_cursor, found.ranking) == ([], 0, None, "relevance")
