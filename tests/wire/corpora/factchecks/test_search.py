"""Searches find by words and by meaning, filter before ranking, count truly, and go on by words when vectors are away."""

import datetime as dt
import importlib
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from config.errors import InvalidArgument
from tests import claims
from tests.claims import LEAD, TURBINES, claim, german, load, short_ids
from wire.corpora.factchecks import embedding, languages, queries, search, store
from wire.corpora.factchecks.index_terms import INDEX
from wire.corpora.factchecks.models import Claim, ClaimVector, RatingName, Word
from wire.corpora.factchecks.query_terms import Vocabulary, parse_words, strip_handles_and_links
from wire.models import Postings

pytestmark = pytest.mark.django_db


def found(query: str, **given: Any) -> list[str]:
    return short_ids(queries.search_claims(query, **{"limit": 20, "halves": ["words"], **given}).claims)


def test_a_german_word_finds_the_compounds_that_hold_it() -> None:
    load(claim(1, "Die Coronaimpfung ist gefährlich"), claim(2, "Der Schimpanse spricht"), claim(3, "Grippe im Winter"))
    assert found("Impfung") == ["2026/01/01-1"]


def test_a_german_compound_finds_the_words_that_it_is_made_of() -> None:
    load(claim(1, "Windkraft ist teuer"), claim(2, "Die Anlagen stehen still"), claim(3, "Der Beitrag wurde erhöht"))
    assert found("Windkraftanlagen")[0] == "2026/01/01-1"
    assert found("Trag") == []


def test_word_forms_are_found_in_the_claim_s_own_language() -> None:
    load(claim(1, "Die Häuser brennen", language="de"), claim(2, "Vaccines are causing autism", language="en"))
    assert found("Haus") == ["2026/01/01-1"]
    assert found("vaccine causes", language="en") == ["2026/01/01-2"]


def test_the_language_is_detected_where_words_tell_it_and_kept_where_it_is_given() -> None:
    load(LEAD)
    told = queries.search_claims("Ist das Wasser in der Stadt nicht sauber?", halves=["words"])
    assert (told.language, told.language_detected) == ("de", True)
    assert queries.search_claims("Blei", halves=["words"]).language is None
    assert queries.search_claims("Blei", language="fr", halves=["words"]).language == "fr"


@pytest.mark.parametrize("code", languages.CODES)
def test_every_code_has_stems_and_stop_words(code: str) -> None:
    assert languages.STOP_WORDS[code]
    assert languages.stem("internationalisierung", code)


def test_a_tweet_is_cleaned_of_addresses_and_handles_and_its_hashtags_are_words() -> None:
    tweet = "RT @somebody: Look! #StopTheSteal2020 https://t.co/xyz pic.twitter.com/abc #covid_19"
    assert strip_handles_and_links(tweet) == "RT : Look! Stop The Steal 2020 covid 19"


def test_a_question_of_stop_words_alone_still_asks_for_them() -> None:
    asked = parse_words("who is the who", "en", ["en"], Vocabulary())
    assert [term.word for term in asked.terms] == ["who", "is", "the"]


def test_a_query_without_a_word_is_refused() -> None:
    load(LEAD)
    with pytest.raises(InvalidArgument):
        queries.search_claims("?!…")


@pytest.mark.parametrize(
    "text", ['"', "'; DROP TABLE x; --", "a" * 2000, "NEAR/3 (x", "x* OR y", "%_\\", "\u202e\u200b z", "=status published"]
)
def test_no_query_breaks_the_search(text: str) -> None:
    load(LEAD, TURBINES)
    with suppress(InvalidArgument):
        queries.search_claims(text, halves=["words"])


def test_filters_come_before_ranking_and_totals_are_true() -> None:
    load(*german())
    every = queries.search_claims("Deutschland Wasser Impfung Strom Polizei Alpen", 2, halves=["words"])
    assert every.total > len(every.claims) == 2
    health = queries.search_claims("Impfung Erkältung Grippe Krebs", 2, ["health"], halves=["words"])
    assert all("health" in one.categories for one in health.claims)
    assert found("Impfung Strom", categories=["nope"]) == []
    assert found("Impfung Strom", categories=["Gesundheit"]) == found("Impfung Strom", categories=["health"])
    both = found("Impfung Strom Grippe", categories=["health", "energy"])
    assert set(both) == set(found("Impfung Strom Grippe", categories=["health"])) | set(
        found("Impfung Strom Grippe", categories=["energy"])
    )


def test_a_label_is_filtered_as_it_is_written_or_as_what_it_means() -> None:
    load(*german())
    assert found("Eiffelturm Gartenschläuche", rating_label="satire") == found("Eiffelturm Gartenschläuche")
    mostly = queries.search_claims("Elektroautos Wasser Strom", 20, rating_label="mostly_false", halves=["words"]).claims
    assert {one.rating_label for one in mostly} == {"größtenteils falsch"}


