"""HTML, LaTeX and JSON escapes, as they are pasted into texts, as plain text. Pure."""

import html
import json
import re
from typing import Final

from pylatexenc.latex2text import LatexNodes2Text

_LINK: Final = re.compile(r"<a\s([^<>]{0,1000})>(.{0,1500}?)</a\s*>", re.I | re.S)
_HREF: Final = re.compile(r"\b(?:href|cite)\s*=\s*[\"']?([^\s\"'<>]{1,500})", re.I)
_QUOTATION: Final = re.compile(r"<(blockquote|q)\s([^<>]{0,1000})>(.{0,1500}?)</\1\s*>", re.I | re.S)
_ELEMENT: Final = re.compile(r"<[/?]?[a-z][\w:.-]{0,40}(?:\s[^<>]{0,500})?[/?]?>", re.I)
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|font|i|mark|q|ref|small|span|strong|sub|sup|tbody|td|th|thead|u|wbr)(?:\s[^<>]{0,500})?>", re.I
)
_SHOWN: Final = {  # what stands for a tag in plain text
    re.compile(r"<tr(?:\s[^<>]{0,500})?>", re.I): "\n\n| ",
    re.compile(r"</(?:td|th)(?:\s[^<>]{0,500})?>", re.I): " | ",
    re.compile(r"</?(?:p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article)(?:\s[^<>]{0,500})?/?>", re.I): "\n\n",
    re.compile(r"<br(?:\s[^<>]{0,500})?/?>", re.I): "\n",
    _TAG: "",
}
_UNICODE: Final = re.compile(r"(?:\\u[0-9a-f]{4})+", re.I)  # as JSON has it
_LATEX_DROPPED: Final = re.compile(
    r"\\(?:begin|end|bibitem|label|footnotemark)(?:\[[^\]]{0,200}\])?(?:\{[^{}]{0,200}\}){1,2}|\\newblock\b"
)
_LATEX: Final = LatexNodes2Text()
_LATEX_LINK: Final = re.compile(r"\\href\{([^{}]{1,500})\}\{([^{}]{0,1500})\}")
_LATEX_SHOWN: Final = re.compile(r"\\(?:url|emph|textit|textbf|textrm|enquote|footnote|nolinkurl|path|texttt)\{([^{}]{0,1500})\}")
_LATEX_ACCENT: Final = re.compile(r"\\(?:['`^\"~=.]|[cvHuk](?=[{ ])) ?\{?\\?[a-zA-Z]\}?")
_LATEX_ESCAPED: Final = re.compile(r"\\([&$%#_{}])")


def strip_markup(text: str) -> str:
    """Return the text without its tags, commands and entities; a link as in Markdown, where it does not show its address. Text
    that is neither HTML nor LaTeX stays as it is.
    """
    text = _UNICODE.sub(lambda escaped: json.loads(f'"{escaped[0]}"').encode("utf-16", "replace").decode("utf-16"), text)
    plain = _LINK.sub(_read_link, _QUOTATION.sub(_read_quotation, text))
    for tag, shown in _SHOWN.items():
        plain = tag.sub(shown, plain)
    return html.unescape(_strip_latex(plain) if "\\" in plain else plain)


def _strip_latex(text: str) -> str:
    plain = _LATEX_LINK.sub(lambda link: _show_link(link[2], link[1]), _LATEX_DROPPED.sub(" ", text))
    plain = _LATEX_ESCAPED.sub(r"\1", _LATEX_SHOWN.sub(r"\1", plain))
    if plain == text:
        return text
    plain = _LATEX_ACCENT.sub(lambda accent: _LATEX.latex_to_text(accent[0]), plain.replace("{,}", ","))
    return re.sub(r"(?<=\w)~(?=\w)", " ", plain).replace("``", '"').replace("''", '"')


def _read_quotation(quoted: re.Match[str]) -> str:
    address = _HREF.search(quoted[2])  # `cite` names the source of a quotation
    return f'<p>"{_ELEMENT.sub("", quoted[3]).strip()}" ({address[1]})</p>' if address else quoted[0]


def _read_link(link: re.Match[str]) -> str:
    address = _HREF.search(link[1])
    return _show_link(link[2], address[1]) if address else link[2]


def _show_link(text: str, address: str) -> str:
    bare = html.unescape(_TAG.sub("", text)).strip()
    if bare in address or address in bare:
        return bare
    escaped = re.sub(r"[][\\]", r"\\\g<0>", bare)
    return f"[{escaped}]({address})"
