"""Claims are cut into an overview and published facts; long facts at sentences; labels stand in the claim's language."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.claims import LEAD
from wire.corpora.factchecks import claim_parsers
from wire.corpora.factchecks.chunks import LONGEST, split_claim, split_text
from wire.corpora.factchecks.claim_parsers import ClaimDraft


def texts(**changes: Any) -> ClaimDraft:
    return replace(claim_parsers.parse_dump(LEAD, "de"), **changes)


def test_a_claim_has_an_overview_and_its_published_facts() -> None:
    overview, fact = split_claim(texts())
    assert overview.kind == "claim_overview"
    assert "Behauptung: Leitungswasser" in overview.content
    assert "Kategorien: Gesundheit, Umwelt" in overview.content
    assert (fact.kind, fact.fact_index) == ("fact_detail", 0)
    assert fact.content.endswith("Blei.\n\nQuelle: Messbericht 2025")


def test_what_the_vector_is_made_of_has_neither_labels_nor_ids() -> None:
    overview, fact = split_claim(texts())
    assert "Behauptung" not in overview.plain
    assert "2025/11/20-2" not in overview.plain
    assert "Quelle" not in fact.plain


def test_labels_stand_in_the_claim_s_language() -> None:
    overview, fact = split_claim(texts(language="en"))
    assert "Claim: Leitungswasser" in overview.content
    assert "Categories: Health, Environment" in overview.content
    assert "Source: Messbericht 2025" in fact.content


def test_a_fact_of_6000_characters_is_one_part_and_a_longer_one_several() -> None:
    sentence = "Das ist ein Satz mit ein paar Wörtern darin. "
    short = [{"index": 0, "text": "x" * LONGEST, "sources": []}]
    long = [{"index": 0, "text": sentence * 300, "sources": []}]
    assert len(split_claim(texts(facts=short))) == 2
    parts = split_claim(texts(facts=long))[1:]
    assert len(parts) == 3
    assert all(len(part.content) <= LONGEST and part.content.rstrip().endswith(".") for part in parts)


def test_a_claim_without_any_text_still_has_an_overview() -> None:
    (overview,) = split_claim(ClaimDraft("id", "2025/1"))
    assert overview.plain == "2025/1"


@given(st.text(st.sampled_from("ab.! "), max_size=200).map(lambda text: text * 120))
def test_pieces_hold_every_word_and_none_is_too_long(text: str) -> None:
    found = split_text(text)
    assert all(len(piece) <= LONGEST for piece in found)
    assert set(text.split()) <= set(" ".join(found).split()) or max(map(len, text.split()), default=0) > LONGEST // 2
