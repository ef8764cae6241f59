"""What programs read beside the API: feeds, sitemaps, JSON-LD, directives and small files."""

import datetime as dt
import hashlib
import html
import json
import re
import zlib
from typing import Any
from xml.etree import ElementTree as ET

import atoma
import fastfeedparser
import feedparser
import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pyld import jsonld

from tests.factories import NOW, entry, publish, story_of
from wire.ingest import corrections
from wire.models import Snapshot, StoryRevision
from wire.site.about_pages import EXAMPLES

pytestmark = pytest.mark.django_db

TITLE = 'Quince & "Gherkin" <launch> 東京'
CONTEXT = {"@context": {"@vocab": "https://schema.org/"}}


def graph(client: Client, address: str) -> list[dict[str, Any]]:
    """The nodes of a page, expanded as a JSON-LD processor does."""
    page = client.get(address).content.decode()
    (script,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.S)

    def loader(url: str, _options: Any) -> dict[str, Any]:
        assert url == "https://schema.org"
        return {"contextUrl": None, "documentUrl": url, "document": CONTEXT}

    return list(jsonld.expand(json.loads(script), {"documentLoader": loader}))


def named(client: Client, address: str, tag: str) -> list[str]:
    """Texts of a sitemap's elements."""
    return [str(one.text) for one in ET.fromstring(client.get(address).content).iter(tag)]  # noqa: S314  ours