def test_claims_before_a_time_are_left_out() -> None:
    load(
        claim(1, "Mond aus Käse", createdAt="2026-01-01"),
        claim(2, "Mond aus Holz", createdAt="2026-02-01"),
        claim(3, "Mond aus Eis"),
    )

    assert found("Mond", published_since=dt.datetime(2026, 2, 1, tzinfo=dt.UTC)) == ["2026/01/01-2"]


def test_pages_follow_each_other_without_gap_or_repetition() -> None:
    load(*(claim(number, f"Der Mond ist aus Käse {number}") for number in range(23)))
    whole, cursor, pages = found("Mond Käse", limit=50), None, []
    while True:
        page = queries.search_claims("Mond Käse", 5, halves=["words"], cursor=cursor)
        assert page.total == 23
        pages += short_ids(page.claims)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert pages == whole
    assert len(set(pages)) == 23


@pytest.mark.parametrize("cursor", ["", "x", "W10", "eyJ9", "W1wiY2xhaW1zIGZvdW5kXCIsMSwyLDMsNF0"])
def test_a_strange_cursor_is_refused(cursor: str) -> None:
    load(LEAD)
    with pytest.raises(InvalidArgument):
        queries.search_claims("Blei", cursor=cursor)


def test_a_cursor_of_another_question_is_refused() -> None:
    load(*(claim(number, "Der Mond ist aus Käse") for number in range(3)))
    cursor = queries.search_claims("Mond", 1, halves=["words"]).next_cursor
    with pytest.raises(InvalidArgument):
        queries.search_claims("Käse", 1, halves=["words"], cursor=cursor)


def test_what_is_unpublished_internal_or_withdrawn_is_never_found() -> None:
    first, *_ = load(LEAD, TURBINES, claim(3, "Blei intern", internal=True))
    assert found("Blei Windräder") == ["2025/11/20-2"]
    store.withdraw_claim(first, "A mistake.", first.changed_at)
    assert found("Blei") == []


@pytest.mark.django_db(transaction=True)  # the store is read in a thread of its own
def test_meaning_finds_what_words_do_not(settings: Settings) -> None:
    settings.FACTCHECKS_EMBEDDING = "hashed"
    load(LEAD, TURBINES | {"status": "published"})
    assert embedding.embed_missing() == 2
    told = queries.search_claims("Blei im Leitungswasser", language="de")
    assert short_ids(told.claims) == ["2025/11/20-2", "2025/11/21-1"]
    assert told.degraded == []
    assert told.claims[0].similarity is not None


def test_without_a_model_words_go_on_and_the_answer_says_so() -> None:
    load(LEAD)
    told = queries.search_claims("Blei")
    assert short_ids(told.claims) == ["2025/11/20-2"]
    assert told.degraded == ["vectors"]


@pytest.mark.django_db(transaction=True)
def test_a_model_that_takes_too_long_holds_nothing_up(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FACTCHECKS_EMBEDDING, settings.FACTCHECKS_VECTOR_MS = "hashed", 20
    load(LEAD)
    embedding.embed_missing()
    freed = threading.Event()
    monkeypatch.setattr(embedding.Hashed, "embed", lambda *_args, **_more: freed.wait(10) and None)
    told = queries.search_claims("Blei")
    freed.set()
    assert (short_ids(told.claims), told.degraded) == (["2025/11/20-2"], ["vectors"])


@pytest.mark.django_db(transaction=True)
def test_a_model_that_fails_is_passed_over(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FACTCHECKS_EMBEDDING = "hashed"
    load(LEAD)
    embedding.embed_missing()

    def fail(*_args: object, **_more: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(embedding.Hashed, "embed", fail)
    assert queries.search_claims("Blei").degraded == ["vectors"]


@pytest.mark.django_db(transaction=True)
def test_a_claim_without_a_vector_comes_before_one_that_shares_no_word(settings: Settings) -> None:
    settings.FACTCHECKS_EMBEDDING = "hashed"
    _, other = load(claim(1, "Blei im Wasser"), claim(2, "Der Mond ist aus Käse"))
    nearest = embedding.Hashed().embed(["Blei"])[0].astype("<f2").tobytes()
    ClaimVector.objects.create(claim=other, part=0, model=embedding.Hashed.name, dimensions=64, vector=nearest)
    half = queries.search_claims("Blei")
    assert (short_ids(half.claims), half.degraded, half.vectors) == (["2026/01/01-1", "2026/01/01-2"], ["vectors"], 0.5)
    filtered = queries.search_claims("Mond", published_since=dt.datetime(2030, 1, 1, tzinfo=dt.UTC))
    assert (filtered.total, filtered.degraded) == (0, [])
    embedding.embed_missing()
    whole = queries.search_claims("Blei")
    assert (whole.degraded, whole.vectors) == ([], 1.0)


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(-5, 5)), max_size=30))
def test_no_claim_without_a_vector_comes_behind_one_that_says_less(rows: list[tuple[float, float | None]]) -> None:
    said = np.array([one for one, _ in rows], dtype=np.float64)
    far = np.array([np.nan if one is None else one for _, one in rows], dtype=np.float64)
    estimate = search._estimate_missing_cosines(far, said)
    scores = said + search.MEANING * estimate
    assert not np.isnan(estimate).any()
    for place in np.flatnonzero(np.isnan(far)):
        assert (scores[said < said[place]] <= scores[place] + 1e-9).all()


