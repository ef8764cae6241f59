"""A claim cut into parts that are searched for their meaning: an overview, and one for each published fact. Pure.

Each part has two texts: `content`, with labels in the claim's language, which is shown, and `plain`, without labels and ids, which
the vector is made of: labels in it make search worse.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

LONGEST: Final = 6_000  # characters of a part
OVERLAP: Final = LONGEST // 5
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")

Kind = Literal["claim_overview", "fact_detail"]

_LABELS: Final[Mapping[str, tuple[str, str, str, str, str, str, str]]] = {
    "de": ("Behauptung", "Bewertung", "Einschätzung", "Urteil", "Kategorien", "ID", "Quelle"),
    "en": ("Claim", "Summary", "Assessment", "Rating", "Categories", "ID", "Source"),
    "fr": ("Affirmation", "Résumé", "Évaluation", "Verdict", "Catégories", "ID", "Source"),
    "es": ("Afirmación", "Resumen", "Evaluación", "Veredicto", "Categorías", "ID", "Fuente"),
    "it": ("Affermazione", "Sintesi", "Valutazione", "Verdetto", "Categorie", "ID", "Fonte"),
    "pt": ("Alegação", "Resumo", "Avaliação", "Veredito", "Categorias", "ID", "Fonte"),
    "nl": ("Bewering", "Samenvatting", "Beoordeling", "Oordeel", "Categorieën", "ID", "Bron"),
    "da": ("Påstand", "Resumé", "Vurdering", "Dom", "Kategorier", "ID", "Kilde"),
    "no": ("Påstand", "Sammendrag", "Vurdering", "Dom", "Kategorier", "ID", "Kilde"),
    "sv": ("Påstående", "Sammanfattning", "Bedömning", "Omdöme", "Kategorier", "ID", "Källa"),
    "fi": ("Väite", "Tiivistelmä", "Arvio", "Tuomio", "Luokat", "ID", "Lähde"),
    "ru": ("Утверждение", "Вывод", "Оценка", "Вердикт", "Категории", "ID", "Источник"),
    "tr": ("İddia", "Özet", "Değerlendirme", "Karar", "Kategoriler", "ID", "Kaynak"),
    "ro": ("Afirmație", "Rezumat", "Evaluare", "Verdict", "Categorii", "ID", "Sursă"),
    "hu": ("Állítás", "Összefoglaló", "Értékelés", "Ítélet", "Kategóriák", "ID", "Forrás"),
    "id": ("Klaim", "Ringkasan", "Penilaian", "Putusan", "Kategori", "ID", "Sumber"),
}


@dataclass(frozen=True, slots=True)
class Chunk:
    kind: Kind
    fact_index: int | None
    content: str
    plain: str


@dataclass(frozen=True, slots=True)
class Texts:
    """What a claim says, as far as it is cut into parts."""

    language: str
    short_id: str
    synopsis: str
    summary: str
    statement: str
    label: str
    categories: Sequence[Mapping[str, str]]
    facts: Sequence[Mapping[str, Any]]


def labels_of(language: str) -> tuple[str, str, str, str, str, str, str]:
    """English where the language is not known."""
    return _LABELS.get("no" if language in ("nb", "nn") else language, _LABELS["en"])


def chunks_of(claim: Texts) -> list[Chunk]:
    return [_overview(claim), *(chunk for fact in published(claim.facts) for chunk in _details(fact, claim.language))]


def published(entries: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Facts or sources that may be shown; what does not say is published."""
    return (entry for entry in entries if entry.get("publish") is not False)


def category_name(category: Mapping[str, str], language: str) -> str:
    """What a category is called in a language, else its plain name."""
    return category.get("de" if language == "de" else "en", "") or category["name"]


def _overview(claim: Texts) -> Chunk:
    told = ", ".join(category_name(one, claim.language) for one in claim.categories)
    values = (claim.synopsis, claim.summary, claim.statement, claim.label, told, claim.short_id)
    labelled = [f"{label}: {value}" for label, value in zip(labels_of(claim.language), values, strict=False) if value]
    plain = " ".join(_ended(text) for text in values[:3] if text)
    return Chunk("claim_overview", None, "\n\n".join(labelled), plain or claim.short_id)


def _details(fact: Mapping[str, Any], language: str) -> list[Chunk]:
    source, text = labels_of(language)[-1], str(fact.get("text") or "")
    excerpts = [str(one["excerpt"]) for one in published(fact.get("sources") or ()) if one.get("excerpt")]
    content = "\n\n".join(part for part in (text, "\n".join(f"{source}: {excerpt}" for excerpt in excerpts)) if part)
    if len(content) <= LONGEST:
        plain = " ".join(part for part in (text, *excerpts) if part)
        return [Chunk("fact_detail", fact.get("index"), content, plain)] if content else []
    return [Chunk("fact_detail", fact.get("index"), piece, piece) for piece in pieces(content)]


def pieces(text: str) -> list[str]:
    """Whole sentences, up to LONGEST characters a piece; each begins with the end of the one before, OVERLAP characters. A sentence
    that is longer by itself is cut where it has to be.
    """
    found, current = list[str](), ""
    for sentence in _SENTENCE_END.split(text):
        if current and len(current) + 1 + len(sentence) > LONGEST:
            found.append(current)
            current = current[-OVERLAP:].partition(" ")[2] if len(sentence) < LONGEST - OVERLAP else ""
        current = f"{current} {sentence}" if current else sentence
        while len(current) > LONGEST:
            found.append(current[:LONGEST])
            current = current[LONGEST - OVERLAP :]
    return [piece.strip() for piece in (*found, current) if piece.strip()]


def _ended(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", "…", ":")) else f"{text}."
