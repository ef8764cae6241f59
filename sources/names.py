"""Whether a name belongs to a publication of the roster: pure functions over plain values.

A text is read as a name (case, spacing, punctuation and the article aside), as an alias, as a domain or URL, and last
as a typing slip. Admitting a different outlet is far worse than missing a spelling, so every doubt is a refusal.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from rapidfuzz.fuzz import ratio, token_set_ratio

from sources.slips import is_slip

MAX_LENGTH: Final = 2_048  # no longer text is read; a URL may be this long
COMPARED_LENGTH: Final = 80  # how much of a refused text is held against the roster to name the closest publication
LONGEST_NAME: Final = 120
# How alike a new name may not be to another publication's. The 24 with all their aliases and domains reach 0.76 among each
# other (Meta AI Blog, AWS AI Blog), newcomers of their kind 0.81 (Google DeepMind Blog); from here on begin what differs by a
# letter or says one more word (Reuter5, Bloomberg Law), of which `verify` could no longer say that it is another outlet.
MISTAKABLE: Final = 0.85
NAMED_AS_ALIKE: Final = 0.5  # below it the closest publication is no likeness but chance

ARTICLES: Final = frozenset({"the", "teh", "hte", "th", "te", "thw", "tge"})  # as typed, too
TRADEMARKS: Final = str.maketrans("", "", "™®©℠")
WRITTEN_SPACE: Final = re.compile(r"&(?:nbsp|#160|#xa0);|%20", re.IGNORECASE)
POSSESSIVE: Final = re.compile(r"['’]s(?=\s)", re.IGNORECASE)  # Google's AI Blog
EXPLAINED: Final = re.compile(r"(?P<name>[^()]+)\((?P<said_again>[^()]+)\)")  # Financial Times (FT), Axios (website)
KINDS: Final = frozenset({"website", "news website", "news site", "news agency"})  # none that another outlet is, too
CAMEL_CASE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

ADDRESS: Final = re.compile(
    r"(?P<scheme>(?:https?:)?//)?(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?P<suffix>[a-z0-9-]{2,}))\.?"
    r"(?::(?:80|443))?(?P<path>/[^?#\s]*)?(?:[?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)
QUOTES: Final = " \t\r\n<>()[]{}\"'“”‘’.,;:!*_`"
# "open.ai" and "wi.red" are domains of others, while the dot of "Ars.Technica" only stands for a space. So a text is an
# address by its suffix: any of two or three letters, or one of these, with which a name could end.
LONG_SUFFIXES: Final = frozenset({"blog", "info", "live", "media", "news", "online", "press", "review", "today"})
OWN_SUBDOMAINS: Final = re.compile(r"(?:www|m|mobile|amp)\.")  # any other may be a regional edition or a sister brand

DRAWN_ALIKE: Final = str.maketrans("013458i", "oleasbl")  # in a name of five letters one of them is a fifth: W1red, Axlos


@dataclass(frozen=True, slots=True)
class Name:
    """What a publication is called. `domains` are hosts, with a path where a house shares one; the first is canonical.

    `former_note` is set for a retired publication and tells its dates: such a name is not in the roster.
    """

    canonical: str
    tier: int
    aliases: tuple[str, ...]
    domains: tuple[str, ...]
    former_note: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a name is in the roster. `notes` are for a language model; `similarity` is 0–1, to two decimals."""

    in_roster: bool
    tier: int | None
    canonical_name: str | None
    notes: str
    closest_match: str | None
    similarity: float


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One way to write a publication: `text` as the roster has it, `parts` its words with camel case taken apart."""

    name: Name
    text: str
    words: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def key(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class _Index:
    spellings: tuple[_Spelling, ...]
    by_key: Mapping[str, _Spelling]
    by_domain: Mapping[str, Name]


def verify(name: str, roster: Sequence[Name]) -> Verdict:
    """Whether `name` is a publication of `roster`, and what to know before attributing anything to it."""
    index = _index(tuple(roster))
    found, reason = _find(name, index)
    if found and not found.former_note:
        notes = f"{reason} Cite it as {found.canonical}."
        return Verdict(True, found.tier, found.canonical, notes, found.canonical, 1.0)
    size = sum(not entry.former_note for entry in roster)
    closest, similarity = _closest(name, index)
    notes = " ".join(
        sentence
        for sentence in (
            found.former_note if found else reason,
            f"Not one of the {size} publications of the wire: attributing it to the wire would be false.",
            f"The closest publication is {closest}." if closest else None,
            f"list_sources (wire://sources) lists all {size}.",
        )
        if sentence
    )
    return Verdict(False, None, None, notes, closest, similarity)


def resolve(name: str, roster: Sequence[Name]) -> Name | None:
    """The publication of `roster` that `name` means; None outside the roster and for a retired one."""
    found, _ = _find(name, _index(tuple(roster)))
    return found if found and not found.former_note else None


def objection(text: str, others: Sequence[Name]) -> str | None:
    """Why `text` may not name a publication beside `others`, in a sentence to show; None if it may.

    `verify` refuses a look-alike, so that its silence about one does not mean that the name is free: once it is in the
    roster, the exact match comes first and the wire vouches for it. Texts are shown as far as they cannot hide anything.
    """
    if len(text) > LONGEST_NAME or not text.isprintable():
        return f"{text[:40]!a} is no name: it has at most {LONGEST_NAME} characters, and all of them can be seen."
    verdict = verify(text, others)
    if verdict.canonical_name:
        return f"{text} is read as {verdict.canonical_name}."
    if odd := oddities(text):
        alike = f" resembles {verdict.closest_match}." if verdict.similarity >= NAMED_AS_ALIKE else ":"
        return f"{text}{alike} {odd} Write it in plain letters."
    double = _drawn_alike(text, others) or (verdict.closest_match if verdict.similarity >= MISTAKABLE else None)
    return f"{text} resembles {double}: one would be taken for the other." if double else None


def _drawn_alike(text: str, others: Sequence[Name]) -> str | None:
    drawn = _outline("".join(_words(text)))
    meant = (spelling.name for spelling in _index(tuple(others)).spellings if _outline(spelling.key) == drawn)
    return next((name.canonical for name in meant if not name.former_note), None)


def _outline(key: str) -> str:
    return key.replace("rn", "m").replace("vv", "w").translate(DRAWN_ALIKE)


@lru_cache(maxsize=8)
def _index(roster: tuple[Name, ...]) -> _Index:
    active_first = sorted(roster, key=lambda name: name.former_note is not None)
    spellings = tuple(
        _Spelling(name, text, tuple(_words(text)), tuple(_words(CAMEL_CASE.sub(" ", text))))
        for name in active_first
        for text in (name.canonical, *name.aliases)
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


def _find(said: str, index: _Index) -> tuple[Name | None, str]:
    """The publication `said` means and how it was read; None and why not, if there is more to say than "unknown"."""
    if len(said) > MAX_LENGTH:
        return None, f"Longer than {MAX_LENGTH} characters, so not read."
    bare = said.strip(QUOTES)
    if (seen := ADDRESS.fullmatch(unicodedata.normalize("NFKC", bare))) and _is_address(seen):
        address = ADDRESS.fullmatch(bare)  # as typed: a look-alike of "/" or "." leads elsewhere
        owner = _owner(address, index) if address else None
        return owner or (None, oddities(said) or "An address of no publication in the roster.")
    words = _words(said)
    if not words:
        return None, "No publication name was given."
    if exact := index.by_key.get("".join(words)):
        return exact.name, _how(exact)
    owned = index.by_key.get("".join(_words(POSSESSIVE.sub("", said))))
    if owned and owned.text == owned.name.canonical:
        return owned.name, _how(owned)
    if strange := oddities(said):
        return None, strange
    if explained := EXPLAINED.fullmatch(said.strip()):
        first, how = _find(explained["name"], index)
        said_again = explained["said_again"]
        same = said_again.strip().casefold() in KINDS or _find(said_again, index)[0] == first
        return (first, how) if first and same else (None, "")
    slips = {spelling.name: spelling for spelling in index.spellings if is_slip(words, spelling.parts)}
    if len(slips) != 1:
        return None, ""
    ((name, spelling),) = slips.items()
    return name, f"Read as a misspelling of {spelling.text}."


def _how(spelling: _Spelling) -> str:
    if spelling.text == spelling.name.canonical:
        return f"{spelling.text} is in the roster."
    return f"{spelling.text} is an alias of {spelling.name.canonical}."


def _is_address(match: re.Match[str]) -> bool:
    suffix = match["suffix"].casefold()
    return bool(match["scheme"] or match["path"]) or len(suffix) <= 3 or suffix in LONG_SUFFIXES


def _owner(address: re.Match[str], index: _Index) -> tuple[Name, str] | None:
    """Whose page it is: any page of a publication's host, or below its path where the house shares the host."""
    path = (address["path"] or "").casefold()
    if ".." in unquote(path):
        return None
    place = OWN_SUBDOMAINS.sub("", address["host"].casefold(), count=1) + path
    for domain, name in index.by_domain.items():
        if place == domain or place.startswith(f"{domain}/"):
            return name, f"{domain} is a domain of {name.canonical}."
    return None


