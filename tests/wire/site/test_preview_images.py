"""The cards that are shown beside a link: what stands on them, seen by comparing pictures."""

from io import BytesIO

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.contract import BRIEFLY
from tests.examples import examples
from tests.factories import NOW, entry, publish, story_of
from wire.ingest import corrections
from wire.models import WireState
from wire.site import preview_images
from wire.site.preview_images import Card

AT: dict[str, str] = {"published_at": "2026-01-15T10:00:00Z"}


def png(client: Client, address: str) -> bytes:
    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (200, "image/png", BRIEFLY)
    with Image.open(BytesIO(answer.content)) as image:
        image.load()
        assert (image.format, image.size) == ("PNG", (1200, 630))
    return answer.content


def story_card(client: Client, title: str, **values: str) -> bytes:
    made = entry(title=title, **AT, **values)
    publish(made)
    return png(client, f"/og/story/{story_of(made).chatbotnews_id}.png")


def test_every_kind_of_card_is_a_picture_of_the_right_size(client: Client, db: None) -> None:  # noqa: ARG001
    png(client, "/og/site.png")  # of an empty wire too
    made = entry(title="Quinces & marmots are <friends>")
    publish(made)
    story = story_of(made)
    paths = (f"story/{story.chatbotnews_id}", f"event/{story.event_id}", "day/2026-01-15", "site")
    assert len({png(client, f"/og/{path}.png") for path in paths}) == 4


@pytest.mark.django_db
def test_the_same_story_has_the_same_card_and_a_corrected_headline_another(client: Client) -> None:
    made = entry(title="Quinces sing")
    publish(made)
    address = f"/og/story/{story_of(made).chatbotnews_id}.png"
    first = client.get(address)
    assert client.get(address).content == first.content
    assert client.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    corrections.correct_texts(story_of(made).chatbotnews_id, headline="Quinces hum", reason="They hum.", now=NOW)
    assert client.get(address)["ETag"] != first["ETag"]


@pytest.mark.django_db
def test_a_withdrawn_storys_card_says_so_without_its_headline(client: Client) -> None:
    made = [entry(title=title, **AT) for title in ("Quinces sing", "Marmots whistle")]
    publish(*made)
    addresses = [f"/og/story/{story_of(one).chatbotnews_id}.png" for one in made]
    before = {png(client, address) for address in addresses}
    for one in made:
        corrections.withdraw_story(story_of(one).chatbotnews_id, reason="Retracted.", now=NOW)
    after = {png(client, address) for address in addresses}
    assert (len(before), len(after), before & after) == (2, 1, set())


@pytest.mark.slow
@pytest.mark.django_db
def test_a_headline_that_the_typeface_cannot_draw_is_left_out(client: Client) -> None:
    other_scripts = {story_card(client, title) for title in ("東京でAIが歌う", "الذكاء الاصطناعي يغني", "Robots sing 🤖")}
    assert len(other_scripts) == 1
    assert len({story_card(client, title) for title in ("Žluťoučký kůň — “à 5 €…”", "Ρομπότ τραγουδούν", "Роботы поют")}) == 3


@pytest.mark.django_db
def test_the_sample_wire_has_a_band_on_every_card(client: Client) -> None:
    live = png(client, "/og/site.png")
    WireState.objects.filter(pk=1).update(is_sample=True)
    sample = png(client, "/og/site.png")
    with Image.open(BytesIO(live)) as one, Image.open(BytesIO(sample)) as other:
        corner = (5, 625)
        assert one.convert("RGB").getpixel(corner) != other.convert("RGB").getpixel(corner)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["story/cbn-000000000000", "story/x", "event/x", "day/2026-01-01", "day/x", "day/2026-02-31"])
def test_what_is_not_there_is_a_404_in_plain_text(client: Client, path: str) -> None:
    answer = client.get(f"/og/{path}.png")
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/plain; charset=utf-8")


@pytest.mark.slow
@pytest.mark.django_db
def test_pages_name_their_cards(client: Client) -> None:
    made = entry(title='Quinces "sing" & dance')
    publish(made)
    story = story_of(made)
    pages = {
        "/": "day/2026-01-15",
        "/day/2026-01-15": "day/2026-01-15",
        f"/story/{story.chatbotnews_id}": f"story/{story.chatbotnews_id}",
        f"/event/{story.event_id}": f"event/{story.event_id}",
        "/topics": "site",
    }
    for address, card in pages.items():
        html = client.get(address).content.decode()
        assert html.count(f'<meta property="og:image" content="http://localhost:8000/og/{card}.png">') == 1
        assert html.count('<meta name="twitter:card" content="summary_large_image">') == 1
        png(client, f"/og/{card}.png")
    html = client.get(f"/story/{story.chatbotnews_id}").content.decode()
    assert 'og:image:alt" content="Quinces &quot;sing&quot; &amp; dance, TechCrunch">' in html
    corrections.withdraw_story(story.chatbotnews_id, reason="Retracted.", now=NOW)
    html = client.get(f"/story/{story.chatbotnews_id}").content.decode()
    assert 'og:image:alt" content="A story that was withdrawn">' in html


long_words = st.lists(st.text("aW", max_size=80), max_size=99).map(" ".join)


@examples(100)
@given(title=st.one_of(st.text("aW il-€…", max_size=1000), long_words))
def test_a_title_is_at_most_five_lines_within_the_card_and_loses_no_word_but_behind_an_ellipsis(title: str) -> None:
    size, lines = preview_images.fit_title(title)
    assert len(lines) <= 5
    assert len(lines) * size * preview_images.LINE <= preview_images.TITLE_HEIGHT + size
    assert all(preview_images.measure_width(line, size) <= preview_images.ROOM for line in lines)
    told, shown = "".join(title.split()), "".join("".join(lines).split())
    assert shown == told or (shown.endswith("…") and told.startswith(shown[:-1]))


def test_a_short_title_is_large_and_a_long_one_shrinks_before_it_is_cut() -> None:
    sizes = [preview_images.fit_title("Quinces sing " * times)[0] for times in (1, 3, 6, 12, 60)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (preview_images.TITLE_SIZES[0], preview_images.TITLE_SIZES[-1])
    assert [preview_images.fit_title("Quinces sing " * times)[1][-1].endswith("…") for times in (12, 60)] == [False, True]


@pytest.mark.slow
def test_a_card_of_any_text_is_drawn_within_bounds() -> None:
    for title in ("", " ", "x" * 100_000, "W " * 50_000, "\x00\ud800", "e" + "\u0301" * 5_000):
        assert preview_images.draw_card(Card(title, "Source", "Facts", is_sample=True)).startswith(b"\x89PNG")
