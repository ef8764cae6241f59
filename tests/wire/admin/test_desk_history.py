"""The desk's history: a row for each action, with present names and what changed."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from sources.models import Feed
from tests.factories import entry, feed_of, publish, story_of
from tests.wire.desk import at_desk, person, words
from wire.admin import base
from wire.corpora.factchecks.models import LoadJob

pytestmark = pytest.mark.django_db
PAGE = "/admin/admin/logentry/"


@pytest.fixture
def desk() -> Client:
    return at_desk("editor", "publisher")


def shown(desk: Client, **query: str) -> str:
    answer = desk.get(PAGE, query)
    assert answer.status_code == 200
    return words(answer)


def test_an_action_on_several_stories_is_one_row_with_their_headlines(desk: Client) -> None:
    made = [entry(title=f"{name} sails") for name in ("Quince", "Marmot", "Gherkin", "Okapi")]
    publish(*made)
    stories = [story_of(one) for one in made]
    chosen = [story.pk for story in stories]
    form = {"action": "merge_events", "_selected_action": chosen, "reason": "One regatta."}
    desk.post("/admin/wire/story/", form)
    assert LogEntry.objects.count() == 4
    page = shown(desk)
    assert "1 log entry" in page
    assert re.search(r"Wire \| story (\w+ sails ){3}and 1 more Events merged: One regatta\. \(“", page)
    assert stories[0].chatbotnews_id not in page
    assert "1 log entry" in shown(desk, q=stories[3].chatbotnews_id), "a search finds the action by any of its stories"
    assert "0 log entries" in shown(desk, q="nothing at all")


def test_a_changed_field_is_shown_with_its_old_and_its_new_value(desk: Client) -> None:
    feed = feed_of("wired")
    page = f"/admin/sources/publication/{feed.publication_id}/change/"
    form = desk.get(page).context["adminform"].form
    values = {name: form[name].value() for name in form.fields} | {"owner": "Quince Group", "owner_since": "2026-01-01"}
    inlines = {"feeds-TOTAL_FORMS": 1, "feeds-INITIAL_FORMS": 1, "feeds-0-id": feed.pk, "feeds-0-publication": feed.publication_id}
    fields = {f"feeds-0-{name}": getattr(feed, name) or "" for name in ("feed_type", "url", "query", "note")}
    answer = desk.post(page, {name: value for name, value in (values | inlines | fields).items() if value is not None}, follow=True)
    assert not answer.context.get("errors"), answer.context.get("errors")
    assert not Feed.objects.get(pk=feed.pk).active
    said = shown(desk)
    assert f"Owner: {feed.publication.owner or 'none'} → Quince Group" in said
    assert "Active: on → off" in said


def test_a_value_that_may_hold_a_token_and_a_persons_data_are_not_shown() -> None:
    field = base.address_field()
    assert base._format_value(field, "https://quince.example/feed?key=secret") == "https://quince.example/feed?key=…"
    person("colleague")
    chief = person("chief")
    chief.is_superuser = True
    chief.save()
    client = Client()
    client.force_login(chief)
    page = f"/admin/auth/user/{chief.pk}/change/"
    form = client.get(page).context["adminform"].form
    values = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "")}
    joined = chief.date_joined
    values |= {"email": "chief@quince.example", "date_joined_0": f"{joined:%Y-%m-%d}", "date_joined_1": f"{joined:%H:%M:%S}"}
    client.post(page, values)
    chief.refresh_from_db()
    assert chief.email == "chief@quince.example"
    assert "chief@quince.example" not in LogEntry.objects.latest("pk").get_change_message()


def test_a_row_shows_the_present_state_of_a_load_and_the_last_name_of_what_is_gone(desk: Client) -> None:
    job = LoadJob.objects.create(source="c1.csv", fingerprint="1", status=LoadJob.Status.RUNNING)
    request = desk.get(PAGE).wsgi_request
    base.log_change(request, [job], "Uploaded c1.csv.")
    LoadJob.objects.update(status=LoadJob.Status.DONE)
    assert f"c1.csv: {LoadJob.Status.DONE}" in shown(desk)
    assert f"c1.csv: {LoadJob.Status.RUNNING}" not in shown(desk)
    LoadJob.objects.all().delete()
    assert f"c1.csv: {LoadJob.Status.RUNNING}" in shown(desk)
