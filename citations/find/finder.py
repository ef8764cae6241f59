"""Citations of the wire in any text: in prose, in lists, in records, wrapped, quoted, cut. Pure.

Three things show one: an id of the wire (bare, in a permalink, in a BibTeX key), words that its formats alone use ("as summarized
by ChatbotNews.ai"), or a record in BibTeX, CSL-JSON or RIS. Each citation found is a stretch of the text with what it says of its
story; `wire.queries.verification` decides if that is true. Every pattern is bounded, so that no text takes long.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, takewhile
from operator import itemgetter
from typing import Any, Final

from citations.citation_lexicon import compile_pattern
from citations.find import claim_context, text_formats
from citations.find.bibliography_records import find_records, read_csl
from citations.find.citation_match import CitationMatch
from citations.find.claim_context import LONGEST, extract_last_claim, find_open_bracket, has_own_words, locate_last_sentence
from citations.find.dates import find_dates
from citations.find.json_citations import find_json, list_json_lines
from citations.find.normalize import straighten_punctuation
from citations.find.segments import BREAK, ID, Passage, split_passages
from citations.find.text_formats import AHEAD, LAYERED, NEAR_ID, build_match, find_citations_without_id, find_lead_ins
from citations.format.formats import CitationFormat

NEAR: Final = 400  # characters of each of the PARAGRAPHS beside an id that stands alone
PARAGRAPHS: Final = 6
_SOURCE: Final = re.compile(r"[\s(\[]*(?:sources?|read more|see|link|via|at)?:?[\s(\[<]*(?:\[[^\[\]\n]{1,60}\]\s?\(<?)?$", re.I)
_REST_OF_BRACKET: Final = re.compile(r"[^()\[\]]{1,200}[)\]]")
_BRACKET: Final = re.compile(r"[)\]>\"']{0,3} ?\([^()]{1,200}\)")


def find_citations(text: str) -> list[CitationMatch]:
    """Return every citation, in the order of the text. Raises nothing, whatever the text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found: list[tuple[int, CitationMatch]] = []
    for change in (str, straighten_punctuation):  # first as written: plain quotation marks would end the values of JSON
        text = change(text)
        values = [(begin, end, _find_in_json(value)) for begin, end, value in find_json(text)]
        text = _cut_out(text, reversed(values), found)
        text = _cut_out(text, find_records(text), found)
    found += _find_in_passages(list(split_passages(text)))
    return [match for _, match in sorted(found, key=itemgetter(0))]


def _cut_out(text: str, records: Iterable[tuple[int, int, list[CitationMatch]]], found: list[tuple[int, CitationMatch]]) -> str:
    """Add the citations of these records, the last first; return the text with blank lines in their place."""
    for begin, end, matches in records:
        if matches:
            found += [(begin, match) for match in matches]
            text = f"{text[:begin]}\n\n{' ' * max(end - begin - 4, 0)}\n\n{text[end:]}"
    return text


def _find_in_json(value: Any) -> list[CitationMatch]:
    """Return records of CSL, and beside them in a list whatever else cites."""
    found: list[CitationMatch] = []
    for item in value if isinstance(value, list) and read_csl(value) else [value]:
        if records := read_csl(item):
            found += records
            continue
        for text, is_row in list_json_lines(item):
            found += _find_in_line(text, is_row=True) if is_row else find_citations(text)
    return found


def _find_in_passages(passages: list[Passage]) -> Iterator[tuple[int, CitationMatch]]:
    cited = [_find_in_line(passage.line, is_row=passage.is_row) for passage in passages]
    for number, (passage, matches) in enumerate(zip(passages, cited, strict=True)):
        for place, match in enumerate(matches):
            is_id = match.format is None and match.story_id is not None
            is_alone = is_id and not has_own_words(claim_context.NO_WORDS.sub(" ", match.text))
            before, behind = list[str](), list[str]()
            if is_alone and place == 0:
                before = _list_uncited_lines(passages[:number][::-1], cited[:number][::-1])[::-1]
            if is_alone and place == len(matches) - 1:
                behind = _list_uncited_lines(passages[number + 1 :], cited[number + 1 :])
            yield passage.at, replace(match, is_wrapped=passage.is_wrapped, near=(" | ".join(before), " | ".join(behind)))


def _list_uncited_lines(passages: list[Passage], cited: list[list[CitationMatch]]) -> list[str]:
    free = takewhile(lambda pair: not pair[1], zip(passages, cited, strict=True))
    return list(islice((passage.line.replace(BREAK, " ")[:NEAR] for passage, _ in free if passage.line), PARAGRAPHS))


def _find_in_line(raw: str, *, is_row: bool = False) -> list[CitationMatch]:
    """Return the citations of one paragraph or entry of a list. An id ends one; without an id the formats' own words show one."""
    found: list[CitationMatch] = []
    begin, line = 0, raw.replace(BREAK, " ")  # both of one length
    ids = list(ID.finditer(line))
    is_single = is_row and len({match["id"].lower() for match in ids}) == 1 and not find_lead_ins(line)
    for match in ids:
        if match.start() < begin:
            continue  # named twice by the same citation
        before, behind = line[: match.start()], line[match.end() :]
        if is_single and not (text_formats.MARKDOWN_TAIL.match(behind) or text_formats.TAIL.search(before[-120:])):  # own words
            best = next((one for one in ids if one["address"]), match)
            dates = find_dates(find_open_bracket(line[: best.start()]))
            found.append(build_match(line, best, tier=claim_context.find_source_tier(line), dates=dates))
            break
        matches, begin = _find_up_to_id(raw, begin, match)
        found += matches
    else:
        found += find_citations_without_id(raw[begin:])
    if len(found) == 1 and found[0].text in line:
        return [replace(found[0], around=line.replace(found[0].text, " ", 1)[: 2 * LONGEST])]
    return found


