"""Makes an entry of any form of file a claim that may be stored: bounded, plain, complete. Pure."""

import datetime as dt
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from sources.entries import Entry
from sources.parse.dates import read_date
from wire.corpora.factchecks.identity import RefusedClaim as RefusedClaim
from wire.corpora.factchecks.identity import is_row_number, make_claim_id, quote_text
from wire.corpora.factchecks.languages import CODES, detect_language
from wire.corpora.factchecks.ratings import Rating, rate_label, rate_number
from wire.text.lexicons import load_lexicon
from wire.text.plain_text import plain_text, strip_invisible
from wire.text.tokens import fold_text

MAX_TEXT: Final = 100_000  # characters of one text
MAX_TITLE: Final = 2_000  # characters of what a feed tells of an item
MAX_SOURCES: Final = 100
MAX_CATEGORIES: Final = 50
MAX_URL: Final = 2_048
MAX_NAME: Final = 200  # characters of a column's name
MAX_PARTS: Final = 100_000  # of a JSON-LD document
MAX_DEPTH: Final = 8
_HOLDING_REVIEWS: Final = ("@graph", "dataFeedElement", "item", "itemListElement", "mainEntity", "review", "reviews", "hasPart")
# Of these a dump's claim has one at least; any other object with an id is no claim.
_DUMP_FIELDS: Final = frozenset(
    {
        "synopsis",
        "status",
        "processId",
        "ratingLabelName",
        "ratingSummary",
        "ratingStatement",
        "publishingUrl",
        "facts",
        "supersededBy",
    }
)
NOT_STORED: Final = frozenset({"rating_hint", "remarks", "is_dump", "row"})  # fields of a draft
_NOT_TEXT: Final = re.compile(r"[\x00\ud800-\udfff]")
_TIME_OF_DAY: Final = re.compile(r"[,\s]+(?:[^\W\d_]{1,3}\s+)?[0-9]{1,2}\s*[:h]\s*[0-9]{2}")


@dataclass(frozen=True, slots=True)
class ClaimDraft:
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
    categories: Sequence[Mapping[str, str]] = field(default_factory=list)
    facts: Sequence[Mapping[str, Any]] = field(default_factory=list)
    origins: Sequence[Mapping[str, Any]] = field(default_factory=list)
    superseded_by: str = ""
    rating_hint: Rating | None = field(default=None, compare=False)  # the probable meaning of a label that nobody knows yet
    remarks: Sequence[str] = field(default=(), compare=False)  # on what its entry or its file lacks
    is_dump: bool = False
    row: int = field(default=0, compare=False)  # of a table, as spreadsheets count; 0 for an entry of another file

    @property
    def name(self) -> str:
        return quote_text(self.synopsis or self.short_id or self.external_id)

    @property
    def size(self) -> int:
        """Return about the number of characters that are indexed for it."""
        texts = len(self.synopsis) + len(self.rating_summary) + len(self.rating_statement)
        return texts + sum(len(fact["text"]) + sum(len(one["excerpt"]) for one in fact["sources"]) for fact in self.facts)

    @property
    def sha256(self) -> str:
        """Hash of everything that is stored."""
        fields = asdict(self) | {"published_at": self.published_at.isoformat() if self.published_at else None, "rating_hint": None}
        del fields["is_dump"], fields["remarks"], fields["row"]
        return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()


def quote_claim_name(entry: Any) -> str:
    """Return the name of an entry that cannot be read, quoted; "" for one without."""
    names = ("id", "shortId", "identifier", "url", "claimReviewed")
    values = (entry.get(name) for name in names) if isinstance(entry, Mapping) else ()
    return next((quote_text(value[:200]) for value in values if isinstance(value, str) and value.strip()), "")


