"""The wire's own takes and corrections, as articles of the publisher `wire`."""

import datetime as dt
from typing import Any

import pytest

from config.errors import NotFound
from tests.factories import DAY, NOW, published
from wire.corpora.articles import house_publisher, queries
from wire.corpora.articles.indexer import RunReport, index_publisher
from wire.corpora.articles.models import OWN, Article, ArticleRevision, Publisher
from wire.ingest import corrections
from wire.models import EditorTake, Snapshot
from wire.publishing.publish import publish_day
from wire.queries import list_corrections as told_corrections

HOUR = dt.timedelta(hours=1)
TAKE = f"http://localhost:8000/editor-take/{DAY}"


def run(now: dt.datetime = NOW) -> RunReport:
    return index_publisher(Publisher.objects.get(slug=OWN), now=now)


@pytest.mark.usefixtures("db")
def test_a_migrated_database_has_the_wires_own_publisher() -> None:
    found = queries.get_publisher(OWN)
    assert (found.name, found.homepage, found.articles) == ("ChatbotNews.ai", "http://localhost:8000/", 0)
    assert "CC BY 4.0" in str(found.licence)
    assert Publisher.objects.get(slug=OWN).domains == ["localhost:8000"]
    assert not run().changed


@pytest.mark.usefixtures("sample_wire")
def test_the_take_of_each_published_day_and_each_corrected_story_is_an_article() -> None:
    corrected = {one.chatbotnews_id for one in told_corrections(500)[0]}
    report = run()
    assert report.counts["new"] == Snapshot.objects.days().count() + len(corrected)
    day = Snapshot.objects.days().latest("wire_date").wire_date
    take = queries.buy_article(OWN, f"http://localhost:8000/editor-take/{day}")[0]
    assert (take.title, take.author) == (f"Editor's Take: {day.day} {day:%B %Y}", "ChatbotNews.ai")
    assert take.publishedAt == dt.datetime.combine(day, dt.time(), dt.UTC)
    assert "Editor's Take" not in take.text
    assert queries.search_content(OWN, "take", 5).articles[0].url.startswith("http://localhost:8000/editor-take/")
    last_words = " ".join(take.text.split("](")[-2].split()[-3:])  # of the last headline, far behind what a snippet shows
    assert take.url in [hit.url for hit in queries.search_content(OWN, last_words, 20).articles]


@pytest.mark.usefixtures("db")
def test_again_nothing_changes_and_a_new_take_is_a_revision(django_assert_max_num_queries: Any) -> None:
    published()
    assert run().counts["new"] == 1
    with django_assert_max_num_queries(30):
        assert not run(NOW + HOUR).changed
    EditorTake.objects.create(wire_date=DAY, markdown="A day of **noodles**.", author="x")
    publish_day(DAY, now=NOW + HOUR)
    assert run(NOW + 2 * HOUR).counts["edited"] == 1
    assert "noodles" in queries.buy_article(OWN, TAKE)[0].text
    assert ArticleRevision.objects.count() == 1


@pytest.mark.usefixtures("db")
def test_the_corrections_of_a_story_are_one_article_newest_first() -> None:
    story = published()
    corrections.correct_texts(story.chatbotnews_id, headline="Another *headline*", reason="The name was wrong.", now=NOW)
    run()
    corrections.withdraw_story(story.chatbotnews_id, reason="It was [not] true.", now=NOW + HOUR)
    assert run(NOW + HOUR).counts["edited"] >= 1
    found = queries.buy_article(OWN, f"http://localhost:8000/story/{story.chatbotnews_id}")[0]
    assert found.title == "Withdrawn: Another *headline*"
    assert found.text.index(r"It was \[not\] true.") < found.text.index("The name was wrong.")
    assert r"**Corrected** on 16 January 2026, 12:00 UTC, revision 2 of “Another \*headline\*”" in found.text


@pytest.mark.usefixtures("db")
def test_on_another_site_the_same_articles_have_its_addresses(settings: Any) -> None:
    published()
    run()
    settings.WIRE_SITE_URL = "https://news.example"
    house_publisher.create_publisher()
    report = run(NOW + HOUR)
    assert (report.counts["new"], report.counts["gone"], Article.objects.count()) == (1, 1, 1)
    assert queries.buy_article(OWN, f"https://news.example/editor-take/{DAY}")[0].title
    with pytest.raises(NotFound):
        queries.buy_article(OWN, "https://news.example/editor-take/1999-01-01")
