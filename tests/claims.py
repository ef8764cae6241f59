"""Fact-checks for tests: the two of the recorded answers, the fictional German ones, and loading them as a file would be."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from django.utils import timezone

from wire.corpora.factchecks import claim_parsers, query_embedding, search, store
from wire.corpora.factchecks.models import Claim

FIXTURES: Final = Path(__file__).parent.parent / "fixtures" / "factchecks"
LEAD: Final[dict[str, Any]] = {
    "id": "11111111-1111-4111-8111-111111111111",
    "shortId": "2025/11/20-2",
    "processId": "p1",
    "status": "published",
    "internal": False,
    "synopsis": "Leitungswasser in Bremen enthält Blei über dem Grenzwert",
    "ratingLabelName": "false",
    "ratingSummary": "Die Messwerte liegen unter dem Grenzwert.",
    "ratingStatement": "Das Amt mass 0,002 mg.",
    "publishingUrl": "https://example.org/a",
    "createdAt": "2025-11-20T10:00:00Z",
    "claimCategories": [
        {"categoryName": "health", "category": {"labelDe": "Gesundheit", "labelEn": "Health"}},
        {"categoryName": "environment", "category": {"labelDe": "Umwelt", "labelEn": "Environment"}},
    ],
    "facts": [
        {
            "index": 0,
            "text": "Das Gesundheitsamt mass an 40 Stellen im Leitungswasser 0,002 mg Blei.",
            "publish": True,
            "sources": [{"index": 0, "excerpt": "Messbericht 2025", "url": "https://example.org/m", "publish": True}],
        },
        {"index": 1, "text": "Blei Leitungswasser: nicht zu zeigen.", "publish": False, "sources": []},
    ],
    "origins": [{"url": "https://social.example/1"}],
}
TURBINES: Final[dict[str, Any]] = {
    "id": "22222222-2222-4222-8222-222222222222",
    "shortId": "2025/11/21-1",
    "status": "checked",
    "internal": False,
    "synopsis": "Windräder werden mit Diesel beheizt",
    "claimCategories": [],
    "facts": [],
}


def claim(number: int, synopsis: str, **fields: Any) -> dict[str, Any]:
    """A published claim in the dump's form."""
    return {"id": f"id-{number}", "shortId": f"2026/01/01-{number}", "status": "published", "synopsis": synopsis, **fields}


def load(*entries: Mapping[str, Any], language: str = "de") -> list[Claim]:
    """Store entries of a dump; searches know nothing of any database before."""
    forget()
    store.store_claims([claim_parsers.parse_dump(entry, language) for entry in entries], timezone.now())
    return list(Claim.objects.order_by("number"))


def german() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / "claims_de.json").read_text(encoding="utf-8"))
    return found


def forget() -> None:
    search.clear_cache()
    query_embedding.clear_cache()


def short_ids(found: Iterable[Any]) -> list[str]:
    return [one.short_id for one in found]
