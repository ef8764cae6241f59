"""From bytes to text, once, so that what is inspected is what is parsed. Labels and decoders are those of browsers (WHATWG
Encoding Standard), which the library webencodings has.
"""

import codecs
import re
from typing import Final

import webencodings
from charset_normalizer import from_bytes

_BEGINNINGS: Final = (  # a byte order mark, or how "<" looks without one (XML 1.0, appendix F); no UTF-32, as in browsers
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    *((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")),
)
_DECLARATIONS: Final = (  # by XML or by an HTML page's <meta>
    re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']"""),
    re.compile(rb"""<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.I),
)
_IN_HEADER: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.I)
_CODE_PAGE: Final = re.compile(r"(?:cp|win|windows|ms|ibm)[-_]?(\d{3,4})", re.I)  # as servers misspell them: cp-1251, win-1251
_FOREIGN: Final = re.compile("[^\0-\x7f�]+")
_TEXT: Final = re.compile(rb"[^<>&\0-\x1f]{1,400}")  # without markup
_SAMPLE: Final = 16_384  # bytes of such text that the detector looks at
_MOST_BROKEN: Final = 0.02  # of the letters that are not ASCII, or three of them, for a declaration to be believed
_WESTERN: Final = "cp1252"
_GUESSED: Final = [  # what undeclared feeds are written in; every charset more makes a guess less likely to be right
    *(_WESTERN, "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "koi8_r", "iso8859_2"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]


def decode_text(data: bytes, content_type: str = "") -> str:
    """Return the text of `data`, without byte order mark. Never fails: a byte that cannot be read becomes U+FFFD."""
    return decode_and_warn(data, content_type)[0]


def decode_and_warn(data: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of `data` as `decode_text` does, and a sentence if its charset is not what was declared, else "".

    A byte order mark decides (RFC 7303 §3.3); then UTF-8, if nearly all bytes are, because other text is next to never valid UTF-8;
    then the charset of the header (§3.2) and of the document. Where nothing is declared, or hardly fits, a detector guesses.
    """
    for beginning, name in _BEGINNINGS:
        if data.startswith(beginning):
            return data.decode(name, "replace"), ""
    names = _list_declared(data, content_type)
    if not any(name.startswith(("iso2022", "hz")) for name in names):  # these are in seven bits, and pass for UTF-8
        text = data.decode("utf-8", "replace")
        if _measure_broken_share(text) < 0.5:  # a bad byte here and there
            return text, ""
    for name in names:
        text = data.decode(name, "replace")
        if name != "utf-8" and (_measure_broken_share(text) <= _MOST_BROKEN or text.count("�") <= 3):
            return data.decode(name, _EACH_BAD_BYTE), ""
    guess = _guess_charset(data)
    declared = f"declares {names[0]} but is written in another charset" if names else "declares no charset"
    return data.decode(guess, "replace"), f"The document {declared}; it was read as {guess}, a guess."


def _replace_bad_byte(error: UnicodeError) -> tuple[str, int]:
    """Return U+FFFD for one byte, so that the rest of the text survives; the euro for the byte that WHATWG's GBK has for it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    is_euro = error.encoding == "gb18030" and error.object[error.start] == 0x80
    return "€" if is_euro else "�", error.start + 1


_EACH_BAD_BYTE: Final = "replace_bad_byte"
codecs.register_error(_EACH_BAD_BYTE, _replace_bad_byte)


def _measure_broken_share(text: str) -> float:
    """Return the share of U+FFFD among a text's letters that are not ASCII; 0 for plain ASCII."""
    broken = text.count("�")
    return broken / (broken + sum(map(len, _FOREIGN.findall(text)))) if broken else 0.0


def _list_declared(data: bytes, content_type: str) -> list[str]:
    """List Python's names of the charsets that are declared and that browsers know, the header's first."""
    labels = [match[1] for match in [_IN_HEADER.search(content_type)] if match]
    labels += [match[1].decode("ascii", "replace") for pattern in _DECLARATIONS if (match := pattern.search(data[:2048]))]
    names = []
    for label in labels:
        page = _CODE_PAGE.fullmatch(label)
        encoding = webencodings.lookup(label) or (webencodings.lookup(f"cp{page[1]}") if page else None)
        # UTF-16 would have shown in the first bytes.
        if encoding and encoding.name not in {"replacement", "x-user-defined", "utf-16le", "utf-16be"}:
            # WHATWG decodes GBK by its superset (§10.1.1); Python's own stops at the euro.
            names.append("gb18030" if encoding.name == "gbk" else str(encoding.codec_info.name))
    return list(dict.fromkeys(names))


def _guess_charset(data: bytes) -> str:
    """Return the charset that suits the letters of `data` best, windows-1252 (browsers' default) where it suits as well."""
    sample = b" ".join(text for text in _TEXT.findall(data[: 64 * _SAMPLE]) if not text.isascii())[:_SAMPLE]
    matches = from_bytes(sample, cp_isolation=_GUESSED, enable_fallback=False)
    best = matches.best()
    if best is None:
        return _WESTERN
    as_good = (match for match in matches if match.chaos <= best.chaos and match.coherence >= best.coherence)
    return _WESTERN if any(_WESTERN in match.could_be_from_charset for match in as_good) else best.encoding
