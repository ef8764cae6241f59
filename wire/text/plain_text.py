"""From what a publisher sent to what the wire says: plain text, cut at a sentence, never reworded, in work bounded by the limit."""

import html
import re
from typing import Final

import nh3

from citations.sentence_boundaries import STOP, ends_like_sentence, get_first_sentence, keep_whole_sentences
from config.unicode import normalize
from wire.text.filters import is_boilerplate, strip_navigation
from wire.text.lexicons import compile_patterns, join_patterns, load_lexicon

# Characters at most of a `summary_short`, a `summary_medium`, an author, an editor's reason.
SHORT: Final = 160
MEDIUM: Final = 480
BYLINE: Final = 200
REASON: Final = 500

_DROPPED: Final = frozenset({"script", "style", "svg", "figcaption"})
_LEXICON: Final = load_lexicon("plain_text")
_PARTS: Final[dict[str, str]] = _LEXICON["parts"]
_CREDITS: Final[dict[str, list[str]]] = _LEXICON["credits"]
_BLOCKS: Final = frozenset(_LEXICON["block_tags"].split())
# A `<` in a quoted attribute ends no tag (HTML §13.2.5.37); "a<b" is none for want of an end.
_TAG = re.compile(
    r"""<(/?)([a-zA-Z][a-zA-Z0-9]*+)(?=((?:[^<>=]++|=\s*+(?:"[^"]{0,2000}+"|'[^']{0,2000}+')?+){0,200}+>)?)(\s[\w-]++=)?"""
)
_DROPPED_END = re.compile(r"</(script|style|svg|figcaption)", re.I)
# Control, bidi, zero-width, interlinear, surrogate, private-use, tag characters and non-characters. White space is not
# here. By code point and not by category, so that a newer Unicode does not change texts already hashed.
_UNWANTED = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# ZWNJ and ZWJ are spelling in Persian, Indic scripts and emoji; anywhere else, or in a row, they only hide something.
_JOINED: Final = r"[\u0370-\u167f\u1681-\u1fff\u2190-\u2fff\u3001-\U0010ffff]"
_STRAY_JOINER = re.compile(rf"[\u200c\u200d]{{2,}}|(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})")

_IDEOGRAPH: Final = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WHOLE_WORDS = re.compile(rf".+(?:(?=\s)|(?<={_IDEOGRAPH})(?=.))", re.S)
_DANGLING: Final = " ,;:–—-([“‘\"'…\u200c\u200d"

_CALL_TO_READ: Final = compile_patterns(_CREDITS["calls_to_read"], _PARTS)
_IN_BRACKETS: Final = compile_patterns(_CREDITS["in_brackets"], _PARTS)
_CREDIT_FIRST: Final = compile_patterns(_CREDITS["first"], _PARTS)
_FOOTER: Final = compile_patterns([rf"(?:{join_patterns(_CREDITS['footers'], _PARTS)})[.!]?$"], {})

_FRAGMENT: Final = 60  # characters up to which the beginning of a sentence says nothing
_TAIL: Final = 200  # characters at the end in which such a call is looked for
_TRUNCATED = re.compile(r"\s*(?:\[ ?(?:…|\.\.\.) ?\]|\(more ?(?:…|\.\.\.)?\))$")

_ADDRESS: Final = r"[^\s@()<>,;]{1,64}@[^\s@()<>,;]{1,255}"  # the lengths of RFC 5321 §4.5.3.1
_MAILBOX = re.compile(rf"{_ADDRESS} ?\(([^()]*)\)")  # the form RSS 2.0 gives for <author>
_CONTACT = re.compile(rf"[(<\[]?(?:{_ADDRESS}|https?://\S+)[)>\]]?")
_BY = re.compile(r"^(?:(?:written |posted )?by)[:\s]\s*", re.I)
_NOBODY: Final = frozenset(_LEXICON["nobody"].split())


def _compile_instruction(hint: str, patterns: list[str]) -> re.Pattern[str]:
    whole = join_patterns(patterns, {**_PARTS, "hint": hint})
    return compile_patterns([re.sub(r" (\??)", lambda space: r"\s*" if space[1] else r"\s+", whole)], {})


_INSTRUCTIONS: Final = [
    (hint, _compile_instruction(hint, row["patterns"])) for row in _LEXICON["instructions"] for hint in row["hints"]
]


def plain_text(markup: str, limit: int) -> str:
    """Return `markup`, HTML or not, as one line of at most `limit` characters, in NFC; cut at a word and with `…` if too long.

    Entities are decoded once, so an escaped tag stays as text. Scripts and styles go with their content, other tags
    alone, block tags leave a space; characters nobody can see go, except joiners inside words and emoji.
    """
    raw = markup[: 8 * limit + 4096]
    whole = len(raw) == len(markup)
    if not whole:
        raw = raw.rpartition(" ")[0] or raw  # no half tag, entity or word
        raw += "".join(f"</{name}>" for name in _DROPPED)  # what was cut off within a script is no text
    text = _one_line(_strip_markup(raw) if "<" in raw or "&" in raw else raw)
    return _cut_at_word(text if whole or not text else text + "…", limit)


def plain_line(text: str, limit: int) -> str:
    """Return `text`, which is no markup, as one line like `plain_text`'s. What it gave is given back as it is."""
    return _cut_at_word(_one_line(text), limit)