def parse_dump(entry: Any, language: str) -> ClaimDraft:
    claim = _expect_object(entry)
    external_id, short_id = _to_line(claim.get("id"), 200), _to_line(claim.get("shortId"), 200)
    if not external_id and not short_id:
        if types := [one for one in _to_list(claim.get("@type")) if isinstance(one, str)]:
            raise RefusedClaim(f"its @type is {quote_text(', '.join(types))}, not ClaimReview")
        raise RefusedClaim("it has neither id nor shortId")
    if _DUMP_FIELDS.isdisjoint(claim):
        raise RefusedClaim(f"it has none of a claim's fields: {', '.join(sorted(_DUMP_FIELDS))}")
    categories = [_read_category(one) for one in _expect_list(claim.get("claimCategories"), MAX_CATEGORIES)]
    draft = ClaimDraft(
        external_id=external_id or short_id,
        short_id=short_id,
        process_id=_to_line(claim.get("processId"), 200),
        status=_to_line(claim.get("status"), 40) or "published",
        internal=claim.get("internal") is True,
        synopsis=_to_text(claim.get("synopsis")),
        rating_label=_to_line(claim.get("ratingLabelName"), 200),
        rating_summary=_to_text(claim.get("ratingSummary")),
        rating_statement=_to_text(claim.get("ratingStatement")),
        publishing_url=_to_url(claim.get("publishingUrl")),
        publisher=_to_line(claim.get("publisher"), 200),
        published_at=_parse_datetime(claim.get("publishingDate") or claim.get("createdAt")),
        categories=[one for one in categories if one["name"]],
        facts=[_read_fact(one, place) for place, one in enumerate(_expect_list(claim.get("facts"), 200))],
        origins=[_clean_dump_entry(one) for one in _expect_list(claim.get("origins"), MAX_SOURCES)],
        superseded_by=_to_line(claim.get("supersededBy"), 200),
        is_dump=True,
    )
    return _set_language(draft, claim.get("language"), language)


def parse_claim_review(entry: Any, language: str) -> ClaimDraft:
    review = _expect_object(entry)
    item, given = (_get_first(review.get(name)) for name in ("itemReviewed", "reviewRating"))
    item = item if isinstance(item, Mapping) else {}
    rating = given if isinstance(given, Mapping) else {"alternateName": given}
    claim = _to_plain(review.get("claimReviewed")) or (_to_plain(item) if "Claim" in _to_list(item.get("@type")) else "")
    if not claim:
        raise RefusedClaim("it has no claimReviewed, and no itemReviewed that is a Claim with text")
    url = next(filter(None, (_to_url(_get_field(review.get(name), "@id")) for name in ("url", "mainEntityOfPage", "@id"))), "")
    seen = [
        {"url": _to_url(_get_field(one, "url"))}
        for one in _to_list(item.get("appearance")) or _to_list(item.get("firstAppearance"))
    ]
    name = _to_plain(review.get("name") or review.get("headline"))
    summary = name if name != claim else ""
    publisher = next(
        filter(None, (_join_names(_get_first(review.get(name))) for name in ("author", "publisher"))), ""
    )  # one: it makes the id
    identifier = _to_line(_get_field(review.get("identifier"), "value"), 200) if publisher or url else ""  # else it is nobody's
    labels = (_to_line(_to_plain(rating.get(name)), 200) for name in ("alternateName", "name", "ratingValue"))
    label = next(filter(None, labels), "")
    published_at = _parse_datetime(date := _get_first(review.get("datePublished")) or _get_first(review.get("dateCreated")))
    unrated = () if label else ("stored without a rating: no reviewRating has one",)
    draft = ClaimDraft(
        external_id=identifier or make_claim_id(publisher, url, claim, summary),
        synopsis=claim,
        rating_label=label,
        rating_summary=summary,
        rating_statement=_to_plain(review.get("reviewBody") or review.get("description") or rating.get("ratingExplanation")),
        publishing_url=url,
        publisher=publisher,
        claimant=_join_names(item.get("author")),
        published_at=published_at,
        categories=[{"name": one} for one in _split_keywords(review.get("keywords"))],
        origins=[one for one in seen if one["url"]],
        rating_hint=rate_label(label) or _guess_rating(rating),
        remarks=(*_note_unread("web address", review.get("url"), url), *_note_unread("date", date, published_at), *unrated),
    )
    return _set_language(draft, _get_first(review.get("inLanguage")), language)


