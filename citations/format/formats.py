"""A story as a citation, in ten formats. The layered one is canonical.

The text formats are the wire's own. Markdown follows CommonMark 0.31, BibTeX Patashnik's "BibTeXing" (1988), CSL the
CSL-JSON schema of citationstyles.org (csl-data.json, 1.0) and RIS the RIS format specification of 2011. APA is the seventh
edition's webpage on a website (10.16), MLA the ninth's; headlines keep their capitals.

A text that ends in a full stop is given no second one. Where the category wire credits an outlet outside the roster,
the outlet is named but never in the publisher's place.
"""

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote

import rispy

from citations.citation_lexicon import list_words
from citations.format.bylines import Author, Person, drop_title_comma, parse_authors
from citations.format.citation_statement import INNER_QUOTES, Statement, build_statement
from citations.format.latex import escape_latex
from citations.sentence_boundaries import add_full_stop

WIRE: Final = "ChatbotNews.ai"
WIRE_IN_FULL: Final = f"{WIRE}, The Conversational AI Wire"
MONTHS: Final = list_words("months")  # `calendar.month_name` would follow the locale
MLA_MONTHS: Final = list_words("mla_months")
MAKERS: Final = 1  # the tier of those who report on themselves
APA_MOST: Final = 20  # authors; of more, the first nineteen and the last are named

_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_URI: Final = "%:/?#[]@!$&'()*+,;="  # RFC 3986, section 2.2, and what is percent-encoded already
URI_IN_RIS: Final = _URI.replace(";", "")  # where a semicolon begins a second URL
_URI_IN_MARKDOWN: Final = URI_IN_RIS.replace("()", "")  # nor may a parenthesis end it, or `&…;` become a character
_MARKDOWN_SYNTAX: Final = re.compile(r"[\\`*_\[\]<~|]|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |
_RIS_WRITER: Final = rispy.RisWriter()


class CitationFormat(StrEnum):
    """Formats of citations. Every story carries the first six; the others are rendered on request."""

    LAYERED = "layered"
    INLINE = "inline"
    REFERENCE = "reference"
    ACADEMIC = "academic"
    MARKDOWN = "markdown"
    BIBTEX = "bibtex"
    CSL = "csl"
    RIS = "ris"
    APA = "apa"
    MLA = "mla"


def fold_to_one_line(text: str) -> str:
    """Return the text with every run of whitespace and control characters folded into one space."""
    if not text.isprintable():  # printable text has no controls, and most text is
        text = text.translate(_CONTROLS)
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Citable:
    """The fields of a story that its citations show. Texts are folded to one line, so none can break out of its format."""

    chatbotnews_id: str
    headline: str
    summary_short: str  # may be empty: the headline stands in
    author: str | None
    publisher: str
    tier: int
    credited_source: str | None  # outlet outside the roster that the category wire names; never the publisher
    original_url: str
    permalink: str
    site: str
    wire_date: dt.date  # the only date cited, never that of the request
    corrected_on: dt.date | None = None

    def __post_init__(self) -> None:
        for field in ("headline", "summary_short", "author", "publisher", "credited_source"):
            if text := getattr(self, field):
                object.__setattr__(self, field, fold_to_one_line(text))

    @property
    def byline(self) -> str:
        return self.author or self.publisher

    @property
    def authors(self) -> list[Author]:
        """Authors in their order, the same in every format that takes names apart; the publisher itself is none."""
        return parse_authors(self.author, self.publisher)

    @property
    def statement(self) -> Statement:
        return build_statement(self.headline, self.summary_short, of_maker=self.tier == MAKERS)

    @property
    def attribution(self) -> str:
        return f"{self.publisher}, crediting {self.credited_source}" if self.credited_source else self.publisher

    @property
    def month(self) -> str:
        return MONTHS[self.wire_date.month - 1]


def cite_story(story: Citable, format: CitationFormat = CitationFormat.LAYERED) -> str:  # noqa: A002  (the public word)
    """Return one citation. Equal stories give equal citations, whenever asked."""
    return RENDERERS[format](story)


def build_citation_objects(story: Citable) -> dict[str, str]:
    return {
        "layered_ready": render_layered(story),
        "inline_ready": render_inline(story),
        "reference_ready": render_reference(story),
        "academic_story": render_academic(story),
        "markdown_link": render_markdown(story),
        "bibtex": render_bibtex(story),
    }


def render_layered(story: Citable) -> str:
    report = f"{story.credited_source} reported " if story.credited_source else ""
    said = f"{report}{story.statement.text}"
    return f"According to {story.publisher}, as summarized by {WIRE}, {said} Source: {story.permalink}{_mark_correction(story)}"


def render_inline(story: Citable) -> str:
    crediting = f", crediting {story.credited_source}" if story.credited_source else ""  # which has no tier
    opening = f"{WIRE}, citing {story.publisher} (Tier {story.tier}){crediting}, {story.wire_date.isoformat()}"
    return f"{opening}: {_add_full_stop(story.headline)}{_mark_correction(story)}"


def render_reference(story: Citable) -> str:
    return (
        f'{story.attribution}, "{story.headline}," {story.wire_date.day} {story.month} {story.wire_date.year}, '
        f"{story.original_url}, indexed by {WIRE}, {story.permalink}.{_mark_correction(story)}"
    )


def render_academic(story: Citable) -> str:
    return (
        f"{_add_full_stop(story.byline)} ({story.wire_date.year}, {story.month} {story.wire_date.day}). "
        f"{_add_full_stop(story.headline)} {_add_full_stop(story.attribution)} "
        f"Summarized by {WIRE_IN_FULL}. {story.permalink}{_mark_correction(story)}"
    )


def render_markdown(story: Citable) -> str:
    """Return one link whose text is the headline, whatever the headline holds, and one to the wire (CommonMark 0.31)."""
    headline, attribution = (_MARKDOWN_SYNTAX.sub(r"\\\g<0>", text) for text in (story.headline, story.attribution))
    permalink, site = (quote(address, safe=_URI_IN_MARKDOWN) for address in (story.permalink, story.site))
    return f"[{headline}]({permalink}) ({attribution}, via [{WIRE}]({site})){_mark_correction(story)}"


def render_bibtex(story: Citable, *, has_date: bool = False) -> str:
    """Return an @misc entry; with `has_date` the day stands in biblatex's field beside year and month, which BibTeX reads."""
    authors = " and ".join(map(_format_bibtex_name, story.authors))
    fields = {
        "title": f"{{{escape_latex(story.headline)}}}",  # braced twice, so that a headline keeps its capitals
        **({"author": authors} if authors else {"key": escape_latex(story.publisher)}),  # styles sort and label by the key
        "howpublished": escape_latex(f"{story.publisher}, via {WIRE}"),
        "year": str(story.wire_date.year),
        "month": story.month[:3].lower(),  # a macro that every style defines
        **({"date": story.wire_date.isoformat()} if has_date else {}),
        "url": quote(story.original_url, safe=_URI),  # read verbatim, so percent-encoded and not escaped
        "note": escape_latex(_build_credit_note(story)),
    }
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}," for name, value in fields.items()]
    return "\n".join((f"@misc{{chatbotnews_{story.chatbotnews_id.removeprefix('cbn-')},", *lines, "}"))


