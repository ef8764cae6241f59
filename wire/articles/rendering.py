"""An article's Markdown as the formats that it is given in. All of it is the publisher's text: quoted, never trusted."""

import re
from typing import Final, Literal

import nh3
from markdown_it import MarkdownIt

Format = Literal["markdown", "text", "html"]

SNIPPET: Final = 150  # characters, by the specification
_TAGS: Final = """
a abbr b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr ul
"""
TAGS: Final = set(_TAGS.split())
_MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_BREAK: Final = re.compile(r"</(?:p|h[1-6]|li|tr|blockquote|pre|table)>|<br ?/?>|<hr ?/?>")
_GAPS: Final = re.compile(r"\n{3,}")


def rendered(markdown: str, form: Format) -> str:
    """The text in this format: HTML holds no script, no picture and no address but http(s)."""
    if form == "markdown":
        return markdown
    html = nh3.clean(_MARKDOWN.render(markdown), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https"})
    return html if form == "html" else _plain(html)


def snippet(description: str, markdown: str) -> str:
    """The first 150 characters of the description, else of the text."""
    told = description or _plain(nh3.clean(_MARKDOWN.render(markdown[: 20 * SNIPPET]), tags=TAGS))
    return " ".join(told.split())[:SNIPPET]


def excerpt(markdown: str, length: int) -> str:
    """The first paragraphs of up to `length` characters; of a longer first one its beginning."""
    kept = ""
    for block in markdown.split("\n\n"):
        if len(kept) + len(block) + 2 > length:
            break
        kept = f"{kept}\n\n{block}" if kept else block
    return kept or f"{markdown[:length].rpartition(' ')[0] or markdown[:length]}…"


def _plain(html: str) -> str:
    text = nh3.clean(_BREAK.sub(lambda end: f"{end[0]}\n\n", html), tags=set())
    for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")):
        text = text.replace(escaped, character)
    return _GAPS.sub("\n\n", text).strip()
