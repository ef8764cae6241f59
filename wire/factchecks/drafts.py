"""From an entry of a file to a claim that may be stored: bounded, plain, complete. Pure.

Four forms: the JSON dump of Faktenforum, schema.org ClaimReview, rows of a table, items of a feed of reviews.
"""

import datetime as dt
import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from wire.factchecks.languages import CODES, detect
from wire.factchecks.ratings import Rating, of_number
from wire.stories.text import plain_text, visible

MAX_TEXT: Final = 100_000  # characters of one text
MAX_TITLE: Final = 2_000  # characters of what a feed tells of an item
MAX_FACTS: Final = 200
MAX_SOURCES: Final = 100
MAX_CATEGORIES: Final = 50
MAX_URL: Final = 2_048
_NAMESPACE: Final = uuid.UUID("5f2b3e6e-6a3c-5d0e-9a53-9d3d8c6f4b11")  # of ids made for entries that bring none
_NOT_TEXT: Final = re.compile(r"[\x00\ud800-\udfff]")


class Refused(ValueError):
    """Why an entry cannot be stored."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim as a file tells it."""

    external_id: str
    short_id: str = ""
    process_id: str = ""
    status: str = "published"
    internal: bool = False
    synopsis: str = ""
    rating_label: str = ""
    rating_summary: str = ""
    rating_statement: str = ""
    publishing_url: str = ""
    publisher: str = ""
    claimant: str = ""
    published_at: dt.datetime | None = None
    language: str = ""
    categories: Sequence[Mapping[str, str]] = ()
    facts: Sequence[Mapping[str, Any]] = ()
    origins: Sequence[Mapping[str, Any]] = ()
    superseded_by: str = ""
    rating_hint: Rating | None = field(default=None, compare=False)
    """What a label that nobody knows yet probably means."""

    @property
    def sha256(self) -> str:
        """Of everything that is stored."""
        told = asdict(self) | {"published_at": self.published_at.isoformat() if self.published_at else None, "rating_hint": None}
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()


def of_dump(entry: Any, language: str) -> Draft:
    """A claim of the dump. Raises: Refused."""
    claim = _object(entry)
    external_id, short_id = _line(claim.get("id"), 200), _line(claim.get("shortId"), 200)
    if not external_id and not short_id:
        raise Refused("it has neither id nor shortId")
    categories = [_category(one) for one in _list(claim.get("claimCategories"), MAX_CATEGORIES)]
    draft = Draft(
        external_id=external_id or short_id,
        short_id=short_id,
        process_id=_line(claim.get("processId"), 200),
        status=_line(claim.get("status"), 40) or "published",
        internal=claim.get("internal") is True,
        synopsis=_text(claim.get("synopsis")),
        rating_label=_line(claim.get("ratingLabelName"), 200),
        rating_summary=_text(claim.get("ratingSummary")),
        rating_statement=_text(claim.get("ratingStatement")),
        publishing_url=_url(claim.get("publishingUrl")),
        publisher=_line(claim.get("publisher"), 200),
        published_at=_moment(claim.get("publishingDate") or claim.get("createdAt")),
        categories=[one for one in categories if one["name"]],
        facts=[_fact(one, place) for place, one in enumerate(_list(claim.get("facts"), MAX_FACTS))],
        origins=[_kept(one) for one in _list(claim.get("origins"), MAX_SOURCES)],
        superseded_by=_line(claim.get("supersededBy"), 200),
    )
    return _in_language(draft, claim.get("language"), language)


def of_claim_review(entry: Any, language: str) -> Draft:
    """A ClaimReview of schema.org. Raises: Refused."""
    review = _object(entry)
    claim, url = _text(review.get("claimReviewed")), _url(_first(review.get("url")) or _first(review.get("@id")))
    if not claim:
        raise Refused("it has no claimReviewed")
    rating = _first(review.get("reviewRating"))
    rating = rating if isinstance(rating, Mapping) else {}
    item = _first(review.get("itemReviewed"))
    item = item if isinstance(item, Mapping) else {}
    seen = [{"url": _url(_named(one, "url"))} for one in _many(item.get("appearance")) or _many(item.get("firstAppearance"))]
    name = review.get("name") or review.get("headline")
    draft = Draft(
        external_id=_line(review.get("identifier"), 200) or _made_id(url, claim),
        synopsis=claim,
        rating_label=_line(rating.get("alternateName") or rating.get("name"), 200) or _line(rating.get("ratingValue"), 200),
        rating_summary=_text(name) if name and _text(name) != claim else "",
        rating_statement=_text(review.get("reviewBody") or review.get("description")),
        publishing_url=url,
        publisher=_line(_named(review.get("author") or review.get("publisher"), "name"), 200),
        claimant=_line(_named(item.get("author"), "name"), 200),
        published_at=_moment(review.get("datePublished")),
        categories=[{"name": one} for one in _keywords(review.get("keywords"))],
        origins=[one for one in seen if one["url"]],
        rating_hint=_hint(rating),
    )
    return _in_language(draft, review.get("inLanguage"), language)


