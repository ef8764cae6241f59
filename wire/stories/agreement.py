"""Whether a text says what another says: word by word, whatever the order, number by number, and nothing to the contrary. Pure.

English. Precision first: numbers, names and "not" must be the same, verbs must not be opposites; which verb a newsroom takes for
"raise" or "launch" is no matter. What is worded quite differently is not recognised.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from wire.stories.quantities import Quantity
from wire.stories.quantities import read as read_quantities
from wire.stories.tokens import STOP_WORDS, folded, token, words
from wire.stories.versions import differ


def _all(listed: str) -> frozenset[str]:
    return frozenset(token(word) for word in listed.split())


NEGATIONS: Final = frozenset(["not", "no", "never", "without", "none", "neither", "nor", "nobody", "nothing", "cannot", "unable"])
_SAME: Final = (
    "raise raised raises secure secured secures land landed lands",
    "buy buys bought acquire acquires acquired acquisition purchase purchased",
    "sue sues sued suing lawsuit",
    "launch launched launches unveil unveiled unveils release released releases announce announced announces introduce introduced"
    " introduces present presented presents debut debuted",
    "hire hires hired recruit recruited",
    "fire fired dismiss dismissed sack sacked",
    "say says said tell told state stated claim claims claimed",
    "reply replies replied answer answers answered respond responded",
    "predict predicts predicted forecast forecasts",
    "allow allows allowed permit permits permitted let lets",
    "lend lends lent loan loaned loans",
    "pay pays paid cost costs",
    "customer customers user users subscriber subscribers",
    "remove removes removed delete deletes deleted",
    "child children kid kids minor minors",
    "phone phones telephone telephones",
    "usa us u.s america american americans",
    "uk britain british",
    "eu europe european",
    "china chinese beijing",
    "france french",
    "germany german",
    "japan japanese",
    "korea korean",
    "india indian",
    "belgium belgian",
    "california californian",
    "canada canadian",
    "australia australian",
    "italy italian",
    "spain spanish",
    "israel israeli",
    "build builds built make makes made create creates created develop develops developed produce produced produces",
    "find finds found discover discovered",
    "company companies firm firms",
    "litre litres liter liters",
    "metre metres meter meters",
    "centre centres center centers",
    "moon moons lunar",
    "tide tides tidal",
    "chip chips gpu gpus processor processors",
    "lawmakers legislators",
    "movie movies film films",
    "car cars vehicle vehicles",
    "staff workers employees",
    "big large huge",
    "quick fast rapid",
    "start starts started begin begins began begun",
    "end ends ended stop stops stopped",
    "ban bans banned prohibit prohibits prohibited forbid forbids forbade",
    "approve approves approved adopt adopts adopted pass passes passed",
    "lease leases leased rent rents rented",
    "store stores shop shops",
    "show shows showed shown reveal reveals revealed",
    "help helps helped assist assists assisted",
    "need needs needed require requires required",
    "cut cuts reduce reduces reduced",
    "rise rises rose risen increase increases increased grow grows grew",
    "fall falls fell decrease decreases decreased",
)
_MEANT: Final[Mapping[str, str]] = {token(word): token(group.split()[0]) for group in _SAME for word in group.split()}
"""Words that newsrooms use for each other without saying anything else."""


def _meant(listed: str) -> frozenset[str]:
    return frozenset(_MEANT.get(stem, stem) for stem in _all(listed))


COMMON: Final = _meant(
    """launch open opened opening raise lead led leads say run runs ran running take takes took taken get gets got hold holds held
    call called calls serve serves report reports reported make show hire
    according account because since although though while then thus also too so well just already now yet still again ago later
    about around nearly almost roughly approximately some somewhat both either each other another own same such single
    alone once when where whether there here he she they them his her him himself itself themselves its it we you your our
    i me my who whom whose that this these those which what how why one ones
    be been being is are was were am do does did done doing have has had having can could will would shall should may might must
    if than as between among inside within into onto upon during through throughout across along under above below behind
    beside besides near toward towards via per like including
    work works worked working go goes went going gone come comes came coming keep keeps kept stay stays stayed remain remains
    remained become becomes became bring brings brought use uses used
    using want wants wanted offer offers offered provide provides provided cover covers covered carry carries carried feature
    features contain contains contained consist consists comprise last lasts lasted know known name named dub dubbed title
    titled treat treats treated count counts supply supplies supplied handle handles handled see sees seen look looks looked
    plan plans planned expect expects expected vote votes voted people person team group maker makers company business
    organization organisation startup start-up tool tools product products service services system systems model models new
    newly next far long currently recently reportedly officially before after following follow follows able worth total combined
    win wins won
    """
)
"""What every report says in its own words: whether one has these very ones is no matter. Not among them is what turns a verb
round, as "off" in "called off" and "up" in "gave up".
"""
_OPPOSITES: Final = tuple(
    (_meant(one), _meant(other))
    for one, other in (
        ("raise rise increase gain gained win won", "lose lost loses fall cut"),
        ("open opens opened launch start", "close closes closed closing shut end cancel cancelled canceled"),
        ("buy", "sell sold sells"),
        ("approve allow license exempt", "ban block blocked reject rejected rejects refuse refused deny denied"),
        ("exempt", "include"),
        ("hire", "fire"),
        ("best", "worst"),
        ("keep", "remove lift drop scrap"),
        ("faster higher larger bigger longer", "slower lower smaller shorter"),
        ("accept accepted", "reject rejected refuse refused"),
        ("join joins joined", "leave leaves left quit quits"),
        ("support supports supported", "oppose opposes opposed"),
    )
)
_OPPOSITES_OF_A_CLAIM: Final = tuple(
    (_meant(one), _meant(other)) for one, other in (("before", "after"), ("first", "last"), ("more", "less fewer"))
)
"""In words beside a citation these are as often of something else: "last week", "before lunch"."""
_DIRECTED: Final = _meant(
    "sue buy hire fire lead accuse accuses accused replace replaces replaced beat beats fund funds funded back backs backed"
)
"""Verbs that say something else if who does it and to whom change places."""
_NOUNS: Final = frozenset(["lawsuit", "acquisition", "purchase", "fund", "funds", "launch", "release", "lead", "fire", "back"])
"""Words of the same lines that tell no direction."""
_PHRASES: Final = {
    re.compile(rf"\b{one}\b", re.I): other
    for one, other in {
        "artificial intelligence": "AI",
        "start-up": "startup",
        "free of charge": "free",
        "w/o": "without",
        "defence": "defense",
        "licence": "license",
        "offence": "offense",
        "centre": "center",
        "programme": "program",
    }.items()
}
_CONTRACTED: Final = re.compile(r"\b(wo|ca|sha)?n['’]t\b|n['’]t\b")
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?!\w)")
_SPELLINGS: Final = (
    (re.compile(r"(?<=[a-z]{4})is(e[sd]?|ing|ation)\b"), r"iz\1"),
    (re.compile(r"(?<=[a-z]{2})our(?=s?\b|ed\b|ing\b|ite)"), "or"),
)
_CLAUSE: Final = re.compile(r"[,;:()–—\"“”]|[.!?]\s| - | but | and ")
_SENTENCE: Final = re.compile(r"[;:]|[.!?]\s")
_EXEMPTING: Final = _meant("exempt exempts exempted spare spares spared exclude excludes excluded")
"""Verbs that deny what follows without a "not"."""
_LIGHT: Final = _meant("about far long currently recently now still yet before after quite very just")
LEAST: Final = 2  # words and numbers of a claim besides those of COMMON, from which it says something
KEPT: Final = 2_000  # characters of a text that is remembered
REACH: Final = 12  # words before a verb and behind it, that it may be said of
SCOPE: Final = 3  # words behind a "not" that it denies


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says. `stems` are of its words without stop words and numbers."""

    text: str
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    names: frozenset[str]
    denied: tuple[tuple[str, ...], ...]
    """The stems that stand behind each "not"."""
    asserted: frozenset[str]
    """Stems that stand elsewhere; perhaps behind a "not" as well."""
    done: tuple[tuple[str, frozenset[str], frozenset[str]], ...]
    """Verbs that have a direction: the verb, the stems of who does it, the stems of what it is done to."""

    @property
    def told(self) -> frozenset[str]:
        """Stems that have to be reported."""
        return self.stems - COMMON or self.stems


