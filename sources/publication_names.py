"""Names of publications of the roster, in any spelling: pure functions over plain values.

A text is read as a name (case, spacing, punctuation and the article aside), as an alias, as a domain or URL, as a name with
its legal form, section or feed beside it, and last as a typing slip. Admitting a different outlet is far worse than missing a
spelling, so every doubt is a refusal.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import Final
from urllib.parse import unquote

from rapidfuzz.distance import Postfix, Prefix
from rapidfuzz.fuzz import ratio, token_set_ratio

from config.unicode import normalize
from sources.lexicons import load_lexicon
from sources.schemas import VerdictOut

MAX_LENGTH: Final = 2_048  # no longer text is read; a URL may be this long
LONGEST_NAME: Final = 120
# How alike a new name may not be to another publication's. The 24 with all their aliases and domains reach 0.76 among each
# other (Meta AI Blog, AWS AI Blog), newcomers of their kind 0.81 (Google DeepMind Blog); from here on begin what differs by a
# letter or says one more word (Reuter5, Bloomberg Law), of which `verify` could no longer say that it is another outlet.
MISTAKABLE: Final = 0.85
ALIKE: Final = 70  # per cent of the letters: of unrelated outlets 7 in 100 then are like one of the roster, at 60 26 in 100

_LEXICON: Final = load_lexicon("names")
COMMON, ARTICLES, NOUNS, OF_THEIR_OWN, LONG_SUFFIXES = (
    frozenset(_LEXICON[name].split()) for name in ("common", "articles", "nouns", "of_their_own", "long_suffixes")
)
TRADEMARKS: Final = str.maketrans("", "", "™®©℠")
WRITTEN_SPACE: Final = re.compile(r"&(?:nbsp|#160|#xa0);|%20", re.IGNORECASE)
POSSESSIVE: Final = re.compile(r"['’]s(?=\s)", re.IGNORECASE)  # Google's AI Blog
EXPLAINED: Final = re.compile(r"(?P<name>[^()]+)\((?P<said_again>[^()]+)\)")  # Financial Times (FT), Axios (website)
LONG_FORMS: Final = [(re.compile(form), words) for form, spelled in _LEXICON["long_forms"].items() for words in spelled]
CAMEL_CASE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

LEGAL_FORM: Final = re.compile(_LEXICON["beside"]["legal_form"])
MAKERS: Final = 1  # the tier of them; their "AI" and "News" are other pages of a large house
OF_ANY, OF_NEWSROOMS, APART = (
    re.compile(rf"(?:{one})(?: (?:[&+] |and )?(?:{one}))*")
    for one in ("|".join(part) for part in accumulate(_LEXICON["beside"][name] for name in ("feed", "section", "listing")))
)
BETWEEN: Final = re.compile(r"\s+(?:[|»·•–—-]|::)\s+|:\s+")  # AI | VentureBeat, Ars Technica - All content

ADDRESS: Final = re.compile(
    r"(?P<scheme>(?:https?:)?//)?(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?P<suffix>[a-z0-9-]{2,}))\.?"
    r"(?::(?:80|443))?(?P<path>/[^?#\s]*)?(?:[?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)
QUOTES: Final = " \t\r\n<>()[]{}\"'“”‘’.,;:!*_`"
OWN_SUBDOMAINS: Final = re.compile(r"(?:www|m|mobile|amp)\.")  # any other may be a regional edition or a sister brand

DRAWN_ALIKE: Final = str.maketrans("013458i", "oleasbl")  # in a name of five letters one of them is a fifth: W1red, Axlos
OTHER_WORDS: Final = re.compile("|".join(_LEXICON["typos"]["other_words"].split()))
LOOK_ALIKES: Final = frozenset(_LEXICON["typos"]["look_alikes"].split())
KEYS: Final = {key: (x, y) for y, keys in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm")) for x, key in enumerate(keys)}


@dataclass(frozen=True, slots=True)
class Name:
    """Name of a publication. `domains` are hosts, with a path where a house shares one; the first is canonical. `former_note` tells
    the dates of a retired one, whose name is not in the roster.
    """

    canonical: str
    tier: int
    aliases: tuple[str, ...]
    domains: tuple[str, ...]
    former_note: str | None = None


@dataclass(frozen=True, slots=True)
class _Spelling:
    """`text` is a name as the roster has it, `parts` its words with camel case taken apart."""

    name: Name
    text: str
    words: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def key(self) -> str:
        return "".join(self.parts)


Reading = tuple[Name | None, str, float]  # whom a text means, how it was read, how alike they are
UNKNOWN: Final[Reading] = (None, "", 0.0)


@dataclass(frozen=True, slots=True)
class _Index:
    spellings: tuple[_Spelling, ...]
    by_key: Mapping[str, _Spelling]
    by_domain: Mapping[str, Name]


def verify_name(name: str, roster: Sequence[Name]) -> VerdictOut:
    index = _build_index(tuple(roster))
    found, reason, similarity = _find_publication(name, index)
    if found and not found.former_note:
        own, notes = found.canonical, f"{reason} Cite it as {found.canonical}."
        return VerdictOut(
            in_roster=True, tier=found.tier, canonical_name=own, notes=notes, closest_match=own, similarity=similarity
        )
    size = sum(not entry.former_note for entry in roster)
    words = _split_name(name[:80])
    alike = [one for one in index.spellings if not one.name.former_note and _is_similar(words, one)]
    scores = [(_measure_similarity(words, one), one.name.canonical) for one in alike]
    similarity, closest = max(scores, key=itemgetter(0), default=(0.0, None))
    sentences = (
        found.former_note if found else reason,
        f"Not one of the {size} publications of the wire: attributing it to the wire would be false.",
        f"The closest publication is {closest}." if closest else "None of them resembles it.",
        f"list_sources (wire://sources) lists all {size}.",
    )
    notes = " ".join(filter(None, sentences))
    return VerdictOut(in_roster=False, tier=None, canonical_name=None, notes=notes, closest_match=closest, similarity=similarity)


def resolve_name(name: str, roster: Sequence[Name]) -> Name | None:
    """Return the publication of `roster` that `name` means; None outside the roster and for a retired one."""
    found, *_ = _find_publication(name, _build_index(tuple(roster)))
    return found if found and not found.former_note else None


def find_objection(text: str, others: Sequence[Name]) -> str | None:
    """Return why `text` may not name a publication beside `others`, in a sentence to show; None if it may.

    That `verify_name` refuses a look-alike does not mean that the name is free: in the roster, the exact match would come first.
    """
    if len(text) > LONGEST_NAME or not text.isprintable():
        return f"{text[:40]!a} is not a name: use at most {LONGEST_NAME} visible characters."
    verdict = verify_name(text, others)
    if verdict.canonical_name:
        return f"{text} already means {verdict.canonical_name}."
    if odd := describe_odd_characters(text):
        alike = f" resembles {verdict.closest_match}." if verdict.closest_match else ":"
        return f"{text}{alike} {odd} Write it in plain letters."
    drawn = _merge_lookalikes("".join(_split_name(text)))
    active = (one for one in _build_index(tuple(others)).spellings if not one.name.former_note)
    double = next((one.name.canonical for one in active if _merge_lookalikes(one.key) == drawn), None)
    if verdict.similarity >= MISTAKABLE:
        double = double or verdict.closest_match
    return f"{text} resembles {double}: one would be mistaken for the other." if double else None


def _merge_lookalikes(key: str) -> str:
    return key.replace("rn", "m").replace("vv", "w").translate(DRAWN_ALIKE)


@lru_cache(maxsize=8)
def _build_index(roster: tuple[Name, ...]) -> _Index:
    active_first = sorted(roster, key=lambda name: name.former_note is not None)
    spellings = tuple(
        _Spelling(name, text, tuple(_split_name(text)), tuple(_split_name(CAMEL_CASE.sub(" ", text))))
        for name in active_first
        for texts in [(name.canonical, *name.aliases)]
        for text in dict.fromkeys([*texts, *(initials.sub(words, text) for initials, words in LONG_FORMS for text in texts)])
    )
    by_key: dict[str, _Spelling] = {}
    for spelling in spellings:
        by_key.setdefault(spelling.key, spelling)
        if spelling.text.startswith("The "):
            by_key.setdefault("the" + spelling.key, spelling)
    by_domain: dict[str, Name] = {}
    for name in active_first:
        for domain in name.domains:
            by_domain.setdefault(domain, name)
    return _Index(spellings, by_key, by_domain)


def _find_publication(said: str, index: _Index) -> Reading:
    """Return the publication `said` means, how it was read and how alike; None and why not, or "" if it is merely unknown."""
    if len(said) > MAX_LENGTH:
        return None, f"Longer than {MAX_LENGTH} characters, so not read.", 0.0
    # Without what may stand around an address, so that none is read as a name: "– meta.ai" is not Meta AI.
    bare = WRITTEN_SPACE.sub(" ", said) if "." in said and not ADDRESS.fullmatch(said) else said
    bare = bare.strip("".join(char for char in bare if _is_separator(char) and char != "/"))
    seen = ADDRESS.fullmatch(normalize("NFKC", bare))
    if seen and (seen["scheme"] or seen["path"] or len(suffix := seen["suffix"].casefold()) <= 3 or suffix in LONG_SUFFIXES):
        spaces = "".join(char for char in said if unicodedata.category(char)[0] == "Z")
        address = ADDRESS.fullmatch(said.strip(QUOTES + spaces))  # as typed: a look-alike of "/" or "." leads elsewhere
        owner = _find_owner(address, index) if address else None
        return owner or (None, describe_odd_characters(said) or "The address belongs to no publication in the roster.", 0.0)
    words = _split_name(said)
    if not words:
        return None, "No publication name was given.", 0.0
    if exact := _find_exact(said, index):
        is_alias = exact.text != exact.name.canonical
        how = f"{exact.text} is {f'an alias of {exact.name.canonical}' if is_alias else 'in the roster'}."
        return exact.name, how, 1.0
    owned = _find_exact(POSSESSIVE.sub("", said), index)
    if owned and owned.text == owned.name.canonical:
        return owned.name, f"{owned.text} is in the roster.", 1.0
    if strange := describe_odd_characters(said):
        return None, strange, 0.0
    if explained := EXPLAINED.fullmatch(said.strip()):
        first = _find_publication(explained["name"], index)
        said_again = explained["said_again"]
        same = said_again.strip().casefold() in _LEXICON["kinds"] or _find_publication(said_again, index)[0] == first[0]
        return first if first[0] and same else UNKNOWN
    if len(" ".join(words)) > LONGEST_NAME:  # what follows tries every division into words
        return UNKNOWN
    legal = LEGAL_FORM.fullmatch(" ".join(_fold_name(said).split()))
    # Axios, Inc.: no other publication is called that, though another company may be: Verge Inc.
    if legal and (spelling := _find_exact(legal["name"], index)) and _has_needed_article(legal["name"], spelling):
        return spelling.name, f"Read as the company name of {spelling.text}.", _measure_similarity(words, spelling)
    if spelling := _find_section(said, index):
        return spelling.name, f"Read as a section or feed of {spelling.text}.", _measure_similarity(words, spelling)
    slips = {
        spelling.name: spelling
        for spelling in index.spellings
        if is_typing_slip(words, spelling.parts) and (spelling.key not in NOUNS or _has_article(said))
    }
    if len(slips) != 1:
        return UNKNOWN
    ((name, spelling),) = slips.items()
    return name, f"Read as a misspelling of {spelling.text}.", _measure_similarity(words, spelling)


def _find_exact(said: str, index: _Index) -> _Spelling | None:
    key = "".join(_split_name(said))
    return index.by_key.get(key) if key not in NOUNS or _has_article(said) else None


def _find_section(said: str, index: _Index) -> _Spelling | None:
    """Return the publication of Reuters Technology or AI | VentureBeat: a part of it, not an edition, newsletter or show."""
    words = _fold_name(said).split()
    if "".join(words) in OF_THEIR_OWN:
        return None
    for end in range(1, len(words)):
        name, section = " ".join(words[:end]), " ".join(words[end:])
        found = _find_exact(name, index)
        if found and _has_needed_article(name, found):
            feed_only = found.name.tier == MAKERS or found.key in NOUNS  # The Information Technology
            if (OF_ANY if feed_only else OF_NEWSROOMS).fullmatch(section):
                return found
    parts = {part: _find_exact(part, index) for part in BETWEEN.split(said)}
    named = {found.name: found for found in parts.values() if found}
    if len(named) != 1:
        return None
    (spelling,) = named.values()
    listing = OF_ANY if spelling.name.tier == MAKERS else APART
    return spelling if all(found or listing.fullmatch(" ".join(_split_name(part))) for part, found in parts.items()) else None


def _has_article(said: str) -> bool:
    return len(_split_name(said)) < len(_fold_name(said).split())


def _has_needed_article(said: str, spelling: _Spelling) -> bool:
    """Return whether a name with an article has it, as it must beside anything else: Verge AI and Verge Inc. are others."""
    return not spelling.text.startswith("The ") or _has_article(said)


def _find_owner(address: re.Match[str], index: _Index) -> Reading | None:
    # Any page of a publication's host is its own, or below its path where the house shares the host.
    path = (address["path"] or "").casefold()
    if ".." in unquote(path) or not unquote(path).isprintable():  # an invisible character may part the dots
        return None
    place = OWN_SUBDOMAINS.sub("", address["host"].casefold(), count=1) + path
    for domain, name in index.by_domain.items():
        if place == domain or place.startswith(f"{domain}/"):
            return name, f"{domain} is a domain of {name.canonical}.", 1.0
    return None


def _fold_name(text: str) -> str:
    """Return `text` in NFKC without case; punctuation and symbols become spaces, except `&` and `+`, which change a name."""
    folded = normalize("NFKC", WRITTEN_SPACE.sub(" ", text).replace(" @ ", " at ").translate(TRADEMARKS)).casefold()
    return "".join(" " if _is_separator(char) else char for char in folded)


def _is_separator(char: str) -> bool:
    if char.isascii():
        return char in " \t\r\n" or (char.isprintable() and not char.isalnum() and char not in "&+")
    return unicodedata.category(char)[0] in "PZ"


def _split_name(text: str) -> list[str]:
    """Return the words of a name without its article, which may also stand last, as in "Register, The"."""
    words = [word for word in _fold_name(text).split(" ") if word]
    if len(words) > 1 and words[0] in ARTICLES:
        return words[1:]
    return words[:-1] if len(words) > 1 and words[-1] == "the" else words


def describe_odd_characters(said: str) -> str:
    """Return a sentence that names up to five characters of `said` that no plain name has; empty if there are none."""
    if said.isascii() and said.isprintable():  # as nearly all are, addresses above all
        return ""
    odd = dict.fromkeys(char for char in said if not (_fold_name(char).isascii() and _fold_name(char).isprintable()))
    shown = [
        (f"“{char}” " if char.isalpha() else "", ord(char), unicodedata.name(char, "without a name")) for char in list(odd)[:5]
    ]
    named = [f"{letter}U+{code:04X} {name}" for letter, code, name in shown]
    return f"Contains look-alike, invisible or foreign characters: {', '.join(named)}." if named else ""


def _is_similar(words: Sequence[str], spelling: _Spelling) -> bool:
    """Return whether a telling word of one is like one of the other, or the publication's name as a whole is."""
    telling, own = ([word for word in one if word not in COMMON] for one in (words, spelling.words))
    if any(ratio(word, other) >= ALIKE for word in telling for other in own):
        return True
    return bool(telling) and spelling.text == spelling.name.canonical and ratio("".join(words), spelling.key) >= ALIKE


