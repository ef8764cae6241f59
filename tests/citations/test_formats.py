"""Citations in each format, word for word."""

import datetime as dt
import json

import pytest

from citations.format.formats import RENDERERS, CitationFormat, build_citation_objects, cite_story
from tests.citations.stories import CREDITED, STORY, story

LAYERED, INLINE, REFERENCE = CitationFormat.LAYERED, CitationFormat.INLINE, CitationFormat.REFERENCE
ACADEMIC, MARKDOWN, BIBTEX = CitationFormat.ACADEMIC, CitationFormat.MARKDOWN, CitationFormat.BIBTEX
CSL, RIS = CitationFormat.CSL, CitationFormat.RIS
APA, MLA = CitationFormat.APA, CitationFormat.MLA

LINK = "http://localhost:8000/story/cbn-0123456789ab"

PLAIN = {
    LAYERED: f"According to TechCrunch, as summarized by ChatbotNews.ai, OpenAI released GPT-6 to all users. Source: {LINK}",
    INLINE: "ChatbotNews.ai, citing TechCrunch (Tier 2), 2026-11-05: OpenAI ships GPT-6.",
    REFERENCE: 'TechCrunch, "OpenAI ships GPT-6," 5 November 2026, https://techcrunch.com/2026/11/05/gpt-6, '
    f"indexed by ChatbotNews.ai, {LINK}.",
    ACADEMIC: "Jane Doe. (2026, November 5). OpenAI ships GPT-6. TechCrunch. "
    f"Summarized by ChatbotNews.ai, The Conversational AI Wire. {LINK}",
    MARKDOWN: f"[OpenAI ships GPT-6]({LINK}) (TechCrunch, via [ChatbotNews.ai](http://localhost:8000))",
    BIBTEX: f"""\
@misc{{chatbotnews_0123456789ab,
  title = {{{{OpenAI ships GPT-6}}}},
  author = {{Doe, Jane}},
  howpublished = {{TechCrunch, via ChatbotNews.ai}},
  year = {{2026}},
  month = nov,
  url = {{https://techcrunch.com/2026/11/05/gpt-6}},
  note = {{Summarized by ChatbotNews.ai, The Conversational AI Wire. {LINK}}},
}}""",
    CSL: '[{"id": "cbn-0123456789ab", "type": "webpage", "title": "OpenAI ships GPT-6", '
    '"author": [{"family": "Doe", "given": "Jane"}], "container-title": "TechCrunch", '
    '"issued": {"date-parts": [[2026, 11, 5]]}, "URL": "https://techcrunch.com/2026/11/05/gpt-6", '
    f'"source": "ChatbotNews.ai", "note": "Summarized by ChatbotNews.ai, The Conversational AI Wire. {LINK}"}}]',
    RIS: f"""\
TY  - ELEC
ID  - cbn-0123456789ab
TI  - OpenAI ships GPT-6
AU  - Doe, Jane
T2  - TechCrunch
PB  - TechCrunch
PY  - 2026
DA  - 2026/11/05/
UR  - https://techcrunch.com/2026/11/05/gpt-6
DP  - ChatbotNews.ai
N1  - Summarized by ChatbotNews.ai, The Conversational AI Wire. {LINK}
ER  -\N{SPACE}
""",
    APA: "Doe, J. (2026, November 5). OpenAI ships GPT-6. TechCrunch. https://techcrunch.com/2026/11/05/gpt-6 "
    f"(indexed by ChatbotNews.ai, {LINK})",
    MLA: 'Doe, Jane. "OpenAI ships GPT-6." TechCrunch, 5 Nov. 2026, https://techcrunch.com/2026/11/05/gpt-6. '
    f"Indexed by ChatbotNews.ai, {LINK}.",
}

