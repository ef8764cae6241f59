"""Words of texts and queries, and how well they meet. Pure Python, so that every database gives the same answer."""

import hashlib
import re
import threading
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

import snowballstemmer

from config.unicode import normalize
from wire.text.lexicons import load_lexicon

MAX_TOKEN: Final = 500  # letters; Postgres takes no lexeme above 2,046 bytes, and a script without spaces makes long words

STOP_WORDS: Final = frozenset(load_lexicon("questions")["stop_words"].split())  # that a question may hold and a story need not
FILLERS: Final = STOP_WORDS | frozenset(load_lexicon("questions")["fillers"].split())  # with those that ask rather than tell

# Folded letters of scripts that leave no gaps between words, and of Hangul, whose words take endings: Thai with its vowel signs,
# Hangul as folding takes it apart, kana, Bopomofo, Han.
_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\u3005-\u3007\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(r"[^\W_]+")
_CHAIN: Final = re.compile(rf"[^\W_{_UNSPACED}]+(?:[-‐‑–.][^\W_{_UNSPACED}]+)*|[{_UNSPACED}]+")
_WORD_OR_RUN: Final = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_RUN: Final = re.compile(rf"[{_UNSPACED}]+")
_CHARACTER: Final = re.compile("[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|.", re.DOTALL)
PART: Final = re.compile(r"[^\W\d_]+|\d+")
_STEMMER: Final = snowballstemmer.stemmer("english")
_STEMMING: Final = threading.Lock()  # it has one state: of two threads at once, one gets the other's word, and `stem_word` caches


def words(text: str) -> list[str]:
    """Return the runs of letters and digits, compatibility forms and case folded, accents removed."""
    return _WORD.findall(fold_text(text))


def split_written_words(text: str) -> list[str]:
    """Return the words as they are written, folded: GPT-5 and co-founder are one each, and so is a run (`is_unspaced`)."""
    return _CHAIN.findall(fold_text(text))


def is_unspaced(chain: str) -> bool:
    """Return whether this is a run: folded letters of scripts that are not read word by word (Chinese, Japanese, Korean, Thai)."""
    return _RUN.match(chain) is not None


def has_unspaced_runs(text: str) -> bool:
    return not text.isascii() and _RUN.search(fold_text(text)) is not None


def locate_grams(run: str, size: int) -> list[tuple[str, int, int]]:
    """Return each `size` characters side by side, each with where it begins and ends in the run; a Hangul syllable is one."""
    starts = [*(found.start() for found in _CHARACTER.finditer(run)), len(run)]
    return [(normalize("NFC", run[start:end]), start, end) for start, end in zip(starts, starts[size:], strict=False)]


def locate_pairs(run: str) -> list[tuple[str, int, int]]:
    """Return what stands for the words of a run: each two characters side by side, or its only one."""
    return locate_grams(run, 2) or locate_grams(run, 1)


def split_words(text: str) -> list[str]:
    """Return the words as `words` does, of runs the pairs."""
    found = _WORD_OR_RUN.findall(fold_text(text))
    return [word for one in found for word in ([pair for pair, _, _ in locate_pairs(one)] if is_unspaced(one) else [one])]


def list_run_characters(text: str) -> list[str]:
    """List the characters of runs of two and more, since a question may be one character."""
    return [one for one, _, _ in locate_characters(fold_text(text))]


def locate_characters(text: str) -> list[tuple[str, int, int]]:
    """Return these characters of a folded text, each with where it begins and ends."""
    runs = ((run.start(), locate_grams(run[0], 1)) for run in _RUN.finditer(text))
    return [(one, at + start, at + end) for at, run in runs if len(run) > 1 for one, start, end in run]


def list_run_triples(text: str) -> list[str]:
    """List a token for each three characters side by side in runs: a text with a whole word has them, one with its pairs apart
    does not. As few tokens as `encode_pair` has.
    """
    return [encode_pair(one, "") for run in _RUN.findall(fold_text(text)) for one, _, _ in locate_grams(run, 3)]


def list_run_tokens(text: str) -> list[str]:
    """List what a text is found or ranked by beside its words: characters and triples, as tokens."""
    return [*map(stem_word, list_run_characters(text)), *list_run_triples(text)]


def trim_phrase(words: list[str], written: str) -> list[str]:
    """Return the words of a phrase without a single character of a run at either end: in a text it may be half of a pair."""
    single = [is_unspaced(chain) and len(locate_grams(chain, 1)) == 1 for chain in split_written_words(written)]
    return words[single[0] : len(words) - single[-1]] if single else words


