"""Entries of every form become claims that may be stored, or a refusal that says why."""

import datetime as dt
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.claims import LEAD, claim
from wire.corpora.factchecks import claim_parsers, file_formats
from wire.corpora.factchecks.claim_parsers import ClaimDraft, RefusedClaim
from wire.corpora.factchecks.ratings import Rating, rate_number

REVIEW: dict[str, Any] = {
    "@context": "https://schema.org",
    "@type": "ClaimReview",
    "url": "https://checker.example/moon",
    "claimReviewed": "The moon is made of cheese",
    "name": "No, it is rock",
    "author": {"@type": "Organization", "name": "Checker"},
    "datePublished": "2024-05-01",
    "inLanguage": "en-GB",
    "itemReviewed": {"@type": "Claim", "author": {"name": "A. Nonymous"}, "appearance": [{"url": "https://social.example/2"}]},
    "reviewRating": {
        "@type": "Rating",
        "ratingValue": "1",
        "worstRating": "1",
        "bestRating": "5",
        "alternateName": "Pants on Fire",
    },
}


def read(tmp_path: Path, name: str, text: str, language: str = "") -> list[file_formats.Entry]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return list(file_formats.read_entries(file, language))


def test_a_claim_of_the_dump_keeps_all_its_fields() -> None:
    draft = claim_parsers.parse_dump(LEAD, "de")
    assert (draft.external_id, draft.short_id, draft.process_id) == (LEAD["id"], "2025/11/20-2", "p1")
    assert draft.published_at == dt.datetime(2025, 11, 20, 10, tzinfo=dt.UTC)
    assert draft.categories[0] == {"name": "health", "de": "Gesundheit", "en": "Health"}
    assert [fact["publish"] for fact in draft.facts] == [True, False]
    assert draft.origins == [{"url": "https://social.example/1"}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("claimCategories", [{"categoryName": "other"}]),
        ("publishingUrl", "https://example.org/b"),
        ("internal", True),
        ("createdAt", "2025-11-21T10:00:00Z"),
        ("facts", [{"index": 0, "text": LEAD["facts"][0]["text"], "sources": [{"excerpt": "Another"}]}]),
        ("origins", []),
    ],
)
def test_every_change_of_content_changes_the_hash(field: str, value: Any) -> None:
    assert claim_parsers.parse_dump(LEAD, "de").sha256 != claim_parsers.parse_dump(LEAD | {field: value}, "de").sha256


def test_a_claim_s_own_language_wins_over_the_load_s() -> None:
    assert claim_parsers.parse_dump(LEAD | {"language": "de-AT"}, "en").language == "de"
    assert claim_parsers.parse_dump(LEAD | {"language": "tlh"}, "en").language == "en"
    assert claim_parsers.parse_dump(LEAD, "").language == "de"


def test_claim_review_is_read_with_checker_claimant_and_rating() -> None:
    draft = claim_parsers.parse_claim_review(REVIEW, "")
    assert (draft.synopsis, draft.rating_label, draft.publisher) == ("The moon is made of cheese", "Pants on Fire", "Checker")
    assert (draft.claimant, draft.language, draft.rating_hint) == ("A. Nonymous", "en", Rating.FALSE)
    assert draft.external_id == claim_parsers.parse_claim_review(dict(REVIEW), "").external_id


@pytest.mark.parametrize(
    "wrapped",
    [
        REVIEW,
        [REVIEW],
        {"@graph": [{"@type": "WebPage"}, REVIEW]},
        {"@type": "DataFeed", "dataFeedElement": [{"@type": "DataFeedItem", "item": [REVIEW]}]},
    ],
)
def test_claim_review_is_found_however_it_is_wrapped(tmp_path: Path, wrapped: Any) -> None:
    (found,) = read(tmp_path, "reviews.json", orjson.dumps(wrapped).decode())
    assert isinstance(found, ClaimDraft)
    assert found.synopsis == "The moon is made of cheese"


def test_a_web_page_gives_the_reviews_in_its_scripts(tmp_path: Path) -> None:
    page = f'<html><script type="application/ld+json">{orjson.dumps(REVIEW).decode()}</script><p>text</p></html>'
    (found,) = read(tmp_path, "page.html", page)
    assert isinstance(found, ClaimDraft)


def test_a_feed_of_reviews_gives_claims_without_a_rating(tmp_path: Path) -> None:
    feed = (
        '<rss version="2.0"><channel><title>Checks</title><item><title>Did &lt;b&gt;it&lt;/b&gt; rain?</title>'
        "<link>https://checker.example/rain</link><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item></channel></rss>"
    )
    (found,) = read(tmp_path, "feed.xml", feed)
    assert isinstance(found, ClaimDraft)
    assert (found.publishing_url, found.rating_label) == ("https://checker.example/rain", "")