def _measure_similarity(words: Sequence[str], spelling: _Spelling) -> float:
    """Return 0–1 by shared words and by letters alike; below 1, which is for the name itself."""
    score = token_set_ratio(" ".join(words), " ".join(spelling.words)) + ratio("".join(words), spelling.key)
    return min(round(score / 200, 2), 0.99)


def is_typing_slip(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether `words` are `parts` with one wrong keystroke, and could hardly be anything else.

    The shorter the name, the fewer slips are believed: at five letters a swapped or doubled one, at six also a dropped
    one, from seven on also a wrong or an added one, if its word has six; from nine on also in a later word of four or five, if
    the key lies beside the right one. A word keeps its first letter (Gloomberg) and gets no other at its end (Ventures), and
    initials (MIT, AI, AWS) keep theirs: those make other names.
    """
    said, meant = "".join(words), "".join(parts)
    start = Prefix.similarity(said, meant)
    tail = Postfix.similarity(said[start:], meant[start:])
    typed, wanted = said[start : len(said) - tail], meant[start : len(meant) - tail]
    swapped, added = len(typed) == 2 and typed == wanted[::-1], not wanted
    doubled = added and typed == said[start - 1 : start]
    while doubled and start > 1 and said[start - 2] == typed:  # the first of them: Metaa AI
        start -= 1
    if not (typed + wanted).isalpha() or not (swapped or max(len(typed), len(wanted)) == 1):
        return False
    if added and _locate_part(words, start)[0] == start:  # before a word or by itself: eFortune, Fortune X
        return False
    begin, part = _locate_part(parts, start - added)
    if OTHER_WORDS.fullmatch(said[begin : begin + len(part) + len(typed) - len(wanted)]):
        return False
    initials = {part for part in parts if len(part) <= 3}
    joined = len(words) != len(parts)
    if not joined and not initials.issubset(words):
        return False
    if swapped or doubled:
        return len(meant) >= 5
    if start == begin or (joined and not initials.isdisjoint({part, _locate_part(parts, start)[1]})):
        return False
    if not typed:
        return len(meant) >= 6
    if len(meant) < 7 or typed + wanted in LOOK_ALIKES or (added and start >= begin + len(part)):
        return False
    if len(part) >= 6:
        return True
    beside = said[start - 1] + said[start + 1 : start + 2] if added else wanted
    return begin > 0 and len(part) >= 4 and len(meant) >= 9 and any(_are_adjacent_keys(typed, key) for key in beside)


def _are_adjacent_keys(one: str, other: str) -> bool:
    return one in KEYS and other in KEYS and all(abs(a - b) <= 1 for a, b in zip(KEYS[one], KEYS[other], strict=True))


def _locate_part(parts: Sequence[str], position: int) -> tuple[int, str]:
    """Return where the part that holds `position` of the joined parts begins, and the part; past the end, the last one."""
    begin = 0
    for part in parts[:-1]:
        if position < begin + len(part):
            return begin, part
        begin += len(part)
    return begin, parts[-1]
