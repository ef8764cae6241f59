"""Citations of the wire in any text: in prose, in lists, in records, wrapped, quoted, cut, typeset. Pure.

Three things show one: an id of the wire (bare, in a permalink, in a BibTeX key), words that its formats alone use ("as summarized
by ChatbotNews.ai"), or a record in BibTeX, CSL-JSON or RIS. Each citation found is a stretch of the text with what it says of its
story; whether that is true is for `wire.queries.verification` to say. Every pattern is bounded, so that no text takes long.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any, Final

from citations.context import LONGEST, NAMES, NO_WORDS, SENTENCE, brackets, last_sentence, only_names, saying, says, tier
from citations.dates import dates_in
from citations.folding import straight
from citations.formats import CitationFormat
from citations.found import Found
from citations.heads import CORRECTED, INLINE, LAYERED, NEAR_ID, heads_in, without_id
from citations.objects import json_values, lines
from citations.passages import BREAK, ID, Passage, passages, without_marks_of_csv
from citations.records import NAME, of_csl, records
from citations.tails import MARKDOWN_TAIL, TAIL, bibliographic, in_markdown, of_story

AHEAD: Final = 100  # characters
NEAR: Final = 400  # characters of each of the PARAGRAPHS beside an id that stands alone
PARAGRAPHS: Final = 6
_SOURCE: Final = re.compile(r"[\s(\[]*(?:sources?|read more|see|link|via|at)?:?[\s(\[<]*(?:\[[^\[\]\n]{1,60}\]\s?\(<?)?$", re.I)
_BEGINS: Final = re.compile(
    r"[)\]>\"']*[.!?](?:\s|$)|(?![)\]>\"']*[,;:])\W*\s\W*[^\W_a-z]"
)  # another sentence, with a full stop or without
_NAME_BEFORE: Final = re.compile(rf"\[?(?P<name>{NAME})[\s\])(<\[]{{0,6}}$", re.I)
_CITING: Final = re.compile(r"[)\]>]{0,2},? ?\(?citing ", re.I)
_CONTINUES: Final = re.compile(  # one of the formats, in a sentence that goes on behind it
    r"(?:[?#&][^\s)>\]\"']*)?[)\]>\"'*_]{0,4}(?:[,;] | (?:which|who|that|but|and|while|although|though|where|because|as)\b)"
)
_REST_OF_BRACKET: Final = re.compile(r"[^()\[\]]{1,200}[)\]]")
_BRACKET: Final = re.compile(r"[)\]>\"']{0,3} ?\([^()]{1,200}\)")


def find_citations(text: str) -> list[Found]:
    """Every citation, in the order of the text. Raises nothing, whatever the text."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    found: list[tuple[int, Found]] = []
    for change in (str, straight):  # as they were written first: plain quotation marks would end the values of JSON
        whole = change(whole)
        for begin, end, value in reversed(list(json_values(whole))):
            if citations := _in_json(value):
                found += [(begin, one) for one in citations]
                whole = _without(whole, begin, end)
        whole = without_marks_of_csv(whole)
        for begin, end, citations in records(whole):
            found += [(begin, one) for one in citations]
            whole = _without(whole, begin, end)
    found += _in_passages(list(passages(whole)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _in_passages(read: list[Passage]) -> Iterator[tuple[int, Found]]:
    """Each citation with where its paragraph begins."""
    cited = [_in_prose(passage.line, is_row=passage.is_row) for passage in read]
    for number, passage in enumerate(read):
        for place, one in enumerate(cited[number]):
            is_alone = one.format is None and one.story_id is not None and not says(NO_WORDS.sub(" ", one.text))
            before = _uncited(read[:number][::-1], cited[:number][::-1])[::-1] if is_alone and place == 0 else []
            behind = _uncited(read[number + 1 :], cited[number + 1 :]) if is_alone and place == len(cited[number]) - 1 else []
            yield passage.at, replace(one, is_wrapped=passage.is_wrapped, near=(" | ".join(before), " | ".join(behind)))


def _uncited(read: list[Passage], cited: list[list[Found]]) -> list[str]:
    """The next paragraphs, up to one that cites."""
    free = (passage for passage, _ in takewhile(lambda pair: not pair[1], zip(read, cited, strict=True)))
    return [passage.line.replace(BREAK, " ")[:NEAR] for passage in islice((one for one in free if one.line), PARAGRAPHS)]


def _in_json(value: Any) -> list[Found]:
    """Records of CSL, and beside them in a list whatever else cites."""
    if isinstance(value, list) and of_csl(value):
        return [one for item in value for one in of_csl(item) or _in_object(item)]
    return of_csl(value) or _in_object(value)


def _in_object(value: Any) -> list[Found]:
    return [
        one for line in lines(value) for one in (_in_prose(line.text, is_row=True) if line.is_row else find_citations(line.text))
    ]


def _without(text: str, begin: int, end: int) -> str:
    """With a paragraph's end in the place of what was read, and all else where it was."""
    return f"{text[:begin]}\n\n{' ' * max(end - begin - 4, 0)}\n\n{text[end:]}"


def _in_prose(line: str, *, is_row: bool = False) -> list[Found]:
    """The citations of one paragraph, or of an entry of a list. An id ends one; words that the wire's formats alone use show one
    without an id.
    """
    found = list(_one_by_one(line, is_row=is_row))
    line = line.replace(BREAK, " ")
    if len(found) == 1 and found[0].text in line:
        found = [replace(found[0], around=line.replace(found[0].text, " ", 1)[: 2 * LONGEST])]
    return found


def _one_by_one(text: str, *, is_row: bool) -> Iterator[Found]:
    begin, line = 0, text.replace(BREAK, " ")  # both of one length
    ids = list(ID.finditer(line))
    for match in ids:
        if match.start() < begin:
            continue  # named twice by the same citation
        end = _end(line, match)
        if is_row and len({one["id"].lower() for one in ids}) == 1 and _is_plain(line, match):
            match = next((one for one in ids if one["address"]), match)
            yield of_story(line, match, tier=tier(line), dates=dates_in(brackets(line[: match.start()])))
            return
        some, begin = _of_stretch(text, begin, match, end)
        yield from some
    yield from without_id(text[begin:])


def _end(line: str, match: re.Match[str]) -> int:
    """Where the citation ends that this id belongs to."""
    tail = MARKDOWN_TAIL.match(line, match.end(), match.end() + 700)
    end = tail.end() if tail else match.end()
    corrected = CORRECTED.match(line, end)
    return corrected.end() if corrected else end


def _of_stretch(raw: str, begin: int, match: re.Match[str], end: int) -> tuple[list[Found], int]:
    """The citation of this id, behind those without an id since the citation before; and where what belongs to it ends."""
    begin, line = max(begin, match.start() - 20 * LONGEST), raw.replace(BREAK, " ")
    before = line[begin : match.start()]
    heads = heads_in(before)
    last = heads[-1] if heads else None
    if last is not None and (cut := raw.find(BREAK, begin + last.end(), match.start())) >= 0:  # it has ended, and has no id
        found, end = _of_stretch(raw, cut + 1, match, end)
        return [*without_id(raw[begin:cut]), *found], end
    markdown, tail = MARKDOWN_TAIL.match(line[match.end() : end]), TAIL.search(before[-120:])
    more = _behind(line, end, is_all=False) if _CONTINUES.match(line, end) else ""
    if linked := _linked(line, before, match, end):
        return [*without_id(before[: linked[1]]), linked[0]], end
    if last is not None and last.re is LAYERED and not says(before[last.end() :]):
        return _led(line, before, last, match, end)
    if last is not None and markdown is None and (tail is None or tail["how"].lower() == "via"):
        headed = _headed(line, before, last, match, end)
        if headed is not None:
            ahead = _ahead(before[: last.start()])
            return [*without_id(before[: last.start()]), replace(headed, ahead=ahead, behind=more)], end + len(more)
    start = 0 if last is None else last.end()
    if last is not None and (after := SENTENCE.search(before, last.end())):
        start = after.end()
    earlier = list(without_id(before))
    context = before[max(start, len(before) - LONGEST) :]
    text = context + line[match.start() : end]
    if markdown:
        return [*earlier, replace(in_markdown(text, context, match, markdown), behind=more)], end + len(more)
    if tail and tail["how"].lower() != "via":
        told = bibliographic(text, before[: -len(tail[0])][-LONGEST:], match, tail)
        return [*earlier, replace(told, behind=more)], end + len(more)
    context = saying(context)
    behind = _behind(line, end, is_all=not says(context), in_bracket=bool(brackets(context)))
    text = context + line[match.start() : end] + behind
    dated = context if tail else brackets(context)  # as other tools write a bibliography: "…, 12 Oct. 2026, via ChatbotNews.ai"
    return [*earlier, of_story(text, match, tier=tier(text), dates=dates_in(dated))], end + len(behind)


def _ahead(text: str) -> str:
    """The last words before a citation that are of its sentence."""
    return text[last_sentence(text) :][-AHEAD:]


def _headed(line: str, before: str, head: re.Match[str], match: re.Match[str], end: int) -> Found | None:
    """A layered or an inline citation that ends with its id; None if what stands in between is no more of it."""
    whole = before[head.start() :] + line[match.start() : end]
    if head.re is LAYERED and len(before) - head.start() <= LONGEST:
        said = _SOURCE.sub("", before[head.end() :])
        return of_story(whole, match, format=CitationFormat.LAYERED, publisher=head["publisher"], statement=said)
    inline = next(without_id(before[head.start() :]))
    if head.re is INLINE and _goes_on_to_id(inline.rest):
        same = {name: getattr(inline, name) for name in ("format", "publisher", "tier", "credited", "dates")}
        return of_story(whole, match, rest=_SOURCE.sub("", inline.rest or "").strip() or None, **same)
    return None


def _led(line: str, before: str, head: re.Match[str], match: re.Match[str], end: int) -> tuple[list[Found], int]:
    """A layered citation whose id stands where its statement begins, which then goes on behind the id; or where the sentence
    ends that it is said of: "…, according to X, as summarized by ChatbotNews.ai (id)".
    """
    context = saying(before[: head.start()])
    earlier = list(without_id(before[: head.start() - len(context)]))
    if says(context) and context.rstrip()[-1] not in ".!?:":
        behind = _behind(line, end, is_all=False)
        text = context + before[head.start() :] + line[match.start() : end] + behind
        return [*earlier, of_story(text, match)], end + len(behind)
    behind = _until_next(line, end)
    text, said = before[head.start() :] + line[match.start() : end] + behind, behind.lstrip(" )]>:,.-")
    if not says(said):
        return [*earlier, of_story(text, match)], end + len(behind)
    form = {"format": CitationFormat.LAYERED, "publisher": head["publisher"], "statement": said, "is_open": True}
    return [*earlier, of_story(text, match, **form)], end + len(behind)


def _linked(line: str, before: str, match: re.Match[str], end: int) -> tuple[Found, int] | None:
    """An inline citation with its id right behind the wire's name, and where it begins: "[ChatbotNews.ai](id), citing X …"."""
    named = _NAME_BEFORE.search(before[-40:])
    if not named or not _CITING.match(line, end):
        return None
    behind = _until_next(line, end)
    begin = len(before[:-40]) + named.start()
    inline = next(without_id(named["name"] + behind.lstrip(" )]>")), None)
    if inline is None:
        return None
    said = {name: getattr(inline, name) for name in ("format", "publisher", "tier", "credited", "dates", "rest", "corrected_on")}
    return of_story(before[begin:] + line[match.start() : end] + behind, match, **said), begin


def _until_next(line: str, end: int) -> str:
    """What follows, up to another citation."""
    rest = line[end : end + LONGEST]
    stops = [stop.start() for stop in (ID.search(rest), next(iter(heads_in(rest)), None)) if stop]
    return rest[: min(stops, default=len(rest))]


def _behind(line: str, end: int, *, is_all: bool, in_bracket: bool = False) -> str:
    """How the sentence goes on behind an id. `is_all`: nothing stands before it that says anything, so that it may begin there."""
    rest = line[end : end + LONGEST]
    stops = [stop.start() for stop in (ID.search(rest), NEAR_ID.search(rest), next(iter(heads_in(rest)), None)) if stop]
    sentence = SENTENCE.search(rest)
    stop = sentence.end() - 1 if sentence else len(rest)
    if is_all:
        return rest[: min([stop, *stops])]
    bracket = (_REST_OF_BRACKET if in_bracket else _BRACKET).match(rest)
    begun = bracket.end() if bracket and not any(place < bracket.end() for place in stops) else 0
    if not stops and len(rest) <= NAMES and only_names(rest) and not rest.isupper():
        return rest  # whose the words are
    is_next = (
        _BEGINS.match(rest, begun) or any(place < stop for place in stops) or (stops and rest[begun:].lstrip(" )]").startswith(";"))
    )
    if is_next:
        return rest[:begun]  # the words in between are the next one's
    return rest[:stop]


def _is_plain(line: str, match: re.Match[str]) -> bool:
    """Whether an entry has its id in words of somebody's own, and in none of the wire's formats."""
    before, behind = line[: match.start()], line[match.end() :]
    return not (heads_in(line) or MARKDOWN_TAIL.match(behind) or TAIL.search(before[-120:]))


def _goes_on_to_id(rest: str | None) -> bool:
    """Whether what follows the date of an inline citation is one sentence, so that the id behind it is of the same story."""
    return rest is None or (len(rest) < LONGEST // 4 and not SENTENCE.search(_SOURCE.sub("", rest)))