def of(kind: str, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    return next(node for node in nodes if f"https://schema.org/{kind}" in node["@type"])


def read_feed(client: Client, name: str, form: str, **query: str) -> list[dict[str, str]]:
    """Return the items of a feed as three readers' parsers agree on them: title, link, identity, text and time."""
    answer = client.get(f"/feeds/{name}.{form}", query)
    assert answer.status_code == 200, name
    theirs = feedparser.parse(answer.content, response_headers={"content-type": answer["Content-Type"]})
    assert form == "json" or not theirs.bozo, name
    fast = fastfeedparser.parse(answer.content).entries
    if form == "rss":
        atoms = [(one.title, one.link, one.guid, one.pub_date) for one in atoma.parse_rss_bytes(answer.content).items]
    elif form == "atom":
        entries = atoma.parse_atom_bytes(answer.content).entries
        atoms = [(one.title.value, one.links[0].href, one.id_, one.published) for one in entries]
    else:
        items = atoma.parse_json_feed_bytes(answer.content).items
        atoms = [(one.title, one.url, one.id_, one.date_published) for one in items]
    found = [{"title": one.title, "link": one.link, "id": one.id, "at": one.published[:19]} for one in fast]
    assert [(*one.values(),) for one in found] == [(*rest, f"{at:%Y-%m-%dT%H:%M:%S}") for *rest, at in atoms]
    if form != "json":  # which feedparser does not read
        assert [one["title"] for one in found] == [one.title for one in theirs.entries]
        for one, entry_ in zip(found, theirs.entries, strict=True):
            one |= {"summary": entry_.summary, "content": entry_.content[0].value, "author": entry_.author}
    else:
        for one, item in zip(found, answer.json()["items"], strict=True):
            one |= {"summary": html.escape(item["summary"], quote=False), "content": item["content_html"]}
            one["author"] = item["authors"][0]["name"]
    return found


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
def test_every_list_is_a_feed_that_readers_take(client: Client, form: str) -> None:
    summary = "OpenAI has the &lt;think&gt; tag &lt;img src=//x&gt; &amp;amp; again."
    made = entry(title=f"OpenAI launches {TITLE}", summary=summary, author="Ada Quill")
    publish(made)
    story = story_of(made)
    told = client.get(f"/api/stories/{story.chatbotnews_id}.json").json()
    cited = told["citation_objects"]["layered_ready"]
    assert "OpenAI has the <think> tag <img src=//x> &amp;" in cited
    page = f"http://localhost:8000/story/{story.chatbotnews_id}"
    event = f"http://localhost:8000/event/{story.event_id}"
    lists = ("stories", "category-launches", "topic-openai", "source-techcrunch", f"event-{story.event_id}", "search")
    of_events = ("events", f"storyline-{story.event_id}")
    for which in (*lists, *of_events):
        (item,) = read_feed(client, which, form, **({"query": "quince"} if which == "search" else {}))
        assert (item["title"], item["author"]) == (told["headline"], "Ada Quill")
        assert item["link"] == item["id"] == (event if which in of_events else page)
        assert item["at"] == "2026-01-15T10:00:00"
        assert html.unescape(item["summary"]) == f"{told['summary_medium']} Reported by TechCrunch."
        paragraphs = [html.unescape(text) for text in re.findall(r"<p>([^<]*)</p>", item["content"])]
        assert paragraphs == [told["summary_medium"], "Reported by TechCrunch.", f"To cite it: {cited}"]


def test_a_feed_says_what_it_is_and_where(client: Client) -> None:
    publish(entry())
    answer = client.get("/feeds/stories.json")
    assert answer["Content-Type"] == "application/feed+json; charset=utf-8"
    assert (answer.json()["version"], answer.json()["feed_url"]) == (
        "https://jsonfeed.org/version/1.1",
        "http://localhost:8000/feeds/stories.json",
    )
    for form in ("rss", "atom"):
        answer = client.get(f"/feeds/stories.{form}")
        # A browser shows this type in its style, which has to be of this site.
        assert answer["Content-Type"] == "application/xml; charset=utf-8"
        assert "style-src 'self'" in answer["Content-Security-Policy"]
        (style,) = re.findall(r'<\?xml-stylesheet type="text/css" href="(.*?)"\?>', answer.content.decode())
        assert finders.find(style.removeprefix("/static/"))
        found = feedparser.parse(answer.content)
        links = {link.rel: link.href for link in found.feed.links}
        assert links == {"self": f"http://localhost:8000/feeds/stories.{form}", "alternate": "http://localhost:8000/new"}
        assert client.get(f"/feeds/stories.{form}", headers={"If-None-Match": answer["ETag"]}).status_code == 304


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
def test_an_event_names_who_reported_it_and_who_was_first_also_where_its_summary_is_cut(client: Client, form: str) -> None:
    cut = "Quince ships its first boats to " + "many harbours and " * 12 + "many more"
    first = entry(title="Quince ships boats", summary=cut, published_at="2026-01-15T09:00:00Z")
    ten, eleven = ({"published_at": f"2026-01-15T{hour}:00:00Z"} for hour in (10, 11))
    second = entry(title="Quince ships its boats", publisher="Reuters", url="https://reuters.com/q", **ten)
    third = entry(title="Quince ships its first boats", publisher="Wired", url="https://wired.com/q", **eleven)
    publish(first, second, third)
    (item,) = read_feed(client, "events", form)
    assert "Reported by TechCrunch, Reuters and Wired; first by TechCrunch." in item["content"]
    stories = read_feed(client, "stories", form)
    assert all("Reported by TechCrunch, Reuters and Wired; first by TechCrunch." in story["summary"] for story in stories)
    assert "Quince ships its first boats to many harbours" in stories[-1]["summary"]
    assert len(read_feed(client, item["id"].rpartition("/")[2].join(("event-", "")), form)) == 3


@pytest.mark.parametrize(
    "page",
    [
        *("/", "/day/2026-01-15", "/week", "/new", "/event/{event}", "/storyline/{event}", "/topic/openai", "/category/launches"),
        *("/source/techcrunch", "/search?query=quince&topic=openai", "/corrections", "/editor-take/2026-01-15"),
    ],
)
def test_each_page_with_a_list_names_its_feeds(client: Client, page: str) -> None:
    publish(made := entry(title="OpenAI launches quince"))
    body = client.get(page.format(event=story_of(made).event_id)).content.decode()
    for form, type_ in (("rss", "rss+xml"), ("atom", "atom+xml"), ("json", "feed+json")):
        (address,) = re.findall(rf'<link rel="alternate" type="application/{re.escape(type_)}" href="(.*?)"', body)
        assert f'<a href="{address}">' in body  # for whom no reader finds it
        answer = client.get(html.unescape(address))
        assert (answer.status_code, address.partition("?")[0][-len(form) :]) == (200, form)


def test_a_story_without_a_summary_never_shows_its_headline_in_the_summarys_place(client: Client) -> None:
    publish(made := entry(title="Who needs a quince robot?", summary="Who needs a quince robot?"))
    story = client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json").json()
    assert story["summary_short"] == ""
    cited = f'According to TechCrunch, as summarized by ChatbotNews.ai, "Who needs a quince robot?" Source: {story["permalink"]}'
    assert story["citation_objects"]["layered_ready"] == cited
    (item,) = client.get("/feeds/stories.json").json()["items"]
    assert (item["summary"], item["content_text"]) == (
        "Reported by TechCrunch.",
        f"Reported by TechCrunch.\n\nTo cite it: {cited}",
    )
    page = client.get(f"/story/{story['chatbotnews_id']}").content.decode()
    (description,) = re.findall(r'<meta name="description" content="(.*?)">', page)
    assert description == "Reported by TechCrunch on 15 January 2026: citations, other reports and provenance."
    article = next(n for n in graph(client, f"/story/{story['chatbotnews_id']}") if n.get("@id", "").endswith("#story"))
    assert "https://schema.org/headline" in article
    assert "https://schema.org/abstract" not in article


def test_each_search_has_a_feed_of_its_own_with_its_filters(client: Client) -> None:
    publish(
        entry(title="OpenAI launches quince"),
        entry(title="A marmot sings to quince", publisher="Reuters", url="https://reuters.com/m"),
    )
    one, other = (
        feedparser.parse(client.get("/feeds/search.atom", {"query": query}).content).feed for query in ("quince", "openai")
    )
    assert one.id != other.id
    assert one.link == "http://localhost:8000/search?query=quince"
    assert client.get("/feeds/search.rss", {"query": "Quince\x01"}).status_code == 200  # which no feed can hold
    for query, titles, name in (
        ({"query": "quince", "source": "Reuters"}, ["A marmot sings to quince"], "“quince” from Reuters"),
        ({"tier": "2", "topic": "openai"}, ["OpenAI launches quince"], "stories in tier 2 about OpenAI"),
        ({"query": "quince", "since": "2027-01-01"}, [], "“quince” since 1 January 2027"),
    ):
        found = client.get("/feeds/search.json", query).json()
        assert ([item["title"] for item in found["items"]], found["title"]) == (titles, f"ChatbotNews.ai: {name}")
        page = client.get(found["home_page_url"].removeprefix("http://localhost:8000"))
        assert found["feed_url"].partition("/feeds")[2] in html.unescape(page.content.decode())
    for wrong in ({}, {"query": " "}, {"tier": "9"}, {"source": "The Bugle"}, {"query": "!!!"}):
        assert client.get("/feeds/search.rss", wrong).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rss", "atom"])
def test_corrections_and_takes_can_be_subscribed_to(client: Client, form: str) -> None:
    made = entry(title="Quince opens")
    publish(made, entry(title="A marmot sings", published_at="2026-01-14T10:00:00Z"))
    story = story_of(made).chatbotnews_id
    corrections.correct_texts(story, headline="Quince <i>closes</i>", reason="It closed.", now=NOW)
    (corrected,) = feedparser.parse(client.get(f"/feeds/corrections.{form}").content).entries
    assert corrected.link == corrected.id == f"http://localhost:8000/story/{story}#revision-2"
    assert corrected.title.startswith("Corrected: Quince")
    assert corrected.summary == "Corrected, TechCrunch: It closed."
    assert 'id="revision-2"' in client.get(f"/story/{story}").content.decode()
    takes = feedparser.parse(client.get(f"/feeds/takes.{form}").content).entries
    assert [take.link for take in takes] == [f"http://localhost:8000/editor-take/2026-01-{day}" for day in (15, 14)]
    assert "reported by TechCrunch." in takes[0].summary
    assert client.get("/feeds/takes.json").json()["items"][0]["content_html"].startswith("<h1>")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rss", "atom", "json"])
def test_no_stored_text_takes_a_feed_away(client: Client, form: str) -> None:
    publish(made := entry(title="Quince opens"))
    corrections.correct_texts(story_of(made).chatbotnews_id, headline="Quince closes", reason="It closed.", now=NOW)
    # As editions kept them that let control characters in.
    StoryRevision.objects.filter(revision=2).update(reason="It\x01 closed\x0b \ufffeat \U0001f4f0 noon.")
    packed = zlib.decompress(Snapshot.objects.latest("sequence").packed).replace(b"Written by", b"Written\\u0001 by")
    Snapshot.objects.update(packed=zlib.compress(packed))
    for feed, shown in (("corrections", "It closed at \U0001f4f0 noon."), ("takes", "Written by rules")):
        answer = client.get(f"/feeds/{feed}.{form}")
        assert answer.status_code == 200
        assert form == "json" or shown in "".join(ET.fromstring(answer.content).itertext())  # noqa: S314  the wire's own


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rss", "atom", "json"])
def test_a_feed_changes_with_the_wire_and_not_with_the_clock(client: Client, form: str) -> None:
    empty = client.get(f"/feeds/stories.{form}").status_code
    assert empty == 200
    publish(entry())
    first = client.get(f"/feeds/stories.{form}")["ETag"]
    assert client.get(f"/feeds/stories.{form}")["ETag"] == first
    publish(entry())
    assert client.get(f"/feeds/stories.{form}")["ETag"] != first


def test_a_withdrawn_story_leaves_feeds_and_sitemaps(client: Client) -> None:
    kept, gone = entry(), entry()
    publish(kept, gone)
    story_id = story_of(gone).chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted.", now=NOW)
    feeds = ("/feeds/stories.rss", "/feeds/stories.json", "/feeds/source-techcrunch.json")
    for address in (*feeds, "/source/techcrunch", "/sitemap-stories-0.xml"):
        body = client.get(address).content.decode()
        assert story_of(kept).chatbotnews_id in body
        assert story_id not in body


@pytest.mark.slow
def test_sitemaps_name_every_day_story_and_event(client: Client) -> None:
    made = [entry(title="Quince ships boats"), entry(title="A marmot sings", published_at="2026-01-14T10:00:00Z")]
    publish(*made, entry(title="Quince ships its boats", publisher="Reuters", url="https://reuters.com/q"))
    loc = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
    parts = [address.removeprefix("http://localhost:8000") for address in named(client, "/sitemap.xml", loc)]
    maps = ("pages", "articles", "factchecks", "timeline", "stories-0")
    assert parts == [f"/sitemap-{name}.xml" for name in maps]
    listed = {address for part in parts for address in named(client, part, loc)}
    stories = [story_of(one).chatbotnews_id for one in made]
    expected = [f"/event/{story_of(made[0]).event_id}", *(f"/story/{story}" for story in stories)]
    expected += [f"/{kind}/2026-01-{day}" for day in (14, 15) for kind in ("day", "editor-take", "provenance")]
    expected += ["/source/techcrunch", "/source/google-news"]
    assert {f"http://localhost:8000{path}" for path in expected} <= listed
    assert f"http://localhost:8000/event/{stories[1]}" not in listed  # nobody else tells of it: the story says it all
    for address in listed:
        assert client.get(address.removeprefix("http://localhost:8000")).status_code == 200, address


def test_news_crawlers_get_the_last_two_days(client: Client) -> None:
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    fresh = entry(title=TITLE, published_at=(now - dt.timedelta(hours=1)).isoformat())
    publish(fresh, entry(), now=now)
    titles = named(client, "/sitemap-news.xml", "{http://www.google.com/schemas/sitemap-news/0.9}title")
    assert titles == [client.get(f"/api/stories/{story_of(fresh).chatbotnews_id}.json").json()["headline"]]


def test_every_page_names_the_organization_the_site_the_data_and_the_mcp_server(client: Client) -> None:
    publish(entry())
    for address in ("/", "/sources", "/about", "/nowhere"):
        nodes = graph(client, address)
        assert of("NewsMediaOrganization", nodes)["@id"] == "http://localhost:8000/#organization"
        assert of("WebSite", nodes)["https://schema.org/potentialAction"]
        assert of("Dataset", nodes)["https://schema.org/license"]
        assert of("Service", nodes)["@id"] == "http://localhost:8000/#mcp-server"


def test_a_storys_metadata_points_to_the_publishers_article(client: Client) -> None:
    made = entry(title="</script><script>alert(1)</script> & quinces", author="Ada Quill")
    publish(made)
    story = client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json").json()
    node = of("NewsArticle", graph(client, f"/story/{story['chatbotnews_id']}"))
    (original,) = node["https://schema.org/isBasedOn"]
    assert original["https://schema.org/url"] == [{"@value": story["original_url"]}]
    assert original["https://schema.org/headline"] == [{"@value": story["headline"]}]
    assert node["https://schema.org/creditText"] == [{"@value": story["citation_objects"]["layered_ready"]}]


def test_crawlers_browsers_and_agents_find_the_small_files_that_they_look_for(client: Client) -> None:
    told = client.get("/robots.txt").content.decode()
    assert "Disallow: /admin/" in told
    assert "Sitemap: http://localhost:8000/sitemap.xml" in told
    icon = client.get("/favicon.ico")
    assert (icon.status_code, icon["Location"]) == (301, "/static/wire/icon.svg")
    snippets = client.get("/for-agents.html").content.decode()
    assert snippets.count("http://localhost:8000/mcp") >= 5
    assert "{{" not in snippets
    told = client.get("/llms-full.txt").content.decode()
    assert told.startswith(client.get("/llms.txt").content.decode().rstrip())
    assert [part for part in ("search_wire", "/api/search.json?query=", "RFC 8785") if part not in told] == []


def test_agents_find_programs_that_ask_this_wire_and_what_answers_cost(client: Client, settings: Any) -> None:
    settings.WIRE_MCP_URL = "https://wire.example/mcp"
    page = html.unescape(client.get("/for-agents.html").content.decode())
    for name, _label, file in EXAMPLES:
        program = (settings.BASE_DIR / "examples" / file).read_text(encoding="utf-8").strip()
        assert program.replace("http://localhost:8000", "https://wire.example") in page
        assert f'<a href="#{name}">' in page
    assert "<td>Is Forbes in the wire?</td>" in page
    assert page.count('<a href="/for-agents.html">') >= 2  # above and below
    assert "/for-agents.html" in client.get("/llms.txt").content.decode()
    assert "http://localhost:8000/for-agents.html" in named(
        client, "/sitemap-pages.xml", "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
    )


def test_security_txt_names_a_contact_and_expires(client: Client, settings: Any) -> None:
    told = dict(line.split(": ", 1) for line in client.get("/.well-known/security.txt").content.decode().splitlines())
    assert told["Contact"] == "mailto:security@localhost"
    expires = dt.datetime.fromisoformat(told["Expires"])
    assert dt.timedelta(days=150) < expires - dt.datetime.now(dt.UTC) < dt.timedelta(days=190)
    settings.WIRE_SECURITY_CONTACT = "https://quill.example/report"
    assert "Contact: https://quill.example/report" in client.get("/.well-known/security.txt").content.decode()


def test_anyone_can_recompute_the_hash_of_the_contract(client: Client) -> None:
    answer = client.get("/mcp-spec.md")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    sha256 = hashlib.sha256(answer.content).hexdigest()
    assert f"SHA-256 of http://localhost:8000/mcp-spec.md: {sha256}" in client.get("/llms.txt").content.decode()
    for address in ("/.well-known/mcp/server-card.json", "/mcp/server-card"):
        contract = client.get(address).json()["_meta"]["ai.chatbotnews/contract"]
        assert contract["spec_sha256_of"] == "http://localhost:8000/mcp-spec.md"
        assert contract["spec_sha256"] == sha256
        title = answer.content.decode().partition("\n")[0]
        assert title.endswith(f", version {contract['spec_version']}")
    assert 'href="/mcp-spec.md"' in client.get("/mcp-spec").content.decode()


def test_a_feed_of_a_search_has_the_newest_however_many_fit_better(client: Client) -> None:
    fitting = [entry(title=f"Quince quince quince model {n}", summary="Quince.", url=f"https://a.example/{n}") for n in range(51)]
    newest = entry(title="A chatbot", summary="By a firm called Quince.", url="https://a.example/new", published_at=NOW)
    publish(*fitting, newest)
    items = client.get("/feeds/search.json", {"query": "quince"}).json()["items"]
    assert len(items) == 50
    assert items[0]["title"] == newest.title
    phrase = client.get("/feeds/search.json", {"query": '"called quince"'}).json()["items"]
    assert [item["title"] for item in phrase] == [newest.title]
