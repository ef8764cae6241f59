"""Whatever a headline holds, each format's own parser reads one citation and gives the text back. Authors are test_names'."""

import json
import re

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware
from hypothesis import example, given
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pylatexenc.latex2text import LatexNodes2Text

from citations.format.formats import MONTHS, Citable, CitationFormat, cite_story, fold_to_one_line, render_bibtex
from citations.format.latex import escape_latex, unescape_latex
from tests.citations.stories import STORY, stories, story, texts
from tests.examples import examples

DECODE = LatexDecodingMiddleware()
COMMONMARK = MarkdownIt("commonmark")
READ_BACK = "\u02c6"  # \textasciicircum to pylatexenc, a modifier letter; to pandoc and citation-js it is the circumflex
GITHUB = MarkdownIt("gfm-like", {"linkify": False})


@given(stories())
@example(story(headline='{"} unbalanced \\'))
@example(story(headline="}} @misc{x, title = {y}"))
@examples(60)
def test_any_title_is_one_bibtex_entry_that_reads_back(cited: Citable) -> None:
    library = parse_string(cite_story(cited, CitationFormat.BIBTEX), append_middleware=[DECODE])

    assert library.failed_blocks == []
    assert len(library.blocks) == 1
    [entry] = library.entries
    fields = {field.key: field.value for field in entry.fields}
    assert (entry.entry_type, entry.key) == ("misc", "chatbotnews_0123456789ab")
    assert list(fields) == ["title", "author" if cited.authors else "key", "howpublished", "year", "month", "url", "note"]
    assert fields["title"] == cited.headline.replace("^", READ_BACK)
    assert fields["howpublished"] == f"{cited.publisher}, via ChatbotNews.ai"
    assert fields["year"] == str(cited.wire_date.year)
    assert fields["month"] == MONTHS[cited.wire_date.month - 1][:3].lower()
    assert (cited.credited_source or "").replace("^", READ_BACK) in fields["note"]


def test_pasted_entries_of_earlier_releases_read_back() -> None:
    assert unescape_latex(r"\ensuremath{\lbrace}x\ensuremath{\rbrace} \ensuremath{<} {\string^} {\textasciigrave}") == "{x} < ^ `"


def test_an_exported_entry_has_the_day_in_biblatexs_field_as_well() -> None:
    [entry] = parse_string(render_bibtex(STORY, has_date=True)).entries
    fields = {field.key: field.value for field in entry.fields}
    assert (fields["date"], fields["year"], fields["month"]) == ("2026-11-05", "2026", "nov")


@given(texts.map(fold_to_one_line))
@example("--- '' ,, `` ?` !` ~ ^ \" % \\% {} \\{\\}")
@examples(200)
def test_any_text_survives_latex(text: str) -> None:
    assert LatexNodes2Text().latex_to_text(escape_latex(text)) == text.replace("^", READ_BACK)
    assert unescape_latex(escape_latex(text)) == text


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("OpenAI's GPT-6: $5B, 10% & more", r"OpenAI's GPT-6: \$5B, 10\% \& more"),
        ("#1 a_b ~ \\", r"\#1 a\_b {\textasciitilde} {\textbackslash}"),
        ("{x} }{", r"\{x\} \ensuremath{\rbrace}\ensuremath{\lbrace}"),
        ("{{x}", r"\ensuremath{\lbrace}\{x\}"),
        ("1 < 2 > 0 ^ `", r"1 < 2 > 0 {\textasciicircum} `"),
        ("``a !` ?`", "`{}`a !{}` ?{}`"),
        ("a--b --- ''c,,", "a-{}-b -{}-{}- '{}'c,{},"),
        ('"Straßburg" – 中文 🤖', '"Straßburg" – 中文 🤖'),
    ],
)
def test_latex_escapes_what_tex_would_read_otherwise_and_nothing_else(text: str, latex: str) -> None:
    assert escape_latex(text) == latex


