"""Items of corpora as citations: a fact-check, and a publisher's own article."""

import datetime as dt
import json
from dataclasses import dataclass
from urllib.parse import quote

from citations.format.formats import MONTHS, URI_IN_RIS, WIRE, fold_to_one_line, serialize_ris


@dataclass(frozen=True, slots=True)
class CitableFactCheck:
    id: str
    claim: str
    rating: str | None
    checker: str | None
    url: str
    permalink: str
    published_on: dt.date | None

    def __post_init__(self) -> None:
        for name in ("claim", "rating", "checker"):
            if text := getattr(self, name):
                object.__setattr__(self, name, fold_to_one_line(text))


def cite_claim(check: CitableFactCheck) -> str:
    """Return the layered citation, canonical here as it is for stories: who says what, found by whom, where."""
    day = check.published_on
    when = f" ({day.day} {MONTHS[day.month - 1]} {day.year})" if day else ""
    rated = f"rated “{check.rating}”" if check.rating else "checked, without a rating"
    claim = check.claim.removesuffix(".")
    found = "" if check.url == check.permalink else f", found by {WIRE}: {check.permalink}"
    return f"According to {check.checker or 'fact-checkers'}{when}, the claim “{claim}” was {rated}. Source: {check.url}{found}"


def to_csl(check: CitableFactCheck) -> str:
    day = check.published_on
    item = {
        "id": check.id,
        "type": "webpage",
        "title": build_factcheck_title(check.claim, check.rating),
        **({"author": [{"literal": check.checker}]} if check.checker else {}),
        **({"issued": {"date-parts": [[day.year, day.month, day.day]]}} if day else {}),
        "URL": check.url,
        "genre": "Fact-check",
        "source": WIRE,
        "note": check.permalink,
    }
    return json.dumps([item], ensure_ascii=False)


def to_ris(check: CitableFactCheck) -> str:
    day = check.published_on
    return serialize_ris(
        {
            "type_of_reference": "ELEC",
            "id": check.id,
            "title": build_factcheck_title(check.claim, check.rating),
            **({"authors": [check.checker]} if check.checker else {}),
            **({"year": str(day.year), "date": day.strftime("%Y/%m/%d/")} if day else {}),
            "urls": [quote(check.url, safe=URI_IN_RIS)],
            "database_provider": WIRE,
            "notes": [check.permalink],
        }
    )


def build_factcheck_title(claim: str, rating: str | None) -> str:
    return f"{claim} [Fact-check: {rating}]" if rating else f"{claim} [Fact-check]"


def cite_article(title: str, publisher: str, url: str, author: str | None, published_on: dt.date | None) -> str:
    """Return one line that names the title, who wrote and published it, the UTC day, and where it is read."""
    by = f"{author}, {publisher}" if author and author != publisher else publisher
    day = f" ({published_on.day} {MONTHS[published_on.month - 1]} {published_on.year})" if published_on else ""
    ended = title if title.endswith((".", "!", "?", "…")) else f"{title}."
    return f"According to {by}{day}: “{ended}” Source: {url}"
