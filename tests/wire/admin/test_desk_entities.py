"""Companies, people and products at the desk: the list, its form, and the queue of new names."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from tests.factories import published
from tests.wire.desk import at_desk, save, words
from wire.models import Entity, StoryEntity, WireState

pytestmark = pytest.mark.django_db
LIST = "/admin/wire/entity/"
ADD = "/admin/wire/entity/add/"
QUEUE = f"{LIST}?queue=new-names"


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def page_of(slug: str) -> str:
    return f"{LIST}{Entity.objects.get(slug=slug).pk}/change/"


def form(**values: object) -> dict[str, object]:
    usual = {"name": "Marmotly", "slug": "marmotly", "kind": "company", "spellings": "", "exceptions": "", "publication": ""}
    return {**usual, "state": "shown", **values}


def propose(name: str = "Marmotly") -> Entity:
    state = Entity.State.PROPOSED
    return Entity.objects.create(slug=name.lower(), name=name, kind="product", state=state, reason="4 stories, 0 expected.")


def test_a_new_name_lists_the_stories_of_before(desk: Client, client: Client) -> None:
    published(title="Marmotly sells quinces")
    published(title="Marmot Ltd buys them")
    before = WireState.objects.get().version
    answer = save(desk, ADD, form(spellings="Marmot Ltd\r\n\r\n  Marmot Inc "), follow=True)
    assert "Stories on its page: 2." in words(answer)
    assert client.get("/api/entities/marmot ltd.json").json()["total"] == 2
    assert WireState.objects.get().version > before, "readers must not be shown what was cached"
    save(desk, page_of("marmotly"), form(spellings=""))
    assert client.get("/api/entities/marmotly.json").json()["total"] == 1
    assert LogEntry.objects.filter(object_repr="Marmotly").count() == 2


def test_a_change_of_a_shipped_name_is_the_editors_and_never_takes_its_page_away(desk: Client, client: Client) -> None:
    published(title="Sam Altman sells quinces")
    values = {"name": "Sam Altman", "kind": "person", "spellings": "Altman"}
    save(desk, page_of("sam-altman"), form(**values, state="never"))
    assert not Entity.objects.get(slug="sam-altman").is_shipped
    assert not StoryEntity.objects.exists()
    assert client.get("/about/sam-altman").status_code == 404


def test_a_spelling_that_leads_elsewhere_is_refused(desk: Client) -> None:
    answer = save(desk, ADD, form(spellings="Altman"))
    assert "“Altman” already leads to Sam Altman, which has a page. Change that name instead." in words(answer)
    assert not Entity.objects.filter(slug="marmotly").exists()
    answer = save(desk, ADD, form(slug="openai"))
    assert "already exists" in words(answer)


def test_a_preview_shows_what_would_be_listed_and_saves_nothing(desk: Client) -> None:
    published(title="Marmotly sells quinces", summary="They are cheap.")
    answer = save(desk, ADD, form(_preview="1"))
    assert "1 of the newest 1 stories name it" in words(answer)
    assert "Marmotly sells quinces They are cheap." in words(answer)
    assert not Entity.objects.filter(slug="marmotly").exists()


def test_a_name_that_is_refused_in_its_form_is_said_to_be_refused(desk: Client) -> None:
    assert "“Never” refuses the name for good" in words(save(desk, ADD, form(state="never", _preview="1")))
    said = words(save(desk, ADD, form(state="never"), follow=True))
    assert "Refused for good: Marmotly has no page and is not proposed again." in said
    assert "Stories on its page" not in said


@pytest.mark.parametrize("kind", ["company", "person", "product"])
def test_one_click_gives_a_proposed_name_a_page(desk: Client, client: Client, kind: str) -> None:
    published(title="Marmotly sells quinces")
    entity = propose()
    assert "Marmotly 4 stories, 0 expected. Company Person Product Never" in words(desk.get(QUEUE))
    answer = desk.post(QUEUE, {"decide": f"{entity.pk} {kind}"}, follow=True)
    assert "Marmotly got a page: 1 story." in words(answer)
    assert client.get("/api/entities/marmotly.json").json()["kind"] == kind
    assert LogEntry.objects.get(object_repr="Marmotly").get_change_message() == "Marmotly got a page: 1 story."


def test_one_click_refuses_a_proposed_name_for_good(desk: Client) -> None:
    entity = propose()
    answer = desk.post(QUEUE, {"decide": f"{entity.pk} never"}, follow=True)
    assert "Marmotly never gets a page." in words(answer)
    assert "No new name is waiting" in words(answer)
    assert Entity.objects.get(pk=entity.pk).state == Entity.State.NEVER


@pytest.mark.parametrize("decision", ["{} place", "0 company", "x company", "²  company", "", "99999999999999999999 company"])
def test_a_decision_about_nothing_changes_nothing(desk: Client, decision: str) -> None:
    entity = propose()
    answer = desk.post(QUEUE, {"decide": decision.format(entity.pk)}, follow=True)
    assert "Nothing was changed" in words(answer)
    assert Entity.objects.get(pk=entity.pk).state == Entity.State.PROPOSED


def test_a_name_that_somebody_decided_about_meanwhile_stays_so(desk: Client) -> None:
    entity = propose()
    desk.post(QUEUE, {"decide": f"{entity.pk} never"})
    assert "Nothing was changed" in words(desk.post(QUEUE, {"decide": f"{entity.pk} company"}, follow=True))
    assert Entity.objects.get(pk=entity.pk).state == Entity.State.NEVER


def test_whoever_is_no_editor_decides_nothing() -> None:
    entity, stranger = propose(), at_desk()
    assert stranger.post(QUEUE, {"decide": f"{entity.pk} company"}).status_code == 403
    assert stranger.get(LIST).status_code == 403
    assert Entity.objects.get(pk=entity.pk).state == Entity.State.PROPOSED


def test_the_list_can_be_downloaded(desk: Client) -> None:
    rows = desk.get(f"{LIST}export.json/").json()
    (found,) = [row for row in rows if row["slug"] == "openai"]
    assert found == {
        **{"slug": "openai", "name": "OpenAI", "kind": "company", "spellings": "Open AI", "exceptions": ""},
        **{"publication": "openai-blog", "state": "shown"},
    }
