"""Citations of the wire in any text: in prose, in lists, wrapped, quoted, cut, typeset. Pure.

Three things show one: an id of the wire (bare, in a permalink, in a BibTeX key), words that its formats alone use ("as summarized
by ChatbotNews.ai"), or a record in BibTeX, CSL-JSON or RIS. Each citation found is a stretch of the text with what it says of its
story; whether that is true is for `wire.queries.verification` to say. Every pattern is bounded, so that no text takes long.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from citations.dates import DATE, dates_in, iso
from citations.folding import straight, words_of
from citations.formats import CitationFormat
from citations.found import Found, address_of, correction_in
from citations.objects import json_values, lines
from citations.passages import BREAK, ID, passages, without_marks_of_csv
from citations.records import NAME, of_csl, records

LONGEST: Final = 1_600  # characters of a citation in prose
BYLINE: Final = 200  # characters
NAMES: Final = 80  # characters of an author's name before a title
_NEAR_ID: Final = re.compile(
    r"(?<![\w-])cbn-(?:[0-9a-z]{9,20}(?![0-9a-z-])|(?-i:(?<=cbn-)(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{4,8}(?![\w-]))|[0-9a-z]{1,40}(?=…|\.\.\.))",
    re.I,
)
_CORRECTED: Final = re.compile(r"[>).,\"']{0,3}\s?[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", re.I)
_LAYERED: Final = re.compile(
    r"(?<!\w)(?:according to|as reported by|per) (?P<publisher>(?:(?!\.\s)[^\n]){1,150}?),? ?\(?(?:as |and )?"
    rf"summari[sz]ed (?:by|at|on|via) \[?{NAME}(?:\]\((?!\S*cbn-)[^\s()]{{1,200}}\)|[\])])?,? ?(?:that )?",
    re.I,
)
_INLINE: Final = re.compile(rf"{NAME},? ?\(?citing (?P<publisher>[^\n]{{1,150}}?),? ?[(,]? ?tier (?P<tier>\d{{1,3}})\)?", re.I)
_TAIL: Final = re.compile(
    rf"(?P<how>indexed by|summari[sz]ed (?:by|at|on|via)|via) \[?{NAME}\]?(?:, the conversational ai wire)?[.,:]?"
    r"(?: (?:at|as|under))?[ (<]*$",
    re.I,
)
_SOURCE: Final = re.compile(r"[\s(\[]*(?:sources?|read more|see|link|via|at)?:?[\s(\[<]*(?:\[[^\[\]\n]{1,60}\]\s?\(<?)?$", re.I)
_MARKDOWN_TAIL: Final = re.compile(
    rf"[^\s()]{{0,40}}\s?[)>\]]{{1,2}}\s?\((?P<by>[^\n]{{1,300}}?),? via \[?{NAME}\]?(?:\([^)]{{0,300}}\))?\)", re.I
)
_PLACEHOLDER: Final = re.compile(r"<[^<>]{1,40}>|\{[^{}]{1,40}\}")  # of whoever explains the format
_POINTS_BACK: Final = re.compile(r"\s*(?:\(|(?:It|They|He|She|This|That|These|Those|Its|Their|His|Her)\b)")
_BEGINS: Final = re.compile(
    r"[)\]>\"']*[.!?](?:\s|$)|(?![)\]>\"']*[,;:])\W*\s\W*[^\W_a-z]"
)  # another sentence, with a full stop or without
_CREDITING: Final = re.compile(r", crediting (?P<name>[^\n]{1,150}?)(?=, \d{4}-)", re.I)
_NAME_BEFORE: Final = re.compile(rf"\[?(?P<name>{NAME})[\s\])(<\[]{{0,6}}$", re.I)
_CITING: Final = re.compile(r"[)\]>]{0,2},? ?\(?citing ", re.I)
_ENDS: Final = re.compile(r"[)\]\"']*[.!?]?[)\]\"']*(?:\s|$)")
_CONTINUES: Final = re.compile(  # one of the formats, in a sentence that goes on behind it
    r"(?:[?#&][^\s)>\]\"']*)?[)\]>\"'*_]{0,4}(?:[,;] | (?:which|who|that|but|and|while|although|though|where|because|as)\b)"
)
_REST_OF_BRACKET: Final = re.compile(r"[^()\[\]]{1,200}[)\]]")
_BRACKET: Final = re.compile(r"[)\]>\"']{0,3} ?\([^()]{1,200}\)")
URL: Final = re.compile(r"https?://[^\s<>\"'\])\u3000-\uffff]+", re.I)
_QUOTED: Final = re.compile(r'(?<!\w)"([^"\n]{1,1000}?)"(?!\w)')
_TIER: Final = re.compile(r"\btier[\"']?[ :=]{1,3}(\d{1,3})\b", re.I)
_SENTENCE: Final = re.compile(r"[.!?][\"')\]]* (?=[\"'(\[]?[A-Z0-9\u0370-\uffff])|[。！？][)）]*")

_LEADING_WORDS: Final = """
according to as reported by summarized summarised indexed cited citing via see source sources read more at in on the a an
and of from link story wire chatbotnews ai id this also here ref reference references tier crediting says said reports
writes wrote https http www that with for citation per url permalink quelle siehe laut bei mehr zum voir fuente fonte bron
details full original article website site archive archived retrieved accessed available footnote item slide page note no nr
row date publisher headline title chat bot news com org html conversational
has have had is was are were it its there find found can be you we summary
outlet layout post newspaper medium category published journal author authors quote quoted citations wrote reads name
carried brought claim claims statement excerpt evidence fact json yaml
"""
LEADS: Final = frozenset(_LEADING_WORDS.split())
"""Words that lead to a story and say nothing of it."""


def find_citations(text: str) -> list[Found]:
    """Every citation, in the order of the text. Raises nothing, whatever the text."""
    whole = without_marks_of_csv(text.replace("\r\n", "\n").replace("\r", "\n"))
    found: list[tuple[int, Found]] = []
    for change in (str, straight):  # as they were written first: plain quotation marks would end the values of JSON
        whole = change(whole)
        for begin, end, value in reversed(list(json_values(whole))):
            if citations := of_csl(value) or _in_object(value):
                found += [(begin, one) for one in citations]
                whole = _without(whole, begin, end)
        for begin, end, citations in records(whole):
            found += [(begin, one) for one in citations]
            whole = _without(whole, begin, end)
    for passage in passages(whole):
        found += [
            (passage.at, replace(one, is_wrapped=passage.is_wrapped)) for one in _in_prose(passage.line, is_row=passage.is_row)
        ]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _in_object(value: Any) -> list[Found]:
    return [
        one for line in lines(value) for one in (_in_prose(line.text, is_row=True) if line.is_row else find_citations(line.text))
    ]


def _without(text: str, begin: int, end: int) -> str:
    """With a paragraph's end in the place of what was read, and all else where it was."""
    return f"{text[:begin]}\n\n{' ' * max(end - begin - 4, 0)}\n\n{text[end:]}"


