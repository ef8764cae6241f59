"""The statement of the layered citation: words of the publisher that make sense without any other context. Pure.

It is made of whole sentences of the summary where these name what the story is about, of the headline where they do not, and of
both where the summary only goes on from the headline. Who says "we" is quoted: the wire never speaks for a publisher.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from citations.format.sentences import CLOSING, end_with_stop, ends_whole, sentences, word_set


class StatementKind(StrEnum):
    HEADLINE = "headline"
    SUMMARY = "summary"
    BOTH = "headline and summary"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True)
class Statement:
    text: str  # ends as sentences do
    kind: StatementKind


_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.\.)[\s.…]*(?=[\"'”’»)\]]*$)")
_DANGLING: Final = " ,;:–—-"
_LONG: Final = 150  # characters from which a text without a final stop may have been cut off
_PAIRS: Final = ("“”", "„“", "‘’", "«»", "「」", "『』", "()", "[]", "（）", "【】")
_HANGING: Final = word_set(
    """a an and are as at but by for from has have if in into is its of on or so than that the their to was were which
    who with"""
)
INNER_QUOTES: Final = str.maketrans('"“”„', "'‘’‚")

_QUOTATION: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\w)‘[^’]*’(?!\w)")
# A publisher that speaks of itself, outside of quotations; "I/O" and "WWI" are no first persons, "US" is a country.
_FIRST_PERSON: Final = re.compile(
    r"\b(?:I(?=[ ,]|['’](?:m|ve|d|ll)\b)|[Ww]e|[Ww]e['’](?:re|ve|d|ll)|[Oo]urs?|ourselves|us|[Mm]y|me|myself|[Ll]et['’]s"
    r"|[Ww]ir|[Uu]ns|[Uu]nsere?[mnrs]?|[Ii]ch|[Nn]ous|[Nn]otre|[Nn]osotr[oa]s|[Nn]uestr[oa]s?|[Nn]ós|[Nn]oss[oa]s?|[Nn]oi"
    r"|[Nn]ostr[aeio]|[Мм]ы|[Нн]аш[аеиу]?)\b|我们|我們|私たち|当社|弊社|우리"
)
_TO_THE_READER: Final = re.compile(
    r"(?:You|Your|You['’](?:re|ve|d|ll)|(?:If|When|Whether|Before|While|As|Once|Should|Unless) you(?:r|['’]\w+)?|Yours)\b"
    r"|(?:Don['’]t|Do not|Never|Please|Always|Just) [a-z]|(?:Discover|Explore|Forget|Meet) (?=[A-Z][\w.]*['’]s )|Forget "
    # What orders, if a word in small letters follows: "Meet the judges", but not "Meet and Gmail" or "Read.ai"
    r"|(?:Ask|Be|Beware|Bring|Browse|Build|Buy|Catch|Check|Choose|Click|Come|Compare|Consider|Create|Discover|Download|Enter"
    r"|Explore|Find|Follow|Forget|Get|Give|Go|Grab|Hear|Imagine|Join|Keep|Know|Learn|Let|Listen|Look|Make|Meet|Pick|Prepare|Put"
    r"|Read|Register|Remember|Save|See|Send|Set|Shop|Show|Sign|Skip|Start|Stop|Subscribe|Switch|Take|Tell|Think|Try|Tune|Turn"
    r"|Upgrade|Use|View|Vote|Watch) (?!and |or |of |is |are |was |has |by )[a-z]"
)
# What leads to the article and says nothing of it.
_TEASES: Final = re.compile(
    r"(?:Here['’]s|Here (?:is|are|comes?)|Plus[,:]|Spoiler|Announcing|Introducing|Presenting|Bonus|Hint|Note:|P\.?S\.?|TL;?DR|Also:"
    r"|Stay tuned|Welcome|Say (?:hello|goodbye)|Good news|Yes,|No,|Well,|Sure,|OK,|Sorry)(?!\w)"
    r"|(?:Want|Ready|Looking|Curious|Wondering|Thinking|Tired|Confused|Worried|Interested) [a-z]"
    r"|(?:And |But |Or |So |Plus |Also )?(?:how|why|what|where|when|who|whether|here['’]s|can|could|will|is|are|do|does|did|should"
    r"|would) |(?:How|Why|Who)\b|(?:What|Where|When) (?:to|you|we)\b"
)
# What points back to something that only the headline or the story names, or to the day of the story.
_THINGS: Final = (
    "acquisition|agreement|algorithm|announcement|app|arrangement|assistant|bill|bot|browser|chatbot|chip|company|deal|decision|device|event"
    "|executive|features?|firm|funding|initiative|investment|investors?|launch|lawsuit|maker|measure|merger|models?|move|news|offering"
    "|order|organization|outage|partnership|pilot|plan|platform|policy|product|program|project|proposal|release|report|research"
    "|researchers|robot|round|ruling|service|site|software|start-?up|study|suit|survey|system|team|tech|technology|tools?|transaction"
    "|rollout|update|upgrade|version|website"
)
_POINTS_BACK: Final = re.compile(
    r"(?:It|They|He|She|Its|Their|His|Her|This|That|These|Those|One(?! of [A-Z])|Both|Such|Another|Others?|Neither|Either|Then"
    r"|There|Here)(?:['’]\w+)?\b"
    rf"|(?:The|An?|Its|New)(?: (?!\w+['’]s)[a-z][\w-]*| AI| \$?\d[\w.,-]*){{0,3}} (?:{_THINGS})\b"
    r"(?! (?:of|behind|called|from|named|by) | [A-Z])"
    r"|The (?:two|three|pair|trio|former|latter|latest|same|new|move|other|first|second|last|next|only|biggest|best|whole|most|idea"
    r"|goal|result)\b"
    r"|(?:And|But|Or|So|Yet|Plus|Also|Still|Now|Meanwhile|However|Instead|Besides|Additionally|Moreover|Furthermore|Even|Only|Not"
    r"|Nor)\b"
    r"|(?:Today|Tomorrow|Yesterday|Tonight|Earlier|Recently|Lately|Previously|(?:Last|This|Next|Later) (?:week|month|year))\b"
    r"|(?:According to|As part of)\b|\w+ (?:its|their|his|her|it|they|he|she|them|him|this|that|these|those|doing|addition)\b"
    r"|(?:Es|Er|Sie|Dies(?:e[mnrs]?)?|Das Unternehmen|Damit|Dabei|Dort|Il|Elle|Ils|Elles|Cela|Ce|Cette|Ces|C['’]est|L['’]entreprise"
    r"|Él|Ella|Ellos|Ellas|Est[eao]s?|La empresa|La compañía|Ele|Ela|Isso|A empresa|Questo|Questa|L['’]azienda|Он|Она|Они|Это"
    r"|Компания)\b"
    r"|これ|それ|この|その|彼|同社|这|該|该|此|它|他|她|이|그"
)
# Two headings or a heading and its text that a page printed one below the other.
_GLUED: Final = re.compile(
    r"[a-z0-9’'”] (?:The|When|What|It|How|Why|Who|In|Despite|If|Although|While|After|There|Last|Earlier|Every|Since|This) [a-z]"
)
_NAME: Final = re.compile(r"[^\W_](?:[\w.+&’'-]*[^\W_])?")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_COMMON: Final = word_set(  # with a capital in a headline, and no name
    """about after again against agent agents ai all also and any are artificial before being between but can chatbot chatbots
    companies company could data days does first from generative get gets got had has have here his how intelligence into its just
    like make makes making man may model models more most new not now off one only other our out over own people says say she should
    some startup startups still such tech than that the their them then there these they this those three through time tool tools
    top two under use used users using want wants was way ways were what when where which who why will with without work world would
    year years you your"""
)


def build_statement(headline: str, summary: str, *, of_maker: bool) -> Statement:
    """Return the statement; `summary` has at most 160 characters and may be cut; `of_maker`: on the maker's own blog."""
    news = _clip_summary(summary, of_maker=of_maker)
    if not news:
        return Statement(_headline_sentence(headline), StatementKind.HEADLINE)
    is_named = _names_its_subject(news, headline)
    if _speaks(news):
        is_plain = is_named or _speaks(headline)
        return Statement(_quote(news) if is_plain else f"{headline.rstrip(_DANGLING + '.')}: {_quote(news)}", StatementKind.QUOTED)
    if is_named:
        return Statement(end_with_stop(news), StatementKind.SUMMARY)
    return Statement(f"{_headline_sentence(headline)} {end_with_stop(news)}", StatementKind.BOTH)


