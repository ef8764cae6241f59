"""Stories to cite, and texts that try to break out of their citation."""

import datetime as dt
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from citations.format.formats import Citable

STORY = Citable(
    chatbotnews_id="cbn-0123456789ab",
    headline="OpenAI ships GPT-6",
    summary_short="OpenAI released GPT-6 to all users.",
    author="Jane Doe",
    publisher="TechCrunch",
    tier=2,
    credited_source=None,
    original_url="https://techcrunch.com/2026/11/05/gpt-6",
    permalink="http://localhost:8000/story/cbn-0123456789ab",
    site="http://localhost:8000",
    wire_date=dt.date(2026, 11, 5),
)
CREDITED = replace(STORY, author=None, publisher="Google News", tier=4, credited_source="St. Louis Post")


def story(base: Citable = STORY, **changes: Any) -> Citable:
    return replace(base, **changes)


_SYNTAX = (
    *"\\{}[]()<>&#%$~^_\"'`-,;:@!?|*=. \t\n\r\0\x1b\x85\u2028\u200f\u202e\ufeff",
    *("--", "---", "''", "``", "?`", "&amp;", "&#65;", "](x)", "![", "\\{", "\\textbackslash", "{}", "@misc{", "@x(", "$$", "<b>"),
    *("\nTY  - NEWS", "\nER  - ", "\r\nAU  - x", '," ', ', "', ". Source: ", ", crediting ", "<https://a.example>"),
    *(" [reported by ", '" Reported by ', " (indexed by "),
    *("é", "e\u0301", "中文", "مرحبا", "🤖", "👩‍💻", "Å", "\u00a0", "word", "A"),
)
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(_SYNTAX), max_size=25).map("".join))
days = st.dates(dt.date(1990, 1, 1), dt.date(2099, 12, 31))


@st.composite
def stories(draw: st.DrawFn) -> Citable:
    base = draw(st.sampled_from((STORY, CREDITED)))
    return replace(
        base,
        headline=draw(texts),
        summary_short=draw(texts),
        author=draw(st.none() | texts),
        credited_source=base.credited_source and draw(texts.filter(str.strip)),
        wire_date=draw(days),
        corrected_on=draw(st.none() | days),
    )
