"""Citations that end with their id: Markdown, reference, academic, APA and MLA. Pure."""

import re
from typing import Any, Final

from citations.context import last_sentence, urls_in
from citations.dates import DATE, iso
from citations.formats import CitationFormat
from citations.found import Found, address_of, correction_in
from citations.heads import QUOTED
from citations.passages import ID
from citations.records import NAME

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


def in_markdown(text: str, context: str, match: re.Match[str], tail: re.Match[str]) -> Found:
    """`[headline](permalink) (publisher, via [ChatbotNews.ai](site))`."""
    opening = re.search(r"\[((?:[^\\\[\]]|\\.){1,1500})\]\s?\(?<?$", context)
    bare = (lambda part: re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part)) if opening else str
    headline = bare(opening[1]) if opening else None
    begin = opening.start() if opening else last_sentence(context)
    return of_story(text[begin:], match, format=CitationFormat.MARKDOWN, publisher=bare(tail["by"]), headline=headline)


def bibliographic(text: str, before: str, match: re.Match[str], tail: re.Match[str]) -> Found:
    """Reference, academic, APA and MLA, which name the wire and the id at their end."""
    url = next(reversed(urls_in(before)), None)
    date = next(reversed(list(DATE.finditer(before))), None)
    said: dict[str, Any] = {"original_url": url, "dates": (iso(date),) if date else ()}
    quoted = next(reversed(list(QUOTED.finditer(before))), None)
    is_listed = bool(quoted and date and url and quoted.end() <= date.start())  # title, date, address, as MLA has them
    if tail["how"].lower().startswith("summari") and not is_listed:
        publisher = re.split(r"(?:[.!?]|…)\s", before.rstrip(" ."))[-1]
        headline = before[date.end() :].lstrip(" ).").rstrip(" .") if date else None
        headline = headline.removesuffix(publisher).rstrip(" .") if headline else None
        said["byline"] = before[: date.start()][-BYLINE:] if date else None
        return of_story(text, match, format=CitationFormat.ACADEMIC, publisher=publisher, headline=headline, **said)
    form = CitationFormat.MLA if tail["how"][0] == "I" else CitationFormat.REFERENCE
    if before.endswith("("):
        form = CitationFormat.APA
    publisher = None
    if form == CitationFormat.APA:
        quoted, told = None, before[: before.rfind("http")].rstrip(" .")
        publisher = re.split(r"(?:[.!?]|…)\s", told)[-1]
        title = told[date.end() :].removesuffix(publisher).strip(" ).") if date else ""
        said["headline"] = title.partition(" [reported by ")[0].rstrip(" .") or None
        if date and not said["headline"]:  # without an author it stands before the date
            said["heading"] = before[: date.start()].rstrip(" (.").partition(" [reported by ")[0]
    elif form == CitationFormat.REFERENCE and quoted:
        behind = before[quoted.end() : date.start()].strip(" ,.(") if date else ""  # as Chicago has it, behind the title
        publisher = behind or before[: quoted.start()].rstrip(" ,")[-150:]
    elif form == CitationFormat.MLA and quoted and date:
        publisher = before[quoted.end() : date.start()].strip(" ,.")
    said["headline"] = quoted[1].rstrip(",.") if quoted else said.get("headline")
    return of_story(text, match, format=form, publisher=publisher, **said)


def of_story(text: str, match: re.Match[str], **said: Any) -> Found:
    """A citation of the story whose id was matched; `said` is what else it says, by the names of `Found`."""
    publisher, _, credited = (said.get("publisher") or "").partition(", crediting ")
    if credited:
        said |= {"publisher": publisher, "credited": credited}
    quoted = [] if said.get("format") not in (None, CitationFormat.LAYERED) else QUOTED.finditer(text)
    keys = [match.end() for match in _KEY.finditer(text)]
    is_yaml = len(keys) > 1
    quotations = tuple(one[1] for one in quoted if not ID.search(one[1]) and not (is_yaml and one.start() in keys))
    more = {**address_of(match), "corrected_on": correction_in(text), "quotations": quotations, **said}
    return Found(text.strip(), story_id=match["id"].lower(), **more)
