"""Citations found in texts: those of a story are its own, and no text hides others or takes long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.find.finder import find_citations
from citations.find.segments import strip_markup
from citations.format.formats import CitationFormat, cite_story
from tests.citations.stories import STORY, story, texts
from tests.examples import examples


@pytest.mark.parametrize("form", CitationFormat)
@given(headline=st.text(st.characters(categories=("L", "N"), include_characters=" ,:$%"), max_size=60))
@examples(25)
def test_format_id_and_publisher_come_back_with_any_headline(form: CitationFormat, headline: str) -> None:
    cited = story(headline=f"Quince {headline}!")
    (match,) = find_citations(cite_story(cited, form))
    story_id = None if form == CitationFormat.INLINE else cited.chatbotnews_id
    assert (match.format, match.story_id, match.publisher) == (form, story_id, cited.publisher)


@pytest.mark.parametrize("form", CitationFormat)
@given(data=st.data())
@examples(25)
def test_no_damaged_citation_raises(form: CitationFormat, data: st.DataObject) -> None:
    whole = cite_story(STORY, form)
    cut = data.draw(st.integers(0, len(whole)))
    resume = data.draw(st.integers(0, len(whole)))
    find_citations(whole[:cut] + data.draw(texts) + whole[resume:])


NOT_CITED = [
    *("", "OpenAI ships GPT-6", "[" * 20_000, "9" * 5_000, "According to TechCrunch, OpenAI released GPT-6."),
    "[It works](http://x.example/story/cbn-012)",
    *("@misc{chatbotnews_0123456789, title = {x}}", "@article{someone_2026, title = {x}}", '[{"title": "x", "URL": "y"}]'),
]


def test_anything_else_is_no_citation() -> None:
    assert [text[:80] for text in NOT_CITED if find_citations(text)] == []


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_sentences_before_an_id_are_looked_for_once() -> None:
    """Each sentence was once looked for from the beginning of its paragraph: some minutes."""
    found = find_citations(("。" * 1_600 + "cbn-06ff206kfxbb\n\n") * 200)
    assert len(found) == 200


@pytest.mark.timeout(20)
def test_a_tag_is_read_once() -> None:
    """Three parts of a tag of any length each were once tried with each other: some minutes."""
    text = ("<a " + "href=" * 99 + "a" * 480) * 1_000
    assert strip_markup(text) == text


SEPARATORS = [
    *("According to x, as summarized by ChatbotNews.ai, y. Source: ", "ChatbotNews.ai, citing x (Tier , 2026-01-01: "),
    *('x, "," 1 May 2026, y, indexed by ChatbotNews.ai, ', " (2026, May 1). x. Google News, crediting "),
    *("[x](y) (z, via [ChatbotNews.ai](", "[\\", "](", "@misc{chatbotnews_", "  title = {}", "\n} \t", "TY  - "),
    *(" (indexed by ChatbotNews.ai, ", '" Reported by x. y, 1 May 2026, z. Indexed by ChatbotNews.ai, ', " [reported by ", "? "),
    *(" [corrected 2026-01-01]", '{"a":[', ". ", ' "', ", ", "&", "\n"),
]


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", SEPARATORS)
def test_no_separator_takes_long(piece: str) -> None:
    """20,000 characters, the most that are verified, of any separator, behind every opening."""
    for opening in ("", "According to ", "ChatbotNews.ai, citing ", "[", "@misc{chatbotnews_0123456789ab,\n", "TY  - "):
        find_citations(opening + piece * (20_000 // len(piece)))


@pytest.mark.parametrize("beside", ['{"id": "cbn-7kt2v7n2ns0w", "claim": "It rained."}', '"It rained (cbn-7kt2v7n2ns0w)."'])
def test_what_stands_in_a_list_beside_a_record_is_found_too(beside: str) -> None:
    record = '{"id": "cbn-06ff206kfxbb", "type": "webpage", "title": "Rain"}'
    assert [one.story_id for one in find_citations(f"[{record}, {beside}]")] == ["cbn-06ff206kfxbb", "cbn-7kt2v7n2ns0w"]
