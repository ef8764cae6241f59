"""What the shipped lexicon makes of headlines, and what its terms may say."""

import json
import time
from typing import Any

import pytest

from wire.classify import Lexicon, Term
from wire.taxonomy import TAXONOMY_FILE

SECTIONS = ("categories", "topics", "relevance")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(TAXONOMY_FILE.read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def shipped(document: dict[str, Any]) -> Lexicon:
    return Lexicon(
        *(
            [Term(target, text, weight) for target, terms in document[section].items() for text, weight in terms.items()]
            for section in SECTIONS
        )
    )


def finds(term: str, headline: str, summary: str = "") -> bool:
    """Whether this one term, of much weight, decides."""
    return Lexicon([Term("funding", term, 9.0)], [], []).category(headline, summary) == "funding"


@pytest.mark.parametrize(
    ("term", "headline"),
    [
        ("raises", "Cohere raises money"),
        ("raises", "COHERE RAISES MONEY"),
        ("AI agents", "Ten AI Agents walk into a bar"),  # only words with a capital are held to their spelling
        ("launch*", "The launching of a chatbot"),
        ("launch* partner*", "Announcing our launch partners"),
        ("how … uses", "How a very small bakery uses Gemini"),
        ("how ... uses", "How Spotify uses Llama"),
        ("how … uses", "How uses of AI differ"),
        ("^ meet", "Meet Kimi K2"),
        ("^ meet", "[Updated] “Meet Kimi K2”"),
        ("? ^", "Is AI a bubble?"),
        ("^ … ^", "Mistral Small 3"),
        ("^ #", "7 lessons from production"),
        ("# ^", "Introducing GPT-5"),
        ("DINO*", "A look at DINOv3"),
        ("| editorial", "Workers need a voice | Editorial"),
        ("raises $ #", "Anysphere raises $2.3bn"),
        ("# % of", "40% of workers hide it"),
        ("… raises …", "Cohere raises money"),  # gaps at the edges add nothing
    ],
)
def test_a_term_is_found(term: str, headline: str) -> None:
    assert finds(term, headline)


@pytest.mark.parametrize(
    ("term", "headline"),
    [
        ("raises", "Cohere raised money"),
        ("AI agents", "Ai agents"),
        ("Meta", "A meta study"),
        ("how … uses", "How one two three four five six uses Llama"),
        ("^ meet", "The robots meet their makers"),
        ("? ^", "Is AI a bubble? We asked"),
        ("^ … ^", "This headline clearly has six words"),
        ("#", "No digits here"),
        ("…", "Cohere raises money"),
        ("", "Cohere raises money"),
        ("raises $ #", "Cohere raises 500 questions"),
    ],
)
def test_a_term_is_not_found(term: str, headline: str) -> None:
    assert not finds(term, headline)


def test_only_the_headline_has_a_start_and_an_end() -> None:
    assert finds("meet", "Robots", "Meet the robots")
    assert not finds("^ meet", "Robots", "Meet the robots")


def test_a_hostile_term_takes_no_time_to_speak_of() -> None:
    started = time.process_time()
    finds("a … " * 24 + "b", "a " * 500)
    finds("a … " * 24 + "b", "a " * 500 + "b", "a " * 500)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("headline", "category"),
    [
        ("Introducing GPT-5", "launches"),
        ("Mistral Medium 3", "launches"),
        ("Gemini 2.5 Flash is now generally available", "launches"),
        ("Meta releases Llama 4, its most capable open model yet", "launches"),
        ("Meet Kimi K2: A trillion-parameter open model from Moonshot AI", "launches"),
        ("OpenAI to retire GPT-4o from ChatGPT", "launches"),
        ("Anthropic raises $13 billion at a $183 billion valuation", "funding"),
        ("OpenAI acquires Jony Ive's io for $6.5 billion", "funding"),
        ("Figma files for IPO", "funding"),
        ("OpenAI launches Codex, an AI coding agent", "agents"),
        ("Model Context Protocol turns one", "agents"),
        ("Google brings agentic checkout to Search", "agents"),
        ("How Klarna uses ChatGPT for customer service", "industry"),
        ("New York Times sues Perplexity over copyright", "industry"),
        ("Microsoft plans $80 billion of data centers", "industry"),
        ("Cohere and Bell Canada partner", "industry"),
        ("Nvidia becomes first $5 trillion company", "industry"),
        ("Is AI a bubble?", "analysis"),
        ("How to run DeepSeek locally", "analysis"),
        ("Why do chatbots flatter us?", "analysis"),
        ("Large Concept Models: Language modeling in a sentence representation space", "analysis"),
        ("40% of workers hide their AI use, survey finds", "analysis"),
        ("AI can't replace teachers – and shouldn't try | Jane Doe", "analysis"),
        ("Grok raises concerns in three countries", "industry"),  # no money
        ("FBI agents question a chatbot maker", "industry"),  # no software
        ("Karlsruhe, ein grauer Herbsttag mit viel Regen", "industry"),
    ],
)
def test_the_category_of_a_headline(shipped: Lexicon, headline: str, category: str) -> None:
    assert shipped.category(headline, "") == category


@pytest.mark.parametrize(
    ("headline", "topics"),
    [
        ("Meta hires a chief AI officer", "meta"),
        ("A meta-analysis of 52 chatbot studies", ""),
        ("Meta-analysis: chatbots and learning", ""),
        ("DINOv3 maps the reefs", "meta"),
        ("A herd of llamas learns to read", ""),
        ("Ollama runs models at home", ""),
        ("Gemini plans your holiday", "google"),
        ("The Gemini constellation tonight", ""),
        ("Gemini season: what your horoscope says", ""),
        ("Jules Verne and the machine that wrote", ""),
        ("Hassabis on the road to AGI", "google"),
        ("MedGemma reads X-rays", "google"),
        ("Talent agents worry about AI actors", ""),
        ("Real estate agents try chatbots", ""),
        ("Apple tries agents for Siri", "agents"),
        ("Claude Monet, repainted by a model", ""),
        ("Claude writes its own tests", "anthropic"),
        ("A cold mistral blew over Marseille", ""),
        ("Le Chat learns Breton", "mistral"),
        ("Lower perplexity with less data", ""),
        ("Perplexity opens its search index", "perplexity"),
        ("Comet browser fills in forms", "perplexity"),
        ("Can you grok monads?", ""),
        ("Groq and Cerebras in a race for speed", ""),
        ("Grok answers in haiku", "xai"),
        ("Jensen Huang visits Taipei", "nvidia"),
        ("Nadella on growing up", "microsoft"),
        ("Scaling laws for speech", ""),
        ("Altman writes about the gentle singularity", "openai"),
        ("Ofcom asks questions about Grok", "xai regulation"),
        ("Mistral AI closes €1.7 billion Series C led by ASML", "mistral funding"),
    ],
)
def test_the_topics_of_a_headline(shipped: Lexicon, headline: str, topics: str) -> None:
    assert shipped.topics(headline, "") == topics.split()


def test_every_shipped_term_can_match(document: dict[str, Any]) -> None:
    silent = [
        text
        for section in SECTIONS
        for terms in document[section].values()
        for text in terms
        if not finds(text, text.replace("^", "").replace("…", "").replace("#", "1").replace("*", ""))
    ]
    assert silent == []
