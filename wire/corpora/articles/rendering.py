"""An article's Markdown in the formats that agents get. All of it is the publisher's text: quoted, never trusted."""

import re
from html import escape
from typing import Final, Literal

import nh3
from markdown_it import MarkdownIt

Format = Literal["markdown", "text", "html"]

SNIPPET: Final = 150  # characters, by the specification
_TAGS: Final = """
a abbr b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr ul
"""
TAGS: Final = set(_TAGS.split())
# Characters of markup, line breaks included, in a text that is rendered: each costs about 20 µs. Real articles have a few thousand.
MAX_MARKUP: Final = 15_000
_MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_MARKUP: Final = re.compile(r"[\[\]()*_`~<>&\\#!|\n-]")
_BREAK: Final = re.compile(r"</(?:p|h[1-6]|li|tr|blockquote|pre|table)>|<br ?/?>|<hr ?/?>")


def render_markdown(markdown: str, form: Format) -> str:
    """Return a text in this format, as written beyond MAX_MARKUP; HTML has no script, no picture, and http(s) links only."""
    if form == "markdown":
        return markdown
    if sum(1 for _ in _MARKUP.finditer(markdown)) > MAX_MARKUP:
        return markdown if form == "text" else f"<pre>{escape(markdown)}</pre>"
    html = nh3.clean(_MARKDOWN.render(markdown), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https"})
    return html if form == "html" else _to_plain(html)


def cut_snippet(description: str, markdown: str) -> str:
    """Return the first 150 characters of the description, else of the text."""
    text = description or _to_plain(nh3.clean(_MARKDOWN.render(markdown[: 20 * SNIPPET]), tags=TAGS))
    return " ".join(text.split())[:SNIPPET]


def cut_excerpt(markdown: str, length: int) -> str:
    """Return the first paragraphs of up to `length` characters; of a longer first one its beginning."""
    paragraphs = ""
    for block in markdown.split("\n\n"):
        if len(paragraphs) + len(block) + 2 > length:
            break
        paragraphs = f"{paragraphs}\n\n{block}" if paragraphs else block
    return paragraphs or f"{markdown[:length].rpartition(' ')[0] or markdown[:length]}…"


def _to_plain(html: str) -> str:
    text = nh3.clean(_BREAK.sub(lambda end: f"{end[0]}\n\n", html), tags=set())
    for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")):
        text = text.replace(escaped, character)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