def urls_in(text: str) -> list[str]:
    return [url.rstrip(".,;:!?") for url in URL.findall(text)]


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
            yield _found(line, match, tier=_tier(line), dates=dates_in(_brackets(line[: match.start()])))
            return
        some, begin = _of_stretch(text, begin, match, end)
        yield from some
    yield from _without_id(text[begin:])


def _end(line: str, match: re.Match[str]) -> int:
    """Where the citation ends that this id belongs to."""
    tail = _MARKDOWN_TAIL.match(line, match.end(), match.end() + 700)
    end = tail.end() if tail else match.end()
    corrected = _CORRECTED.match(line, end)
    return corrected.end() if corrected else end


def _of_stretch(raw: str, begin: int, match: re.Match[str], end: int) -> tuple[list[Found], int]:
    """The citation of this id, behind those without an id since the citation before; and where what belongs to it ends."""
    begin, line = max(begin, match.start() - 20 * LONGEST), raw.replace(BREAK, " ")
    before = line[begin : match.start()]
    heads = _heads(before)
    last = heads[-1] if heads else None
    if last is not None and (cut := raw.find(BREAK, begin + last.end(), match.start())) >= 0:  # it has ended, and has no id
        found, end = _of_stretch(raw, cut + 1, match, end)
        return [*_without_id(raw[begin:cut]), *found], end
    markdown, tail = _MARKDOWN_TAIL.match(line[match.end() : end]), _TAIL.search(before[-120:])
    more = _behind(line, end, is_all=False) if _CONTINUES.match(line, end) else ""
    if linked := _linked(line, before, match, end):
        return [*_without_id(before[: linked[1]]), linked[0]], end
    if last is not None and last.re is _LAYERED and not _says(before[last.end() :]):
        return _led(line, before, last, match, end)
    if last is not None and markdown is None and (tail is None or tail["how"].lower() == "via"):
        whole, earlier = line[begin + last.start() : end], list(_without_id(before[: last.start()]))
        if last.re is _LAYERED and len(before) - last.start() <= LONGEST:
            said = _SOURCE.sub("", before[last.end() :])
            return [
                *earlier,
                _found(whole, match, format=CitationFormat.LAYERED, publisher=last["publisher"], statement=said, behind=more),
            ], end + len(more)
        inline = next(_without_id(before[last.start() :]))
        if last.re is _INLINE and _goes_on_to_id(inline.rest):
            same = {name: getattr(inline, name) for name in ("format", "publisher", "tier", "credited", "dates")}
            rest = _SOURCE.sub("", inline.rest or "").strip() or None
            return [*earlier, _found(whole, match, rest=rest, behind=more, **same)], end + len(more)
    start = 0 if last is None else last.end()
    if last is not None and (after := _SENTENCE.search(before, last.end())):
        start = after.end()
    earlier = list(_without_id(before))
    context = before[max(start, len(before) - LONGEST) :]
    text = context + line[match.start() : end]
    if markdown:
        return [*earlier, replace(_markdown(text, context, match, markdown), behind=more)], end + len(more)
    if tail and tail["how"].lower() != "via":
        ended = _ended(text, before[: -len(tail[0])][-LONGEST:], match, tail)
        return [*earlier, replace(ended, behind=more)], end + len(more)
    context = _saying(context)
    behind = _behind(line, end, is_all=not _says(context), in_bracket=bool(_brackets(context)))
    text = context + line[match.start() : end] + behind
    dated = context if tail else _brackets(context)  # as other tools write a bibliography: "…, 12 Oct. 2026, via ChatbotNews.ai"
    return [*earlier, _found(text, match, tier=_tier(text), dates=dates_in(dated))], end + len(behind)


