"""The statement of the layered citation: words of the publisher that make sense without any other context. Pure.

It is made of whole sentences of the summary where these name what the story is about, of the headline where they do not, and of
both where the summary only goes on from the headline. Who says "we" is quoted: the wire never speaks for a publisher.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from citations.citation_lexicon import compile_pattern, get_words
from citations.sentence_boundaries import CLOSING, add_full_stop, ends_like_sentence, split_sentences


class StatementKind(StrEnum):
    HEADLINE = "headline"
    SUMMARY = "summary"
    BOTH = "headline and summary"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True)
class Statement:
    """Its text ends as sentences do; `news` is the part that the summary gave, "" if only the headline speaks."""

    text: str
    kind: StatementKind
    news: str = ""


_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.\.)[\s.…]*(?=[\"'”’»)\]]*$)")
_DANGLING: Final = " ,;:–—-"
_LONG: Final = 150  # characters from which a text without a final stop may have been cut off
_PAIRS: Final = ("“”", "„“", "‘’", "«»", "「」", "『』", "()", "[]", "（）", "【】")
INNER_QUOTES: Final = str.maketrans('"“”„', "'‘’‚")

_QUOTATION: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\w)‘[^’]*’(?!\w)")
_TO_THE_READER: Final = compile_pattern("to_the_reader")
# What points back to something that only the headline or the story names, or to the day of the story.
_POINTS_BACK: Final = compile_pattern("points_back")
_NAME: Final = re.compile(r"[^\W_](?:[\w.+&’'-]*[^\W_])?")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_FIRST_WORD: Final = re.compile(r"(?:The|An?|In|On|From|With) ")  # of fragments and of statements
_COMMON: Final = get_words("common")
_ENGLISH: Final = get_words("english")
STEM: Final = 5  # letters by which words are compared: "build" and "building"
TELLING: Final = 0.5  # share of the headline's words from which a sentence tells of the same
_AMOUNT: Final = re.compile(r"[$€£¥]\s?(\d[\d.,]*\d{2})")  # smaller ones are of many deals
ALONE: Final = 0.65  # share from which a summary needs no headline beside it; of a headline of FEW_WORDS, TELLING is enough
FEW_WORDS: Final = 5
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


def build_statement(headline: str, summary: str, *, of_maker: bool) -> Statement:
    """Return the statement; `summary` has at most 160 characters and may be cut; `of_maker`: on the maker's own blog."""
    news = _clip_summary(summary, of_maker=of_maker)
    telling = _measure_headline_share(news, headline)
    if not news or not (telling or (_POINTS_BACK.match(news) and not compile_pattern("sets_scene").match(news)) or _says_we(news)):
        return Statement(_build_headline_sentence(headline), StatementKind.HEADLINE)
    is_named = _names_its_subject(news, headline)
    if _says_we(news):
        is_plain = is_named or _says_we(headline)
        return Statement(_quote(news) if is_plain else f"{headline.rstrip(_DANGLING + '.')}: {_quote(news)}", StatementKind.QUOTED)
    if is_named and telling >= (TELLING if len(headline.split()) <= FEW_WORDS else ALONE):
        return Statement(add_full_stop(news), StatementKind.SUMMARY, news)
    return Statement(f"{_build_headline_sentence(headline)} {add_full_stop(news)}", StatementKind.BOTH, news)


def is_news_statement(headline: str) -> bool:
    """Return whether a headline is a statement: no fragment, no question, and said neither by its author nor to the reader."""
    text = _FIRST_WORD.sub("", headline)
    return not (set("?？؟") & set(text) or _says_we(text) or _TO_THE_READER.match(headline) or _lacks_verb(text))


def is_commentary(headline: str) -> bool:
    """Return whether a headline advises or tells how things are, rather than what happened."""
    return bool(compile_pattern("comments").search(_QUOTATION.sub("", headline)))


def restates_headline(text: str, headline: str) -> bool:
    return _measure_headline_share(text, headline) >= 0.75


def shares_amount(one: str, other: str) -> bool:
    """Return whether two headlines have an amount of money of three digits and their first name in common."""
    amounts = set(_AMOUNT.findall(one)) & set(_AMOUNT.findall(other))
    return bool(amounts) and _list_names(one)[:1] == _list_names(other)[:1]