_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id", "external_id", "claimreview_id", "uuid", ""),
    "short_id": ("short_id", "shortid"),
    "synopsis": (
        "synopsis",
        "claim",
        "vclaim",
        "claimreviewed",
        "claim_reviewed",
        "claimreview_claimreviewed",
        "claim_text",
        "text",
    ),
    "summary": ("rating_summary", "ratingsummary", "summary", "title", "headline", "extra_title"),
    "statement": ("rating_statement", "ratingstatement", "statement", "body", "extra_body"),
    "label": ("rating_label", "ratinglabel", "ratinglabelname", "rating", "verdict", "rating_alternatename", "rating_ratingname"),
    "url": ("publishing_url", "publishingurl", "url", "claimreview_url", "link"),
    "publisher": ("publisher", "claimreview_author_name", "claimreview_author", "fact_checker", "site", "source"),
    "claimant": ("claimant", "creativework_author_name", "speaker"),
    "date": ("published_at", "publishingdate", "date", "claimreview_datepublished", "datepublished", "createdat"),
    "categories": ("categories", "category", "tags", "extra_tags", "keywords", "topics"),
    "language": ("language", "lang", "inlanguage"),
    "status": ("status",),
}
"""What columns are called, folded: ours, ClaimsKG's, those of common collections. "" is an index without a name."""


def of_row(row: Mapping[str, str], language: str) -> Draft:
    """A row of a table. Raises: Refused."""
    folded = {name.strip().lower(): value for name, value in row.items() if isinstance(name, str) and isinstance(value, str)}

    def told(what: str) -> str:
        return next((folded[name] for name in _COLUMNS[what] if folded.get(name, "").strip()), "")

    claim, url = _text(told("synopsis")), _url(told("url"))
    if not claim:
        raise Refused(f"it has no claim; columns for it are {', '.join(_COLUMNS['synopsis'])}")
    draft = Draft(
        external_id=_line(told("id"), 200) or _made_id(url, claim),
        short_id=_line(told("short_id"), 200),
        status=_line(told("status"), 40) or "published",
        synopsis=claim,
        rating_label=_line(told("label"), 200),
        rating_summary=_text(told("summary")),
        rating_statement=_text(told("statement")),
        publishing_url=url,
        publisher=_line(told("publisher"), 200),
        claimant=_line(told("claimant"), 200),
        published_at=_moment(told("date")),
        categories=[{"name": one} for one in _keywords(told("categories").strip("[]").replace("'", ""))],
    )
    return _in_language(draft, told("language"), language)


def of_item(title: str, url: str, summary: str, published_at: dt.datetime | str | None, language: str) -> Draft:
    """An item of a publisher's feed of reviews, which tells no rating: its title stands for the claim. Raises: Refused."""
    claim, address = plain_text(title, MAX_TITLE), _url(url)
    if not claim or not address:
        raise Refused("it has no title or no address")
    draft = Draft(
        external_id=_made_id(address, ""),
        synopsis=claim,
        rating_summary=plain_text(summary, MAX_TITLE),
        publishing_url=address,
        published_at=_moment(published_at.isoformat() if isinstance(published_at, dt.datetime) else published_at),
    )
    return _in_language(draft, None, language)


def reviews_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Every ClaimReview in a JSON-LD document: one, a list, an @graph, the Data Commons feed's `dataFeedElement` and `item`."""
    if depth > 8:
        return
    if isinstance(value, list):
        for one in value:
            yield from reviews_in(one, depth + 1)
    elif isinstance(value, Mapping):
        kinds = value.get("@type")
        if kinds == "ClaimReview" or (isinstance(kinds, list) and "ClaimReview" in kinds) or "claimReviewed" in value:
            yield value
            return
        for name in ("@graph", "dataFeedElement", "item", "itemListElement", "mainEntity", "review"):
            if name in value:
                yield from reviews_in(value[name], depth + 1)