def render_csl(story: Citable) -> str:
    authors = [_build_csl_name(author) for author in story.authors]
    item = {
        "id": story.chatbotnews_id,
        "type": "webpage",  # fits all 24 publications, a maker's blog as well as a newspaper
        "title": story.headline,
        **({"author": authors} if authors else {}),
        "container-title": story.publisher,
        "issued": {"date-parts": [[story.wire_date.year, story.wire_date.month, story.wire_date.day]]},
        "URL": story.original_url,
        "source": WIRE,
        "note": _build_credit_note(story),
    }
    return json.dumps([item], ensure_ascii=False)  # a list, for the schema describes lists and no lone item


def render_ris(story: Citable) -> str:
    authors = [drop_title_comma(author.inverted) for author in story.authors]  # to RIS each comma parts family and given name
    return serialize_ris(
        {
            "type_of_reference": "ELEC",
            "id": story.chatbotnews_id,
            "title": story.headline,
            **({"authors": authors} if authors else {}),
            "secondary_title": story.publisher,
            "publisher": story.publisher,
            "year": str(story.wire_date.year),
            "date": story.wire_date.strftime("%Y/%m/%d/"),
            "urls": [quote(story.original_url, safe=URI_IN_RIS)],
            "database_provider": WIRE,
            "notes": [_build_credit_note(story)],
        }
    )


def serialize_ris(entry: dict[str, Any]) -> str:
    text: str = _RIS_WRITER.formats([entry])
    return text.removeprefix("1.\n")  # rispy numbers its records, which RIS does not know


