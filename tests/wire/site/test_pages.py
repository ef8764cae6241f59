"""The pages of the site: what each shows, that none asks more of the database as the wire grows, and that none loads anything."""

import datetime as dt
import gzip
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, entry, publish, story_of
from tests.wire.site.test_site import Page, page
from wire import usage
from wire.ingest import corrections
from wire.models import Story, StoryRevision
from wire.text.choices import NEWER_RULES, Category, Topic
from wire.usage import UsageKey

pytestmark = pytest.mark.django_db

NEWS = "Quince Robotics buys Lantern Labs for $90 million"
OTHER = "Lantern Labs bought by Quince Robotics for $90 million"


@pytest.fixture
def event() -> list[Story]:
    """Two publications tell of one purchase."""
    told = [
        entry(title=NEWS, published_at="2026-01-15T08:00:00Z"),
        entry(title=OTHER, publisher="Reuters", url="https://reuters.com/q"),
    ]
    publish(*told, entry(title="Gherkins are on the rise", published_at="2026-01-14T10:00:00Z"))
    return [story_of(one) for one in told]


@pytest.mark.usefixtures("event")
def test_the_lead_is_the_event_that_most_publications_bear_out(client: Client) -> None:
    text = " ".join(page(client, "/day/2026-01-15").text.split())
    assert f"two independent sources {NEWS} TechCrunch Tier 2 · also Reuters · 08:00" in text
    assert "2 stories about 1 event from 2 of 24 publications" in text


def test_copies_of_one_text_count_as_one_source(client: Client) -> None:
    copied = [entry(title=NEWS), entry(title=NEWS, publisher="Reuters", url="https://reuters.com/q")]
    publish(*copied)
    text = " ".join(page(client, "/day/2026-01-15").text.split())
    assert "one source" in text
    assert "also Reuters" in text
    publish(entry(title=OTHER, publisher="Wired", url="https://wired.com/q"))
    found = story_of(copied[0])
    assert "3 reports by 3 of 24 publications" in page(client, f"/event/{found.event_id}").text
    for address in ("/day/2026-01-15", f"/category/{found.category}"):
        listed = " ".join(page(client, address).text.split())
        listed = listed.lower()
        assert listed.count("two independent sources") == 1, "the event once, whoever reports it"


@pytest.mark.usefixtures("event")
def test_days_lead_to_their_neighbours_and_to_the_archive(client: Client) -> None:
    assert "/day/2026-01-14" in page(client, "/day/2026-01-15").links
    assert "/day/2026-01-15" in page(client, "/day/2026-01-14").links
    assert {"/day/2026-01-14", "/day/2026-01-15"} <= set(page(client, "/archive").links)


@pytest.mark.slow
def test_a_long_day_goes_over_pages_without_losing_a_story(client: Client) -> None:
    made = [entry(title=f"Marmot{chr(97 + number % 26)}{number} sings") for number in range(130)]
    publish(*made)
    seen = [
        link for number in (1, 2, 3) for link in page(client, f"/day/2026-01-15?page={number}").links if link.startswith("/story/")
    ]
    assert set(seen) == {f"/story/{story_of(one).chatbotnews_id}" for one in made}
    assert "Page 3 of 3" in page(client, "/day/2026-01-15?page=99").text
    assert "Page 1 of 3" in page(client, "/day/2026-01-15?page=x").text


def test_a_story_shows_its_siblings_its_event_and_what_citation_managers_need(client: Client, event: list[Story]) -> None:
    found = page(client, f"/story/{event[0].chatbotnews_id}")
    assert {f"/story/{event[1].chatbotnews_id}", f"/event/{event[0].event_id}"} <= set(found.links)
    assert "Reported by 2 independent sources" in found.text
    html = client.get(f"/story/{event[1].chatbotnews_id}").content.decode()
    told = dict(re.findall(r'<meta name="(citation_\w+)" content="([^"]*)">', html))
    assert (told["citation_title"], told["citation_journal_title"]) == (OTHER, "Reuters")
    assert (told["citation_publication_date"], told["citation_public_url"]) == ("2026/01/15", "https://reuters.com/q")


def test_a_story_shows_what_its_revisions_changed_and_why(client: Client, event: list[Story]) -> None:
    story_id, headline = event[0].chatbotnews_id, "Quince Robotics buys Lamp Labs & Sons"
    corrections.correct_texts(story_id, headline=headline, reason="The name was wrong.", now=NOW)
    html = client.get(f"/story/{story_id}").content.decode()
    assert "<del> Lantern</del><ins> Lamp</ins> Labs<del> for" in html
    assert "The name was wrong." in html
    for letter in "ab":  # a long text that changed is shown whole
        corrections.correct_texts(story_id, summary=f"{letter} " * 230, reason="Long.", now=NOW)
    changed = f"<del>{('a ' * 230).strip()}</del> <ins>{('b ' * 230).strip()}</ins>"
    assert changed in client.get(f"/story/{story_id}").content.decode()