def _in_language(draft: Draft, own: Any, given: str) -> Draft:
    """The claim's own language, else the one of the load, else the one that its words tell."""
    code = str(own or "").strip().lower().replace("_", "-").partition("-")[0]
    if code not in CODES:
        code = given or detect(f"{draft.synopsis} {draft.rating_summary} {draft.rating_statement[:2000]}") or ""
    return replace(draft, language=code)


def _made_id(url: str, claim: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{url}\n{claim}"))


def _hint(rating: Mapping[str, Any]) -> Rating | None:
    try:
        value, worst, best = (float(rating[name]) for name in ("ratingValue", "worstRating", "bestRating"))
    except (KeyError, TypeError, ValueError):
        return None
    return of_number(value, worst, best)


def _category(entry: Any) -> dict[str, str]:
    if isinstance(entry, str):
        return {"name": _line(entry, 200)}
    entry = _object(entry)
    labels = entry.get("category") if isinstance(entry.get("category"), Mapping) else {}
    told = {"de": _line(labels.get("labelDe"), 200), "en": _line(labels.get("labelEn"), 200)}
    name = _line(entry.get("categoryName") or entry.get("name") or labels.get("name"), 200)
    return {"name": name, **{code: label for code, label in told.items() if label}}


def _fact(entry: Any, place: int) -> dict[str, Any]:
    fact = _kept(entry)
    index = fact.get("index")
    fact["index"] = index if isinstance(index, int) and not isinstance(index, bool) else place
    fact["text"] = _text(fact.get("text"))
    sources = [_kept(one) for one in _list(fact.get("sources"), MAX_SOURCES)]
    fact["sources"] = [
        one | {"excerpt": _text(one.get("excerpt")), "url": _url(one.get("url")), "archiveUrl": _url(one.get("archiveUrl"))}
        for one in sources
    ]
    return fact


def _kept(entry: Any) -> dict[str, Any]:
    """An object of the dump with all its fields; what cannot be text in a database is taken out of its texts."""

    def clean(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return _NOT_TEXT.sub("", value)[:MAX_TEXT]
        if depth > 6:
            return None
        if isinstance(value, Mapping):
            return {_NOT_TEXT.sub("", str(name))[:200]: clean(one, depth + 1) for name, one in list(value.items())[:100]}
        if isinstance(value, list):
            return [clean(one, depth + 1) for one in value[:MAX_SOURCES]]
        if isinstance(value, float) and value != value:
            return None
        return value

    cleaned: dict[str, Any] = clean(_object(entry), 0)
    return cleaned


def _object(entry: Any) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise Refused(f"it is no object but {type(entry).__name__}")
    return entry


def _list(value: Any, most: int) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise Refused(f"a list is expected, not {type(value).__name__}")
    return value[:most]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _first(value: Any) -> Any:
    return next(iter(_many(value)), None)


def _named(value: Any, name: str) -> Any:
    """A field of an object, or the text that stands in its place."""
    value = _first(value)
    return value.get(name) if isinstance(value, Mapping) else value


def _keywords(value: Any) -> list[str]:
    told = value.split(",") if isinstance(value, str) else _many(value)
    return list(dict.fromkeys(line for one in told if (line := _line(one, 200))))[:MAX_CATEGORIES]


def _text(value: Any) -> str:
    """A text with its line breaks, in NFC, without what nobody can see."""
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise Refused(f"a text is expected, not {type(value).__name__}")
    return visible(_NOT_TEXT.sub("", str(value)[: 2 * MAX_TEXT]).replace("\r\n", "\n")).strip()[:MAX_TEXT]


def _line(value: Any, most: int) -> str:
    return " ".join(_text(value).split())[:most]


def _url(value: Any) -> str:
    """A web address; anything else is none."""
    text = _text(value)
    if len(text) > MAX_URL or any(map(str.isspace, text)):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme.lower() in ("http", "https") and parts.netloc else ""


def _moment(value: Any) -> dt.datetime | None:
    """ISO 8601; a naive one is UTC. None for what is none, or lies outside of years that databases know."""
    try:
        found = dt.datetime.fromisoformat(_text(value))
        found = found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found.astimezone(dt.UTC)
    except (ValueError, OverflowError, Refused):
        return None
    return found if 1900 <= found.year <= 2200 else None
