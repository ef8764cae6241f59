"""Citations as writers leave them in their texts: wrapped, quoted, typeset, cut, in lists and mails; and as forgers change them."""

import random
import re
import textwrap
from collections.abc import Callable
from typing import Any, Final

from citations.format.formats import CitationFormat

RECORDS: Final = (CitationFormat.BIBTEX, CitationFormat.CSL, CitationFormat.RIS)
INTROS: Final = (
    *("", "Some say the year was quiet. ", "As our desk wrote yesterday: ", "See also the note below. ", "(1) ", "* "),
    *("There is more to it, e.g. in No. 5 of the series. ", 'She called it "odd" and went on. ', "Background: "),
)
OUTROS: Final = (
    "",
    " More on Friday.",
    " (accessed today)",
    " Nobody else has it.",
    "\n\nAn unrelated paragraph follows.",
    " –30–",
)


def typeset(text: str, chance: random.Random) -> str:
    """With the quotation marks, dashes and spaces of a typesetter."""
    opened = False
    marks = chance.choice((("“", "”"), ("„", "“"), ("«", "»"), ('"', '"')))
    letters = []
    for letter in text:
        if letter == '"':
            letters.append(marks[opened])
            opened = not opened
        elif letter == "'":
            letters.append(chance.choice("’'ʼ"))
        else:
            letters.append(letter)
    found = "".join(letters)
    if chance.random() < 0.5:
        found = found.replace(" - ", " – ").replace("--", "—")
    if chance.random() < 0.3:
        found = re.sub(r"(?<=\d) (?=\w)", "\u00a0", found)
    return found


def wrapped(text: str, chance: random.Random) -> str:
    """Broken into lines, as mails and terminals do, long words too now and then."""
    width, quote = chance.randint(30, 100), chance.choice(("", "", "> ", "    "))
    lines = textwrap.wrap(text, width, break_long_words=chance.random() < 0.2, break_on_hyphens=chance.random() < 0.5)
    return "\n".join(quote + line for line in lines)


def in_prose(citation: str, form: CitationFormat, chance: random.Random) -> str:
    """The citation somewhere in a text."""
    intro, outro = chance.choice(INTROS), chance.choice(OUTROS)
    if form in RECORDS:
        return f"{intro}\n\n{citation}\n\n{outro}"
    if form == CitationFormat.INLINE and outro.startswith(" ("):
        outro = ""
    changed = typeset(citation, chance) if chance.random() < 0.5 else citation
    if chance.random() < 0.3:
        changed = chance.choice(("“{}”", '"{}"', "*{}*", "> {}", "- {}", "[3] {}")).format(changed)
    text = f"{intro}{changed}{outro}"
    return wrapped(text, chance) if chance.random() < 0.5 and "\n\n" not in text else text


Forge = Callable[[dict[str, Any], str, random.Random], str]
"""A citation of a story, changed; the same where this cannot be done to it."""


def _publisher(story: dict[str, Any], cited: str, chance: random.Random) -> str:
    # Without Reuters: Fortune has one of its headlines in the same words, and naming Reuters for it is no forgery.
    others = [name for name in ("Wired", "Bloomberg", "Axios", "TechCrunch") if name != story["original_publisher"]]
    return cited.replace(story["original_publisher"], chance.choice(others))


def _outsider(story: dict[str, Any], cited: str, chance: random.Random) -> str:
    return cited.replace(story["original_publisher"], chance.choice(("BBC News", "The Daily Planet", "CNN", "Le Monde")))


def _tier(_story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    return re.sub(r"Tier (\d)", lambda match: f"Tier {int(match[1]) % 4 + 1}", cited)


def _a_word(story: dict[str, Any], cited: str, chance: random.Random) -> str:
    """Another word in the text that is cited."""
    source = story["headline"] if story["headline"] in cited else story["summary_short"]
    words = [word for word in re.findall(r"[A-Za-z]{4,}", source) if len(re.findall(rf"\b{word}\b", cited)) == 1]
    return re.sub(rf"\b{chance.choice(words)}\b", chance.choice(("zebra", "collapse", "denies")), cited) if words else cited


def _a_number(_story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    """Another number in the text, of none that stands in an address or a date."""
    return re.sub(r"(?<![\w/.:-])(\d{2,3})(?= [a-z]|%)", lambda match: str(int(match[1]) + 7), cited, count=1)


def _negated(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    source = story["headline"] if story["headline"] in cited else story["summary_short"]
    match = re.search(r" (?:is|has|will|to|of|in|for) ", source)
    return cited.replace(match[0], f"{match[0]}not ", 1) if match and match[0] in cited else cited


def _date(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    day = int(story["published_at"][8:10])
    changed = re.sub(rf"(?<=-){day:02}(?=:|\"|\b(?!\S*/story))", f"{day + 3:02}", cited, count=1) if "citing" in cited else cited
    changed = re.sub(rf"\b{day} (October)", rf"{day + 3} \1", changed)
    changed = re.sub(rf"October {day}\)", f"October {day + 3})", changed)
    return re.sub(rf"\b{day} Oct\.", f"{day + 3} Oct.", changed)


def _url(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    return cited.replace(story["original_url"], story["original_url"] + "-update")


def _host(_story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    return cited.replace("http://localhost:8000/story/", "https://chatbotnews.example/story/")


def _no_such_id(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    return cited.replace(story["chatbotnews_id"], "cbn-" + story["chatbotnews_id"][:3:-1])


def _correction(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    if cited.endswith("]") or cited[:1] in "@T[":
        return cited.replace(story["permalink"], f"{story['permalink']} [corrected 2026-10-16]")
    return f"{cited} [corrected 2026-10-16]" if "/story/" in cited else cited


def _other_story(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    return cited.replace(story["chatbotnews_id"], story["other"])


def _left_out(story: dict[str, Any], cited: str, _chance: random.Random) -> str:
    """Words out of the middle of the text, without a mark."""
    source = story["headline"] if story["headline"] in cited else story["summary_short"]
    words = source.split()
    cut = " ".join(words[2:4])
    return cited.replace(f" {cut} ", " ", 1) if len(words) > 6 and "\\" not in cut else cited


FORGERIES: Final[dict[str, Forge]] = {
    "another publication of the roster": _publisher,
    "a publication outside the roster": _outsider,
    "another tier": _tier,
    "another word": _a_word,
    "another number": _a_number,
    "a negation": _negated,
    "another date": _date,
    "another address": _url,
    "another host": _host,
    "an id that is none": _no_such_id,
    "a correction that never was": _correction,
    "the id of another story": _other_story,
    "words left out": _left_out,
}