def strip_invisible(text: str) -> str:
    """Return `text` in NFC without characters that have no place in text; white space stays as it is."""
    if text.isascii() and text.isprintable():
        return text
    text = normalize("NFC", _UNWANTED.sub("", text))
    if "\u200c" in text or "\u200d" in text:
        text = normalize("NFC", _STRAY_JOINER.sub("", text))
    return text


def extract_summary(markup: str) -> str:
    """Return the publisher's own opening sentences, at most MEDIUM characters, without credits, greetings and "Read more"."""
    text = " ".join(_IN_BRACKETS.sub("", plain_text(markup, 2 * MEDIUM)).split())
    credit = _CREDIT_FIRST.match(text)
    printed = text[credit.end() :] if credit else text
    text = strip_navigation(printed)
    while (sentence := get_first_sentence(text)) and is_boilerplate(sentence):
        text = strip_navigation(text[len(sentence) :].lstrip())
    opening = text
    while (shorter := _strip_call_to_read(text)) != text:
        text = shorter
    if len(text) > SHORT and not ends_like_sentence(text):  # so long a one was cut off on its way here
        text = keep_whole_sentences(text, len(text)) or text
    if opening != printed and len(text) < _FRAGMENT and text.endswith("…"):  # cut off before it said anything
        return ""
    return cut_text(text, MEDIUM)


def cut_text(text: str, limit: int) -> str:
    """Return the whole sentences of `text` that fit in `limit` (≥ 1) characters; if none does, whole words and `…`, not from within
    a quotation if half of the words stand before it.

    In doubt (an abbreviation, an open quotation or bracket) a sentence goes on: too short a cut says less, too long a
    one could say something else.
    """
    if len(text) <= limit:
        return text
    if whole := keep_whole_sentences(text, limit):
        return whole
    text = _cut_at_word(text, limit)
    opened = [text.rindex(a) for a, b in ('""', "“”", "«»") if (text.count(a) % 2 if a == b else text.count(a) > text.count(b))]
    at = min(opened, default=len(text))
    return text[:at].rstrip(_DANGLING) + "…" if len(text) // 2 < at < len(text) else text


def extract_author(raw: str) -> str | None:
    """Return the author's name out of a feed's author field, at most BYLINE characters; None when it names nobody."""
    name = _CONTACT.sub("", _MAILBOX.sub(r"\1", plain_text(raw, 4 * BYLINE)))
    name = " ".join(_BY.sub("", name.strip()).split()).strip(" ,;:|/–—-")
    if name.casefold() in _NOBODY or not any(map(str.isalpha, name)):
        return None
    return _cut_at_word(name, BYLINE)


def find_forbidden(raw: str) -> str | None:
    """Return `nul_character` or `lone_surrogate` when `raw` holds one: Postgres stores neither, and neither is text."""
    if "\x00" in raw:
        return "nul_character"
    try:
        raw.encode()
    except UnicodeEncodeError:
        return "lone_surrogate"
    return None


def addresses_model(text: str) -> bool:
    """Return whether plain `text` speaks to a language model that reads it. A flag for readers; news about such attacks passes."""
    lowered = text.lower()
    return any(hint in lowered and pattern.search(lowered) for hint, pattern in _INSTRUCTIONS)


def _strip_markup(raw: str) -> str:
    raw = raw.encode(errors="ignore").decode()
    ends = {end[1].lower(): end.start() for end in _DROPPED_END.finditer(raw)}

    def flatten(tag: re.Match[str]) -> str:
        # <wbr> for every tag whose content stays: it cannot nest, and deep or crossed tags cost an HTML parser n² time.
        name, is_tag = tag[2].lower(), tag[3] or tag[4]
        if not is_tag:
            return f"&lt;{tag[1]}{tag[2]}"
        if tag.start() <= ends.get(name, -1):
            return tag[0]
        return f"{' ' if name in _BLOCKS else ''}<{tag[1]}wbr{tag[4] or ''}"

    return html.unescape(nh3.clean(_TAG.sub(flatten, raw), tags=set(), clean_content_tags=set(_DROPPED)))


def _one_line(text: str) -> str:
    return " ".join(strip_invisible(text).split())


def _cut_at_word(text: str, limit: int) -> str:
    """Return `text`, or its first words and `…`. Chinese and Japanese may break anywhere, an overlong word must."""
    if len(text) <= limit:
        return text
    words = _WHOLE_WORDS.match(text, 0, limit)
    return (words[0] if words else text[: limit - 1]).rstrip(_DANGLING) + "…"


def _strip_call_to_read(text: str) -> str:
    head, found, site = text.rpartition(" appeared first on ")
    if found and len(site) < _TAIL and "The post " in head:  # WordPress
        text = head[: head.rindex("The post ")].rstrip()
    for call in _CALL_TO_READ.finditer(text, max(0, len(text) - _TAIL)):
        before, rest = text[: call.start()].rstrip(), text[call.end() :].strip(" .…»›→>")
        # "Read more at …" only between sentences, or "Kids Read More Books" would lose its end.
        if not rest or (before and ends_like_sentence(before) and not any(stop in rest for stop in ".!?")):
            text = before
            break
    for stop in STOP.finditer(text, max(0, len(text) - _TAIL)):
        if _FOOTER.match(text, stop.end() + 1):
            return text[: stop.end()]
    shorter = _TRUNCATED.sub("", text)
    return shorter if shorter == text or ends_like_sentence(shorter) else shorter + "…"
