"""From bytes to text, once, so that what is inspected is what is parsed."""

import codecs
import re
from typing import Final

_BEGINNINGS: Final = (  # a byte order mark, or how "<" looks without one (XML 1.0, appendix F); no UTF-32, as in browsers
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED: Final = (  # by XML or by an HTML page's <meta>
    re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']"""),
    re.compile(rb"""<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.I),
)
_FOREIGN: Final = re.compile("[^\0-\x7f�]+")
_IN_HEADER: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.I)
# Python's own inventions ("Python Specific Encodings" of its codecs module: some take quadratic time), UTF-7, which no reader
# should honour (WHATWG Encoding Standard), and those that the first bytes have already ruled out.
_NO_CHARSETS: Final = frozenset(
    {"idna", "mbcs", "oem", "palmos", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
    | {f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")}
)


def decode(data: bytes, content_type: str = "") -> str:
    """The text of `data`, without byte order mark. Never fails: what cannot be read becomes U+FFFD.

    A byte order mark decides (RFC 7303 §3.3); then UTF-8, if that is what nearly all bytes are, whatever was declared, because
    other text is next to never valid UTF-8; then the charset of the header (RFC 7303 §3.2), of the document, and windows-1252,
    as which iso-8859-1 is read too (WHATWG Encoding Standard §4.2).
    """
    for beginning, name in _BEGINNINGS:
        if data.startswith(beginning):
            return data.decode(name, "replace")
    names = _declared(data, content_type)
    if not any(name.startswith(("iso2022", "hz")) for name in names):  # these are in seven bits, and pass for UTF-8
        text = data.decode("utf-8", "replace")
        broken = text.count("�")
        if not broken or sum(map(len, _FOREIGN.findall(text))) > broken:
            return text
    for name in names:
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def _declared(data: bytes, content_type: str) -> list[str]:
    """Python's names of the charsets that are declared and that are charsets, the header's first."""
    found = [match[1] for match in [_IN_HEADER.search(content_type)] if match]
    found += [match[1].decode() for pattern in _DECLARED if (match := pattern.search(data[:2048]))]
    names = []
    for name in found:
        try:
            codec = codecs.lookup(name)
        except (LookupError, ValueError):
            continue
        if codec._is_text_encoding and codec.name not in _NO_CHARSETS:
            names.append({"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030"}.get(codec.name, codec.name))
    return names