@pytest.mark.parametrize("markdown", [COMMONMARK, GITHUB], ids=["commonmark", "github"])
@given(cited=stories())
@example(cited=story(headline="[x](y) ![z](a) `code` *a* _b_ ~~c~~ <b> <https://x.example> &amp; &#65; \\] \\"))
@examples(120)
def test_any_headline_is_the_text_of_one_markdown_link(markdown: MarkdownIt, cited: Citable) -> None:
    [opening, inline, closing] = markdown.parse(cite_story(cited, CitationFormat.MARKDOWN))

    assert (opening.type, closing.type) == ("paragraph_open", "paragraph_close")
    tokens = inline.children or []
    assert _kinds(tokens) == {"text", "link_open", "link_close"}
    assert _links(tokens) == [
        ("http://localhost:8000/story/cbn-0123456789ab", cited.headline),
        ("http://localhost:8000", "ChatbotNews.ai"),
    ]
    shown = "".join(token.content for token in tokens)
    assert shown.startswith(f"{cited.headline} ({cited.attribution}, via ChatbotNews.ai)")


def test_any_address_stays_inside_its_markdown_link() -> None:
    odd = story(permalink="http://x.example/a_(b)/story/c d?e=<f>&lt;&copy;\\)", site="http://x.example/)(")
    [_, inline, _] = COMMONMARK.parse(cite_story(odd, CitationFormat.MARKDOWN))

    assert [address for address, _ in _links(inline.children or [])] == [
        "http://x.example/a_%28b%29/story/c%20d?e=%3Cf%3E&lt%3B&copy%3B%5C%29",
        "http://x.example/%29%28",
    ]


@given(stories())
@examples(100)
def test_any_story_is_csl_json(cited: Citable) -> None:
    [item] = json.loads(cite_story(cited, CitationFormat.CSL))

    texts = {name: value for name, value in item.items() if name not in ("author", "issued")}
    assert list(texts) == ["id", "type", "title", "container-title", "URL", "source", "note"]
    assert all(isinstance(text, str) for text in texts.values())
    assert (item["type"], item["title"]) == ("webpage", cited.headline)
    assert item["issued"] == {"date-parts": [[cited.wire_date.year, cited.wire_date.month, cited.wire_date.day]]}


@given(stories())
@example(story(headline="x\nER  - \nTY  - NEWS\nTI  - injected"))
@examples(150)
def test_any_story_is_one_ris_record_that_rispy_reads_back(cited: Citable) -> None:
    text = cite_story(cited, CitationFormat.RIS)
    [record] = rispy.loads(text)

    assert len(text.splitlines()) == 11 + len(cited.authors)
    assert text.endswith("\nER  - \n")
    assert list(record) == [
        *("type_of_reference", "id", "title", *(["authors"] if cited.authors else [])),
        *("secondary_title", "publisher", "year", "date", "urls", "database_provider", "notes"),
    ]
    assert record["title"] == cited.headline
    assert record["date"] == cited.wire_date.strftime("%Y/%m/%d/")
    assert record["urls"] == [STORY.original_url]


@given(texts)
def test_texts_are_folded_to_one_printable_line(text: str) -> None:
    folded = fold_to_one_line(text)

    assert len(folded.splitlines()) <= 1
    assert folded == fold_to_one_line(folded) == folded.strip()
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]|\s\s", folded)


def _kinds(tokens: list[Token]) -> set[str]:
    return {token.type for token in tokens} - {"text_special"} | {"text"}


def _links(tokens: list[Token]) -> list[tuple[str, str]]:
    """Address and text of every link, in order."""
    links: list[tuple[str, str]] = []
    for token in tokens:
        if token.type == "link_open":
            links.append((str(token.attrs["href"]), ""))
            inside = True
        elif token.type == "link_close":
            inside = False
        elif links and inside:
            address, text = links.pop()
            links.append((address, text + token.content))
    return links
