"""Citations read back."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.formats import Citable, CitationFormat, cite
from citations.parse import ParsedCitation, parse_citation
from tests.citations.stories import CREDITED, STORY, days, stories, story, texts
from tests.examples import examples

SINGLE = str.maketrans('"“”„', "'‘’‚")
WITHOUT_ADDRESS = {CitationFormat.INLINE}
WITHOUT_HEADLINE = {CitationFormat.LAYERED}
WITHOUT_DAY = {CitationFormat.LAYERED, CitationFormat.MARKDOWN, CitationFormat.BIBTEX}


def expected(cited: Citable, form: CitationFormat) -> ParsedCitation:
    return ParsedCitation(
        format=form,
        chatbotnews_id=None if form in WITHOUT_ADDRESS else cited.chatbotnews_id,
        publisher=cited.publisher,
        headline=None if form in WITHOUT_HEADLINE else cited.headline.translate(SINGLE if form == CitationFormat.MLA else {}),
        wire_date=None if form in WITHOUT_DAY else cited.wire_date,
    )


@pytest.mark.parametrize("form", CitationFormat)
def test_a_citation_gives_back_what_it_says_whatever_quotation_marks_and_space_are_around_and_in_it(form: CitationFormat) -> None:
    assert parse_citation(cite(CREDITED, form)) == expected(CREDITED, form)
    told = cite(STORY, form)
    for frame in ("{}", "  {}\n", '"{}"', "“{}”", "'{}' ", "`{}`"):
        assert parse_citation(frame.format(told)) == expected(STORY, form), frame
    if form in {CitationFormat.BIBTEX, CitationFormat.RIS}:
        assert parse_citation(told.replace("\n", "\r\n")) == expected(STORY, form)
    if form in {CitationFormat.LAYERED, CitationFormat.REFERENCE, CitationFormat.ACADEMIC, CitationFormat.APA, CitationFormat.MLA}:
        assert parse_citation(told.replace(" ", "\n  ")) == expected(STORY, form)


@pytest.mark.parametrize("form", CitationFormat)
@given(headline=st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=60), day=days)
@examples(25)
def test_any_headline_comes_back(form: CitationFormat, headline: str, day: dt.date) -> None:
    cited = story(headline=f"{headline}!", wire_date=day, corrected_on=day)
    assert parse_citation(cite(cited, form)) == expected(cited, form)


@pytest.mark.parametrize("form", CitationFormat)
@given(cited=stories())
@examples(30)
def test_format_id_and_publisher_come_back_whatever_the_texts_say(form: CitationFormat, cited: Citable) -> None:
    parsed = parse_citation(cite(cited, form))

    assert parsed is not None
    assert (parsed.format, parsed.chatbotnews_id, parsed.publisher) == (
        form,
        None if form in WITHOUT_ADDRESS else cited.chatbotnews_id,
        cited.publisher,
    )


NOT_CITED = [
    *("", "OpenAI ships GPT-6", "[" * 100_000, "9" * 5_000, "TY  - ELEC\nID  - cbn-0123456789ab\nER  - "),
    "According to TechCrunch, OpenAI released GPT-6. Source: http://localhost:8000/story/cbn-0123456789ab",
    "According to TechCrunch, as summarized by ChatbotNews.ai, it works. Source: https://techcrunch.com/",
    "According to TechCrunch, as summarized by ChatbotNews.ai, it works. Source: http://x.example/story/cbn-012",
    "ChatbotNews.ai, citing TechCrunch (Tier 2), 2026-13-45: It works.",
    *("[It works](http://x.example/story/cbn-0123456789ab)", '[{"id": "cbn-0123456789ab", "title": "x"}]'),
    *("@misc{chatbotnews_0123456789ab, title = {x}}", "@article{someone_2026, title = {x}}"),
    '[{"id": "cbn-0123456789ab", "title": "x", "container-title": "TechCrunch", "source": "ChatbotNews.ai", '
    '"issued": {"date-parts": [[99999999999999999999, 1, 1]]}}]',
]


@pytest.mark.parametrize("headline", ["OpenAI ships GPT-6", "OpenAI ships GPT-6.", "Who needs GPT-6?", "It’s here: GPT-6!"])
def test_a_story_without_a_summary_is_cited_by_its_headline(headline: str) -> None:
    cited = story(headline=headline, summary_short="")
    ended = headline if headline.endswith((".", "?", "!")) else f"{headline}."
    said = f"According to TechCrunch, as summarized by ChatbotNews.ai, {ended} Source: {cited.permalink}"
    assert cite(cited) == said
    parsed = parse_citation(said)
    assert parsed is not None
    assert (parsed.chatbotnews_id, parsed.publisher) == (cited.chatbotnews_id, "TechCrunch")


def test_anything_else_is_no_citation() -> None:
    assert [text[:80] for text in NOT_CITED if parse_citation(text) is not None] == []


@pytest.mark.parametrize("form", CitationFormat)
def test_a_date_that_never_was_is_no_date_of_the_citation(form: CitationFormat) -> None:
    for false in ("2026-00-11", "2026-02-30", "0000-01-01", "٢٠٢٦-٠١-٠١"):
        year, month, day = false.split("-")
        cited = story(CREDITED, credited_source=f"), {false}: -", author=f"A ({year}, Foo {day}). B ({year}, May {month}{day}). C")
        assert parse_citation(cite(cited, form)) == expected(cited, form), false
    cited = story(author="A (2026, May 0).")  # right before the true one
    assert parse_citation(cite(cited, form)) == expected(cited, form)


def test_a_headline_that_says_that_google_news_credits_somebody_does_not_say_it_of_its_own_story() -> None:
    cited = story(author=None, headline="A. Google News, crediting B")
    assert parse_citation(cite(cited, CitationFormat.ACADEMIC)) == expected(cited, CitationFormat.ACADEMIC)


@pytest.mark.parametrize("form", CitationFormat)
@given(data=st.data())
@examples(25)
def test_no_damaged_citation_raises(form: CitationFormat, data: st.DataObject) -> None:
    whole = cite(STORY, form)
    cut = data.draw(st.integers(0, len(whole)))
    resume = data.draw(st.integers(0, len(whole)))
    parse_citation(whole[:cut] + data.draw(texts) + whole[resume:])


SEPARATORS = [
    *("According to x, as summarized by ChatbotNews.ai, y. Source: ", "ChatbotNews.ai, citing x (Tier , 2026-01-01: "),
    *('x, "," 1 May 2026, y, indexed by ChatbotNews.ai, ', " (2026, May 1). x. Google News, crediting "),
    *("[x](y) (z, via [ChatbotNews.ai](", "[\\", "](", "@misc{chatbotnews_", "  title = {}", "\n} \t", "TY  - "),
    *(" (indexed by ChatbotNews.ai, ", '" Reported by x. y, 1 May 2026, z. Indexed by ChatbotNews.ai, ', " [reported by ", "? "),
    *(" [corrected 2026-01-01]", '{"a":[', ". ", ' "', ", ", "&", "\n"),
]


@pytest.mark.parametrize("piece", SEPARATORS)
def test_the_work_is_linear_in_the_text(piece: str) -> None:
    """200,000 characters of any separator, behind every opening: a quadratic reading takes minutes, and the timeout ends it."""
    for opening in ("", "According to ", "ChatbotNews.ai, citing ", "[", "@misc{chatbotnews_0123456789ab,\n", "TY  - "):
        parse_citation(opening + piece * (200_000 // len(piece)))