def _clip_summary(summary: str, *, of_maker: bool) -> str:
    """Return the summary up to the first sentence that is cut off, asks, orders or talks about its author; perhaps nothing."""
    end = 0
    for sentence in sentences(summary):
        is_to_reader = sentence.rstrip(CLOSING).endswith(("?", "？", "؟")) or _TO_THE_READER.match(sentence)
        is_own_voice = not of_maker and _speaks(sentence)
        if is_own_voice or is_to_reader or _TEASES.match(sentence) or not _is_whole(sentence, len(summary)):
            break
        end = summary.index(sentence, end) + len(sentence)
    return summary[:end].strip()


def _is_whole(sentence: str, length: int) -> bool:
    if _ELLIPSIS.search(sentence) or sentence.endswith(tuple(_DANGLING)) or _GLUED.search(sentence):
        return False
    if not ends_whole(sentence) and (length >= _LONG or sentence.split()[-1].lower() in _HANGING):
        return False
    return not sentence.count('"') % 2 and all(sentence.count(a) <= sentence.count(b) for a, b in _PAIRS)


def _speaks(text: str) -> bool:
    """Return true if somebody says "I" or "we" in it, outside of quotation marks."""
    return bool(_FIRST_PERSON.search(_QUOTATION.sub("", text)))


def _names_its_subject(news: str, headline: str) -> bool:
    """Return true if the first sentence stands without the headline: it points back to nothing and has its first name."""
    first = next(sentences(news))
    if _POINTS_BACK.match(first.lstrip("\"“‘'«„")):
        return False
    names = _names(headline)
    begins = _term(headline.split()[0]) if names else ""
    leading = names[: 2 if names[:1] == [begins] else 1]  # the first word has a capital whether it is a name or not
    return not set(_names(first)).isdisjoint(leading)


def _names(text: str) -> list[str]:
    """Return its words with a capital or a digit, but for common ones, in order."""
    found = (_term(word) for word in _NAME.findall(text) if not word.islower())
    return [term for term in found if len(term) > 1 and term not in _COMMON]


def _term(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _headline_sentence(headline: str) -> str:
    """Return the headline as a sentence; in quotation marks, where it speaks for its author or to the reader."""
    text = _ELLIPSIS.sub("", headline) or headline
    is_speech = _speaks(text) or (_TO_THE_READER.match(text) and not text.endswith("?"))
    return _quote(text) if is_speech else end_with_stop(text)


def _quote(text: str) -> str:
    return f'"{end_with_stop(text.translate(INNER_QUOTES))}"'