def _fold(text: str) -> str:
    """`text` in NFKC without case; punctuation and symbols become spaces, except `&` and `+`, which change a name."""
    folded = unicodedata.normalize("NFKC", WRITTEN_SPACE.sub(" ", text).replace(" @ ", " at ").translate(TRADEMARKS)).casefold()
    return "".join(" " if _separates(char) else char for char in folded)


def _separates(char: str) -> bool:
    if char.isascii():
        return char in " \t\r\n" or (char.isprintable() and not char.isalnum() and char not in "&+")
    return unicodedata.category(char)[0] in "PZ"


def _words(text: str) -> list[str]:
    """The words of a name without its article, which may also stand last, as in "Register, The"."""
    words = [word for word in _fold(text).split(" ") if word]
    if len(words) > 1 and words[0] in ARTICLES:
        return words[1:]
    return words[:-1] if len(words) > 1 and words[-1] == "the" else words


def oddities(said: str) -> str:
    """A sentence that names up to five characters of `said` that no plain name has; empty if there are none."""
    if said.isascii() and said.isprintable():  # as nearly all are, addresses above all
        return ""
    odd = dict.fromkeys(char for char in said if not (_fold(char).isascii() and _fold(char).isprintable()))
    named = [
        f"{f'“{char}” ' if char.isalpha() else ''}U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
        for char in list(odd)[:5]
    ]
    return f"Contains characters that look like others, are invisible or foreign: {', '.join(named)}." if named else ""


def _closest(said: str, index: _Index) -> tuple[str | None, float]:
    """The roster name most like `said`, by shared words and by letters alike; None if nothing is alike."""
    words = _words(said[:COMPARED_LENGTH])
    if not words:
        return None, 0.0
    said, key = " ".join(words), "".join(words)
    scores = [
        (token_set_ratio(said, " ".join(spelling.words)) + alike, spelling.name.canonical)
        for spelling in index.spellings
        if not spelling.name.former_note and (alike := ratio(key, spelling.key))
    ]
    score, canonical = max(scores, key=lambda scored: scored[0], default=(0.0, None))
    return canonical, min(round(score / 200, 2), 0.99)
