"""A claim cut into parts that are searched for their meaning: an overview, and one for each published fact. Pure.

Each part has two texts: `content`, with labels in the claim's language, which is shown, and `plain`, without labels and ids, which
the vector is made of: labels in it make search worse.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from wire.text.lexicons import load_lexicon
from wire.text.untrusted_text import fold_line, quote_structure

LONGEST: Final = 6_000  # characters of a part
OVERLAP: Final = LONGEST // 5
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")

Kind = Literal["claim_overview", "fact_detail"]

_LABELS: Final[Mapping[str, Sequence[str]]] = load_lexicon("factchecks")["labels"]


@dataclass(frozen=True, slots=True)
class Chunk:
    kind: Kind
    fact_index: int | None
    content: str
    plain: str


def get_section_labels(language: str) -> Sequence[str]:
    # English where the language is not known.
    return _LABELS.get("no" if language in ("nb", "nn") else language, _LABELS["en"])


def split_claim(claim: Any) -> list[Chunk]:
    """Return the parts of a claim, which is stored or as a file has it; the overview comes first."""
    return [_build_overview(claim), *(chunk for fact in filter_published(claim.facts) for chunk in _cut_fact(fact, claim.language))]


def filter_published(entries: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield facts or sources that may be shown: all but those that say that they are not published."""
    return (entry for entry in entries if entry.get("publish") is not False)


def _build_overview(claim: Any) -> Chunk:
    language = "de" if claim.language == "de" else "en"
    categories = ", ".join(one.get(language, "") or one["name"] for one in claim.categories)
    texts = (claim.synopsis, claim.rating_summary, claim.rating_statement)
    values = (*texts, claim.rating_label, categories, claim.short_id)
    labelled = [f"{label}: {value}" for label, value in zip(get_section_labels(claim.language), values, strict=False) if value]
    endings = (".", "!", "?", "…", ":")
    plain = " ".join(text if text.rstrip().endswith(endings) else f"{text}." for text in texts if text)
    return Chunk("claim_overview", None, "\n\n".join(labelled), plain or claim.short_id)


def _cut_fact(fact: Mapping[str, Any], language: str) -> list[Chunk]:
    source, text = get_section_labels(language)[-1], str(fact.get("text") or "")
    excerpts = [str(one["excerpt"]) for one in filter_published(fact.get("sources") or ()) if one.get("excerpt")]
    sources = "\n".join(f"{source}: {fold_line(excerpt)}" for excerpt in excerpts)
    # Labels of the text are not ours: only a line that we made begins with one.
    content = "\n\n".join(part for part in (quote_structure(text, labelled=True), sources) if part)
    if len(content) <= LONGEST:
        plain = " ".join(part for part in (text, *excerpts) if part)
        return [Chunk("fact_detail", fact.get("index"), content, plain)] if content else []
    return [Chunk("fact_detail", fact.get("index"), piece, piece) for piece in split_text(content)]


def split_text(text: str) -> list[str]:
    """Cut a text at sentences, up to LONGEST characters a piece; each begins with OVERLAP characters of the one before."""
    found, current, length = list[str](), list[str](), 0  # of `current` when it is joined by spaces
    for sentence in _SENTENCE_END.split(text):
        if current and length + 1 + len(sentence) > LONGEST:
            found.append(" ".join(current))
            overlap = found[-1][-OVERLAP:].partition(" ")[2] if len(sentence) < LONGEST - OVERLAP else ""
            current, length = [overlap] if overlap else [], len(overlap)
        length += len(sentence) + bool(current)
        current.append(sentence)
        if length > LONGEST:
            rest = " ".join(current)
            while len(rest) > LONGEST:
                found.append(rest[:LONGEST])
                rest = rest[LONGEST - OVERLAP :]
            current, length = [rest], len(rest)
    return [piece.strip() for piece in (*found, " ".join(current)) if piece.strip()]
