"""Search: which stories hold what was asked, filters, and what cannot be asked."""

from typing import Any

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import NOW, entry, publish, story_of
from wire import editorial, queries, search

pytestmark = pytest.mark.django_db


def titles(query: str, **filters: Any) -> list[str]:
    """Headlines found, best first."""
    return [story.headline for story in queries.search_wire(query, **filters).stories]


def publish_titles(*given: str) -> None:
    publish(*(entry(title=title, summary="") for title in given))


def test_a_story_must_hold_every_word() -> None:
    publish_titles("Quince robots learn", "Quince robots", "Robots learn")
    assert titles("learn quince") == ["Quince robots learn"]
    assert titles("quince walrus") == []


def test_words_are_looked_for_in_headline_and_summary_alone() -> None:
    publish(entry(title="Quince ships", summary="A walrus was there.", author="Ada Heron"))
    assert titles("quince walrus") == ["Quince ships"]
    assert titles("heron") == titles("TechCrunch") == []


@pytest.mark.parametrize("query", ["launch", "launches", "LAUNCHED", "launching", "Launch!"])
def test_other_endings_of_a_word_are_the_same_word(query: str) -> None:
    publish_titles("Quince launches a boat")
    assert titles(query) == ["Quince launches a boat"]


@pytest.mark.parametrize("query", ["Café Zürich", "cafe zurich", "CAFÉ ZÜRICH", "ｃａｆｅ zu\u0308rich", "cafe\u0301 Zurich"])
def test_case_accents_and_width_make_no_difference(query: str) -> None:
    publish_titles("Café Zürich opens")
    assert titles(query) == ["Café Zürich opens"]


@pytest.mark.parametrize("query", ["東京", "нейросеть", "نموذج", "ΟΔΥΣΣΕΥΣ", "ﬁne straße", "STRASSE fine"])
def test_every_script_can_be_searched(query: str) -> None:
    publish_titles("東京 opens", "Нейросеть поёт", "نموذج جديد", "Οδυσσεύς returns", "A fine Straße")
    assert len(titles(query)) == 1


def test_a_quoted_phrase_must_stand_word_by_word() -> None:
    publish_titles("Quince robots learn to swim", "Robots of Quince learn", "Learn to swim, quince robots")
    assert set(titles('"quince robots"')) == {"Quince robots learn to swim", "Learn to swim, quince robots"}
    assert titles('"quince robots learn"') == ["Quince robots learn to swim"]
    assert titles('"quince robots" "learn to swim" robots') == titles('swim "quince robots"')
    assert titles('"robots quince"') == []


def test_a_phrase_never_runs_from_the_headline_into_the_summary() -> None:
    publish(entry(title="Quince ships", summary="Boats arrive."))
    assert titles('"ships boats"') == []
    assert titles('"boats arrive"') == ["Quince ships"]


def test_the_total_of_a_phrase_counts_what_holds_it() -> None:
    publish_titles("Quince robots learn", "Robots of quince learn")
    assert queries.search_wire('"quince robots"').total == 1


@pytest.mark.parametrize(
    "query",
    [
        *(
            "NEAR(robot quince)",
            "robot NEAR quince",
            "robot*",
            "*",
            "-robot",
            "robot -quince",
            "robot AND quince",
            "robot OR walrus",
        ),
        *("NOT robot", "robot NOT walrus", "(robot", "robot)", '"robot', 'robot"', '""', '"', "tokens:robot", "robot:*", "^robot"),
        *(
            "robot & quince",
            "robot | quince",
            "!robot",
            "robot <-> quince",
            "'robot'",
            "robot''",
            "robot\\",
            "%robot%",
            "rob_t",
            "--",
            ";",
        ),
        *(
            "gpt-4",
            "C++",
            "it's",
            "it’s",
            "{robot}",
            "$robot",
            "robot+quince",
            "robot,quince",
            "x'; DROP TABLE wire_story; --",
            "\0",
            "robot\0",
        ),
    ],
)
def test_operators_of_any_database_are_plain_text(client: Client, query: str) -> None:
    publish_titles("Robots and quince", "GPT-4 is near C++; it's not a walrus or an owl")
    answer = client.get("/api/search.json", {"query": query})
    if search.words(query):
        asked = search.parse(query)
        texts = {story.headline: search.tokens(story.headline) for story in queries.get_today().stories}
        expected = {headline for headline, tokens in texts.items() if search.holds(" ".join(tokens), len(tokens), asked)}
        assert {story["headline"] for story in answer.json()["stories"]} == expected
    else:
        refused(answer, 422, "invalid_argument")


