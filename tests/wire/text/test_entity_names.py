"""Names in texts: whole words, in exactly the given spellings."""

import json
from pathlib import Path

import pytest

from wire.text.entity_names import NameFinder, normalize_typography

SHIPPED = {
    row["name"]: NameFinder((row["name"], *row.get("spellings", ())), tuple(row.get("exceptions", ())))
    for row in json.loads((Path(__file__).parents[3] / "fixtures" / "entities.json").read_text(encoding="utf-8"))
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Apple", "Apple’s rumored search tool"),
        ("Apple", "(Apple) and others"),
        ("Meta", "Meta-owned Instagram"),
        ("Meta", "Facebook can animate your picture"),
        ("GPT-5", "as cheaper GPT‑5 undercuts Claude"),
        ("GPT-5", "GPT\u00a05 is here"),
        ("GPT-5", "GPT-5.1 is here"),
        ("Claude", "ex-Anthropic staff ask Claude"),
        ("OpenAI", "OpenAI发布新模型"),
        ("OpenAI", "오늘 OpenAI가 발표했다"),
        ("Microsoft Copilot", "GitHub Copilot beside Copilot"),
        ("ChatGPT Atlas", "OpenAI’s Atlas browser"),
    ],
)
def test_a_name_is_found(name: str, text: str) -> None:
    assert SHIPPED[name].is_named_in(normalize_typography("Nothing here.", text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Apple", "an apple a day"),
        ("Apple", "Applebee’s and the Big Apple"),
        ("Meta", "A Meta-analysis of metadata"),
        ("Meta", "Metaverse"),
        ("GPT-5", "GPT-50 and GPT-5o"),
        ("Claude", "Claude Monet, Jean-Claude Juncker and Claude Shannon"),
        ("Microsoft Copilot", "GitHub Copilot alone"),
        ("Donald Trump", "Ivanka Trump trumps all"),
        ("Dario Amodei", "Daniela Amodei"),
        ("xAI", "MaxAI and xAIs"),
        ("OpenAI", "openai"),
        ("OpenAI", ""),
    ],
)
def test_something_else_is_not_found(name: str, text: str) -> None:
    assert not SHIPPED[name].is_named_in(normalize_typography(text))


def test_what_a_spelling_holds_is_no_pattern() -> None:
    finder = NameFinder(("C.ai+", "(x"), ("C.ai+ Labs",))
    assert finder.is_named_in("by C.ai+ and others")
    assert finder.is_named_in("f(x) is (x")
    assert not finder.is_named_in("by Coai+ and C.ai+ Labs")
