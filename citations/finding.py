"""Citations of the wire in any text: in prose, in lists, wrapped, quoted, cut, typeset. Pure.

Three things show one: an id of the wire (bare, in a permalink, in a BibTeX key), words that its formats alone use ("as summarized
by ChatbotNews.ai"), or a record in BibTeX, CSL-JSON or RIS. Each citation found is a stretch of the text with what it says of its
story; whether that is true is for `wire.queries.verification` to say. Every pattern is bounded, so the work is linear.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from citations.dates import DATE, dates_in, iso
from citations.folding import straight
from citations.formats import CitationFormat

LONGEST: Final = 1_600  # characters of a citation in prose
NAME: Final = r"chat\s?bot\s?news(?:\s?\.\s?ai)?"
_NL: Final = r"(?:=?[ \t]*\n[ \t>]*)?"
_BROKEN_ID: Final = re.compile(rf"c{_NL}b{_NL}n{_NL}[-‐‑–−]{_NL}(?:[0-9a-z]{_NL}){{11}}[0-9a-z](?![0-9a-z])", re.I)
_BROKEN_PERMALINK: Final = re.compile(
    _NL.join("http") + rf"(?:{_NL}(?!http)[^\s<>\"'()\[\]]){{4,200}}?{_NL}" + _NL.join("story/") + rf"{_NL}(?=cbn-)", re.I
)
_BROKEN_URL: Final = re.compile(r"(https?://\S{1,2000}[/_=&?%.-])[ \t]*\n[ \t>]*(?=[\w%~][\w%~./-]*[-/.])", re.I)
ID: Final = re.compile(
    r"(?P<address>(?:https?://[^\s<>\"'\])]{1,300}?/|(?<![\w./@:-])[a-z0-9][a-z0-9.-]{1,100}(?::\d{1,5})?/(?=story/))?(?:(?<![\w-])story/)?)(?<![a-z0-9-])(?P<id>cbn-[0-9a-z]{12})(?![0-9a-z-])"
    r"(?:@r(?P<revision>\d{1,6})(?:[:.](?P<pin>[0-9a-f]{8,64}))?)?",
    re.I,
)
_NEAR_ID: Final = re.compile(r"(?<![\w-])cbn-[0-9a-z]{1,40}(?![0-9a-z])", re.I)
_CORRECTED: Final = re.compile(r"[>).,\"']{0,3}\s?[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", re.I)
_LAYERED: Final = re.compile(
    r"(?:according to|as reported by) (?P<publisher>[^\n]{1,150}?),? ?\(?(?:as |and )?"
    rf"summari[sz]ed (?:by|at|on|via) {NAME}\)?,? ?(?:that )?",
    re.I,
)
_INLINE: Final = re.compile(rf"{NAME},? ?\(?citing (?P<publisher>[^\n]{{1,150}}?),? ?[(,]? ?tier (?P<tier>\d{{1,3}})\)?", re.I)
_TAIL: Final = re.compile(
    rf"(?P<how>indexed|summari[sz]ed) (?:by|at|on|via) {NAME}(?:, the conversational ai wire)?[.,:]?(?: (?:at|as|under))?[ (<]*$",
    re.I,
)
_SOURCE: Final = re.compile(r"[\s(\[]*(?:sources?|read more|see|link|via|at)?:?[\s(\[<]*(?:\[[^\[\]\n]{1,60}\]\s?\(<?)?$", re.I)
_MARKDOWN_TAIL: Final = re.compile(
    rf"[^\s()]{{0,40}}[)>\]]{{1,2}}\s?\((?P<by>[^\n]{{1,300}}?),? via \[?{NAME}\]?(?:\([^)]{{0,300}}\))?\)", re.I
)
_URL: Final = re.compile(r"https?://[^\s<>\"'\])]+", re.I)
_QUOTED: Final = re.compile(r'(?<!\w)"([^"\n]{1,1000}?)"(?!\w)')
_TIER: Final = re.compile(r"\btier (\d{1,3})\b", re.I)
_SENTENCE: Final = re.compile(r"[.!?][\"')\]]* (?=[\"'(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Found:
    """One citation and what it says; None and empty for what it does not say. `text` is on one line, its typography plain."""

    text: str
    format: CitationFormat | None = None
    """None for an id or permalink in words of somebody's own."""
    story_id: str | None = None
    other_id: str | None = None
    """A second id in the same record, or what only looks like an id."""
    address: str | None = None
    """What stands before the id: the permalink without it."""
    revision: int | None = None
    pin: str | None = None
    """How the hash of the revision begins."""
    publisher: str | None = None
    tier: int | None = None
    headline: str | None = None
    statement: str | None = None
    rest: str | None = None
    """Of an inline citation what follows its date: the headline, and perhaps more of the text."""
    original_url: str | None = None
    author: str | None = None
    dates: tuple[str, ...] = ()
    """YYYY-MM-DD, or YYYY-MM where no day is given."""
    corrected_on: str | None = None
    quotations: tuple[str, ...] = ()
    is_wrapped: bool = False
    """Its lines were broken, perhaps inside of words."""