# The outlet is outside the roster, so Google News stays the publisher wherever there is one.
OUTLET = {
    LAYERED: "According to Google News, as summarized by ChatbotNews.ai, St. Louis Post reported "
    f"OpenAI released GPT-6 to all users. Source: {LINK}",
    INLINE: "ChatbotNews.ai, citing Google News (Tier 4), crediting St. Louis Post, 2026-11-05: OpenAI ships GPT-6.",
    REFERENCE: 'Google News, crediting St. Louis Post, "OpenAI ships GPT-6," 5 November 2026, '
    f"https://techcrunch.com/2026/11/05/gpt-6, indexed by ChatbotNews.ai, {LINK}.",
    ACADEMIC: "Google News. (2026, November 5). OpenAI ships GPT-6. Google News, crediting St. Louis Post. "
    f"Summarized by ChatbotNews.ai, The Conversational AI Wire. {LINK}",
    MARKDOWN: f"[OpenAI ships GPT-6]({LINK}) (Google News, crediting St. Louis Post, via [ChatbotNews.ai](http://localhost:8000))",
    APA: "OpenAI ships GPT-6 [reported by St. Louis Post]. (2026, November 5). Google News. "
    f"https://techcrunch.com/2026/11/05/gpt-6 (indexed by ChatbotNews.ai, {LINK})",
    MLA: '"OpenAI ships GPT-6." Reported by St. Louis Post. Google News, 5 Nov. 2026, '
    f"https://techcrunch.com/2026/11/05/gpt-6. Indexed by ChatbotNews.ai, {LINK}.",
}
NOTE = (
    "Google News, crediting St. Louis Post. Summarized by ChatbotNews.ai, The Conversational AI Wire. "
    f"{LINK} [corrected 2026-11-06]"
)


def test_a_story_is_cited_word_for_word_in_every_format_and_layered_unless_asked() -> None:
    assert list(CitationFormat) == [
        *("layered", "inline", "reference", "academic", "markdown", "bibtex", "csl", "ris", "apa", "mla")
    ]
    assert set(RENDERERS) == set(CitationFormat)
    assert {form: cite_story(STORY, form) for form in CitationFormat} == PLAIN
    assert cite_story(STORY) == PLAIN[LAYERED]


def test_a_story_carries_exactly_six_citations() -> None:
    names = ("layered_ready", "inline_ready", "reference_ready", "academic_story", "markdown_link", "bibtex")
    assert build_citation_objects(STORY) == {name: PLAIN[form] for name, form in zip(names, CitationFormat, strict=False)}


def test_an_outlet_outside_the_roster_is_credited_and_a_correction_dated_at_the_end() -> None:
    assert {form: cite_story(CREDITED, form) for form in OUTLET} == OUTLET
    corrected = story(corrected_on=dt.date(2026, 11, 6))
    assert {form: cite_story(corrected, form) for form in OUTLET} == {
        form: f"{PLAIN[form]} [corrected 2026-11-06]" for form in OUTLET
    }


def test_the_note_of_the_structured_formats_tells_credit_and_correction() -> None:
    corrected = story(CREDITED, corrected_on=dt.date(2026, 11, 6))

    assert f"  note = {{{NOTE}}},\n" in cite_story(corrected, BIBTEX)
    assert "  howpublished = {Google News, via ChatbotNews.ai},\n" in cite_story(corrected, BIBTEX)
    assert f"\nN1  - {NOTE}\n" in cite_story(corrected, RIS)
    assert "\nT2  - Google News\n" in cite_story(corrected, RIS)
    [item] = json.loads(cite_story(corrected, CSL))
    assert (item["note"], item["container-title"]) == (NOTE, "Google News")


SUMMARIES = {
    "OpenAI ships GPT-6 on Moon.": "OpenAI ships GPT-6 on Moon.",
    "OpenAI ships GPT-6 on Moon. ": "OpenAI ships GPT-6 on Moon.",
    "OpenAI ships GPT-6 on Moon": "OpenAI ships GPT-6 on Moon.",
    "OpenAI ships GPT-6 动了。": "OpenAI ships GPT-6 动了。",
    "OpenAI ships GPT-6 चलता है।": "OpenAI ships GPT-6 चलता है।",
    "OpenAI ships GPT-6 on Moon!": "OpenAI ships GPT-6 on Moon!",
    "OpenAI ships GPT-6 to Acme Inc. now.": "OpenAI ships GPT-6 to Acme Inc. now.",
    "OpenAI works.": "OpenAI ships GPT-6. OpenAI works.",
} | dict.fromkeys(("", " \n", "...", "OpenAI works…", "OpenAI works..."), "OpenAI ships GPT-6.")