def tokenize(text: str) -> list[str]:
    """Return what a text is found by, in order: its words, stemmed, each in ASCII letters and digits, and behind their words
    the names that these make with numbers, as one token: GPT-5, GPT5 and GPT 5 are the words `gpt`, `5` and the name `0gpt5`.
    The pairs of a run are its words.
    """
    return [token for token, _, _ in locate_tokens(fold_text(text))]


def locate_tokens(text: str) -> list[tuple[str, int, int]]:
    """Return the tokens of a text that is folded already, each with where it begins and ends."""
    found: list[tuple[str, int, int]] = []
    before, begin, end = "", 0, -1
    for chain in _CHAIN.finditer(text):
        (start, stop), parts = chain.span(), PART.findall(chain[0])
        if is_unspaced(chain[0]):
            found += [(stem_word(word), start + begins, start + ends) for word, begins, ends in locate_pairs(chain[0])]
            before = ""
            continue
        found += ((stem_word(part[0]), start + part.start(), start + part.end()) for part in PART.finditer(chain[0]))
        if has_number(parts):
            found.append((encode_name(parts), start, stop))
        if before and parts[0].isdigit() and start == end + 1 and text[end] == " ":
            found.append((encode_name([before, *parts]), begin, stop))
        goes_on = len(parts) == 1 and len(parts[0]) > 1 and not parts[0].isdigit() and parts[0] not in STOP_WORDS
        before, begin, end = parts[0] if goes_on else "", start, stop
    return found


def stem_word(word: str) -> str:
    """Return the stem of a folded word: in hex if it is not ASCII, so that no index ever splits it; a hash if it is very long."""
    # A longer word is not stemmed, which copies it for each y in it, and not cached: strangers' would fill the memory.
    return _stem_word_cached(word) if len(word) <= MAX_TOKEN else _encode_ascii(word)


@lru_cache(maxsize=65_536)
def _stem_word_cached(word: str) -> str:
    if word.isascii():
        with _STEMMING:
            return str(_STEMMER.stemWord(word))
    return _encode_ascii(word)


def _encode_ascii(word: str) -> str:
    spelled = word if word.isascii() else "x" + word.encode().hex()
    return spelled if len(spelled) <= MAX_TOKEN else "x" + hashlib.sha256(spelled.encode()).hexdigest()


def list_synonyms(stem: str) -> tuple[str, ...]:
    """List the stems of other words that newsrooms use for a word, in alphabetical order."""
    return tuple(sorted(_read_synonyms().get(stem, frozenset()) - {stem}))


@cache
def _read_synonyms() -> Mapping[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for line in load_lexicon("questions")["synonyms"]:
        stems = frozenset(map(stem_word, line.split()))
        for stem in stems:
            groups[stem] = groups.get(stem, frozenset()) | stems
    return groups


def is_word(token: str) -> bool:
    """Return whether a token is a word of the text, and no name."""
    return token[0] != "0" or token.isdigit()


def encode_pair(one: str, two: str) -> str:
    """Return a token for two words side by side, out of 456,976: two Chinese characters, as no token of a text is spelled."""
    number = zlib.crc32(f"{one} {two}".encode())
    return chr(0x4E00 + number % 676) + chr(0x4E00 + number // 676 % 676)


def encode_pairs(tokens: Sequence[str]) -> list[str]:
    return [encode_pair(*two) for two in pairwise(drop_names(tokens))]


def fold_text(text: str) -> str:
    """Return `text` with compatibility forms and case folded, accents removed; character by character it is the same."""
    found = normalize("NFKC", text).casefold()
    if not found.isascii():
        found = "".join(c for c in normalize("NFD", found) if not unicodedata.combining(c))
    return found


def has_number(parts: Sequence[str]) -> bool:
    return len(parts) > 1 and any(part.isdigit() for part in parts)


def encode_name(parts: Sequence[str]) -> str:
    """Return `0gpt5`, `0gemini2x5`: no word begins like this, for the parts of words are all letters or all digits."""
    joined = "".join(
        ("x" if part.isdigit() and before.isdigit() else "") + (part if part.isascii() else stem_word(part))
        for before, part in zip(["", *parts], parts, strict=False)
    )
    return "0" + joined if len(joined) < MAX_TOKEN else "0x" + hashlib.sha256(joined.encode()).hexdigest()


def drop_names(tokens: Sequence[str]) -> list[str]:
    """Return the tokens without the names, so that words that follow each other stand side by side."""
    return [token for token in tokens if is_word(token)]