def test_names_with_signs_are_found() -> None:
    publish_titles("GPT-4 writes C++", "It's alive")
    assert titles("gpt-4") == titles('"GPT-4"') == titles("c++") == ["GPT-4 writes C++"]
    assert titles("it's alive") == titles("it’s") == ["It's alive"]


@pytest.mark.parametrize("query", ["GPT-5", "gpt5", "GPT–5"])
def test_a_name_with_a_number_is_one_word_however_it_is_spelled(query: str) -> None:
    publish_titles(
        "GPT-5 writes a poem", "Why GPT 5 cannot cook", "GPT5 in 5 minutes", "5 things that GPT-4 knows", "GPT-55 is a car"
    )
    assert set(titles(query)) == {"GPT-5 writes a poem", "Why GPT 5 cannot cook", "GPT5 in 5 minutes"}


def test_a_names_variants_come_after_it() -> None:
    publish_titles("GPT-5.2 quince", "GPT-5 mini quince and more", "Gemini 2.5 Pro quince", "Gemini 2 Pro at 5 quince")
    assert titles("gpt-5") == ["GPT-5 mini quince and more", "GPT-5.2 quince"]
    assert titles("gemini-2.5") == titles("Gemini 2.5 quince") == ["Gemini 2.5 Pro quince"]


@pytest.mark.parametrize("query", ["securit", "Quince secu", "security qui"])
def test_the_last_word_may_be_unfinished(query: str) -> None:
    publish_titles("Quince securities fall")
    assert titles(query) == ["Quince securities fall"]


def test_the_word_itself_comes_before_longer_ones_and_quotes_end_a_word() -> None:
    publish_titles("Metal quince", "Meta quince")
    assert titles("quince meta") == ["Meta quince", "Metal quince"]
    assert titles("meta quince") == titles('quince "meta"') == ["Meta quince"]


def test_words_that_say_nothing_are_not_asked_of_a_story() -> None:
    publish_titles("Quince future", "The who")
    assert titles("what is the future of quince") == ["Quince future"]
    assert titles("the who") == ["The who"]
    assert titles('"the quince"') == []


@pytest.mark.parametrize(
    ("query", "suggested"),
    [
        ("antropic", "anthropic"),
        ("Antropic cluade", "anthropic claude"),
        ("gpt-6", "gpt-5"),
        ("anthropic walrus", "anthropic"),
        ("anthropic gpt-5", "anthropic"),
        ("claude gpt-5 quince", "gpt-5 quince"),
        ("walrus", None),
    ],
)
def test_nothing_found_suggests_what_would_find_something(query: str, suggested: str | None) -> None:
    publish_titles("Anthropic ships Claude", "Quince tries GPT-5")
    found = queries.search_wire(query)
    assert (found.total, found.suggestion) == (0, suggested)
    assert suggested is None or queries.search_wire(suggested).total > 0


def test_a_suggestion_keeps_to_the_filters_and_is_for_empty_answers_only() -> None:
    publish_titles("Anthropic ships Claude")
    assert queries.search_wire("antropic", source="Reuters").suggestion is None
    assert queries.search_wire("anthropic").suggestion is None


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
    assert "before this moment, which is left out" in told["/api/search.json", "until"]
    assert "before this moment, which is left out" in client.get("/api/docs").content.decode()
    form = client.get("/search").content.decode()
    for name, label in (("since", "From this day on (UTC)"), ("until", "Before this day (UTC)")):
        assert f'<label for="{name}">{label}</label> <input id="{name}" type="date" aria-describedby="period"' in form
    assert '<p class="facts" id="period">' in form


