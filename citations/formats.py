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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import quote

import rispy

from citations.latex import escape
from citations.names import Author, Person, authors_of
from citations.sentences import CLOSING, STOPS
from citations.statement import Statement, state
from citations.styles import apa_authors, mla_authors, mla_date

WIRE: Final = "ChatbotNews.ai"
WIRE_IN_FULL: Final = f"{WIRE}, The Conversational AI Wire"
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)  # `calendar.month_name` would follow the locale

MAKERS: Final = 1  # the tier of those who report on themselves

_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_URI: Final = "%:/?#[]@!$&'()*+,;="  # RFC 3986, section 2.2, and what is percent-encoded already
_URI_IN_RIS: Final = _URI.replace(";", "")  # where a semicolon begins a second URL
_URI_IN_MARKDOWN: Final = _URI_IN_RIS.replace("()", "")  # nor may a parenthesis end it, or `&…;` become a character
_MARKDOWN_SYNTAX: Final = re.compile(r"[\\`*_\[\]<~|]|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |
_RIS_WRITER: Final = rispy.RisWriter()
_INNER_QUOTES: Final = str.maketrans('"“”„', "'‘’‚")


class CitationFormat(StrEnum):
    """How a citation is written. The first six stand ready in every story, the others are rendered on request."""

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


def one_line(text: str) -> str:
    """Text with every run of whitespace and control characters folded into one space."""
    if not text.isprintable():  # printable text has no controls, and most text is
        text = text.translate(_CONTROLS)
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Citable:
    """What a citation needs to know of a story. Texts are folded to one line, so none can break out of its format."""

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
                object.__setattr__(self, field, one_line(text))

    @property
    def byline(self) -> str:
        return self.author or self.publisher

    @property
    def authors(self) -> list[Author]:
        """Whom the byline names, but for the publisher itself; in this order in every format that takes names apart."""
        return authors_of(self.author, self.publisher)

    @property
    def statement(self) -> Statement:
        """What the layered citation says of it."""
        return state(self.headline, self.summary_short, of_maker=self.tier == MAKERS)

    @property
    def attribution(self) -> str:
        """The publisher, and whom it credits."""
        return f"{self.publisher}, crediting {self.credited_source}" if self.credited_source else self.publisher

    @property
    def month(self) -> str:
        return MONTHS[self.wire_date.month - 1]


def cite(story: Citable, format: CitationFormat = CitationFormat.LAYERED) -> str:  # noqa: A002  (the public word)
    """One citation. Equal stories give equal citations, whenever asked."""
    return RENDERERS[format](story)


def citation_objects(story: Citable) -> dict[str, str]:
    """The six citations that every story carries, by their public names."""
    return {
        "layered_ready": layered(story),
        "inline_ready": inline(story),
        "reference_ready": reference(story),
        "academic_story": academic(story),
        "markdown_link": markdown(story),
        "bibtex": bibtex(story),
    }


def layered(story: Citable) -> str:
    text = story.statement.text
    report = f"{story.credited_source} reported {text}" if story.credited_source else text
    return f"According to {story.publisher}, as summarized by {WIRE}, {report} Source: {story.permalink}{_corrected(story)}"


def inline(story: Citable) -> str:
    crediting = f", crediting {story.credited_source}" if story.credited_source else ""  # which has no tier
    return (
        f"{WIRE}, citing {story.publisher} (Tier {story.tier}){crediting}, {story.wire_date.isoformat()}: "
        f"{_stopped(story.headline)}{_corrected(story)}"
    )


def reference(story: Citable) -> str:
    return (
        f'{story.attribution}, "{story.headline}," {story.wire_date.day} {story.month} {story.wire_date.year}, '
        f"{story.original_url}, indexed by {WIRE}, {story.permalink}.{_corrected(story)}"
    )


def academic(story: Citable) -> str:
    return (
        f"{_stopped(story.byline)} ({story.wire_date.year}, {story.month} {story.wire_date.day}). "
        f"{_stopped(story.headline)} {_stopped(story.attribution)} "
        f"Summarized by {WIRE_IN_FULL}. {story.permalink}{_corrected(story)}"
    )


def markdown(story: Citable) -> str:
    """One link whose text is the headline, whatever the headline holds, and one to the wire (CommonMark 0.31)."""
    return (
        f"[{_markdown_text(story.headline)}]({quote(story.permalink, safe=_URI_IN_MARKDOWN)}) "
        f"({_markdown_text(story.attribution)}, via [{WIRE}]({quote(story.site, safe=_URI_IN_MARKDOWN)}))"
        f"{_corrected(story)}"
    )


def bibtex(story: Citable) -> str:
    """One `@misc` entry.

    The title is braced twice, so that a headline keeps its capitals. `url` is read verbatim, so it is percent-encoded and not
    escaped. Without an author, `key` is what styles sort and label by.
    """
    authors = " and ".join(map(_bibtex_name, story.authors))
    return "\n".join(
        (
            f"@misc{{chatbotnews_{story.chatbotnews_id.removeprefix('cbn-')},",
            f"  title = {{{{{escape(story.headline)}}}}},",
            f"  author = {{{authors}}}," if authors else f"  key = {{{escape(story.publisher)}}},",
            f"  howpublished = {{{escape(f'{story.publisher}, via {WIRE}')}}},",
            f"  year = {{{story.wire_date.year}}},",
            f"  month = {story.month[:3].lower()},",  # a macro that every style defines
            f"  url = {{{quote(story.original_url, safe=_URI)}}},",
            f"  note = {{{escape(_note(story))}}},",
            "}",
        )
    )


def csl(story: Citable) -> str:
    """A CSL-JSON list of one item, for the schema describes lists and no lone item.

    "webpage" fits all 24 publications, a maker's blog as well as a newspaper.
    """
    authors = [_csl_name(author) for author in story.authors]
    item = {
        "id": story.chatbotnews_id,
        "type": "webpage",
        "title": story.headline,
        **({"author": authors} if authors else {}),
        "container-title": story.publisher,
        "issued": {"date-parts": [[story.wire_date.year, story.wire_date.month, story.wire_date.day]]},
        "URL": story.original_url,
        "source": WIRE,
        "note": _note(story),
    }
    return json.dumps([item], ensure_ascii=False)


def ris(story: Citable) -> str:
    authors = [author.inverted for author in story.authors]
    entry = {
        "type_of_reference": "ELEC",
        "id": story.chatbotnews_id,
        "title": story.headline,
        **({"authors": authors} if authors else {}),
        "secondary_title": story.publisher,
        "year": str(story.wire_date.year),
        "date": story.wire_date.strftime("%Y/%m/%d/"),
        "urls": [quote(story.original_url, safe=_URI_IN_RIS)],
        "database_provider": WIRE,
        "notes": [_note(story)],
    }
    text: str = _RIS_WRITER.formats([entry])
    return text.removeprefix("1.\n")  # rispy numbers its records, which RIS does not know


def apa(story: Citable) -> str:
    """Without an author the title comes first. What the style has no place for stands in its brackets."""
    title = f"{story.headline} [reported by {story.credited_source}]" if story.credited_source else story.headline
    when = f"({story.wire_date.year}, {story.month} {story.wire_date.day})."
    authors = apa_authors(story.authors)
    opening = f"{_ended(authors)} {when} {_ended(title)}" if authors else f"{_ended(title)} {when}"
    address = quote(story.original_url, safe=_URI)
    return f"{opening} {_ended(story.publisher)} {address} (indexed by {WIRE}, {story.permalink}){_corrected(story)}"


def mla(story: Citable) -> str:
    """Without an author the title comes first. Its own quotation marks become single ones, as between others."""
    authors = mla_authors(story.authors)
    elements = (
        *([_ended(authors)] if authors else []),
        f'"{_ended(story.headline.translate(_INNER_QUOTES))}"',
        *([_ended(f"Reported by {story.credited_source}")] if story.credited_source else []),
        f"{story.publisher}, {mla_date(story.wire_date)}, {quote(story.original_url, safe=_URI)}.",
        f"Indexed by {WIRE}, {story.permalink}.",
    )
    return " ".join(elements) + _corrected(story)


RENDERERS: Final[Mapping[CitationFormat, Callable[[Citable], str]]] = {
    CitationFormat.LAYERED: layered,
    CitationFormat.INLINE: inline,
    CitationFormat.REFERENCE: reference,
    CitationFormat.ACADEMIC: academic,
    CitationFormat.MARKDOWN: markdown,
    CitationFormat.BIBTEX: bibtex,
    CitationFormat.CSL: csl,
    CitationFormat.RIS: ris,
    CitationFormat.APA: apa,
    CitationFormat.MLA: mla,
}


def _bibtex_name(author: Author) -> str:
    """Family, suffix and given name between commas; braces around what BibTeX would take apart otherwise: the name of an
    organisation, a family's of several words that begins with no particle ("Ortega y Gasset"), the word "And".
    """
    if not isinstance(author, Person):
        return f"{{{escape(author.written)}}}"
    family, given = author.family, author.given
    parts = [
        f"{{{escape(family)}}}" if _has_and(family) or (" " in family and not family[0].islower()) else escape(family),
        *([escape(author.suffix)] if author.suffix else []),
        f"{{{escape(given)}}}" if _has_and(given) else escape(given),
    ]
    return ", ".join(parts)


def _has_and(name: str) -> bool:
    return "and" in name.lower().split()


def _csl_name(author: Author) -> dict[str, str]:
    if not isinstance(author, Person):
        return {"literal": author.written}
    return {"family": author.family, "given": author.given} | ({"suffix": author.suffix} if author.suffix else {})


def _corrected(story: Citable) -> str:
    return f" [corrected {story.corrected_on.isoformat()}]" if story.corrected_on else ""


def _note(story: Citable) -> str:
    """What BibTeX, CSL and RIS have no field for: whom the category wire credits, the summary's home, a correction."""
    crediting = f"{_stopped(story.attribution)} " if story.credited_source else ""
    return f"{crediting}Summarized by {WIRE_IN_FULL}. {story.permalink}{_corrected(story)}"


def _stopped(text: str) -> str:
    """The text with the template's full stop, not doubled where the text brings its own."""
    return text if text.endswith(".") else f"{text}."


def _ended(text: str) -> str:
    """The text with a full stop, unless it ends as a sentence does."""
    return text if text.rstrip(CLOSING).endswith(STOPS) else f"{text}."


def _markdown_text(text: str) -> str:
    return _MARKDOWN_SYNTAX.sub(r"\\\g<0>", text)