def adds_news(sentence: str, text: str) -> bool:
    """Return whether a sentence has a number that the text lacks, or a name, and then little else of the text; never for one that
    begins with what was before.
    """
    if compile_pattern("background").match(sentence):
        return False
    names = set(_list_names(sentence.partition(" ")[2]))
    is_other = not names <= set(_split_words(text)) and _measure_headline_share(sentence, text) < TELLING
    return is_other or not set(_NUMBER.findall(sentence)) <= set(_NUMBER.findall(text))


def _clip_summary(summary: str, *, of_maker: bool) -> str:
    """Return the summary up to the first sentence that is cut off, asks, orders or talks about its author; perhaps nothing."""
    end = 0
    for sentence in split_sentences(summary):
        is_to_reader = sentence.rstrip(CLOSING).endswith(("?", "？", "؟")) or _TO_THE_READER.match(sentence)
        is_own_voice = not of_maker and _says_we(sentence)
        if is_own_voice or is_to_reader or compile_pattern("teases").match(sentence) or not _is_whole(sentence, len(summary)):
            break
        end = summary.index(sentence, end) + len(sentence)
    return summary[:end].strip()


def _is_whole(sentence: str, length: int) -> bool:
    if _ELLIPSIS.search(sentence) or sentence.endswith(tuple(_DANGLING)) or compile_pattern("glued").search(sentence):
        return False
    if not ends_like_sentence(sentence) and (length >= _LONG or sentence.split()[-1].lower() in get_words("hanging")):
        return False
    return not sentence.count('"') % 2 and all(sentence.count(a) <= sentence.count(b) for a, b in _PAIRS)


def _says_we(text: str) -> bool:
    """Return true if somebody says "I" or "we" in it, outside of quotation marks."""
    return bool(compile_pattern("first_person").search(_QUOTATION.sub("", text)))


def _names_its_subject(news: str, headline: str) -> bool:
    """Return true if the first sentence stands without the headline: it points back to nothing and has its first name."""
    first = next(split_sentences(news))
    if _POINTS_BACK.match(first.lstrip("\"“‘'«„")):
        return False
    names = _list_names(headline)
    begins = _fold_word(headline.split()[0]) if names else ""
    leading = names[: 2 if names[:1] == [begins] else 1]  # the first word has a capital whether it is a name or not
    return not set(_list_names(first)).isdisjoint(leading)


def _measure_headline_share(news: str, headline: str) -> float:
    """Return which share of the headline's words it has, or of their beginnings; little if it lacks one of its numbers."""
    said = {word[:STEM] for word in _split_words(news)}
    wanted = [word for word in _split_words(headline) if len(word) > 1 and word not in _COMMON and word not in _ENGLISH]
    share = sum(word[:STEM] in said for word in wanted) / len(wanted) if wanted else 1.0
    return share if set(_NUMBER.findall(headline)) <= set(_NUMBER.findall(news)) else min(share, TELLING / 2)


def _split_words(text: str) -> list[str]:
    return [_fold_word(word) for word in _NAME.findall(text)]


def _list_names(text: str) -> list[str]:
    """Return its words with a capital or a digit, but for common ones, in order."""
    found = (_fold_word(word) for word in _NAME.findall(text) if not word.islower())
    return [term for term in found if len(term) > 1 and term not in _COMMON]


def _fold_word(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _build_headline_sentence(headline: str) -> str:
    """Return the headline as a sentence; in quotation marks, where it speaks for its author or to the reader, or is no sentence."""
    text = _ELLIPSIS.sub("", headline) or headline
    is_speech = _says_we(text) or _TO_THE_READER.match(text)
    return _quote(text) if is_speech or _lacks_verb(text) else add_full_stop(text)


def _lacks_verb(headline: str) -> bool:
    words = set(_split_words(headline))
    is_english = not words.isdisjoint(_ENGLISH | _COMMON)
    return bool(compile_pattern("fragments").search(headline)) or (is_english and words.isdisjoint(get_words("finite")))


def _quote(text: str) -> str:
    return f'"{add_full_stop(text.translate(INNER_QUOTES))}"'