@pytest.mark.parametrize(
    "source", ["Financial Times", "FT", "ft", "The Financial Times", "ft.com", "https://www.ft.com/", "Finacial Times"]
)
def test_a_source_may_go_by_any_of_its_names(client: Client, source: str) -> None:
    publish(entry(title="Quince ships", publisher="Financial Times", url="https://ft.com/q"), entry(title="Quince boats"))
    answer = client.get("/api/search.json", {"query": "quince", "source": source}).json()
    assert [story["original_publisher"] for story in answer["stories"]] == ["Financial Times"]


@pytest.mark.parametrize(
    ("source", "closest"),
    [("BBC", None), ("Tech Crunch Weekly", "TechCrunch"), ("Reuters Japan", "Reuters"), ("Wired UK", "Wired")],
)
def test_a_source_outside_the_roster_is_refused_naming_the_closest(client: Client, source: str, closest: str | None) -> None:
    error = refused(client.get("/api/search.json", {"query": "quince", "source": source}), 422, "not_in_roster")
    assert (closest or "The closest publication is ") in error["message"]
    assert "wire://sources" in error["hint"]


@pytest.mark.parametrize("source", ["", "!!!", "🤖", "\0"])
def test_a_source_without_a_name_is_like_none_of_the_roster(client: Client, source: str) -> None:
    error = refused(client.get("/api/search.json", {"query": "quince", "source": source}), 422, "not_in_roster")
    assert "None" not in error["hint"]


@pytest.mark.parametrize("query", ["🤖", "👩‍🚀 🇺🇳", "!?…", " ", "_", '""', "\0", "\u200b"])
def test_a_query_without_a_word_is_refused(client: Client, query: str) -> None:
    message = refused(client.get("/api/search.json", {"query": query}), 422, "invalid_argument")["message"]
    assert message == "query holds no word."


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "q" * 301}, "query"),
        *(({"query": "q", "limit": limit}, "limit") for limit in ("0", "51", "-234", "x", "10.5", "")),
        *(({"query": "q", "tier": tier}, "tier") for tier in ("0", "5", "x", "2.5")),
        ({"query": "q", "category": "sports"}, "category"),
        ({"query": "q", "topic": "OpenAI"}, "topic"),
        ({"query": "q", "since": "soon"}, "since"),
        ({"query": "q", "until": "1768435200"}, "until"),
        ({"query": "q", "source": "x" * 201}, "source"),
        ({"query": "q", "cursor": "x" * 501}, "cursor"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_by_name(client: Client, wrong: dict[str, str], named: str) -> None:
    assert refused(client.get("/api/search.json", wrong), 422, "invalid_argument")["message"].startswith(f"{named}: ")


@pytest.mark.parametrize("query", ["q" * 300, "quince " * 42, '"' * 300, "𠀀" * 300, "㌖" * 300, "㎉" * 300, "語" * 300])
def test_the_longest_query_is_answered(client: Client, query: str) -> None:
    publish_titles("Quince ships")
    assert client.get("/api/search.json", {"query": query}).status_code in {200, 422}


@pytest.mark.parametrize("letter", ["語", "㌖", "㎉", "q", "𠀀", "ﷺ"])
def test_a_word_of_any_length_can_be_published_and_found(letter: str) -> None:
    publish(entry(title=letter * 1000, summary=letter * 480), entry(title=letter * 290, summary=""))
    assert len(queries.get_today(NOW).stories) == 2
    assert letter * 290 in titles(letter * 290)


def test_a_corrected_story_is_found_by_its_new_words_only() -> None:
    made = entry(title="Quince ships", summary="")
    publish(made)
    editorial.correct(story_of(made).chatbotnews_id, reason="The name was misspelt.", headline="Quints ships", now=NOW)
    assert titles("quince") == []
    assert titles("quints") == ["Quints ships"]


def test_only_the_first_16_words_count() -> None:
    publish_titles("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
    numbers = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    assert len(titles(f"{numbers} walrus")) == 1
    assert titles(f"walrus {numbers}") == []


def test_an_empty_wire_finds_nothing() -> None:
    found = queries.search_wire("quince")
    assert (found.stories, found.total, found.next_cursor, found.ranking) == ([], 0, None, "relevance")