def render_apa(story: Citable) -> str:
    """Without an author the title comes first. What the style has no place for stands in its brackets."""
    title = f"{story.headline} [reported by {story.credited_source}]" if story.credited_source else story.headline
    title, when = add_full_stop(title), f"({story.wire_date.year}, {story.month} {story.wire_date.day})."
    authors = _format_apa_authors(story.authors)
    opening = f"{add_full_stop(authors)} {when} {title}" if authors else f"{title} {when}"
    indexed = f"(indexed by {WIRE}, {story.permalink}){_mark_correction(story)}"
    return f"{opening} {add_full_stop(story.publisher)} {quote(story.original_url, safe=_URI)} {indexed}"


def _format_apa_authors(authors: Sequence[Author]) -> str:
    """Return family names and initials: "Doe, J., & Roe, J. R." (APA 9.7-9.12)."""
    names = [
        ", ".join(filter(None, (author.family, " ".join(map(_abbreviate_given_name, author.given.split())), author.suffix)))
        if isinstance(author, Person)
        else author.written
        for author in authors
    ]
    if len(names) > APA_MOST:
        return f"{', '.join(names[: APA_MOST - 1])}, . . . {names[-1]}"
    return ", & ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _abbreviate_given_name(given: str) -> str:
    """Return "J.-P." for "Jean-Paul", "J. K." for "J.K."; a name in a script without capitals stays."""
    if given.upper() == given.lower():
        return given
    return "-".join(" ".join(f"{part[0]}." for part in name.split(".") if part) for name in given.split("-"))


def render_mla(story: Citable) -> str:
    """Put the title first without an author; the first author inverted, a second as spoken, more as "et al." (MLA 5.5-5.8)."""
    names = [author.inverted for author in story.authors[:1]] + [author.written for author in story.authors[1:]]
    authors = f"{names[0]}, et al." if len(names) > 2 else ", and ".join(names)
    day = story.wire_date
    elements = (
        *([add_full_stop(authors)] if authors else []),
        f'"{add_full_stop(story.headline.translate(INNER_QUOTES))}"',
        *([add_full_stop(f"Reported by {story.credited_source}")] if story.credited_source else []),
        f"{story.publisher}, {day.day} {MLA_MONTHS[day.month - 1]} {day.year}, {quote(story.original_url, safe=_URI)}.",
        f"Indexed by {WIRE}, {story.permalink}.",
    )
    return " ".join(elements) + _mark_correction(story)


RENDERERS: Final[Mapping[CitationFormat, Callable[[Citable], str]]] = {
    CitationFormat.LAYERED: render_layered,
    CitationFormat.INLINE: render_inline,
    CitationFormat.REFERENCE: render_reference,
    CitationFormat.ACADEMIC: render_academic,
    CitationFormat.MARKDOWN: render_markdown,
    CitationFormat.BIBTEX: render_bibtex,
    CitationFormat.CSL: render_csl,
    CitationFormat.RIS: render_ris,
    CitationFormat.APA: render_apa,
    CitationFormat.MLA: render_mla,
}


def _format_bibtex_name(author: Author) -> str:
    """Return family, suffix and given name between commas, in braces what BibTeX would take apart, such as "Ortega y Gasset"."""
    if not isinstance(author, Person):
        return f"{{{escape_latex(author.written)}}}"
    is_compound = " " in author.family and not author.family[0].islower()
    family, given = (
        f"{{{escape_latex(name)}}}" if is_whole or "and" in name.lower().split() else escape_latex(name)
        for name, is_whole in ((author.family, is_compound), (author.given, False))
    )
    return ", ".join(filter(None, (family, escape_latex(author.suffix), given)))


def _build_csl_name(author: Author) -> dict[str, str]:
    if not isinstance(author, Person):
        return {"literal": author.written}
    return {"family": author.family, "given": author.given} | ({"suffix": author.suffix} if author.suffix else {})


def _mark_correction(story: Citable) -> str:
    return f" [corrected {story.corrected_on.isoformat()}]" if story.corrected_on else ""


def _build_credit_note(story: Citable) -> str:
    """Return what BibTeX, CSL and RIS have no field for: whom the category wire credits, the summary's home, a correction."""
    crediting = f"{_add_full_stop(story.attribution)} " if story.credited_source else ""
    return f"{crediting}Summarized by {WIRE_IN_FULL}. {story.permalink}{_mark_correction(story)}"


def _add_full_stop(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
