"""Citations in the text formats: layered and inline ones, which their first words show, also without an id; Markdown, reference,
academic, APA and MLA, which end with their id. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from citations.citation_lexicon import compile_pattern
from citations.find.bibliography_records import NAME
from citations.find.citation_match import CitationMatch, find_correction_date, get_permalink_parts
from citations.find.claim_context import LONGEST, extract_last_claim, find_open_bracket, find_urls, locate_last_sentence
from citations.find.dates import DATE, to_iso_date
from citations.find.normalize import fold_words
from citations.find.segments import BREAK, ID
from citations.format.formats import CitationFormat

NEAR_ID: Final = compile_pattern("near_id", re.I)
CORRECTED: Final = re.compile(r"[>).,\"']{0,3}\s?[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", re.I)
LAYERED: Final = compile_pattern("layered", re.I)
INLINE: Final = re.compile(rf"{NAME},? ?\(?citing (?P<publisher>[^\n]{{1,150}}?),? ?[(,]? ?tier (?P<tier>\d{{1,3}})\)?", re.I)
_PLACEHOLDER: Final = re.compile(r"<[^<>]{1,40}>|\{[^{}]{1,40}\}")  # of whoever explains the format
_CREDITING: Final = re.compile(r", crediting (?P<name>[^\n]{1,150}?)(?=, \d{4}-)", re.I)
_ENDS: Final = re.compile(r"[)\]\"']*[.!?]?[)\]\"']*(?:\s|$)")
AHEAD: Final = 400  # characters
BYLINE: Final = 200  # characters
TAIL: Final = compile_pattern("tail", re.I)
MARKDOWN_TAIL: Final = compile_pattern("markdown_tail", re.I)
QUOTED: Final = re.compile(r'(?<!\w)"([^"\n]{1,1000}?)"(?!\w)')


def find_lead_ins(text: str) -> list[re.Match[str]]:
    """Return where layered and inline citations begin, in order; the innermost of such as lie in each other."""
    found: list[re.Match[str]] = []
    for pattern in (LAYERED, INLINE) if "chat" in text.lower() else ():
        at = 0
        while match := pattern.search(text, at):
            inner = pattern.search(text, match.start() + 1, match.end())
            while inner and inner.end() == match.end():
                match, inner = inner, pattern.search(text, inner.start() + 1, inner.end())
            found.append(match)
            at = match.end()
    return sorted((head for head in found if not _PLACEHOLDER.search(head["publisher"])), key=lambda head: head.start())


def find_citations_without_id(raw: str) -> Iterator[CitationMatch]:
    """Yield layered and inline citations that name no id, and what only looks like an id."""
    text = raw.replace(BREAK, " ")
    heads = find_lead_ins(text)
    for number, head in enumerate(heads):
        is_last = number + 1 == len(heads)
        before = text[: head.start()]
        rest = raw[head.end() : min(len(text) if is_last else heads[number + 1].start(), head.end() + LONGEST)]
        first = rest.partition(BREAK)[0]
        rest = first if len(fold_words(first)) > 2 else rest.replace(BREAK, " ")
        if not is_last and rest.rstrip().endswith(":") and (begin := locate_last_sentence(rest)):  # it leads to the next one
            rest = rest[:begin]
        if before.endswith('"') and not rest.startswith('"'):  # all of it is quoted
            rest = rest.partition('"')[0]
        match = _read_layered(before, head, rest, is_first=not number) if head.re is LAYERED else _read_inline(head, rest)
        sentence = before[locate_last_sentence(before) :]
        yield replace(match, ahead=sentence[-AHEAD:] if find_open_bracket(sentence) and match.rest is None else sentence[-100:])
    for near in NEAR_ID.finditer(text):
        if not ID.fullmatch(near[0]) and not (heads and text.startswith(("…", "..."), near.end())):
            yield CitationMatch(text[max(0, near.start() - 200) : near.end()].strip(), other_id=near[0])


def _read_layered(before: str, head: re.Match[str], rest: str, *, is_first: bool) -> CitationMatch:
    whole = head[0] + rest
    said = re.split(r"\s[(\[]?source:", rest, maxsplit=1, flags=re.I)[0].strip()
    if quoted := QUOTED.match(said):
        said = quoted[0]
        whole = whole[: whole.index(said) + len(said)]
    if is_first and _ENDS.match(said):  # "…, according to X, as summarized by ChatbotNews.ai."
        said = extract_last_claim(before)
        said, whole = said.strip(" ("), said + head[0]
    cut = next((near for near in NEAR_ID.finditer(whole) if whole.startswith(("…", "..."), near.end())), None)
    return CitationMatch(
        whole.strip(),
        CitationFormat.LAYERED,
        other_id=f"{cut[0]}…" if cut else None,
        publisher=head["publisher"],
        statement=said or None,
        is_open=True,
    )


def _read_inline(head: re.Match[str], rest: str) -> CitationMatch:
    whole = (head[0] + rest).strip()
    crediting = _CREDITING.match(rest)
    rest = rest[crediting.end() :] if crediting else rest
    date = DATE.search(rest, 0, 60)
    rest = rest[date.end() :] if date else rest
    corrected = CORRECTED.match(rest)
    rest = rest[corrected.end() :] if corrected else rest
    if rest.startswith(")"):  # what it cites stands before the bracket
        whole, rest = whole.removesuffix(rest.rstrip()), ""
    return CitationMatch(
        whole,
        CitationFormat.INLINE,
        publisher=head["publisher"],
        tier=int(head["tier"]),
        credited=crediting["name"] if crediting else None,
        dates=(to_iso_date(date),) if date else (),
        corrected_on=corrected[1] if corrected else None,
        rest=rest.lstrip(" :,.-") or None,
    )


def read_markdown(text: str, context: str, match: re.Match[str], tail: re.Match[str]) -> CitationMatch:
    """Read `[headline](permalink) (publisher, via [ChatbotNews.ai](site))`."""
    opening = re.search(r"\[((?:[^\\\[\]]|\\.){1,1500})\]\s?\(?<?$", context)
    if not opening:
        text = text[locate_last_sentence(context) :]
        return build_match(text, match, format=CitationFormat.MARKDOWN, publisher=tail["by"], headline=None)
    headline, publisher = (re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part) for part in (opening[1], tail["by"]))
    text = text[opening.start() :]
    return build_match(text, match, format=CitationFormat.MARKDOWN, publisher=publisher, headline=headline)


def read_bibliographic(text: str, before: str, match: re.Match[str], tail: re.Match[str]) -> CitationMatch:
    """Read reference, academic, APA and MLA, which name the wire and the id at their end."""
    url = next(reversed(find_urls(before)), None)
    date = next(reversed(list(DATE.finditer(before))), None)
    ahead, behind = (before[: date.start()], before[date.end() :]) if date else ("", "")
    said: dict[str, Any] = {"original_url": url, "dates": (to_iso_date(date),) if date else ()}
    quoted = next(reversed(list(QUOTED.finditer(before))), None)
    is_listed = bool(quoted and date and url and quoted.end() <= date.start())  # title, date, address, as MLA has them
    if tail["how"].lower().startswith("summari") and not is_listed:
        publisher = _last_list_item(before.rstrip(" ."))
        title = behind.lstrip(" ).").rstrip(" .")
        said["headline"] = title.removesuffix(publisher).rstrip(" .") if title else None
        said["byline"] = ahead[-BYLINE:] if date else None
        return build_match(text, match, format=CitationFormat.ACADEMIC, publisher=publisher, **said)
    if before.endswith("("):
        sentences = before[: before.rfind("http")].rstrip(" .")
        publisher = _last_list_item(sentences)
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


def _last_list_item(text: str) -> str:
    return re.split(r"(?:[.!?]|…)\s", text)[-1]


def build_match(text: str, match: re.Match[str], **said: Any) -> CitationMatch:
    """Return a citation of the story whose id was matched; `said` is what else it says, by the names of `CitationMatch`."""
    publisher, _, credited = (said.get("publisher") or "").partition(", crediting ")
    if credited:
        said |= {"publisher": publisher, "credited": credited}
    quoted = [] if said.get("format") not in (None, CitationFormat.LAYERED) else QUOTED.finditer(text)
    quotations = tuple(one[1] for one in quoted if not ID.search(one[1]))
    more = {**get_permalink_parts(match), "corrected_on": find_correction_date(text), "quotations": quotations, **said}
    return CitationMatch(text.strip(), story_id=match["id"].lower(), **more)