def read(text: str) -> Said:
    """Of headline and summary, or of a claim."""
    return _read(text) if len(text) <= KEPT else _read.__wrapped__(text)


@lru_cache(maxsize=1024)
def _read(text: str) -> Said:
    plain = _POSSESSIVE.sub("", _CONTRACTED.sub(" not", text))
    for phrase, other in _PHRASES.items():
        plain = phrase.sub(other, plain)
    quantities, rest = read_quantities(folded(plain))
    return Said(plain, _stems(rest), _counted(quantities), _names(plain), *_denied(plain), _done(plain))


def coverage(claim: Said, told: Said) -> float:
    """How much of a claim a text says, 0 to 1; 0 if its numbers or names are others, or if it says the contrary."""
    if not all(any(one.agrees(other) for other in told.quantities) for one in claim.quantities):
        return 0.0
    if not claim.names <= told.stems or contradiction(claim, told, is_whole=True):
        return 0.0
    if len(claim.stems - COMMON) + len(claim.quantities) < LEAST:
        return 0.0
    if any(_denied_of(told).isdisjoint(denied) for denied in claim.denied):
        return 0.0
    return len(claim.told & told.stems) / len(claim.told) if claim.told else 0.0


def contradiction(claim: Said, told: Said, *, is_whole: bool = False) -> str:
    """What a text denies of a claim, in words; "" for nothing. `is_whole`: all of the claim is about what the text tells, and none
    of it is a remark of somebody's own.
    """
    for one in (one for one in claim.quantities if not _is_denied(one, claim.text)):
        if any(one.counts_alike(same) and any(same.agrees(other) for other in told.quantities) for same in claim.quantities):
            continue  # it says both, as in "$12 million of a planned $20 million"
        rivals = [other for other in told.quantities if one.counts_alike(other)]
        if rivals and not any(one.agrees(other) for other in told.quantities):
            return f"It says {one.said}, the record says {' and '.join(dict.fromkeys(other.said for other in rivals))}."
    if differ(claim.text, told.text):
        return "It names another version."
    if opposite := _opposite(_OPPOSITES + (_OPPOSITES_OF_A_CLAIM if is_whole else ()), claim, told):
        return f"It says {opposite!r}, the record says the opposite."
    told_denied = _denied_of(told)
    if any(denied[0] in told.asserted and told_denied.isdisjoint(denied) for denied in claim.denied):
        return "It denies what the record says."
    said_denied = _denied_of(claim) | (told_denied if claim.stems & _EXEMPTING else frozenset())
    of_record = frozenset().union(*(denied for denied in told.denied if said_denied.isdisjoint(denied)))
    if denied := (claim.asserted & of_record) - told.asserted - _LIGHT:
        return f"The record denies what it says of {sorted(denied)[0]!r}."
    for verb, doers, others in claim.done:
        same = [(theirs, what) for done, theirs, what in told.done if done == verb]
        is_so = any(doers & theirs and others & what for theirs, what in same)
        if not is_so and any(doers & what and others & theirs for theirs, what in same):
            return f"It says {verb!r} the other way round."
    return ""