def test_tables_are_read_by_many_names_of_columns(tmp_path: Path) -> None:
    ours = read(tmp_path, "a.csv", "id,claim,rating,url\n1,The earth is flat,False,https://x.example/1\n")
    tweets = read(tmp_path, "b.tsv", "\tvclaim\ttitle\n0\tThe earth is flat\tIs the earth flat?\n")
    claimskg = read(
        tmp_path, "c.csv", "claimReview_claimReviewed,rating_alternateName,claimReview_url\nIt is flat,FALSE,https://x.example/2\n"
    )
    assert [one.synopsis for one in (*ours, *tweets, *claimskg) if isinstance(one, ClaimDraft)] == ["The earth is flat"] * 2 + [
        "It is flat"
    ]
    (row,) = tweets
    assert isinstance(row, ClaimDraft)
    assert row.external_id != "0"  # an index counts rows; it names no claim
    assert row.rating_summary == "Is the earth flat?"


def test_what_is_no_claim_is_refused_with_a_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    lines = [orjson.dumps(one).decode() for one in (claim(1, "one"), [1], {}, claim(2, "two"), {"id": "7f", "claim-review": {}})]
    found = read(tmp_path, "dump.ndjson", "\n".join([*lines, "{broken"]))
    assert [isinstance(one, ClaimDraft) for one in found] == [True, False, False, True, False, False]
    assert "neither id nor shortId" in str(found[2])
    assert "none of a claim's fields" in str(found[4])


def test_a_review_names_what_it_is_stored_without(tmp_path: Path) -> None:
    unread = REVIEW | {"url": "checker/moon", "datePublished": "31.13.2026"}
    unrated = {name: value for name, value in REVIEW.items() if name != "reviewRating"} | {"url": "checker/sun"}
    found = read(tmp_path, "reviews.json", orjson.dumps([REVIEW, unread, unrated]).decode())
    assert [one.remarks for one in found if isinstance(one, ClaimDraft)] == [
        (),
        (
            "stored without a web address: none could be read from “checker/moon”",
            "stored without a date: none could be read from “31.13.2026”",
        ),
        ("stored without a web address: none could be read from “checker/sun”", "stored without a rating: no reviewRating has one"),
    ]


def test_an_object_of_schema_org_that_is_no_review_is_refused_by_its_type(tmp_path: Path) -> None:
    text = orjson.dumps([REVIEW, {"@type": "Article", "headline": "Moon"}]).decode()
    assert "its @type is “Article”, not ClaimReview" in str(read(tmp_path, "reviews.json", text)[1])


def test_a_list_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    text = orjson.dumps([claim(1, "one"), claim(2, "two")]).decode()[:-20]
    file = tmp_path / "dump.json"
    file.write_text(text)
    found = file_formats.read_entries(file, "")
    assert isinstance(next(found), ClaimDraft)
    with pytest.raises(file_formats.Unreadable):
        next(found)


def test_hostile_values_do_not_get_through() -> None:
    draft = claim_parsers.parse_dump(
        claim(1, "a\x00b\u202ec", publishingUrl="javascript:alert(1)", createdAt="2026-13-45", facts=[{"text": "x\ud800"}]), "en"
    )
    assert (draft.synopsis, draft.publishing_url, draft.published_at) == ("abc", "", None)
    assert draft.facts[0]["text"] == "x"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([*LEAD, "language", "supersededBy"]), values))
def test_any_entry_becomes_a_draft_that_can_be_stored_or_a_refusal(entry: Any) -> None:
    try:
        draft = claim_parsers.parse_dump(entry, "")
    except RefusedClaim:
        return
    orjson.dumps([draft.facts, draft.origins, draft.categories])
    assert "\x00" not in f"{draft}"
    assert len(draft.external_id) <= 200
    assert draft.sha256


@given(values)
def test_any_json_ld_is_searched_for_reviews_without_failing(value: Any) -> None:
    for review in claim_parsers.find_reviews(value):
        with_refusal = [claim_parsers.parse_claim_review, claim_parsers.parse_dump]
        for make in with_refusal:
            try:
                make(review, "")
            except RefusedClaim:
                continue


def test_numbers_become_ratings() -> None:
    assert [rate_number(n, 1, 5) for n in (1, 2, 3, 4, 5)] == [
        Rating.FALSE,
        Rating.MOSTLY_FALSE,
        Rating.MIXED,
        Rating.MOSTLY_TRUE,
        Rating.TRUE,
    ]
    assert rate_number(0, -1, -1) == Rating.UNKNOWN
