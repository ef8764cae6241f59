"""What is stored stays in step with the index, again and again; what was public and is no more says so."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from config.errors import NotFound
from tests import claims
from tests.claims import LEAD, TURBINES, claim, german, load, short_ids
from wire.corpora.factchecks import claim_parsers, queries, store
from wire.corpora.factchecks.index_terms import INDEX, weigh_claim_tokens
from wire.corpora.factchecks.models import Claim, ClaimCategory, FactcheckState, RatingName, Word
from wire.models import Postings, WireState
from wire.search import postings_index as postings

pytestmark = pytest.mark.django_db
NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def found(query: str) -> list[str]:
    claims.forget()
    return short_ids(queries.search_claims(query, 20, halves=["words"]).claims)


def index() -> dict[tuple[str, int], bytes]:
    return {(token, block): bytes(held) for token, block, held in Postings.objects.values_list("token", "block", "found")}


def test_the_same_claims_again_change_nothing() -> None:
    load(*german())
    before, version = index(), FactcheckState.objects.get().version
    stored = store.store_claims([claim_parsers.parse_dump(entry, "de") for entry in german()], timezone.now())
    assert (stored.created, stored.updated, stored.skipped) == (0, 0, 40)
    assert index() == before
    assert FactcheckState.objects.get().version == version + 1


def test_a_change_replaces_what_a_claim_is_found_by() -> None:
    load(LEAD)
    load(LEAD | {"synopsis": "Trinkwasser ist sauber", "ratingSummary": "", "ratingStatement": "", "facts": []})
    assert found("Leitungswasser") == []
    assert found("Trinkwasser") == ["2025/11/20-2"]
    assert Claim.objects.count() == FactcheckState.objects.get().found == 1


def test_of_an_id_that_comes_twice_the_last_counts() -> None:
    stored = store.store_claims([claim_parsers.parse_dump(claim(1, text), "de") for text in ("eins", "zwei")], NOW)
    assert (stored.created, stored.skipped) == (1, 1)
    assert Claim.objects.get().synopsis == "zwei"


def test_a_claim_that_is_published_no_more_says_so_and_may_come_back() -> None:
    load(LEAD)
    load(LEAD | {"status": "rejected"})
    assert found("Blei") == []
    gone = queries.get_claim("2025/11/20-2")
    assert (gone.status, gone.citations) == ("withdrawn", {})
    assert "rejected" in (gone.withdrawn_reason or "")
    load(LEAD)
    assert found("Blei") == ["2025/11/20-2"]
    assert queries.get_claim("2025/11/20-2").status == "published"


def test_an_editor_s_withdrawal_outlives_a_load() -> None:
    (first,) = load(LEAD)
    store.withdraw_claim(first, "It was wrong.", NOW)
    load(LEAD | {"ratingSummary": "Neu."})
    assert queries.get_claim("2025/11/20-2").withdrawn_reason == "It was wrong."
    assert found("Blei") == []
    store.restore_claim(Claim.objects.get(), NOW)
    assert found("Blei") == ["2025/11/20-2"]


def test_a_superseded_claim_names_what_takes_its_place() -> None:
    load(LEAD | {"supersededBy": "id-2"}, claim(2, "Blei im Wasser, neu geprüft"))
    assert found("Blei") == ["2026/01/01-2"]
    old = queries.get_claim("2025/11/20-2")
    assert (old.status, old.superseded_by) == ("superseded", "id-2")


def test_an_internal_or_unpublished_claim_is_not_there(settings: Settings) -> None:
    load(LEAD | {"internal": True}, TURBINES)
    for claim_id in ("2025/11/20-2", LEAD["id"], "2025/11/21-1"):
        with pytest.raises(NotFound):
            queries.get_claim(claim_id)
    settings.FACTCHECKS_STATUSES = ("published", "checked")
    store.reindex_claims()
    assert queries.get_claim("2025/11/21-1").status == "checked"
    assert found("Windräder") == ["2025/11/21-1"]


def test_every_change_of_what_is_answered_raises_the_wire_version() -> None:
    (first,) = load(LEAD)
    before = WireState.objects.get().version
    store.withdraw_claim(first, "Wrong.", NOW)
    assert WireState.objects.get().version > before


def test_labels_that_nobody_knew_come_as_unknown_and_an_editor_s_stay() -> None:
    load(claim(1, "Mond", ratingLabelName="Totaler Quatsch"))
    assert RatingName.objects.get(key="totaler quatsch").rating == "unknown"
    RatingName.objects.filter(key="totaler quatsch").update(rating="false", is_edited=True)
    store.create_defaults()
    load(claim(2, "Mars", ratingLabelName="totaler  quatsch"))
    assert RatingName.objects.get(key="totaler quatsch").rating == "false"


def test_a_reindex_makes_the_same_index() -> None:
    load(*german())
    before = index()
    assert store.reindex_claims() == 40
    assert index() == before
    assert FactcheckState.objects.get().found == 40


texts = st.lists(st.sampled_from(["wasser", "blei", "impfung", "strom", "wald", "windkraft"]), max_size=4).map(" ".join)
changes = st.lists(st.tuples(st.integers(0, 4), texts, st.sampled_from(["published", "rejected"]), st.booleans()), max_size=12)


@pytest.mark.slow
@pytest.mark.django_db
@given(changes=changes)
@settings(max_examples=15)
def test_after_any_changes_the_index_is_what_the_claims_say(changes: list[tuple[int, str, str, bool]]) -> None:
    _empty()
    for number, text, status, internal in changes:
        entry: dict[str, Any] = claim(number, text, status=status, internal=internal)
        store.store_claims([claim_parsers.parse_dump(entry, "de")], NOW)
    expected = {one.number: weigh_claim_tokens(one) for one in Claim.objects.live()}
    tokens = {token for held in expected.values() for token in held}
    stored = postings.get_weights(INDEX, tokens | {word.token for word in Word.objects.all()})
    seen: dict[int, dict[str, int]] = {}
    for token, (numbers, weights) in stored.items():
        for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
            seen.setdefault(number, {})[token] = weight
    assert seen == {number: held for number, held in expected.items() if held}
    assert FactcheckState.objects.get().found == len(expected)
    assert ClaimCategory.objects.count() == 0


def _empty() -> None:
    Claim.objects.all().delete()
    Word.objects.all().delete()
    postings.clear_index(INDEX)
    FactcheckState.objects.update(next_number=0, found=0)
