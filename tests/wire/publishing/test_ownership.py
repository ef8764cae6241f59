"""Publications of one house are one voice when they carry the same text, and two when each reports for itself."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.models import Publication
from tests.factories import entry, publish, story_of
from tests.wire.agreement import disagreements
from wire import queries
from wire.publishing.consensus import Report, score_reports, weigh_consensus

NEWS = "Quince Robotics buys Lantern Labs for $90 million"
TOLD_ANOTHER_WAY = "Lantern Labs bought by Quince Robotics in a deal worth $90 million"
SUMMARY = "The maker of robots pays $90 million for a laboratory that teaches them how to fold laundry, both said on Friday."
CUT = "The maker of robots pays $90 million for a laboratory that teaches them how to fold laundry."
OTHER_SUMMARY = "Shares of Quince fell by a tenth after the deal became known. Analysts doubt that anybody needs a folding robot."
MOMENT = dt.datetime(2026, 1, 15, 10, tzinfo=dt.UTC)


def report(number: int, publisher: str, headline: str, summary: str, author: str | None = None, house: str = "") -> Report:
    moment = MOMENT + dt.timedelta(minutes=number)
    return Report(f"cbn-{number:012}", publisher, 2, moment, headline, summary, author, house)


def count(one: Report, other: Report) -> int:
    return weigh_consensus(one, [other]).count


@pytest.mark.parametrize(
    ("house", "told", "counted"),
    [
        ("Condé Nast", {"summary": CUT}, 1),
        ("Condé Nast", {"summary": CUT, "author": "Ada Quill"}, 1),
        ("Condé Nast", {"summary": OTHER_SUMMARY}, 2),
        ("Condé Nast", {"summary": ""}, 2),
        ("Condé Nast", {"summary": OTHER_SUMMARY, "headline": f"{NEWS} in cash", "author": "ada quill"}, 1),
        ("Condé Nast", {"summary": OTHER_SUMMARY, "headline": f"{NEWS} in cash", "author": "Ben Inkwell"}, 2),
        ("Condé Nast", {"summary": OTHER_SUMMARY, "headline": f"{NEWS} in cash"}, 2),
        ("Vox Media", {"summary": CUT}, 2),
        ("", {"summary": CUT}, 2),
    ],
)
def test_a_text_that_a_house_prints_twice_counts_once(house: str, told: dict[str, str], counted: int) -> None:
    one = report(1, "Wired", NEWS, SUMMARY, "Ada Quill", "Condé Nast")
    other = report(2, "Ars Technica", **{"headline": TOLD_ANOTHER_WAY, "author": None, "house": house, **told})  # type: ignore[arg-type]
    assert count(one, other) == count(other, one) == counted
    assert [sibling.is_copy for sibling in weigh_consensus(one, [other]).siblings] == [counted == 1]


def test_publications_of_no_known_house_are_never_one_house() -> None:
    assert count(report(1, "Axios", NEWS, SUMMARY), report(2, "Semafor", TOLD_ANOTHER_WAY, CUT)) == 2


HOUSES = {"Wired": "Condé Nast", "Ars Technica": "Condé Nast", "Google AI Blog": "Google", "Google News": "Google", "Axios": ""}
REPORTS = st.tuples(
    st.sampled_from(sorted(HOUSES)),
    st.sampled_from([NEWS, f"{NEWS} in cash", TOLD_ANOTHER_WAY, "Robots fold laundry"]),
    st.sampled_from([SUMMARY, CUT, OTHER_SUMMARY, ""]),
    st.sampled_from([None, "", "Ada Quill", "Ben Inkwell"]),
    st.booleans(),
)


@given(st.lists(REPORTS, max_size=9))
def test_figures_of_a_whole_event_are_those_of_each_story_with_houses_too(
    drawn: list[tuple[str, str, str, str | None, bool]],
) -> None:
    event = [
        report(number, publisher, headline, summary, author, HOUSES[publisher] if is_owned else "")
        for number, (publisher, headline, summary, author, is_owned) in enumerate(drawn)
    ]
    weighed = {one.chatbotnews_id: weigh_consensus(one, event) for one in event}
    assert score_reports(event, weighed.keys()) == {story: (found.score, found.count) for story, found in weighed.items()}
    for found in weighed.values():
        assert found.count == 1 + sum(sibling.independent for sibling in found.siblings)


@pytest.mark.slow
@pytest.mark.django_db
def test_the_roster_says_who_is_of_one_house_and_since_when() -> None:
    wired = entry(title=NEWS, summary=SUMMARY, publisher="Wired", url="https://wired.com/q")
    ars = entry(title=TOLD_ANOTHER_WAY, summary=CUT, publisher="Ars Technica", url="https://arstechnica.com/q")
    publish(wired, ars)
    found = queries.get_consensus(story_of(wired).chatbotnews_id)
    assert (found.cross_source_count, found.consensus_score) == (1, 0.0)
    assert [(one.original_publisher, one.is_copy) for one in found.sibling_details] == [("Ars Technica", True)]
    assert story_of(wired).event_id == story_of(ars).event_id
    assert not disagreements()


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(("since", "counted"), [("2026-01-15", 1), ("2026-01-16", 2)])
def test_who_was_bought_later_was_a_voice_of_its_own_until_then(since: str, counted: int) -> None:
    Publication.objects.filter(slug="ars-technica").update(owner_since=since)
    wired = entry(title=NEWS, summary=SUMMARY, publisher="Wired", url="https://wired.com/q")
    publish(wired, entry(title=TOLD_ANOTHER_WAY, summary=CUT, publisher="Ars Technica", url="https://arstechnica.com/q"))
    assert queries.get_consensus(story_of(wired).chatbotnews_id).cross_source_count == counted
    assert not disagreements()


@pytest.mark.slow
@pytest.mark.django_db
def test_figures_of_before_a_house_was_known_say_what_they_count() -> None:
    """Published figures stay until something happens to the event; the answer says by how many it is more than today's rules."""
    Publication.objects.update(owner="", owner_since=None)
    wired = entry(title=NEWS, summary=SUMMARY, publisher="Wired", url="https://wired.com/q")
    publish(wired, entry(title=TOLD_ANOTHER_WAY, summary=CUT, publisher="Ars Technica", url="https://arstechnica.com/q"))
    Publication.objects.filter(slug__in=["wired", "ars-technica"]).update(owner="Condé Nast")
    found = queries.get_consensus(story_of(wired).chatbotnews_id)
    assert found.cross_source_count == 2
    assert found.notes.endswith(
        "Counted in the day's last snapshot, but since withdrawn, moved, or found to be a copy or not a news report: 1."
    )
    publish(entry(title=f"{NEWS}, says Reuters", publisher="Reuters", url="https://reuters.com/q"))
    assert queries.get_consensus(story_of(wired).chatbotnews_id).cross_source_count == 2
    assert not disagreements()