def strange(claim: Said, *told: Said) -> list[str]:
    """Words and numbers of a claim, as it has them, that none of these texts has."""
    stems = claim.told.difference(COMMON, *(text.stems for text in told))
    known = [quantity for text in told for quantity in text.quantities]
    numbers = [one.said for one in claim.quantities if not any(one.agrees(other) for other in known)]
    return [*numbers, *(word for word in dict.fromkeys(words(claim.text)) if not _stems(word).isdisjoint(stems))]


def _is_denied(one: Quantity, text: str) -> bool:
    """Whether a text says that it is not this one: "$18 million, not $80 million"."""
    return bool(re.search(rf"\b(?:not|instead of|rather than)(?: just| only)? {re.escape(one.said)}", folded(text)))


def _opposite(pairs: Iterable[tuple[frozenset[str], frozenset[str]]], claim: Said, told: Said) -> str:
    """A word of a claim whose opposite a text has, and not the word."""
    for mine, theirs in ((one, other) for pair in pairs for one, other in (pair, pair[::-1])):
        if claim.stems & mine and told.stems & theirs and not told.stems & mine:
            return min(claim.stems & mine)
    return ""


def _denied_of(told: Said) -> frozenset[str]:
    return frozenset().union(*told.denied)


def _stems(text: str) -> frozenset[str]:
    for spelling, american in _SPELLINGS:
        text = spelling.sub(american, text)
    found = (token(word) for word in words(text) if word not in STOP_WORDS and word not in NEGATIONS)
    return frozenset(_MEANT.get(stem, stem) for stem in found)


def _names(text: str) -> frozenset[str]:
    """Stems of words with a capital or a digit; none where nearly every word has one."""
    found = [word for word in re.findall(r"[^\W_]+(?:-\d+)?", text)[1:] if not word.islower() and not word.isdigit()]
    if len(found) > 0.8 * len(text.split()):
        return frozenset()
    return frozenset(stem for word in found for stem in _stems(read_quantities(folded(word))[1])) - COMMON


def _counted(quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    return tuple(replace(one, of=min(_stems(one.of), default="")) for one in quantities)


def _denied(text: str) -> tuple[tuple[tuple[str, ...], ...], frozenset[str]]:
    """Stems of the few words behind each "not" of a clause, in their order, and those of all other words."""
    denied: list[list[str]] = []
    asserted: set[str] = set()
    for clause in _CLAUSE.split(folded(text)):
        left = 0
        for word in words(read_quantities(clause)[1].replace("not only", "").replace("not just", "")):
            if word in NEGATIONS:
                left = SCOPE
                denied.append([])
            elif left and word.endswith("ly"):
                continue  # "not officially approved" denies the verb
            elif stems := _stems(word):
                if left:
                    denied[-1] += stems
                else:
                    asserted |= stems
                left = max(left - 1, 0)
    return tuple(tuple(one) for one in denied if one), frozenset(asserted)


def _done(text: str) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Who does what to whom, by what stands before a verb and behind it; "by" turns it round."""
    found = []
    for sentence in _SENTENCE.split(folded(text)):
        said = words(sentence)
        for at, word in enumerate(said):
            verb = _MEANT.get(token(word), token(word))
            if verb in _DIRECTED and word not in _NOUNS:
                before = _stems(" ".join(said[max(at - REACH, 0) : at]))
                behind = _stems(" ".join(said[at + 1 : at + 1 + REACH]))
                found.append((verb, behind, before) if "by" in said[at + 1 : at + 3] else (verb, before, behind))
    return tuple(found)