def test_a_final_stop_is_not_doubled_and_the_headline_stands_in_for_no_summary() -> None:
    for summary, cited in SUMMARIES.items():
        expected = f"According to TechCrunch, as summarized by ChatbotNews.ai, {cited} Source: {LINK}"
        assert cite_story(story(summary_short=summary)) == expected
    stopped = story(headline="Nvidia buys Acme Inc.", author="John Doe Jr.")
    assert cite_story(stopped, INLINE).endswith(": Nvidia buys Acme Inc.")
    assert cite_story(stopped, ACADEMIC).startswith("John Doe Jr. (2026, November 5). Nvidia buys Acme Inc. TechCrunch.")
    assert '"Nvidia buys Acme Inc.," 5' in cite_story(stopped, REFERENCE)


@pytest.mark.parametrize("author", [None, "", " \t"])
def test_the_publisher_stands_in_for_a_missing_author_where_the_pattern_needs_one(author: str | None) -> None:
    assert cite_story(story(author=author), ACADEMIC).startswith("TechCrunch. (2026")


def test_no_text_breaks_the_line_of_a_citation() -> None:
    broken = story(headline="OpenAI\r\n ships\x00\u2028GPT-6 ", publisher="Tech\tCrunch", author="Jane\nDoe")
    for form in CitationFormat:
        assert cite_story(broken, form) == cite_story(story(publisher="Tech Crunch"), form)


def test_months_are_english_and_abbreviated_in_bibtex() -> None:
    cited = [story(wire_date=dt.date(2026, month, 1)) for month in range(1, 13)]

    assert [_between(cite_story(one, REFERENCE), "1 ", " 2026") for one in cited] == [
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ]
    assert [_between(cite_story(one, BIBTEX), "month = ", ",") for one in cited] == [
        *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
    ]


def test_urls_cannot_end_their_field() -> None:
    odd = story(original_url="https://a.example/x;y_(z)?q={%20} é&r=\\")

    assert "  url = {https://a.example/x;y_(z)?q=%7B%20%7D%20%C3%A9&r=%5C},\n" in cite_story(odd, BIBTEX)
    assert "\nUR  - https://a.example/x%3By_(z)?q=%7B%20%7D%20%C3%A9&r=%5C\n" in cite_story(odd, RIS)


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0].rsplit(" ", 1)[-1]


STYLED = {
    "Jane Doe and John Roe": ("Doe, J., & Roe, J.", "Doe, Jane, and John Roe."),
    "Jane Doe, John R. Roe and J.K. Poe": ("Doe, J., Roe, J. R., & Poe, J. K.", "Doe, Jane, et al."),
    "Martin Luther King Jr.": ("King, M. L., Jr.", "King, Martin Luther, Jr."),
    "Jean-Paul de la Croix": ("de la Croix, J.-P.", "de la Croix, Jean-Paul."),
    "山田 太郎": ("山田, 太郎.", "山田, 太郎."),
    "Reuters Staff": ("Reuters Staff.", "Reuters Staff."),
    "Jane Doe and Google DeepMind team": ("Doe, J., & Google DeepMind team.", "Doe, Jane, and Google DeepMind team."),
}


def test_apa_and_mla_name_authors_as_their_handbooks_do() -> None:
    for byline, (apa, mla) in STYLED.items():
        assert cite_story(story(author=byline), APA).startswith(f"{apa} (2026, November 5). OpenAI ships GPT-6. TechCrunch. https:")
        assert cite_story(story(author=byline), MLA).startswith(f'{mla} "OpenAI ships GPT-6." TechCrunch, 5 Nov. 2026, https:')
    crowd = [f"{letter}a Doe" for letter in "ABCDEFGHIJKLMNOPQRSTU"]
    assert ", Doe, S., . . . Doe, U. (2026" in cite_story(story(author="; ".join(crowd)), APA)
    assert ", Doe, S., & Doe, T. (2026" in cite_story(story(author="; ".join(crowd[:20])), APA)


def test_apa_and_mla_begin_with_the_title_where_nobody_signed_it() -> None:
    asked = story(author="TechCrunch", headline='Is "GPT-6" here?')
    assert cite_story(asked, APA).startswith('Is "GPT-6" here? (2026, November 5). TechCrunch. https:')
    assert cite_story(asked, MLA).startswith("\"Is 'GPT-6' here?\" TechCrunch, 5 Nov. 2026, https:")


def test_months_are_abbreviated_as_mla_does() -> None:
    cited = [cite_story(story(wire_date=dt.date(2026, month, 1)), MLA) for month in range(1, 13)]
    assert [_between(one, ", 1 ", " 2026") for one in cited] == [
        *("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
    ]
