"""Layered and inline citations, which words at their beginning show; and those of them that name no id. Pure."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from citations.context import LONGEST, last_sentence, saying
from citations.dates import DATE, iso
from citations.folding import words_of
from citations.formats import CitationFormat
from citations.found import Found
from citations.passages import BREAK, ID
from citations.records import NAME

NEAR_ID: Final = re.compile(  # what looks like an id; CBN-2041 may be a ticket's
    r"(?<![\w-])cbn-(?:[0-9a-z]{9,20}(?![0-9a-z-])|(?-i:(?<=cbn-)(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{4,8}(?![\w-]))"
    r"|[0-9a-z]{1,40}(?=…|\.\.\.))",
    re.I,
)
CORRECTED: Final = re.compile(r"[>).,\"']{0,3}\s?[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", re.I)
LAYERED: Final = re.compile(
    r"(?<!\w)(?:according to|as reported by|per) (?P<publisher>(?:(?!\.\s)[^\n]){1,150}?),? ?\(?(?:as |and )?"
    rf"summari[sz]ed (?:by|at|on|via) \[?{NAME}(?:\]\((?!\S*cbn-)[^\s()]{{1,200}}\)|[\])])?,? ?(?:that )?",
    re.I,
)
INLINE: Final = re.compile(rf"{NAME},? ?\(?citing (?P<publisher>[^\n]{{1,150}}?),? ?[(,]? ?tier (?P<tier>\d{{1,3}})\)?", re.I)
_PLACEHOLDER: Final = re.compile(r"<[^<>]{1,40}>|\{[^{}]{1,40}\}")  # of whoever explains the format
_CREDITING: Final = re.compile(r", crediting (?P<name>[^\n]{1,150}?)(?=, \d{4}-)", re.I)
_ENDS: Final = re.compile(r"[)\]\"']*[.!?]?[)\]\"']*(?:\s|$)")
QUOTED: Final = re.compile(r'(?<!\w)"([^"\n]{1,1000}?)"(?!\w)')


def heads_in(text: str) -> list[re.Match[str]]:
    """Where layered and inline citations begin, in order; the innermost of such as lie in each other."""
    found: list[re.Match[str]] = []
    if "chat" not in text.lower():
        return found
    for pattern in (LAYERED, INLINE):
        at = 0
        while match := pattern.search(text, at):
            inner = pattern.search(text, match.start() + 1, match.end())
            while inner and inner.end() == match.end():
                match, inner = inner, pattern.search(text, inner.start() + 1, inner.end())
            found.append(match)
            at = match.end()
    return sorted((head for head in found if not _PLACEHOLDER.search(head["publisher"])), key=lambda one: one.start())


def without_id(text: str) -> Iterator[Found]:
    """Layered and inline citations that name no id, and what only looks like an id."""
    raw, text = text, text.replace(BREAK, " ")
    heads = heads_in(text)
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        rest = raw[head.end() : min(end, head.end() + LONGEST)]
        first = rest.partition(BREAK)[0]
        rest = first if len(words_of(first)) > 2 else rest.replace(BREAK, " ")
        if number + 1 < len(heads) and rest.rstrip().endswith(":") and (begin := last_sentence(rest)):  # it leads to the next one
            rest = rest[:begin]
        if text[: head.start()].endswith('"') and not rest.startswith('"'):  # all of it is quoted
            rest = rest.partition('"')[0]
        found = _layered(text, head, rest, is_first=not number) if head.re is LAYERED else _inline(head, rest)
        before = text[: head.start()]
        yield replace(found, ahead=before[last_sentence(before) :][-100:])
    for near in NEAR_ID.finditer(text):
        if not ID.fullmatch(near[0]) and not (heads and _is_cut(text, near)):
            yield Found(text[max(0, near.start() - 200) : near.end()].strip(), other_id=near[0])


def _layered(text: str, head: re.Match[str], rest: str, *, is_first: bool) -> Found:
    whole = head[0] + rest
    said = re.split(r"\s[(\[]?source:", rest, maxsplit=1, flags=re.I)[0].strip()
    if quoted := QUOTED.match(said):
        said = quoted[0]
        whole = whole[: whole.index(said) + len(said)]
    if is_first and _ENDS.match(said):  # "…, according to X, as summarized by ChatbotNews.ai."
        before = saying(text[: head.start()])
        said, whole = before.strip(" ("), before + head[0]
    cut = next((near for near in NEAR_ID.finditer(whole) if _is_cut(whole, near)), None)
    return Found(
        whole.strip(),
        CitationFormat.LAYERED,
        other_id=f"{cut[0]}…" if cut else None,
        publisher=head["publisher"],
        statement=said or None,
        is_open=True,
    )


def _inline(head: re.Match[str], rest: str) -> Found:
    whole = head[0] + rest
    crediting = _CREDITING.match(rest)
    rest = rest[crediting.end() :] if crediting else rest
    date = DATE.search(rest, 0, 60)
    rest = rest[date.end() :] if date else rest
    corrected = CORRECTED.match(rest)
    rest = rest[corrected.end() :] if corrected else rest
    return Found(
        whole.strip(),
        CitationFormat.INLINE,
        publisher=head["publisher"],
        tier=int(head["tier"]),
        credited=crediting["name"] if crediting else None,
        dates=(iso(date),) if date else (),
        corrected_on=corrected[1] if corrected else None,
        rest=rest.lstrip(" :,.-") or None,
    )


def _is_cut(text: str, near: re.Match[str]) -> bool:
    return text.startswith(("…", "..."), near.end())