def test_an_event_lists_its_reports_oldest_first_and_a_merged_one_leads_on(client: Client, event: list[Story]) -> None:
    found = page(client, f"/event/{event[0].event_id}")
    reports = found.text[found.text.index("Who reported it, and when") :]
    assert reports.index("TechCrunch") < reports.index("Reuters")
    gherkin = Story.objects.exclude(event=event[0].event_id).get()
    corrections.merge_events([str(event[0].event_id), str(gherkin.event_id)], reason="One story.", now=NOW)
    moved = client.get(f"/event/{event[0].event_id}")
    assert (moved.status_code, moved["Location"]) == (302, f"/event/{gherkin.event_id}")


def test_lists_page_by_cursor(client: Client) -> None:
    publish(*(entry(title=f"OpenAI launches {chr(97 + number % 26)}marmot{number}") for number in range(35)))
    first = page(client, "/category/launches")
    (older,) = [link for link in first.links if link.startswith("?cursor=")]
    rest = page(client, f"/category/launches{older}")
    stories = [link for one in (first, rest) for link in one.links if link.startswith("/story/")]
    assert len(set(stories)) == len(stories) == 35
    assert "35 stories about OpenAI" in page(client, "/topic/openai").text


@pytest.mark.usefixtures("event")
def test_a_search_page_finds_suggests_and_refuses(client: Client) -> None:
    text = page(client, "/search?query=lantern").text
    assert "1 event" in text
    assert "1 more matching story on the event" in text
    assert "2 stories" in page(client, "/search?query=lantern&group=none").text
    assert "1 story" in page(client, "/search?query=lantern&source=Reuters&group=none").text
    found = page(client, "/search?query=lanturn")
    assert "/search?query=lantern" in found.links
    refused = client.get("/search", {"query": "lantern", "source": "The Bugle"})
    assert (refused.status_code, "“The Bugle” is not one of the 24" in refused.content.decode()) == (422, True)
    assert client.get("/search", {"query": "!!!"}).status_code == 422
    assert client.get("/search", {"query": "q" * 400}).status_code == 422
    for wrong in ({"since": "soon"}, {"tier": "x"}, {"tier": "9"}, {"topic": "quinces"}):
        refused = client.get("/search", {"query": "lantern", **wrong})
        assert refused.status_code == 422
        assert f"The filter “{next(iter(wrong))}” rejects" in refused.content.decode()
    assert '<link rel="canonical" href="http://localhost:8000/search">' in client.get("/search?query=lantern").content.decode()


def test_the_index_of_topics_counts_each_list_and_names_its_newest_story(client: Client) -> None:
    titles = ["OpenAI launches quinces", "OpenAI launches marmots"]
    made = [entry(title=title, published_at=f"2026-01-15T{hour:02}:00:00Z") for hour, title in enumerate(titles)]
    publish(*made)
    found = page(client, "/topics")
    text = " ".join(found.text.split())
    assert f"OpenAI 2 stories {titles[1]} TechCrunch" in text
    assert f"Launches 2 stories {titles[1]} TechCrunch" in text
    assert "Funding 0 stories No stories yet." in text
    lists = [f"category-{category}" for category in Category] + [f"topic-{topic}" for topic in Topic]
    assert {f"/{one.replace('-', '/')}" for one in lists} < set(found.links)
    assert {f"/feeds/{one}.{form}" for one in lists for form in ("rss", "atom", "json")} < set(found.links)
    assert f"/story/{story_of(made[0]).chatbotnews_id}" not in found.links


def test_a_withdrawn_story_leaves_a_line_on_its_day_and_on_no_other(client: Client, event: list[Story]) -> None:
    story_id = event[1].chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted by <its> publisher.", now=NOW)
    found = page(client, "/day/2026-01-15")
    line = f"Withdrawn: {OTHER} (Reuters), 16 January 2026: Retracted by <its> publisher."
    assert line in " ".join(found.text.split())
    assert line in " ".join(page(client, "/").text.split())
    assert f"/story/{story_id}" in found.links
    assert "Withdrawn" not in page(client, "/day/2026-01-14").text


@pytest.mark.slow
def test_corrections_are_public_with_their_reasons_page_by_page_and_without_what_newer_rules_changed(
    client: Client, event: list[Story]
) -> None:
    assert "No corrections so far." in page(client, "/corrections").text
    corrections.correct_texts(event[0].chatbotnews_id, author="Ada", reason="The byline was missing.", now=NOW)
    StoryRevision.objects.filter(story=event[0], revision=2).update(reason=NEWER_RULES)
    assert "No corrections so far." in page(client, "/corrections").text
    for number in range(30):
        corrections.correct_texts(event[0].chatbotnews_id, author=f"Ada {number}", reason=f"Reason {number}.", now=NOW)
    corrections.withdraw_story(event[1].chatbotnews_id, reason="Retracted by its publisher.", now=NOW)
    first = page(client, "/corrections")
    (more,) = [link for link in first.links if link.startswith("?before=")]
    text = " ".join(first.text.split())
    assert text.index("Withdrawn. Retracted by its publisher.") < text.index("Corrected. Reason 29.")
    assert "Author: Ada 28 → Ada 29" in text
    assert "Reason 0." in page(client, f"/corrections{more}").text