def _led(line: str, before: str, head: re.Match[str], match: re.Match[str], end: int) -> tuple[list[Found], int]:
    """A layered citation whose id stands where its statement begins, which then goes on behind the id; or where the sentence
    ends that it is said of: "…, according to X, as summarized by ChatbotNews.ai (id)".
    """
    saying = _saying(before[: head.start()])
    earlier = list(_without_id(before[: head.start() - len(saying)]))
    if _says(saying) and saying.rstrip()[-1] not in ".!?:":
        behind = _behind(line, end, is_all=False)
        text = saying + before[head.start() :] + line[match.start() : end] + behind
        return [*earlier, _found(text, match)], end + len(behind)
    behind = _until_next(line, end)
    text, said = before[head.start() :] + line[match.start() : end] + behind, behind.lstrip(" )]>:,.-")
    if not _says(said):
        return [*earlier, _found(text, match)], end + len(behind)
    form = {"format": CitationFormat.LAYERED, "publisher": head["publisher"], "statement": said, "is_open": True}
    return [*earlier, _found(text, match, **form)], end + len(behind)


def _linked(line: str, before: str, match: re.Match[str], end: int) -> tuple[Found, int] | None:
    """An inline citation with its id right behind the wire's name, and where it begins: "[ChatbotNews.ai](id), citing X …"."""
    named = _NAME_BEFORE.search(before[-40:])
    behind = _until_next(line, end)
    if not named or not _CITING.match(behind):
        return None
    begin = len(before[:-40]) + named.start()
    inline = next(_without_id(named["name"] + behind.lstrip(" )]>")), None)
    if inline is None:
        return None
    said = {name: getattr(inline, name) for name in ("format", "publisher", "tier", "credited", "dates", "rest", "corrected_on")}
    return _found(before[begin:] + line[match.start() : end] + behind, match, **said), begin


