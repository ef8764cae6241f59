"""A byline, one line of free text, as the people and organisations that wrote a story. Pure.

nameparser splits a name into its parts; this module finds the names. In doubt a name stays whole: as it is written it
is right in every format, taken apart wrongly it is right in none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from nameparser import Lexicon, Parser

from citations.citation_lexicon import compile_pattern, get_words
from citations.sentence_boundaries import split_word_set


@dataclass(frozen=True, slots=True)
class Person:
    """`family` has the particles before it ("van Beethoven"), `suffix` is what tells namesakes apart ("Jr.")."""

    given: str
    family: str
    suffix: str = ""

    @property
    def written(self) -> str:
        return " ".join(filter(None, (self.given, self.family, self.suffix)))

    @property
    def inverted(self) -> str:
        """The name as bibliographies sort it: "King, Martin Luther, Jr."."""
        return ", ".join(filter(None, (self.family, self.given, self.suffix)))


@dataclass(frozen=True, slots=True)
class Whole:
    """A name that stays as it is written: an organisation's, a handle, a single word, or one whose parts cannot be told."""

    written: str

    @property
    def inverted(self) -> str:
        return self.written


Author = Person | Whole


_COURTESIES: Final = split_word_set("dame dr herr lady lord miss mme mr mrs ms mx prof professor sir")
_PARSER: Final = Parser(Lexicon.default().remove(titles=Lexicon.default().titles - _COURTESIES))  # Dean and King are names too

_BY: Final = re.compile(r"^(?:[a-z]+ ){0,2}by:? +", re.I)  # "Reported by"
_OTHERS: Final = re.compile(r",? +(?:and|with) +(?:(?:news )?agenc(?:y|ies)|others|staff|wires)$", re.I)
_BRACKETED: Final = re.compile(r" *[(\[][^()\[\]]*[)\]]")  # "Jane Doe (Contributor)"
_DEGREE: Final = re.compile(r",? (?:Ph\.?D|M\.?D|M\.?B\.?A|M\.?Sc|Esq)\b\.?")
_NAMESAKE: Final = re.compile(r", *((?:Jr|Sr)\b\.?|I{2,3}\b|IV\b)")
_RANK: Final = "(?:Crown )?(?:Prince|Princess|Duke|Duchess|Earl|Count|Countess|Marquess|Baron|Baroness|King|Queen)"
_TITLE: Final = re.compile(rf",(?= (?:the )?{_RANK} of [^\W\d_])")  # the comma in "Catherine, Princess of Wales" parts no names
_TITLE_COMMA: Final = "\ufdd0"  # a noncharacter, which stands for that comma while names are parted
_APART: Final = re.compile(r" *[;|•、，；] *| +[/–—·] +|/(?=[A-Z])")  # whatever stands between these stands alone
_CONJUNCTIONS: Final = split_word_set("and with und et y e og och en и &")
_AND: Final = re.compile(rf",? +(?:{'|'.join(sorted(_CONJUNCTIONS))}) +")
_LISTED: Final = re.compile(rf"{_AND.pattern}|, *")
_COMMA: Final = re.compile(r", *")

_WORD: Final = r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f'’.\-])*"
_NAME: Final = re.compile(rf"{_WORD}(?:,? {_WORD}){{1,6}}")
_PARTICLES: Final = get_words("particles")
_INVERTED: Final = re.compile(rf"(?:(?:{'|'.join(sorted(_PARTICLES))}) +)*{_WORD}, *{_WORD}(?: +{_WORD}){{0,3}}", re.I)
_ADDENDUM: Final = re.compile(r" +(?:in(?! +AI\b)|for|at|from) +(?:the +)?[A-Z@].*$")  # "Jane Doe in San Francisco", "for Reuters"
_HANDLE: Final = re.compile(r"(?:(?<= )|^)@\w+(?: +|$)")

_DESK: Final = r"(?:correspondent|reporter|writer|columnist|contributor|journalist|editor)"
_ROLE: Final = compile_pattern("role", re.I)
_ROLE_FIRST: Final = re.compile(rf"(?:(?:[\w&-]+ +){{0,3}}{_DESK}|ceo) +(?=\S+ +\S)", re.I)  # "Staff Writer Jane Doe"

# What a name holds that no person is called.
_HOUSES: Final = get_words("houses")
_CAMEL: Final = re.compile(r"[a-z][A-Z]")  # OpenAI, TechCrunch
_CAMEL_NAMES: Final = re.compile(r"(?:Mc|Mac|Fitz|De|Del|Della|Di|Du|La|Le|Van|Von|O['’]|D['’]|Ab)[A-Z][^\W\d_]*\.?")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")  # scripts that write a name as one word
_LATIN: Final = re.compile(r"[A-Za-z]")
_OF_A_HOUSE: Final = re.compile(r" (?:AI )?(?:Blog|News|Newsroom)$")


