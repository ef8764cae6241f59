"""Citations that end with their id: Markdown, reference, academic, APA and MLA. Pure."""

import re
from typing import Any, Final

from citations.find.context import find_urls, last_sentence_start
from citations.find.lead_ins import QUOTED
from citations.find.match import CitationMatch, find_correction, read_address
from citations.find.records import NAME
from citations.find.segments import ID
from citations.format.dates import DATE, iso
from citations.format.formats import CitationFormat

_KEY: Final = re.compile(  # of YAML, where marks quote nobody
    r"\b(?:notes?|claim|text|summary|description|comment|answer|fact|statement|outlet|publisher|source|name|author|date|id): ?"
)
BYLINE: Final = 200  # characters
TAIL: Final = re.compile(
    rf"(?P<how>indexed by|summari[sz]ed (?:by|at|on|via)|via) \[?{NAME}\]?(?:, the conversational ai wire)?[.,:]?"
    r"(?: (?:at|as|under))?[ (<]*$",
    re.I,
)
MARKDOWN_TAIL: Final = re.compile(
    rf"[^\s()]{{0,40}}\s?[)>\]]{{1,2}}\s?\((?P<by>[^\n]{{1,300}}?),? via \[?{NAME}\]?(?:\([^)]{{0,300}}\))?\)", re.I
)


def read_markdown(text: str, context: str, match: re.Match[str], tail: re.Match[str]) -> CitationMatch:
    """Read `[headline](permalink) (publisher, via [ChatbotNews.ai](site))`."""
    opening = re.search(r"\[((?:[^\\\[\]]|\\.){1,1500})\]\s?\(?<?$", context)
    if not opening:
        text = text[last_sentence_start(context) :]
        return build_match(text, match, format=CitationFormat.MARKDOWN, publisher=tail["by"], headline=None)
    headline, publisher = (re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part) for part in (opening[1], tail["by"]))
    text = text[opening.start() :]
    return build_match(text, match, format=CitationFormat.MARKDOWN, publisher=publisher, headline=headline)


def read_bibliographic(text: str, before: str, match: re.Match[str], tail: re.Match[str]) -> CitationMatch:
    """Read reference, academic, APA and MLA, which name the wire and the id at their end."""
    url = next(reversed(find_urls(before)), None)
    date = next(reversed(list(DATE.finditer(before))), None)
    ahead, behind = (before[: date.start()], before[date.end() :]) if date else ("", "")
    said: dict[str, Any] = {"original_url": url, "dates": (iso(date),) if date else ()}
    quoted = next(reversed(list(QUOTED.finditer(before))), None)
    is_listed = bool(quoted and date and url and quoted.end() <= date.start())  # title, date, address, as MLA has them
    if tail["how"].lower().startswith("summari") and not is_listed:
        publisher = _last_piece(before.rstrip(" ."))
        title = behind.lstrip(" ).").rstrip(" .")
        said["headline"] = title.removesuffix(publisher).rstrip(" .") if title else None
        said["byline"] = ahead[-BYLINE:] if date else None
        return build_match(text, match, format=CitationFormat.ACADEMIC, publisher=publisher, **said)
    if before.endswith("("):
        sentences = before[: before.rfind("http")].rstrip(" .")
        publisher = _last_piece(sentences)
        title = sentences[date.end() :].removesuffix(publisher).strip(" ).") if date else ""
        said["headline"] = title.partition(" [reported by ")[0].rstrip(" .") or None
        if date and not said["headline"]:  # without an author it stands before the date
            said["heading"] = ahead.rstrip(" (.").partition(" [reported by ")[0]
        return build_match(text, match, format=CitationFormat.APA, publisher=publisher, **said)
    form = CitationFormat.MLA if tail["how"][0] == "I" else CitationFormat.REFERENCE
    named = before[quoted.end() : date.start()] if quoted and date else ""  # behind the title, as MLA and Chicago have it
    outlet = None
    if quoted and form == CitationFormat.REFERENCE:
        outlet = named.strip(" ,.(") or before[: quoted.start()].rstrip(" ,")[-150:]
    elif quoted and date:
        outlet = named.strip(" ,.")
    said["headline"] = quoted[1].rstrip(",.") if quoted else None
    return build_match(text, match, format=form, publisher=outlet, **said)


def _last_piece(text: str) -> str:
    return re.split(r"(?:[.!?]|…)\s", text)[-1]


def build_match(text: str, match: re.Match[str], **said: Any) -> CitationMatch:
    """Return a citation of the story whose id was matched; `said` is what else it says, by the names of `CitationMatch`."""
    publisher, _, credited = (said.get("publisher") or "").partition(", crediting ")
    if credited:
        said |= {"publisher": publisher, "credited": credited}
    quoted = [] if said.get("format") not in (None, CitationFormat.LAYERED) else QUOTED.finditer(text)
    keys = [key.end() for key in _KEY.finditer(text)]
    quotations = tuple(one[1] for one in quoted if not ID.search(one[1]) and not (len(keys) > 1 and one.start() in keys))
    more = {**read_address(match), "corrected_on": find_correction(text), "quotations": quotations, **said}
    return CitationMatch(text.strip(), story_id=match["id"].lower(), **more)
