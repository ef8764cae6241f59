"""The choice of categories by the lexicon and the form of the headline."""

import json

import pytest

from wire.ingest.classifier_terms import load_shipped_lexicon
from wire.ingest.classify import BIAS, MODEL_FILE, Lexicon, Term, read_features, score_categories
from wire.text.choices import Category


def test_a_headline_is_read_with_its_form() -> None:
    features = read_features(
        "Why I pay $20 for this: a review?", "We tried it.", {"analysis": 40.0}, {"analysis": 45.0, "funding": 2.0}
    )
    assert (
        features.items()
        >= {
            "opening_why": 1.0,
            "first_person": 1.0,
            "money": 1.0,
            "colon": 1.0,
            "question_mark": 1.0,
            "summary_we": 1.0,
            "headline_analysis": 30.0,  # more says no more
            "summary_analysis": 5.0,
            "summary_funding": 2.0,
        }.items()
    )
    assert not {"you", "quotation", "summary_money"} & features.keys()


@pytest.mark.parametrize("headline", ["", "…", "Ünïcode", "東京"])
def test_any_headline_has_a_score_for_every_category(headline: str) -> None:
    assert score_categories(read_features(headline, "", {}, {})).keys() == set(Category)


def test_the_model_knows_the_same_features_for_every_category() -> None:
    model = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    assert model.keys() == set(Category)
    assert len({tuple(weights) for weights in model.values()}) == 1
    assert all(BIAS in weights for weights in model.values())


def test_the_form_of_a_headline_decides_where_terms_speak_for_several() -> None:
    lexicon = Lexicon([Term("launches", "gherkins", 4.0), Term("analysis", "gherkins", 4.0)], [], [])
    assert lexicon.category("Quince adds gherkins", "") == "launches"
    assert lexicon.category("Why I tried gherkins: are they worth it?", "") == "analysis"
    assert lexicon.category("[Updated] Why I tried gherkins: are they worth it?", "") == "analysis"


def test_what_an_editor_adds_turns_the_category() -> None:
    terms = [Term("launches", "gherkins", 3.0), Term("analysis", "gherkins", 1.0)]
    assert Lexicon(terms, [], []).category("Quince adds gherkins", "") == "launches"
    assert Lexicon([*terms, Term("funding", "gherkins", 12.0)], [], []).category("Quince adds gherkins", "") == "funding"
    assert Lexicon([*terms, Term("agents", "gherkins", 99.0)], [], []).category("Why I tried gherkins", "") == "agents"


def test_verbs_with_a_subject_and_an_object() -> None:
    lexicon = load_shipped_lexicon()
    headlines = {
        "Asana acquires an AI agent startup": "funding",
        "OpenAI unveils Lockdown Mode": "launches",
        "New York lawmakers pass one-year ban on new data centers": "industry",
    }
    assert {headline: str(lexicon.category(headline, "")) for headline in headlines} == headlines