def find_citations(text: str) -> list[Found]:
    """Every citation, in the order of the text. Raises nothing, whatever the text."""
    from citations.records import records  # which takes the patterns above

    whole, found = text.replace("\r\n", "\n").replace("\r", "\n"), list[tuple[int, Found]]()
    for change in (str, straight):  # as they were written first: plain quotation marks would end the values of JSON
        whole = change(whole)
        for begin, end, citations in records(whole):
            found += [(begin, one) for one in citations]
            whole = f"{whole[:begin]}\n\n{' ' * max(end - begin - 4, 0)}\n\n{whole[end:]}"
    whole = _BROKEN_ID.sub(lambda match: re.sub(r"[\s>=]", "", match[0]), whole)
    whole = _BROKEN_PERMALINK.sub(lambda match: re.sub(r"[\s>]", "", match[0]), whole)
    whole = _BROKEN_URL.sub(r"\1", whole)
    at = 0
    for paragraph in re.split(r"(\n[ \t>]*\n)", whole):
        line = " ".join(re.sub(r"\n[ \t]*(?:>[ \t]*)+", "\n", f"\n{paragraph}").split())
        is_wrapped = "\n" in paragraph.strip()
        found += [(at, replace(one, is_wrapped=is_wrapped)) for one in _in_prose(line)]
        at += len(paragraph)
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def urls_in(text: str) -> list[str]:
    return [url.rstrip(".,;:!?") for url in _URL.findall(text)]


def address_of(match: re.Match[str]) -> dict[str, Any]:
    """What an id says beside itself."""
    revision, pin = match["revision"], match["pin"]
    return {"address": match["address"] or None, "revision": int(revision) if revision else None, "pin": pin and pin.lower()}


def correction_in(text: str) -> str | None:
    match = re.search(r"[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", text, re.I)
    return match[1] if match else None


def _in_prose(line: str) -> Iterator[Found]:
    """The citations of one paragraph. An id ends one; words that the wire's formats alone use show one without an id."""
    begin = 0
    for match in ID.finditer(line):
        if match.start() < begin:
            continue  # named twice by the same citation
        end = _end(line, match)
        yield from _of_stretch(line, begin, match, end)
        begin = end
    yield from _without_id(line[begin:])


def _end(line: str, match: re.Match[str]) -> int:
    """Where the citation ends that this id belongs to."""
    tail = _MARKDOWN_TAIL.match(line, match.end(), match.end() + 700)
    end = tail.end() if tail else match.end()
    corrected = _CORRECTED.match(line, end)
    return corrected.end() if corrected else end


def _of_stretch(line: str, begin: int, match: re.Match[str], end: int) -> Iterator[Found]:
    """What stands between the citation before and the end of this one: this one, and perhaps some without an id before it."""
    begin = max(begin, match.start() - 20 * LONGEST)
    before, behind = line[begin : match.start()], line[match.end() : end]
    heads = _heads(before)
    markdown, tail = _MARKDOWN_TAIL.match(behind), _TAIL.search(before[-120:])
    last = heads[-1] if heads else None
    is_layered = markdown is None and tail is None and last is not None and last.re is _LAYERED
    is_layered = is_layered and len(before) - last.start() <= LONGEST  # type: ignore[union-attr]
    if is_layered and last is not None:
        yield from _without_id(before[: last.start()])
        said = _SOURCE.sub("", before[last.end() :])
        yield _found(
            line[begin + last.start() : end], match, format=CitationFormat.LAYERED, publisher=last["publisher"], statement=said
        )
        return
    start = 0 if last is None else last.end()
    if last is not None and (after := _SENTENCE.search(before, last.end())):
        start = after.end()
    yield from _without_id(before)
    context = before[max(start, len(before) - LONGEST) :]
    text = context + line[match.start() : end]
    if markdown:
        yield _markdown(text, context, match, markdown)
    elif tail:
        yield _ended(text, before[: -len(tail[0])][-LONGEST:], match, tail)
    else:
        context = context[_sentence(context) :]
        yield _found(context + line[match.start() : end], match, tier=_tier(context), dates=dates_in(_brackets(context)))


def _heads(text: str) -> list[re.Match[str]]:
    """Where layered and inline citations begin, in order; the innermost of such as lie in each other."""
    found: list[re.Match[str]] = []
    for pattern in (_LAYERED, _INLINE):
        at = 0
        while match := pattern.search(text, at):
            inner = pattern.search(text, match.start() + 1, match.end())
            while inner and inner.end() == match.end():
                match, inner = inner, pattern.search(text, inner.start() + 1, inner.end())
            found.append(match)
            at = match.end()
    return sorted(found, key=lambda one: one.start())