def _find_up_to_id(raw: str, begin: int, match: re.Match[str]) -> tuple[list[CitationMatch], int]:
    """Return the citation of this id, behind those without an id since the citation before; and where what belongs to it ends."""
    begin, line = max(begin, match.start() - 20 * LONGEST), raw.replace(BREAK, " ")
    before = line[begin : match.start()]
    heads = find_lead_ins(before)
    last = heads[-1] if heads else None
    if last and (cut := raw.find(BREAK, begin + last.end(), match.start())) >= 0:  # it has ended, and has no id
        found, end = _find_up_to_id(raw, cut + 1, match)
        return [*find_citations_without_id(raw[begin:cut]), *found], end
    earlier, tail = before, text_formats.TAIL.search(before[-120:])
    if last and last.re is LAYERED and not has_own_words(before[last.end() :]):  # what it says stands behind the id, or before
        earlier = before[: last.start()]
        last = tail = None
    markdown = text_formats.MARKDOWN_TAIL.match(line, match.end(), match.end() + 700)
    end = markdown.end() if markdown else match.end()
    if corrected := text_formats.CORRECTED.match(line, end):
        end = corrected.end()
    is_via = tail is None or tail["how"].lower() == "via"
    more = _read_sentence_rest(line, end, is_all=False) if compile_pattern("continues").match(line, end) else ""
    if last and markdown is None and is_via and (headed := _parse_with_lead_in(line, before, last, match, end)):
        ahead = before[: last.start()]
        headed = replace(headed, ahead=ahead[locate_last_sentence(ahead) :][-AHEAD:], behind=more)
        return [*find_citations_without_id(ahead), headed], end + len(more)
    start = last.end() if last else 0
    if last and (after := claim_context.SENTENCE.search(before, start)):
        start = after.end()
    claim = before[max(start, len(before) - LONGEST) :]
    text = claim + line[match.start() : end]
    if markdown:
        found = [replace(text_formats.read_markdown(text, claim, match, markdown), behind=more)]
    elif tail and not is_via:
        found = [replace(text_formats.read_bibliographic(text, before[: -len(tail[0])][-LONGEST:], match, tail), behind=more)]
    else:
        claim = extract_last_claim(claim)
        more = _read_sentence_rest(line, end, is_all=not has_own_words(claim), in_bracket=bool(find_open_bracket(claim)))
        text = claim + line[match.start() : end] + more
        # Other tools write a bibliography as "…, 12 Oct. 2026, via ChatbotNews.ai".
        dated = claim if tail else find_open_bracket(claim)
        found = [build_match(text, match, tier=claim_context.find_source_tier(text), dates=find_dates(dated))]
    return [*find_citations_without_id(earlier), *found], end + len(more)


def _parse_with_lead_in(line: str, before: str, head: re.Match[str], match: re.Match[str], end: int) -> CitationMatch | None:
    """Return a layered or an inline citation that ends with its id; None if what stands in between is no more of it."""
    whole = before[head.start() :] + line[match.start() : end]
    if head.re is LAYERED and len(before) - head.start() <= LONGEST:
        said = _SOURCE.sub("", before[head.end() :])
        return build_match(whole, match, format=CitationFormat.LAYERED, publisher=head["publisher"], statement=said)
    inline = next(find_citations_without_id(before[head.start() :]))
    rest = _SOURCE.sub("", inline.rest or "")
    # One sentence behind the date: the id behind it is of the same story.
    if head.re is text_formats.INLINE and len(inline.rest or "") < LONGEST // 4 and not claim_context.SENTENCE.search(rest):
        said_inline = {name: getattr(inline, name) for name in ("format", "publisher", "tier", "credited", "dates")}
        return build_match(whole, match, rest=rest.strip() or None, **said_inline)
    return None


def _read_sentence_rest(line: str, end: int, *, is_all: bool, in_bracket: bool = False) -> str:
    """Return the rest of the sentence behind an id. `is_all`: nothing before it says anything, so that it may begin there."""
    rest = line[end : end + LONGEST]
    stops = [stop.start() for stop in (ID.search(rest), NEAR_ID.search(rest), next(iter(find_lead_ins(rest)), None)) if stop]
    sentence = claim_context.SENTENCE.search(rest)
    stop = sentence.end() - 1 if sentence else len(rest)
    if is_all:
        return rest[: min([stop, *stops])]
    bracket = (_REST_OF_BRACKET if in_bracket else _BRACKET).match(rest)
    begun = bracket.end() if bracket and not any(place < bracket.end() for place in stops) else 0
    if not stops and len(rest) <= claim_context.NAMES and claim_context.has_names_only(rest) and not rest.isupper():
        return rest  # whose the words are
    is_next = any(place < stop for place in stops) or (stops and rest[begun:].lstrip(" )]").startswith(";"))
    return rest[: begun if is_next or compile_pattern("begins").match(rest, begun) else stop]  # words in between are the next one's
