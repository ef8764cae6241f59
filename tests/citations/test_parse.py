"""Citations read back: whatever a publisher's texts say, a citation is its own story's."""

import pytest
from hypothesis import given

from citations.format.formats import Citable, CitationFormat, cite_story
from tests.citations.reader import ReadCitation, read_back
from tests.citations.stories import CREDITED, STORY, stories, story
from tests.examples import examples


def expect(cited: Citable, form: CitationFormat) -> ReadCitation:
    return ReadCitation(form, None if form == CitationFormat.INLINE else cited.chatbotnews_id, cited.publisher)


@pytest.mark.parametrize("form", CitationFormat)
def test_a_citation_gives_back_what_it_says_whatever_quotation_marks_and_space_are_around_and_in_it(form: CitationFormat) -> None:
    assert read_back(cite_story(CREDITED, form)) == expect(CREDITED, form)
    whole = cite_story(STORY, form)
    for frame in ("{}", "  {}\n", '"{}"', "“{}”", "'{}' ", "`{}`"):
        assert read_back(frame.format(whole)) == expect(STORY, form), frame
    if form in {CitationFormat.BIBTEX, CitationFormat.RIS}:
        assert read_back(whole.replace("\n", "\r\n")) == expect(STORY, form)
    if form in {CitationFormat.LAYERED, CitationFormat.REFERENCE, CitationFormat.ACADEMIC, CitationFormat.APA, CitationFormat.MLA}:
        assert read_back(whole.replace(" ", "\n  ")) == expect(STORY, form)


@pytest.mark.slow
@pytest.mark.parametrize("form", CitationFormat)
@given(cited=stories())
@examples(30)
def test_format_id_and_publisher_come_back_whatever_the_texts_say(form: CitationFormat, cited: Citable) -> None:
    assert read_back(cite_story(cited, form)) == expect(cited, form)


@pytest.mark.parametrize("form", CitationFormat)
def test_a_date_that_never_was_is_no_date_of_the_citation(form: CitationFormat) -> None:
    for false in ("2026-00-11", "2026-02-30", "0000-01-01", "٢٠٢٦-٠١-٠١"):
        year, month, day = false.split("-")
        cited = story(CREDITED, credited_source=f"), {false}: -", author=f"A ({year}, Foo {day}). B ({year}, May {month}{day}). C")
        assert read_back(cite_story(cited, form)) == expect(cited, form), false
    cited = story(author="A (2026, May 0).")  # right before the true one
    assert read_back(cite_story(cited, form)) == expect(cited, form)


def test_a_headline_that_says_that_google_news_credits_somebody_does_not_say_it_of_its_own_story() -> None:
    cited = story(author=None, headline="A. Google News, crediting B")
    assert read_back(cite_story(cited, CitationFormat.ACADEMIC)) == expect(cited, CitationFormat.ACADEMIC)


@pytest.mark.parametrize("headline", ["OpenAI ships GPT-6", "OpenAI ships GPT-6.", "Who needs GPT-6?", "It’s here: GPT-6!"])
def test_a_story_without_a_summary_is_cited_by_its_headline(headline: str) -> None:
    cited = story(headline=headline, summary_short="")
    ended = f'"{headline}"' if headline.endswith(("?", "!")) else f"{headline.rstrip('.')}."
    assert cite_story(cited) == f"According to TechCrunch, as summarized by ChatbotNews.ai, {ended} Source: {cited.permalink}"