def parse_authors(byline: str | None, *house: str) -> list[Author]:
    """Return everyone whom a byline names, in its order, but not the publication, whose names are `house`."""
    return [_parse_author(name) for name in _split_names(clean_byline(byline, *house) or "", house)]


def clean_byline(byline: str | None, *house: str) -> str | None:
    """Return the byline without titles, places and the publication, if it names these beside authors; None if nobody is left."""
    text, names = _BY.sub("", byline or ""), _split_names(byline or "", house)
    bare, wanted = (
        [word for word in re.findall(r"[^\W_]+", said) if word not in _CONJUNCTIONS] for said in (text, " ".join(names))
    )
    if bare == wanted:
        return text or None
    listed = ", ".join(names)
    return clean_byline(listed if _split_names(listed, ()) == names else "; ".join(names), *house)  # more may show up now


@lru_cache(maxsize=1000)
def _split_names(byline: str, house: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a byline as they are written, without what is said of their bearers."""
    own = {_fold_name(name) for called in house for name in (called, _OF_A_HOUSE.sub("", called))}
    text = _BRACKETED.sub("", byline).strip() or byline.strip(" ()[]")
    text = _TITLE.sub(_TITLE_COMMA, _NAMESAKE.sub(r" \1", _DEGREE.sub("", _OTHERS.sub("", text))))
    pieces = [_BY.sub("", piece) for part in filter(None, _APART.split(text)) for piece in _split_name_list(_BY.sub("", part))]
    roles = [_is_role(piece) for piece in pieces]
    if all(roles):
        return tuple(pieces[:1])  # "Jane Doe Senior editor": better too much than nobody
    found: list[str] = []
    for piece, is_role, after_role in zip(pieces, roles, [False, *roles], strict=False):
        name = _HANDLE.sub("", _ROLE_FIRST.sub("", _ADDENDUM.sub("", piece))).strip(" ,") or piece
        is_employer = after_role and _is_org(name)  # "Jane Doe, VP, Google Research"
        if not is_role and not is_employer and _fold_name(name) not in own:
            found.append(name.replace(_TITLE_COMMA, ","))
    return tuple(dict.fromkeys(found))


def _split_name_list(text: str) -> list[str]:
    """Split names with commas and "and" between them; keep one name whole, where taking it apart would leave half of one."""
    for between in (_AND, _LISTED, _COMMA):
        pieces = [piece for piece in between.split(text) if piece]
        if all(_is_family_name_first(piece) or ("," not in piece and _is_complete_name(piece)) for piece in pieces):
            return pieces
    return [text]


def _is_complete_name(piece: str) -> bool:
    return " " in piece.strip() or _is_role(piece) or _is_org(piece) or piece.startswith("@") or bool(_UNSPACED.fullmatch(piece))


def _is_family_name_first(piece: str) -> bool:
    family, _, given = piece.partition(",")
    return bool(_INVERTED.fullmatch(piece)) and not (_is_role(given.strip()) or _is_org(family) or _is_org(given))


def _is_role(piece: str) -> bool:
    return bool(_ROLE.fullmatch(piece)) and not piece.lower().startswith("the ")


def _is_org(name: str) -> bool:
    words = name.split()
    return (
        name.lower().startswith("the ")
        or any(word.lower() in _HOUSES for word in words)
        or any(_CAMEL.search(part) and not _CAMEL_NAMES.fullmatch(part) for word in words for part in word.split("-"))
    )


def drop_title_comma(name: str) -> str:
    return _TITLE.sub("", name)


def _parse_author(name: str) -> Author:
    # Words in small letters show that it is no name ("Google DeepMind team"), but for particles and names without any capital.
    has_words = not name.islower() and any(word.islower() and word not in _PARTICLES for word in name.split())
    is_twice = _UNSPACED.search(name) and _LATIN.search(name)  # "Fei-Fei Li 李飞飞", in two scripts
    if not _NAME.fullmatch(name) or _is_org(name) or _is_role(name) or has_words or is_twice or _TITLE.search(name):
        return Whole(name)
    parsed = _PARSER.parse(name)
    if name.isupper():
        parsed = parsed.capitalized(force=True)
    person = Person(" ".join(filter(None, (parsed.given, parsed.middle))), parsed.family, parsed.suffix)
    is_certain = person.given and parsed.family and not (parsed.nickname or parsed.maiden) and "," not in person.written
    return person if is_certain and (not parsed.suffix or _NAMESAKE.fullmatch(f", {parsed.suffix}")) else Whole(name)


def _fold_name(name: str) -> str:
    return " ".join(name.casefold().removeprefix("the ").split())
