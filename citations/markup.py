"""HTML, as it is pasted into texts, as plain text. Pure."""

import html
import re
from typing import Final

_LINK: Final = re.compile(r"<a\s[^<>]{0,500}?href\s*=\s*[\"']?([^\s\"'<>]{1,500})[^<>]{0,500}>(.{0,1500}?)</a\s*>", re.I | re.S)
_PARAGRAPH: Final = re.compile(r"</?(?:p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article)(?:\s[^<>]{0,500})?/?>", re.I)
_BREAK: Final = re.compile(r"<(?:br|td|th)(?:\s[^<>]{0,500})?/?>", re.I)
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|font|i|mark|q|small|span|strong|sub|sup|tbody|td|th|thead|u)(?:\s[^<>]{0,500})?>", re.I
)


def unmarked(text: str) -> str:
    """The text without its tags and entities; a link as Markdown has it, where it does not show its address. What is no HTML
    stays as it is.
    """
    plain = _LINK.sub(lambda link: _shown(link[2], link[1]), text)
    plain = _TAG.sub("", _BREAK.sub("\n", _PARAGRAPH.sub("\n\n", plain)))
    return html.unescape(plain)


def _shown(text: str, address: str) -> str:
    bare = _TAG.sub("", text).strip()
    return bare if bare in address or address in bare else f"[{bare}]({address})"
