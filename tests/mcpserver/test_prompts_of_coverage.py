"""The prompt that compares publications, of more of them than the sample wire has on one event."""

import datetime as dt
import re

import pytest

from tests.factories import NOW, entry, publish
from tests.mcpserver.asgi import prompt

pytestmark = pytest.mark.django_db(transaction=True)


def test_compare_coverage_leaves_no_publication_out() -> None:
    names = "TechCrunch, VentureBeat, The Verge, Wired, ZDNet, Ars Technica, Reuters, Bloomberg, Financial Times, Axios, Fortune"
    told = [
        entry(
            title=f"Anthropic raises $9 billion from Lightspeed, {word}",
            url=f"https://p{number}.example/x",
            publisher=name,
            summary=f"{name} tells it in words of its own: {word}.",
            published_at=NOW - dt.timedelta(minutes=number),
        )
        for number, (name, word) in enumerate(zip([*names.split(", "), "Wired"], "abcdefghijkl", strict=True))
    ]
    publish(*told)
    text = prompt("compare-coverage", event=told[0].title)
    assert sorted(re.findall(r"^Publication: (.*)$", text, re.MULTILINE)) == sorted(names.split(", "))
    assert "11 publications covered the same event" in text
    assert "get_consensus names their other reports (1)" in text
    assert f"{told[-1].summary}" in text  # Wired's first report
