"""Whether all that is served about an event agrees: its page, its stories' pages and JSON, get_consensus, the days."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.test import Client
from django.utils.dateparse import parse_datetime

from sources.roster import Houses
from wire.models import Snapshot, Story
from wire.publishing.consensus import Consensus, Report, weigh_consensus
from wire.text.filters import Genre, find_genre

Served = Mapping[str, Any]
FIGURES = ("event_id", "consensus_score", "cross_source_count")


def disagreements() -> list[str]:
    """What any two answers about an event tell otherwise, one line each."""
    client = Client(headers={"host": "localhost"})
    events: dict[str, list[Served]] = defaultdict(list)
    for story_id in Story.objects.live().newest_first().values_list("chatbotnews_id", flat=True):
        story = client.get(f"/api/stories/{story_id}.json").json()
        events[story["event_id"]].append(story)
    days = {day: _day(client, str(day)) for day in Snapshot.objects.days().values_list("wire_date", flat=True)}
    lines = {story_id: figures for figures_of in days.values() for story_id, figures in figures_of.items()}
    return [line for event_id, stories in events.items() for line in _event(client, event_id, stories, lines)]


def _event(client: Client, event_id: str, stories: Sequence[Served], lines: Mapping[str, tuple[Any, ...]]) -> Iterator[str]:
    """`stories` are those whose JSON names the event, newest first; `lines` what each has in its day's latest snapshot."""
    weighed = {story["chatbotnews_id"]: _weighed(story, stories) for story in stories}
    told = client.get(f"/api/events/{event_id}.json").json()
    yield from _event_page(client, event_id, stories, weighed)
    for story in stories:
        story_id = story["chatbotnews_id"]
        found = weighed[story_id]
        figures = (event_id, found.score, found.count)
        siblings = [sibling.report.chatbotnews_id for sibling in found.siblings]
        coverage = client.get("/api/consensus.json", {"story_id": story_id}).json()
        named = {
            "the story": tuple(story[name] for name in FIGURES),
            "get_consensus": tuple(coverage[name] for name in FIGURES),
            "its day": lines.get(story_id),
        }
        for who, said in named.items():
            if said != figures:
                yield f"{story_id}: {who} says {said}, the stories of the event give {figures}"
        if coverage["siblings"] != siblings:
            yield f"{story_id}: get_consensus names the siblings {coverage['siblings']}, the event has {siblings}"
        own = any(_is_news(one) for one in stories if one["original_publisher"] == story["original_publisher"])
        independent = [sibling["independent"] for sibling in coverage["sibling_details"]]
        if coverage["cross_source_count"] != max(own + sum(independent), 1):
            yield f"{story_id}: get_consensus counts {coverage['cross_source_count']}: {coverage['notes']}"
        if any(sibling["independent"] and sibling["genre"] != Genre.NEWS for sibling in coverage["sibling_details"]):
            yield f"{story_id}: get_consensus counts what is no news report: {coverage['sibling_details']}"
        if coverage["first_reported"] != told["first_reported"] or coverage["not_received"] != told["not_received"]:
            yield f"{story_id}: get_consensus and the event's JSON name another first report or silence"
        yield from _story_page(client, story_id, siblings, found)


