"""Pages of companies, people and products, and the ways that lead to them."""

import re

import pytest
from django.test import Client

from tests.factories import entry, publish, published
from wire.models import Entity, Story

pytestmark = pytest.mark.django_db


def test_a_page_has_events_trend_summary_and_feeds(client: Client) -> None:
    story = published(title="Sam Altman opens a quince shop")
    page = client.get("/about/sam-altman").content.decode()
    for part in (
        *('<p class="kicker">Person</p>', "<h1>Sam Altman</h1>", "1 story naming Sam Altman by 1 publication"),
        *("Sam Altman opens a quince shop", "/feeds/about-sam-altman.rss", "/api/activity.json?entity=sam-altman"),
        f"/story/{story.chatbotnews_id}",
    ):
        assert part in page, part
    assert "Its own posts" not in page
    assert "Sam Altman opens a quince shop" in client.get("/feeds/about-sam-altman.json").json()["items"][0]["title"]


def test_another_spelling_leads_to_the_page_and_an_unknown_name_to_none(client: Client) -> None:
    answer = client.get("/about/Altman")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/about/sam-altman")
    for path in ("/about/zyzzyva", "/about/sam-altman?cursor=x", "/feeds/about-zyzzyva.rss"):
        assert client.get(path).status_code == 404, path
    assert client.get("/about").status_code == 200


def test_what_an_editor_refused_has_no_page(client: Client) -> None:
    Entity.objects.filter(slug="sam-altman").update(state=Entity.State.NEVER)
    story = published(title="Sam Altman opens a quince shop")
    assert client.get("/about/sam-altman").status_code == 404
    assert "/about/sam-altman" not in client.get(f"/story/{story.chatbotnews_id}").content.decode()


def test_stories_events_searches_the_list_and_the_sitemap_lead_to_it(client: Client) -> None:
    story = published(title="Sam Altman and Jensen Huang open a quince shop")
    link = '<a href="/about/sam-altman">'
    for path in (
        *(f"/story/{story.chatbotnews_id}", f"/event/{story.event_id}", "/names"),
        *("/search?query=what+does+sam+altman+do", "/search?query=ALTMAN"),
    ):
        assert link in client.get(path).content.decode(), path
    assert "/about/sam-altman<" in client.get("/sitemap-pages.xml").content.decode()
    assert "/about/mira-murati<" not in client.get("/sitemap-pages.xml").content.decode(), "a page without a story"
    assert link not in client.get("/search?query=quince").content.decode()


def test_events_are_listed_once_page_by_page(client: Client) -> None:
    publish(*(entry(title=f"Grammarly corrects quince {number * 7919}") for number in range(40)))
    first = client.get("/about/grammarly").content.decode()
    following = first.partition('rel="next" href="?cursor=')[2].partition('"')[0]
    second = client.get(f"/about/grammarly?cursor={following}").content.decode()
    listed = [re.findall(r'<article class="story.*?</article>', page, re.DOTALL) for page in (first, second)]
    assert len(listed[0]) == 30
    assert len(set(listed[0] + listed[1])) == Story.objects.values("event").distinct().count() > 30