def parse_api_claim(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the reviews of a claim of Google's Fact Check Tools API as ClaimReviews."""
    return [
        {
            "@type": "ClaimReview",
            "claimReviewed": entry.get("text"),
            "itemReviewed": {"author": entry.get("claimant")},
            "author": _get_field(one.get("publisher"), "name") or _get_field(one.get("publisher"), "site"),
            "url": one.get("url"),
            "name": one.get("title"),
            "datePublished": one.get("reviewDate"),
            "reviewRating": one.get("textualRating"),
            "inLanguage": one.get("languageCode"),
        }
        for one in _to_list(entry.get("claimReview"))
        if isinstance(one, Mapping)
    ]


_COLUMNS: Final[Mapping[str, Sequence[str]]] = {key: text.split() for key, text in load_lexicon("factchecks")["columns"].items()}
_HEADLINES: Final = ("summary", "statement")  # they stand for the claim in a table that has no column of claims
_CLAIM_COLUMNS: Final = frozenset(name for field in ("synopsis", *_HEADLINES) for name in _COLUMNS[field])
_HELPFUL: Final = {"label": "ratings", "url": "addresses", "publisher": "names of the checkers", "date": "dates"}
_MISSING: Final = {"label": "rating", "url": "web address", "publisher": "checker's name", "date": "date"}


@lru_cache(maxsize=2_000)
def _fold_column(name: str) -> str:
    return "_".join(re.findall(r"\w+", fold_text(name)))


def count_known_columns(header: Sequence[str]) -> int:
    return len({_fold_column(name[:MAX_NAME]) for name in header} & {name for names in _COLUMNS.values() for name in names})


def describe_lack(header: Sequence[str]) -> str:
    """Return a sentence on the columns that a table lacks, "" for none. Raises: RefusedClaim without a column of claims."""
    given = {_fold_column(name[:MAX_NAME]) for name in header}
    lacking = [field for field in (*_HELPFUL, "synopsis", *_HEADLINES) if given.isdisjoint(_COLUMNS[field])]
    if {"synopsis", *_HEADLINES}.issubset(lacking):
        raise RefusedClaim("the table has no column of claims; call it claim or title")
    told = [f"{what} ({_COLUMNS[field][0]})" for field, what in _HELPFUL.items() if field in lacking]
    return f"the table has no column of {', '.join(told)}" if told else ""


def is_table_row(entry: Any) -> bool:
    """Return whether an object of JSON has what a row of a table has: a claim or a headline, and a verdict in words."""
    if not isinstance(entry, Mapping) or not _DUMP_FIELDS.isdisjoint(entry):
        return False
    words = {_fold_column(str(name)[:MAX_NAME]) for name, value in entry.items() if isinstance(value, str) and value.strip()}
    return not words.isdisjoint(_COLUMNS["label"]) and not words.isdisjoint(_CLAIM_COLUMNS)


def parse_row(row: Mapping[str, Any], language: str) -> ClaimDraft:
    """Read a row of a table, or an object of JSON with the same names. Raises: RefusedClaim."""
    folded = {_fold_column(name[:MAX_NAME]): _to_cell_text(value) for name, value in row.items() if isinstance(name, str)}

    def value(field: str) -> str:
        return next((folded[name] for name in _COLUMNS[field] if folded.get(name, "").strip()), "")

    has_claims = not folded.keys().isdisjoint(_COLUMNS["synopsis"])
    texts = {field: _to_plain(value(field)) for field in ("synopsis", *_HEADLINES)}
    source = "synopsis" if has_claims else next((field for field in _HEADLINES if texts[field]), "synopsis")
    claim = texts.pop(source)
    url, publisher = _to_url(value("url")), _to_line(value("publisher"), 200)
    if not any(map(str.isalpha, claim)):
        columns = "" if has_claims else "; call its column claim or title"
        raise RefusedClaim(f"it has no claim{columns}")
    ids = (_to_line(folded.get(name, ""), 200) for name in _COLUMNS["id"])
    own = next((one for one in ids if one and not is_row_number(one)), "")
    summary, label, status = texts.get("summary", ""), _to_line(value("label"), 200), _to_line(value("status"), 40)
    if status and not label and rate_label(status):  # a column of that name holds verdicts
        label, status = status, ""
    given = {"label": label} | {field: value(field) for field in ("url", "publisher", "date")}
    missing = [_MISSING[field] for field, text in given.items() if not text and not folded.keys().isdisjoint(_COLUMNS[field])]
    scale = {
        name: folded.get(f"rating_{name.lower()}") or folded.get(name.lower())
        for name in ("ratingValue", "worstRating", "bestRating")
    }
    draft = ClaimDraft(
        external_id=own or make_claim_id(publisher, url, claim, summary),
        short_id=_to_line(value("short_id"), 200),
        status=status or "published",
        synopsis=claim,
        rating_label=label,
        rating_summary=summary,
        rating_statement=texts.get("statement", ""),
        publishing_url=url,
        publisher=publisher,
        claimant=_to_line(value("claimant") or ("" if url else value("author")), 200).strip('"'),
        published_at=(published_at := _parse_datetime(value("date"))),
        categories=[{"name": one} for one in _split_keywords(re.sub(r"[\[\]'\"]", "", value("categories"))) if not _to_url(one)],
        rating_hint=rate_label(label) or _guess_rating(scale),
        remarks=(
            *((f"stored without a {', a '.join(missing)}",) if missing else ()),
            *_note_unread("web address", value("url"), url),
            *_note_unread("date", value("date"), published_at),
        ),
    )
    return _set_language(draft, value("language"), language)


def parse_item(item: Entry, language: str) -> ClaimDraft:
    """Read an item of a publisher's feed of reviews, which has no rating: its title stands for the claim. Raises: RefusedClaim."""
    claim, address, moment = plain_text(item.title, MAX_TITLE), _to_url(item.url), item.published_at
    if not claim or not address:
        raise RefusedClaim("it has no title or no address")
    draft = ClaimDraft(
        external_id=make_claim_id("", address, ""),
        synopsis=claim,
        rating_summary=plain_text(item.summary, MAX_TITLE),
        publishing_url=address,
        published_at=_parse_datetime(moment.isoformat() if isinstance(moment, dt.datetime) else moment),
        categories=[{"name": one} for one in _split_keywords(plain_text(item.categories, MAX_TEXT))],
    )
    return _set_language(draft, item.language, language)


def find_reviews(value: Any) -> list[Mapping[str, Any]]:
    """Return every ClaimReview in a JSON-LD document, with short field names, its @id references resolved. Raises: RefusedClaim."""
    waiting, seen, found, nodes = [(value, 0)], 0, list[Mapping[str, Any]](), dict[str, Mapping[str, Any]]()
    while waiting:
        value, depth = waiting.pop()
        parts = value if isinstance(value, list) else []
        if isinstance(value, Mapping):
            if isinstance(own := value.get("@id"), str) and len(value) > 1:
                nodes.setdefault(own, value)
            kinds = [_short_name(kind) for kind in _to_list(value.get("@type")) if isinstance(kind, str)]
            if "claimReviewed" in value or "ClaimReview" in kinds:
                found.append(value)
                continue
            parts = [value[name] for name in _HOLDING_REVIEWS if name in value]
        seen += len(parts)
        if seen > MAX_PARTS:
            raise RefusedClaim(f"it holds more than {MAX_PARTS:,} parts that could be reviews")
        if depth < MAX_DEPTH:
            waiting += [(part, depth + 1) for part in reversed(parts) if isinstance(part, list | Mapping)]
    return [_resolve_references(review, nodes) for review in found]


def _short_name(name: str) -> str:
    """Return a name of schema.org without its address or prefix."""
    return name if name.startswith("@") else re.split("[/:#]", name)[-1]


def _resolve_references(value: Any, nodes: Mapping[str, Mapping[str, Any]], depth: int = 0) -> Any:
    if isinstance(value, list):
        return [_resolve_references(one, nodes, depth + 1) for one in value[:MAX_SOURCES]] if depth < MAX_DEPTH else []
    if not isinstance(value, Mapping) or depth == MAX_DEPTH:
        return value
    if set(value) == {"@id"} and isinstance(value["@id"], str):
        value = nodes.get(value["@id"], value)
    if "@value" in value:
        return value["@value"]
    known = {_short_name(str(name)): _resolve_references(one, nodes, depth + 1) for name, one in value.items()}
    return known | {"@type": [_short_name(kind) for kind in _to_list(known.get("@type")) if isinstance(kind, str)]}


def _set_language(draft: ClaimDraft, own: Any, given: str) -> ClaimDraft:
    code = str(own or "").strip().lower().replace("_", "-").partition("-")[0]
    if code not in CODES:
        code = given or detect_language(f"{draft.synopsis} {draft.rating_summary} {draft.rating_statement[:2000]}") or ""
    return replace(draft, language=code)


def _note_unread(what: str, given: Any, found: Any) -> tuple[str, ...]:
    """Return the remark on a text that was given and could not be read."""
    text = _to_cell_text(_get_first(_get_field(given, "@id")))[:MAX_NAME]
    return (f"stored without a {what}: none could be read from {quote_text(text)}",) if text.strip() and not found else ()


def _guess_rating(rating: Mapping[str, Any]) -> Rating | None:
    try:
        value, worst, best = (float(_get_first(rating[name])) for name in ("ratingValue", "worstRating", "bestRating"))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return rate_number(value, worst, best)


def _read_category(entry: Any) -> dict[str, str]:
    if isinstance(entry, str):
        return {"name": _to_line(entry, 200)}
    entry = _expect_object(entry)
    category = entry.get("category") if isinstance(entry.get("category"), Mapping) else {}
    labels = {"de": _to_line(category.get("labelDe"), 200), "en": _to_line(category.get("labelEn"), 200)}
    name = _to_line(entry.get("categoryName") or entry.get("name") or category.get("name"), 200)
    return {"name": name, **{code: label for code, label in labels.items() if label}}


def _read_fact(entry: Any, place: int) -> dict[str, Any]:
    fact = _clean_dump_entry(entry)
    index = fact.get("index")
    fact["index"] = index if isinstance(index, int) and not isinstance(index, bool) else place
    fact["text"] = _to_text(fact.get("text"))
    sources = [_clean_dump_entry(one) for one in _expect_list(fact.get("sources"), MAX_SOURCES)]
    fact["sources"] = [
        one | {"excerpt": _to_text(one.get("excerpt")), **{name: _to_url(one.get(name)) for name in ("url", "archiveUrl")}}
        for one in sources
    ]
    return fact


def _to_cell_text(value: Any) -> str:
    """Return a value of JSON as a table has it; "" for an object."""
    if isinstance(value, list):
        return ", ".join(one for one in value[:MAX_SOURCES] if isinstance(one, str))
    if type(value) in (int, float) and math.isfinite(value):  # a bool says nothing, and NaN is what pandas writes for nothing
        return str(value)
    return value if isinstance(value, str) else ""


def _clean_dump_entry(entry: Any) -> dict[str, Any]:
    """Return an object of the dump with all its fields, bounded; what cannot be text in a database is taken out of its texts."""

    def clean_value(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return _drop_unstorable(value[: 2 * MAX_TEXT])[:MAX_TEXT]
        if depth > 6:
            return None
        if isinstance(value, Mapping):
            return {_drop_unstorable(str(name)[:400])[:200]: clean_value(one, depth + 1) for name, one in list(value.items())[:100]}
        if isinstance(value, list):
            return [clean_value(one, depth + 1) for one in value[:MAX_SOURCES]]
        return _expect_number(value)

    cleaned: dict[str, Any] = clean_value(_expect_object(entry), 0)
    return cleaned


def _drop_unstorable(text: str) -> str:
    return _NOT_TEXT.sub("", text)


def _expect_number(value: Any) -> Any:
    """Return a number that every database and every reader of JSON takes; anything else as it is. Raises: RefusedClaim."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RefusedClaim("it holds a whole number of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedClaim("it holds a number that is not finite")
    return value


def _expect_object(entry: Any) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise RefusedClaim(f"it is not an object but {type(entry).__name__}")
    return entry


def _expect_list(value: Any, most: int) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise RefusedClaim(f"a list is expected, not {type(value).__name__}")
    return value[:most]


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _get_first(value: Any) -> Any:
    return next(iter(_to_list(value)), None)


def _get_field(value: Any, name: str) -> Any:
    value = _get_first(value)
    return value.get(name) if isinstance(value, Mapping) else value


def _to_plain(value: Any) -> str:
    """Return a text of a file of others, which may be a list or an object, and hold HTML."""
    value = _get_first(value)
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("text", "name", "headline", "description") if value.get(name)), None)
        value = _get_first(value)
    text = _to_text(None if isinstance(value, Mapping | list) else value)
    return plain_text(text, MAX_TEXT) if "<" in text or "&" in text else text


def _join_names(value: Any) -> str:
    """Return the names of people or organisations, who are given as names, as objects, or as a list of these."""
    names = (_to_line(_to_plain(one), 200) for one in _to_list(value)[:MAX_SOURCES])
    return ", ".join(dict.fromkeys(name for name in names if name and not _to_url(name)))[:200]


def _split_keywords(value: Any) -> list[str]:
    words = re.split("[,;|]", value[:MAX_TEXT]) if isinstance(value, str) else _to_list(value)
    lines = (line for one in words[: 20 * MAX_CATEGORIES] if (line := _to_line(_to_plain(one), 200)))
    return list(dict.fromkeys(lines))[:MAX_CATEGORIES]


def _to_text(value: Any) -> str:
    """Return a text with its line breaks, in NFC, without invisible characters."""
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise RefusedClaim(f"text is expected, not {type(value).__name__}")
    return strip_invisible(_drop_unstorable(str(_expect_number(value))[: 2 * MAX_TEXT]).replace("\r\n", "\n")).strip()[:MAX_TEXT]


def _to_line(value: Any, most: int) -> str:
    return " ".join(_to_text(value).split())[:most]


def _to_url(value: Any) -> str:
    """Return a web address; "" for anything else."""
    text = _to_text(value)
    if len(text) > MAX_URL or any(map(str.isspace, text)):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme.lower() in ("http", "https") and parts.netloc else ""


def _parse_datetime(value: Any) -> dt.datetime | None:
    """Read a date, also one in words; a naive time is UTC. None for anything else, and for years that databases do not know."""
    try:
        text = _to_text(value)
    except RefusedClaim:
        return None
    found: dt.datetime | None
    try:
        found = dt.datetime.fromisoformat(text)
        found = found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        found = read_date(text) or read_date(_TIME_OF_DAY.split(text[:MAX_NAME])[0])  # the day of a time that is not understood
    return found if found and 1900 <= found.year <= 2200 else None