def test_usage_tells_calls_and_errors_of_the_last_month(client: Client) -> None:
    today = dt.datetime.now(dt.UTC).replace(second=0, microsecond=0)
    old = today - dt.timedelta(days=40)
    counts = {("search_wire", today, "success"): 7, ("search_wire", today, "error"): 2, ("get_story", old, "success"): 99}
    usage.add_usage_counts(
        {UsageKey("wire", "tools/call", name, minute, outcome): number for (name, minute, outcome), number in counts.items()}
    )
    html = client.get("/usage").content.decode()
    assert "9 calls; 2 failed." in html
    assert "<code>search_wire</code></th><td>tools/call</td><td>9</td><td>2</td>" in html
    assert "get_story" not in html


@pytest.mark.usefixtures("event")
def test_what_is_not_there_is_a_404_page(client: Client) -> None:
    for address in [
        *(
            "/day/2026-01-16",
            "/day/x",
            "/day/2026-13-01",
            "/event/cbn-000000000000",
            "/event/x",
            "/category/x",
            "/topic/x",
            "/source/x",
            "/source/%00",
            "/feeds/source-%00.rss",
            "/source/TechCrunch",
            "/source/techcrunch?cursor=x",
            "/feeds/source-x.rss",
            "/nowhere",
        ),
        *("/archive?year=1999", "/archive?year=x", "/corrections?before=x", "/provenance/2026-01-20", "/provenance/x", "/story/x"),
        *("/category/launches?cursor=x", "/sitemap-stories-1.xml", "/feeds/x.rss", "/feeds/stories.pdf", "/feeds/category-x.rss"),
        *("/feeds/search.rss", "/story/cbn-000000000000", "/editor-take/2026-01-20", "/editor-take/today"),
    ]:
        assert "There is no such page" in page(client, address, 404).text, address


def test_pages_of_an_empty_wire_are_pages_and_say_so(client: Client) -> None:
    for address in (
        "/new",
        "/archive",
        "/topics",
        "/search?query=x",
        "/search?tier=2",
        "/corrections",
        "/usage",
        "/category/launches",
        "/sources",
    ):
        assert page(client, address).text
    for address in ("/", "/week", "/provenance"):
        assert "Nothing has been published yet" in page(client, address).text


FIXED = (
    "/week",
    "/new",
    "/day/2026-01-15",
    "/topic/funding",
    "/source/techcrunch",
    "/sources",
    "/search?query=quince",
    "/search?tier=2",
    "/topics",
    "/archive",
    "/corrections",
    "/editor-take/2026-01-15",
    "/provenance",
)
MACHINES = ("/feeds/stories.atom", "/sitemap-stories-0.xml")


def addresses(story: Story) -> list[str]:
    return [f"/story/{story.chatbotnews_id}", f"/event/{story.event_id}", f"/category/{story.category}", *FIXED]


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_the_wire(client: Client, event: list[Story]) -> None:
    def asked() -> dict[str, int]:
        found = {}
        for address in (*addresses(event[0]), *MACHINES):
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == 200
            found[address] = len(captured.captured_queries)
        return found

    corrections.correct_texts(event[0].chatbotnews_id, author="Ada", reason="Missing.", now=NOW)
    more = [entry(title=f"OpenAI and quince marmot {n}", publisher="Wired", url=f"https://wired.com/{n}") for n in range(25)]
    sequel = entry(title="Regulators fine a zeppelin maker")
    publish(sequel, *more[:5])
    corrections.join_storylines(str(event[0].event_id), str(story_of(sequel).event_id))
    few = asked()
    publish(*more, *(entry(title=f"{NEWS} now", publisher=who, url=f"https://{who}.com/q") for who in ("Axios", "Fortune")))
    corrections.correct_texts(story_of(more[0]).chatbotnews_id, author="Ada", reason="Missing.", now=NOW)
    many = asked()
    assert many.keys() == few.keys()
    assert {a: (few[a], many[a]) for a in few if many[a] > few[a]} == {}  # what finds enough looks no further


@pytest.mark.slow
def test_no_page_runs_or_loads_anything_from_elsewhere(client: Client, event: list[Story]) -> None:
    for address in [*addresses(event[0]), "/nowhere", "/api/docs"]:
        answer = client.get(address)
        policy = answer["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        found = Page(answer.content.decode())
        assert "style" not in found.tags
        assert not [name for name, _ in found.attributes if name == "style" or name.startswith("on")]
        loaded = [value for name, value in found.attributes if name in {"src", "srcset", "poster", "data"}]
        assert [value for value in loaded if not re.match("/[^/]", value)] == []


@pytest.mark.slow
def test_a_first_page_of_four_hundred_stories_is_light(client: Client) -> None:
    publish(*(entry(title=f"Marmot number {n}", summary=f"Marmot {n} learned a trick. " * 12) for n in range(400)))
    answer = client.get("/day/2026-01-15")
    assert len(gzip.compress(answer.content)) < 40_000
    assert len(answer.content) < 120_000