def _without_id(text: str) -> Iterator[Found]:
    """Layered and inline citations that name no id, and what only looks like an id."""
    heads = _heads(text)
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        rest = text[head.end() : min(end, head.end() + LONGEST)]
        whole = text[head.start() : head.end()] + rest
        if head.re is _LAYERED:
            said = re.split(r"\s[(\[]?source:", rest, maxsplit=1, flags=re.I)[0]
            cut = next((near for near in _NEAR_ID.finditer(whole) if _is_cut(whole, near)), None)
            yield Found(
                whole.strip(),
                CitationFormat.LAYERED,
                other_id=f"{cut[0]}…" if cut else None,
                publisher=head["publisher"],
                statement=said.strip() or None,
            )
        else:
            date = DATE.search(rest, 0, 60)
            rest = rest[date.end() :] if date else rest
            yield Found(
                whole.strip(),
                CitationFormat.INLINE,
                publisher=head["publisher"],
                tier=int(head["tier"]),
                dates=(iso(date),) if date else (),
                rest=rest.lstrip(" :,.-") or None,
            )
    for near in _NEAR_ID.finditer(text):
        if not ID.fullmatch(near[0]) and not (heads and _is_cut(text, near)):
            yield Found(text[max(0, near.start() - 200) : near.end()].strip(), other_id=near[0])


def _is_cut(text: str, near: re.Match[str]) -> bool:
    return text.startswith(("…", "..."), near.end())


def _markdown(text: str, context: str, match: re.Match[str], tail: re.Match[str]) -> Found:
    """`[headline](permalink) (publisher, via [ChatbotNews.ai](site))`."""
    opening = re.search(r"\[((?:[^\\\[\]]|\\.){1,1500})\]\s?\(?<?$", context)
    bare = (lambda part: re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part)) if opening else str
    headline = bare(opening[1]) if opening else None
    publisher, crediting, credited = bare(tail["by"]).partition(", crediting ")
    del crediting, credited
    begin = opening.start() if opening else _sentence(context)
    return _found(text[begin:], match, format=CitationFormat.MARKDOWN, publisher=publisher, headline=headline)


def _ended(text: str, before: str, match: re.Match[str], tail: re.Match[str]) -> Found:
    """Reference, academic, APA and MLA, which name the wire and the id at their end."""
    url = next(reversed(urls_in(before)), None)
    date = next(reversed(list(DATE.finditer(before))), None)
    said: dict[str, Any] = {"original_url": url, "dates": (iso(date),) if date else ()}
    if tail["how"].lower().startswith("summari"):
        publisher = re.split(r"[.!?]\s", before.rstrip(" ."))[-1]
        headline = before[date.end() :].lstrip(" ).").rstrip(" .") if date else None
        headline = headline.removesuffix(publisher).rstrip(" .") if headline else None
        return _found(text, match, format=CitationFormat.ACADEMIC, publisher=_uncredited(publisher), headline=headline, **said)
    quoted = next(reversed(list(_QUOTED.finditer(before))), None)
    form = CitationFormat.MLA if tail["how"][0] == "I" else CitationFormat.REFERENCE
    if before.endswith("("):
        form = CitationFormat.APA
    publisher = None
    if form == CitationFormat.APA:
        quoted, sentences = None, re.split(r"[.!?]\s", before[: before.rfind("http")].rstrip(" ."))
        publisher = sentences[-1]
    elif form == CitationFormat.REFERENCE and quoted:
        publisher = before[: quoted.start()].rstrip(" ,")[-150:]
    elif form == CitationFormat.MLA and quoted and date:
        publisher = before[quoted.end() : date.start()].strip(" ,.")
    return _found(
        text, match, format=form, publisher=_uncredited(publisher), headline=quoted[1].rstrip(",.") if quoted else None, **said
    )


def _found(text: str, match: re.Match[str], **said: Any) -> Found:
    quotations = () if said.get("format") not in (None, CitationFormat.LAYERED) else tuple(_QUOTED.findall(text))
    more = {**address_of(match), "corrected_on": correction_in(text), "quotations": quotations, **said}
    return Found(text.strip(), story_id=match["id"].lower(), **more)


def _uncredited(publisher: str | None) -> str | None:
    return publisher.partition(", crediting ")[0] if publisher else None


def _sentence(text: str) -> int:
    """Where the last sentence of a text begins."""
    ends = [match.end() for match in _SENTENCE.finditer(text.rstrip(" ([<"))]
    return ends[-1] if ends else 0


def _tier(text: str) -> int | None:
    match = _TIER.search(text)
    return int(match[1]) if match else None


def _brackets(text: str) -> str:
    """What stands in the bracket that is still open at the end of a text."""
    opened = max(text.rfind("("), text.rfind("["))
    return text[opened:] if opened > max(text.rfind(")"), text.rfind("]")) else ""