def _until_next(line: str, end: int) -> str:
    """What follows, up to another citation."""
    rest = line[end : end + LONGEST]
    stops = [stop.start() for stop in (ID.search(rest), next(iter(_heads(rest)), None)) if stop]
    return rest[: min(stops, default=len(rest))]


def _is_plain(line: str, match: re.Match[str]) -> bool:
    """Whether an entry has its id in words of somebody's own, and in none of the wire's formats."""
    before, behind = line[: match.start()], line[match.end() :]
    return not (_heads(line) or _MARKDOWN_TAIL.match(behind) or _TAIL.search(before[-120:]))


def _goes_on_to_id(rest: str | None) -> bool:
    """Whether what follows the date of an inline citation is one sentence, so that the id behind it is of the same story."""
    return rest is None or (len(rest) < LONGEST // 4 and not _SENTENCE.search(_SOURCE.sub("", rest)))


def _says(text: str) -> bool:
    """Whether words stand in it that say something, and do not only lead to a story."""
    return any(word not in LEADS and not word.isdigit() for word in words_of(URL.sub(" ", text)))


def _saying(text: str) -> str:
    """The last sentence of a text; those before as well, while there are only names and words that lead to a story, and what
    stands in a bracket; and the whole of a quotation that ends in it, with the name before that.
    """
    begin = _sentence(text)
    while begin and (_only_names(text[begin:]) or _POINTS_BACK.match(text, begin)):
        begin = _sentence(text[:begin])
    if text.count('"', begin) % 2 and '"' in text[:begin]:
        begin = text.rindex('"', 0, begin)
    return text[begin:] if begin > NAMES or not _only_names(text[:begin]) else text


def _only_names(text: str) -> bool:
    return all(word in LEADS or word[0].isupper() or word.isdigit() for word in re.findall(r"[^\W_]+", URL.sub(" ", text)))


def _behind(line: str, end: int, *, is_all: bool, in_bracket: bool = False) -> str:
    """How the sentence goes on behind an id. `is_all`: nothing stands before it that says anything, so that it may begin there."""
    rest = line[end : end + LONGEST]
    stops = [stop.start() for stop in (ID.search(rest), _NEAR_ID.search(rest), next(iter(_heads(rest)), None)) if stop]
    sentence = _SENTENCE.search(rest)
    stop = sentence.end() - 1 if sentence else len(rest)
    if is_all:
        return rest[: min([stop, *stops])]
    bracket = (_REST_OF_BRACKET if in_bracket else _BRACKET).match(rest)
    begun = bracket.end() if bracket and not any(place < bracket.end() for place in stops) else 0
    if not stops and len(rest) <= NAMES and _only_names(rest) and not rest.isupper():
        return rest  # whose the words are
    if _BEGINS.match(rest, begun) or any(place < stop for place in stops):
        return rest[:begun]  # the words in between are the next one's
    return rest[:stop]


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
    return sorted((head for head in found if not _PLACEHOLDER.search(head["publisher"])), key=lambda one: one.start())


def _without_id(text: str) -> Iterator[Found]:
    """Layered and inline citations that name no id, and what only looks like an id."""
    raw, text = text, text.replace(BREAK, " ")
    heads = _heads(text)
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        rest = raw[head.end() : min(end, head.end() + LONGEST)]
        first = rest.partition(BREAK)[0]
        rest = first if len(words_of(first)) > 2 else rest.replace(BREAK, " ")
        whole = text[head.start() : head.end()] + rest
        if head.re is _LAYERED:
            said = re.split(r"\s[(\[]?source:", rest, maxsplit=1, flags=re.I)[0].strip()
            if quoted := _QUOTED.match(said):
                said = quoted[0]
                whole = whole[: whole.index(said) + len(said)]
            if not number and _ENDS.match(said):
                said = _saying(text[: head.start()]).strip(" (")
                whole = text[head.start() - len(_saying(text[: head.start()])) : head.end()]
            cut = next((near for near in _NEAR_ID.finditer(whole) if _is_cut(whole, near)), None)
            yield Found(
                whole.strip(),
                CitationFormat.LAYERED,
                other_id=f"{cut[0]}…" if cut else None,
                publisher=head["publisher"],
                statement=said or None,
                is_open=True,
            )
        else:
            crediting = _CREDITING.match(rest)
            rest = rest[crediting.end() :] if crediting else rest
            date = DATE.search(rest, 0, 60)
            rest = rest[date.end() :] if date else rest
            corrected = _CORRECTED.match(rest)
            rest = rest[corrected.end() :] if corrected else rest
            yield Found(
                whole.strip(),
                CitationFormat.INLINE,
                publisher=head["publisher"],
                tier=int(head["tier"]),
                credited=crediting["name"] if crediting else None,
                dates=(iso(date),) if date else (),
                corrected_on=corrected[1] if corrected else None,
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
    begin = opening.start() if opening else _sentence(context)
    return _found(text[begin:], match, format=CitationFormat.MARKDOWN, publisher=bare(tail["by"]), headline=headline)


def _ended(text: str, before: str, match: re.Match[str], tail: re.Match[str]) -> Found:
    """Reference, academic, APA and MLA, which name the wire and the id at their end."""
    url = next(reversed(urls_in(before)), None)
    date = next(reversed(list(DATE.finditer(before))), None)
    said: dict[str, Any] = {"original_url": url, "dates": (iso(date),) if date else ()}
    if tail["how"].lower().startswith("summari"):
        publisher = re.split(r"(?:[.!?]|…)\s", before.rstrip(" ."))[-1]
        headline = before[date.end() :].lstrip(" ).").rstrip(" .") if date else None
        headline = headline.removesuffix(publisher).rstrip(" .") if headline else None
        said["byline"] = before[: date.start()][-BYLINE:] if date else None
        return _found(text, match, format=CitationFormat.ACADEMIC, publisher=publisher, headline=headline, **said)
    quoted = next(reversed(list(_QUOTED.finditer(before))), None)
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
    return _found(text, match, format=form, publisher=publisher, **said)


def _found(text: str, match: re.Match[str], **said: Any) -> Found:
    publisher, _, credited = (said.get("publisher") or "").partition(", crediting ")
    if credited:
        said |= {"publisher": publisher, "credited": credited}
    quoted = [] if said.get("format") not in (None, CitationFormat.LAYERED) else _QUOTED.findall(text)
    quotations = tuple(one for one in quoted if not ID.search(one))  # in YAML marks stand around a whole entry
    more = {**address_of(match), "corrected_on": correction_in(text), "quotations": quotations, **said}
    return Found(text.strip(), story_id=match["id"].lower(), **more)


def _sentence(text: str) -> int:
    """Where the last sentence of a text begins."""
    told = text.rstrip(" ([<（")
    ends = [match.end() for match in _SENTENCE.finditer(told) if match.end() < len(told)]
    return ends[-1] if ends else 0


def _tier(text: str) -> int | None:
    match = _TIER.search(text)
    return int(match[1]) if match else None


def _brackets(text: str) -> str:
    """What stands in the bracket that is still open at the end of a text."""
    opened = max(text.rfind("("), text.rfind("["))
    return text[opened:] if opened > max(text.rfind(")"), text.rfind("]")) else ""
