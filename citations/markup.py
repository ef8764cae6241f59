"""HTML, XML, LaTeX, BBCode, and what mail, calendars and JSON escape, as they are pasted into texts, as plain text. Pure."""

import html
import json
import quopri
import re
from typing import Final

from pylatexenc.latex2text import LatexNodes2Text

_LINK: Final = re.compile(r"<a\s([^<>]{0,1000})>(.{0,1500}?)</a\s*>", re.I | re.S)
_HREF: Final = re.compile(r"\b(?:href|cite)\s*=\s*[\"']?([^\s\"'<>]{1,500})", re.I)
_CITING: Final = re.compile(  # whose words a quotation is, as HTML says it
    r"<(blockquote|q)\s([^<>]{0,1000})>(.{0,1500}?)</\1\s*>", re.I | re.S
)
_CITED: Final = re.compile(  # what models are given to read names its source in an attribute
    r"<(?!(?:a|img|link|meta|blockquote|q)\b)([a-z][\w:-]{0,40})(\s[^<>]{0,500}?cbn-[0-9a-z]{12}[^<>]{0,500})>", re.I
)
_ATTRIBUTE: Final = re.compile(r"([\w:-]{1,40})\s?=\s?(?:\"([^\"<>]{0,300})\"|'([^'<>]{0,300})')")
_XML: Final = re.compile(r"<\?xml|<(?:rss|feed|item|entry|doc|document|source|result|record|story|chunk|context)[\s>]", re.I)
_ENTRY: Final = re.compile(r"</?(?:item|entry|doc|document|result|record|story|chunk)(?:\s[^<>]{0,500})?>", re.I)
_ELEMENT: Final = re.compile(r"<[/?]?[a-z][\w:.-]{0,40}(?:\s[^<>]{0,500})?[/?]?>", re.I)
_ROW: Final = re.compile(r"<tr(?:\s[^<>]{0,500})?>", re.I)
_PARAGRAPH: Final = re.compile(r"</?(?:p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article)(?:\s[^<>]{0,500})?/?>", re.I)
_BBCODE_LINK: Final = re.compile(r"\[url=[\"']?([^\]\s\"']{1,500})[\"']?\](.{0,1500}?)\[/url\]", re.I | re.S)
_BBCODE: Final = re.compile(r"\[/?(?:quote|url|b|i|u|s|code|list|color|size|img|spoiler)(?:=[^\[\]\n]{0,200})?\]", re.I)
_CELL: Final = re.compile(r"</(?:td|th)(?:\s[^<>]{0,500})?>", re.I)
_BREAK: Final = re.compile(r"<br(?:\s[^<>]{0,500})?/?>", re.I)
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|font|i|mark|q|ref|small|span|strong|sub|sup|tbody|td|th|thead|u|wbr)(?:\s[^<>]{0,500})?>", re.I
)
_ENCODED_LINE: Final = re.compile(
    r"^(?!=)[^\n]{0,200}[^=\n]=[ \t]*\r?$", re.M
)  # quoted-printable, as mail has it; no heading of a wiki
_ENCODED: Final = re.compile(r"=[0-9A-F]{2}")
_UNICODE: Final = re.compile(r"(?:\\u[0-9a-f]{4})+", re.I)  # as JSON has it
_BRACKET: Final = re.compile(r"[\[\]\\]")
_ESCAPE: Final = r"\\\g<0>"
_LATEX_DROPPED: Final = re.compile(
    r"\\(?:begin|end|bibitem|label|footnotemark)(?:\[[^\]]{0,200}\])?(?:\{[^{}]{0,200}\}){1,2}|\\newblock\b"
)
_LATEX: Final = LatexNodes2Text()
_LATEX_LINK: Final = re.compile(r"\\href\{([^{}]{1,500})\}\{([^{}]{0,1500})\}")
_LATEX_SHOWN: Final = re.compile(r"\\(?:url|emph|textit|textbf|textrm|enquote|footnote|nolinkurl|path|texttt)\{([^{}]{0,1500})\}")
_LATEX_ACCENT: Final = re.compile(r"\\(?:['`^\"~=.]|[cvHuk](?=[{ ])) ?\{?\\?[a-zA-Z]\}?")
_LATEX_ESCAPED: Final = re.compile(r"\\([&$%#_{}])")


def unmarked(text: str) -> str:
    """The text without its tags, commands and entities; a link as Markdown has it, where it does not show its address. What is
    neither HTML nor LaTeX stays as it is.
    """
    if _ENCODED_LINE.search(text) and _ENCODED.search(text):
        text = quopri.decodestring(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    if "BEGIN:VEVENT" in text:  # a calendar's, RFC 5545
        text = re.sub(r"\\([,;\\])", r"\1", re.sub(r"\\n", "\n", re.sub(r"\r?\n[ \t]", "", text)))
    text = _UNICODE.sub(lambda escaped: json.loads(f'"{escaped[0]}"').encode("utf-16", "replace").decode("utf-16"), text)
    plain = _CITING.sub(_cited, text)
    plain = _LINK.sub(_linked, plain)
    if "[/" in plain:
        plain = _BBCODE.sub(" ", _BBCODE_LINK.sub(lambda link: _shown(link[2], link[1]), plain))
    plain = _CELL.sub(" | ", _ROW.sub("\n\n| ", plain))
    plain = _TAG.sub("", _BREAK.sub("\n", _PARAGRAPH.sub("\n\n", plain)))
    if _XML.search(plain) or _CITED.search(plain):
        plain = _CITED.sub(_attributes, plain)
        plain = "\n\n".join(" ".join(_ELEMENT.sub(" | ", entry).split()) for entry in _ENTRY.sub("\v", plain).split("\v"))
    return html.unescape(_without_latex(plain) if "\\" in plain else plain)


def _without_latex(text: str) -> str:
    plain = _LATEX_LINK.sub(lambda link: _shown(link[2], link[1]), _LATEX_DROPPED.sub(" ", text))
    plain = _LATEX_ESCAPED.sub(r"\1", _LATEX_SHOWN.sub(r"\1", plain))
    if plain != text:
        plain = plain.replace("{,}", ",")
        plain = _LATEX_ACCENT.sub(lambda accent: _LATEX.latex_to_text(accent[0]), plain)
        plain = re.sub(r"(?<=\w)~(?=\w)", " ", plain)
    return plain.replace("``", '"').replace("''", '"') if plain != text else text


def _attributes(element: re.Match[str]) -> str:
    values = ((name.lower(), one or other) for name, one, other in _ATTRIBUTE.findall(element[2]))
    return "\v" + "".join(f"tier {value} | " if name == "tier" else f"{value} | " for name, value in values)


def _cited(quoted: re.Match[str]) -> str:
    address = _HREF.search(quoted[2])
    return f'<p>"{_ELEMENT.sub("", quoted[3]).strip()}" ({address[1]})</p>' if address else quoted[0]


def _linked(link: re.Match[str]) -> str:
    address = _HREF.search(link[1])
    return _shown(link[2], address[1]) if address else link[2]


def _shown(text: str, address: str) -> str:
    bare = html.unescape(_TAG.sub("", text)).strip()
    if bare in address or address in bare:
        return bare
    return f"[{_BRACKET.sub(_ESCAPE, bare)}]({address})"