def test_a_fact_is_quoted_where_it_meets_the_question_as_well_as_the_claim_does() -> None:
    load(LEAD)
    told = queries.search_claims("Blei im Leitungswasser", language="de", halves=["words"]).claims[0]
    assert told.excerpt is not None
    assert told.excerpt.text.startswith("Das Gesundheitsamt")
    assert queries.search_claims("Bremen Grenzwert", halves=["words"]).claims[0].excerpt is None


def test_equals_are_ordered_by_nothing_that_loading_decides() -> None:
    load(*(claim(number, "Der Mond ist aus Käse") for number in range(50)))
    numbers = [hit.number for hit in _hits("Mond")]
    assert sorted(numbers) == list(range(50))
    assert numbers != sorted(numbers)


def _hits(text: str) -> list[search.ClaimHit]:
    asked, state = search.parse_question(text, "de")
    return search.rank_claims(search.score_by_words(asked, state, search.Filters(statuses=["published"])), None).hits


def test_an_edited_label_shows_at_once() -> None:
    load(claim(1, "Mond aus Käse", ratingLabelName="quatsch"))
    assert queries.search_claims("Mond", halves=["words"]).claims[0].rating == "unknown"
    RatingName.objects.filter(key="quatsch").update(rating="false")
    assert queries.search_claims("Mond", halves=["words"]).claims[0].rating == "false"
    assert found("Mond", rating_label="false") == ["2026/01/01-1"]


def test_lists_are_newest_first_and_paged() -> None:
    load(*german(), claim(99, "Ohne Datum"))
    first = queries.list_claims(30)
    second = queries.list_claims(30, cursor=first.next_cursor)
    assert (first.total, len(first.claims), len(second.claims), second.next_cursor) == (41, 30, 11, None)
    dates = [one.published_at for one in (*first.claims, *second.claims)]
    assert dates[-1] is None
    assert dates[:-1] == sorted(dates[:-1], reverse=True)  # type: ignore[type-var]
    assert Claim.objects.live().count() == 41


def test_names_of_the_filters_are_listed_with_their_numbers() -> None:
    load(*german())
    assert sum(one.count for one in queries.list_categories().categories) == 40
    assert queries.list_rating_labels().rating_labels[0].rating_label == "falsch"
    assert queries.get_stats().claims == 40


def test_nothing_is_found_where_there_is_nothing() -> None:
    claims.forget()
    told = queries.search_claims("Blei")
    assert (told.total, told.claims, told.degraded) == (0, [], [])


def test_a_word_inside_a_claim_without_spaces_finds_it_and_a_whole_word_comes_first() -> None:
    load(claim(1, "東京と京都でワクチンが中止された"), claim(2, "東京都でワクチンが中止された"), claim(3, "백신접종이 중단됐다"))
    assert found("東京都") == ["2026/01/01-2", "2026/01/01-1"]
    assert (found("백신"), found("ワクチン")[:2]) == (["2026/01/01-3"], found("ﾜｸﾁﾝ")[:2])
    assert found("都")
    assert len(found("ワクチン")) == 2


def test_the_migration_indexes_claims_again_if_some_are_in_such_a_script() -> None:
    load(claim(1, "東京都でワクチンが中止された"), claim(2, "Die Anlagen stehen still"))
    before = list(Postings.objects.filter(index=INDEX).order_by("token").values_list("token", "block", "found"))
    Postings.objects.filter(index=INDEX, token="東京").update(token="東京都でワクチンが中止された")
    Word.objects.filter(token="東京").delete()
    importlib.import_module("wire.corpora.factchecks.migrations.0004_character_pairs").index_again(apps, None)
    assert list(Postings.objects.filter(index=INDEX).order_by("token").values_list("token", "block", "found")) == before
    assert Word.objects.filter(token="東京").exists()
    assert found("東京") == ["2026/01/01-1"]
