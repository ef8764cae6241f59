"""An article's text in other formats, at a cost that is bounded for any text."""

import time

import pytest

from wire.corpora.articles import rendering


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["[", "*a ", "- a\n", "_a_b", "<b>", "[a](", "![a](b ", "# a\n\n", "~~a", "\\", "&amp", "> "])
@pytest.mark.parametrize("form", ["text", "html"])
def test_no_text_costs_more_than_a_moment_to_render(shape: str, form: rendering.Format) -> None:
    text = shape * (200_000 // len(shape))
    before = time.process_time()
    found = rendering.render_markdown(text, form)
    assert time.process_time() - before < 0.5
    assert len(found) >= len(text)
    assert "<b>" not in found or form == "text"


@pytest.mark.slow
def test_a_text_with_the_markup_of_a_long_article_is_rendered() -> None:
    text = "\n\n".join(f"A [link](https://cake.example/{number}) and *stress* in paragraph {number}." for number in range(1_000))
    assert "<em>stress</em> in paragraph 999" in rendering.render_markdown(text, "html")
    assert "*" not in rendering.render_markdown(text, "text")