def _event_page(client: Client, event_id: str, stories: Sequence[Served], weighed: Mapping[str, Consensus]) -> Iterator[str]:
    """Its page and its JSON; and its words wherever it is listed: on each day of a story of it, of its category, as JSON."""
    told = client.get(f"/api/events/{event_id}.json").json()
    oldest_first = sorted(stories, key=lambda story: (story["published_at"], story["chatbotnews_id"]))
    lead = next(story for story in stories if story["chatbotnews_id"] == told["lead"])
    figures = lead["consensus_score"], lead["cross_source_count"]
    if (told["consensus_score"], told["cross_source_count"]) != figures:
        yield f"{event_id}: its JSON says {told['consensus_score']}, {told['cross_source_count']}, its lead {figures}"
    if [report["chatbotnews_id"] for report in told["reports"]] != [story["chatbotnews_id"] for story in oldest_first]:
        yield f"{event_id}: its JSON names {told['reports']}, its stories are {sorted(weighed)}"
    if sum(report["independent"] for report in told["reports"]) != told["cross_source_count"]:
        yield f"{event_id}: its JSON counts {told['cross_source_count']} independent reports: {told['reports']}"
    news = [story for story in oldest_first if _is_news(story)]
    if told["first_reported"]["chatbotnews_id"] != (news or oldest_first)[0]["chatbotnews_id"]:
        yield f"{event_id}: its JSON says that {told['first_reported']} was first"
    if news and lead not in news:
        yield f"{event_id}: {lead['headline']!r} stands for it, which is no news report"
    page = client.get(f"/event/{event_id}").content.decode()
    first = re.search(r"(?:first|One report,) by <span class=\"publisher\">(?:<a [^>]*>)?([^<]+)", page)
    known = told["first_reported"]["original_publisher"] if told["first_reported"]["certain"] else None
    if (first and first[1]) != known:
        yield f"{event_id}: its page says that {first and first[1]} was first, its JSON {told['first_reported']}"
    silent = page.partition("<h3>Nothing received</h3>")[2].partition("</section>")[0]
    if re.findall(r'<a href="/source/[^"]+">([^<]+)', silent) != told["not_received"]:
        yield f"{event_id}: its page and its JSON differ about who sent nothing: {told['not_received']}"
    reports = page.partition('<h2 id="reports">')[2].partition("</section>")[0]
    if (shown := set(re.findall(r'<a href="/story/([^"]+)', reports))) != weighed.keys():
        yield f"{event_id}: its page shows {sorted(shown)}, its stories are {sorted(weighed)}"
    facts = re.search(r"(\d+) reports by (\d+) of 24 publications", page) or re.search(r"One report, by", page)
    expected = (len(stories), len({story["original_publisher"] for story in stories}))
    if facts is None or tuple(map(int, facts.groups() or (1, 1))) != expected:
        yield f"{event_id}: its page says {facts and facts[0]!r}, its stories give {expected}"
    score = re.search(r"consensus</a> <meter.*?</meter> ([\d.]+)", page)
    if (float(score[1]) if score else 0.0) != figures[0]:
        yield f"{event_id}: its page says {score and score[1]}, its lead {figures[0]}"
    kicker = re.search(r'<p class="kicker">Event · (.*?)</p>', page)
    listed = {f"/event/{event_id}": kicker and kicker[1]}
    for address in {f"/day/{story['published_at'][:10]}" for story in stories} | {f"/category/{lead['category']}"}:
        if (words := _words(client, address, event_id)) or (len(stories) > 1 and address.startswith("/day/")):
            listed[address] = words
    for story in stories:
        day = story["published_at"][:10]
        of_day = client.get("/api/events.json", {"date": day, "limit": 100}).json()["events"]
        listed[f"events of {day}"] = next((event["agreement"] for event in of_day if event["event_id"] == event_id), None)
        if len(stories) > 1:
            listed[f"/story/{story['chatbotnews_id']}"] = _words(client, f"/story/{story['chatbotnews_id']}", event_id)
    for where, words in listed.items():
        if words is None or words.casefold() != told["agreement"]:
            yield f"{event_id}: {where} says {words!r}, its JSON {told['agreement']!r}"


def _words(client: Client, address: str, event_id: str) -> str | None:
    """How widely an event is reported, as a page says it beside the link to it."""
    found = re.search(rf'<a href="/event/{event_id}">([^<]+)</a>', client.get(address).content.decode())
    return found and found[1]


def _story_page(client: Client, story_id: str, siblings: Sequence[str], found: Consensus) -> Iterator[str]:
    page = client.get(f"/story/{story_id}").content.decode()
    section = page.partition('<h2 id="others">')[2].partition("</section>")[0]
    if (shown := re.findall(r'<a href="/story/([^"]+)', section)) != siblings:
        yield f"{story_id}: its page names {shown}, the event has {siblings}"
    score = re.search(r"</meter> ([\d.]+)\.", section)
    if (float(score[1]) if score else 0.0) != found.score:
        yield f"{story_id}: its page says {score and score[1]}, the event gives {found.score}"


def _weighed(story: Served, others: Sequence[Served]) -> Consensus:
    houses = Houses.load()
    return weigh_consensus(_report(story, houses), [_report(other, houses) for other in others])


def _report(story: Served, houses: Houses) -> Report:
    published_at = parse_datetime(story["published_at"])
    assert published_at is not None
    return Report(
        story["chatbotnews_id"],
        story["original_publisher"],
        story["original_publisher_tier"],
        published_at,
        story["headline"],
        story["summary_medium"],
        story["author"],
        houses.get_owner(story["original_publisher"], published_at),
        _find_genre(story),
    )


def _find_genre(story: Served) -> Genre:
    return find_genre(story["headline"], story["original_url"], story["summary_medium"])


def _is_news(story: Served) -> bool:
    return _find_genre(story) == Genre.NEWS


def _day(client: Client, day: str) -> dict[str, tuple[Any, ...]]:
    """What the day's latest snapshot says of each of its stories."""
    stories = client.get(f"/api/archive/{day}.json").json()["stories"]
    return {story["chatbotnews_id"]: tuple(story[name] for name in FIGURES) for story in stories}
