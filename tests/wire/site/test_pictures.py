"""Publishers' pictures: shown only where the publication allows it, from our own address, whatever a publisher's server sends."""

import datetime as dt
import errno
import os
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from sources import picture_fetch, picture_store
from sources.fetch import Policy
from sources.models import FetchHost, Publication
from sources.picture_fetch import InvalidPicture, shrink_picture
from tests.factories import DAY, NOW, entry, publish, published, story_of
from tests.feedserver import FeedServer, Reply, Request
from tests.wire.desk import at_desk, save
from tests.wire.site.test_site import Page, page
from wire.ingest import corrections, feed_entries, twin_stories
from wire.models import Story

pytestmark = pytest.mark.django_db


def photograph(width: int = 1280, height: int = 720, form: str = "JPEG", **options: Any) -> bytes:
    image, body = Image.radial_gradient("L").resize((width, height)), BytesIO()
    Image.merge("RGB", (image, image, image)).save(body, form, **options)
    return body.getvalue()


@pytest.fixture
def story(server: FeedServer) -> Story:
    """A story of TechCrunch with a picture on a server that may be asked; whether it is allowed is for each test."""
    server.route("/a.jpg", body=photograph(), content_type="image/jpeg")
    FetchHost.objects.create(host=f"127.0.0.1:{server.port}", robots="", robots_at=dt.datetime.now(dt.UTC))
    return published(image=server.url("/a.jpg"))


def allow(is_allowed: bool = True) -> None:
    Publication.objects.filter(slug="techcrunch").update(allows_pictures=is_allowed)


def address(story: Story) -> str:
    return f"/pictures/{story.chatbotnews_id}.webp"


def list_pages(story: Story) -> list[str]:
    """Return the pages that may show a story's picture."""
    return ["/", f"/day/{DAY}", f"/story/{story.chatbotnews_id}", f"/event/{story.event_id}"]


def stored(settings: Any) -> list[str]:
    return sorted(file.name for file in (Path(settings.WIRE_DATA_DIR) / "pictures").glob("*/*"))


def assert_no_picture(client: Client, story: Story) -> None:
    answer = client.get(address(story))
    assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (404, "text/plain; charset=utf-8", "no-store")
    for where in list_pages(story):
        assert "img" not in page(client, where).tags, where


def test_no_picture_is_shown_or_fetched_unless_the_publication_allows_it(client: Client, server: FeedServer, story: Story) -> None:
    assert not Publication.objects.filter(allows_pictures=True).exists()
    assert_no_picture(client, story)
    assert server.requests == []


def test_an_allowed_picture_is_small_ours_and_fetched_once(client: Client, server: FeedServer, story: Story) -> None:
    allow()
    answer = client.get(address(story), headers={"Cookie": "sessionid=a-reader"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
    assert answer["Cache-Control"] == "public, max-age=86400, s-maxage=300"
    assert answer["Vary"] == "Accept-Encoding"
    assert (answer["X-Robots-Tag"], answer["Cross-Origin-Resource-Policy"]) == ("noindex", "same-origin")
    assert not answer.cookies
    with Image.open(BytesIO(answer.content)) as image:
        assert (image.format, image.size) == ("WEBP", (640, 360))
    assert client.get(address(story)).content == answer.content
    assert client.get(address(story), headers={"If-None-Match": answer["ETag"]}).status_code == 304
    (request,) = server.seen("/a.jpg")
    assert request.headers["accept"].startswith("image/webp")
    assert not request.headers.keys() & {"cookie", "referer", "x-forwarded-for"}, "nothing of the reader"


def test_pages_show_the_picture_beside_the_text_with_its_publication(client: Client, story: Story) -> None:
    allow()
    for where in list_pages(story):
        html = client.get(where).content.decode()
        assert html.count("<img ") == 1, where
        assert f'<img src="{address(story)}" alt="" width="640" height="360" loading="lazy" decoding="async">' in html
        assert '<figcaption class="facts">Picture: TechCrunch</figcaption>' in html
    allow(is_allowed=False)
    assert_no_picture(client, story)


@pytest.mark.slow
def test_no_page_with_a_picture_loads_anything_from_elsewhere(client: Client, story: Story) -> None:
    allow()
    for where in [*list_pages(story), "/sources", "/source/techcrunch", "/new", "/week", "/search?query=quince"]:
        answer = client.get(where)
        assert "img-src 'self';" in answer["Content-Security-Policy"]
        assert "127.0.0.1" not in answer.content.decode(), "the publisher's own address of the picture"
        loaded = [value for name, value in Page(answer.content.decode()).attributes if name in {"src", "srcset"}]
        assert loaded
        assert [value for value in loaded if not value.startswith(("/static/", "/pictures/"))] == []


def test_rest_and_the_publications_page_say_whether_pictures_are_allowed(client: Client) -> None:
    allow()
    allowed = [source["name"] for source in client.get("/api/sources.json").json()["sources"] if source["allows_pictures"]]
    assert allowed == ["TechCrunch"]
    assert "Shown here, as its terms allow." in page(client, "/source/techcrunch").text
    assert "Not shown here." in page(client, "/source/wired").text


def test_a_withdrawn_story_has_no_picture_at_once_not_even_on_disk(
    client: Client, settings: Any, story: Story, django_capture_on_commit_callbacks: Any
) -> None:
    allow()
    client.get(address(story))
    assert stored(settings) == [f"{story.chatbotnews_id}.webp"]
    with django_capture_on_commit_callbacks(execute=True):
        corrections.withdraw_story(story.chatbotnews_id, reason="Retracted.", now=NOW)
    assert client.get(address(story)).status_code == 404
    assert stored(settings) == []
    assert "img" not in page(client, f"/story/{story.chatbotnews_id}").tags


@pytest.mark.slow
def test_a_merged_story_has_no_picture_on_disk(
    client: Client, server: FeedServer, settings: Any, story: Story, django_capture_on_commit_callbacks: Any
) -> None:
    allow()
    twin = entry(title="A twin", image=server.url("/a.jpg"))
    publish(twin, now=NOW + dt.timedelta(hours=1))
    publish(entry(url=twin.url, title=story.current.headline if story.current else ""))
    younger = story_of(twin)
    assert client.get(address(younger)).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        assert len(twin_stories.merge_twins(NOW)[0].twins) == 1
    assert client.get(address(younger)).status_code == 404
    assert stored(settings) == []


@pytest.mark.slow
def test_the_desk_allows_and_forbids_with_one_box(
    client: Client, settings: Any, story: Story, django_capture_on_commit_callbacks: Any
) -> None:
    where = f"/admin/sources/publication/{story.publication_id}/change/"
    desk, form = at_desk("publisher"), {"aliases": "", "owner": "", "feeds-TOTAL_FORMS": "0", "feeds-INITIAL_FORMS": "0"}
    assert b"Its terms allow its pictures to be shown here" in desk.get(where).content
    assert save(desk, where, {**form, "allows_pictures": "on"}).status_code == 302
    assert client.get(address(story)).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        assert save(desk, where, form).status_code == 302
    assert_no_picture(client, story)
    assert stored(settings) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "2130706433", "0x7f.1"])
def test_no_picture_is_fetched_from_a_private_address(
    client: Client, server: FeedServer, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: Policy("wire"))
    allow()
    made = published(image=f"http://{host}:{server.port}/a.jpg")
    assert client.get(address(made)).status_code == 404
    assert server.requests == []


def test_no_redirect_leads_to_a_private_address(
    client: Client, server: FeedServer, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.route("/a.jpg", status=302, headers={"Location": f"http://127.0.0.2:{server.port}/b.jpg"})
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: Policy("wire", allow=(ip_network("127.0.0.1/32"),)))
    allow()
    assert client.get(address(story)).status_code == 404
    assert len(server.seen("/a.jpg")) == 1
    assert server.seen("/b.jpg") == []


def png_of(width: int, height: int) -> bytes:
    """Return the head of a PNG that claims this size; nobody needs to read further."""
    body = bytearray(photograph(16, 16, "PNG"))
    body[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    body[29:33] = zlib.crc32(bytes(body[12:29])).to_bytes(4, "big")
    return bytes(body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (png_of(30_000, 30_000), "decompression bomb"),
        (png_of(6_000, 5_000), "30000000|6000 × 5000 pixels, which is too many"),
        (photograph(1, 1, "GIF"), "1 × 1 pixels, which is too few"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><script>alert(1)</script></svg>', "cannot identify"),
        (b"<!doctype html><title>Log in</title>", "cannot identify"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 600 400\n", "cannot identify"),
        (photograph()[:2_000], "truncated"),
        (photograph(400, 400, "TIFF"), "cannot identify"),
        (b"", "cannot identify"),
    ],
    ids=["bomb", "too many pixels", "counter", "svg", "html", "postscript", "cut off", "tiff", "nothing"],
)
def test_what_is_no_picture_or_too_large_is_refused_by_its_bytes(
    client: Client, server: FeedServer, settings: Any, story: Story, body: bytes, why: str
) -> None:
    with pytest.raises(InvalidPicture, match=why):
        shrink_picture(body)
    server.route("/a.jpg", body=body, content_type="image/jpeg")
    allow()
    assert client.get(address(story)).status_code == 404
    assert stored(settings) == [f"{story.chatbotnews_id}.attempt"]


def test_a_body_without_end_is_not_read_to_its_end(
    client: Client, server: FeedServer, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_fetch, "MAX_BODY", 1_000_000)
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 100_000
            yield b"\xff" * 100_000

    server.route("/a.jpg", lambda _request: Reply(endless(), content_type="image/jpeg"))
    allow()
    assert client.get(address(story)).status_code == 404
    assert sent < 50_000_000, "as much as connections buffer"


def test_a_copy_is_upright_and_holds_nothing_but_the_picture() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "A camera"  # turned by a quarter, made by
    webp = shrink_picture(photograph(900, 600, exif=exif, icc_profile=b"a profile", comment=b"A place"))
    with Image.open(BytesIO(webp)) as image:
        assert image.size == (600, 900)
        assert not image.getexif()
        assert not image.info.keys() & {"exif", "icc_profile", "xmp"}
    assert not [word for word in (b"EXIF", b"ICCP", b"XMP ", b"camera", b"place") if word in webp]


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [(1280, 320, (640, 160)), (200, 150, (200, 150)), (160, 2560, (80, 1280))],
    ids=["wide", "small", "tall"],
)
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "AVIF", "GIF"])
def test_every_form_keeps_its_shape_and_is_never_enlarged(form: str, width: int, height: int, expected: tuple[int, int]) -> None:
    with Image.open(BytesIO(shrink_picture(photograph(width, height, form)))) as image:
        assert image.size == expected


@pytest.mark.slow
def test_a_dead_picture_is_fetched_again_after_an_hour_and_leaves_no_frame(
    client: Client, server: FeedServer, settings: Any, story: Story
) -> None:
    server.route("/a.jpg", status=404)
    allow()
    for _reader in range(3):
        assert client.get(address(story)).status_code == 404
    assert len(server.seen("/a.jpg")) == 1
    assert_no_picture(client, story)
    server.route("/a.jpg", body=photograph())
    (marker,) = (Path(settings.WIRE_DATA_DIR) / "pictures").glob("*/*.attempt")
    assert marker.read_text() == "http_404\n"
    os.utime(marker, (time.time() - 3_601, time.time() - 3_601))
    assert client.get(address(story)).status_code == 200
    assert "img" in page(client, "/").tags


def test_a_robots_txt_that_forbids_the_picture_is_obeyed(client: Client, server: FeedServer, story: Story) -> None:
    FetchHost.objects.update(robots="User-agent: *\nDisallow: /a.jpg")
    allow()
    assert client.get(address(story)).status_code == 404
    assert server.requests == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_many_readers_at_once_cost_one_fetch(server: FeedServer, story: Story) -> None:
    def slowly(_request: Request) -> Reply:
        return Reply(photograph(), content_type="image/jpeg", delay=0.5)

    server.route("/a.jpg", slowly)
    allow()
    with ThreadPoolExecutor(picture_fetch.AT_ONCE) as readers:
        answers = list(readers.map(lambda _n: Client().get(address(story)).status_code, range(picture_fetch.AT_ONCE)))
    assert answers == [200] * picture_fetch.AT_ONCE
    assert len(server.seen("/a.jpg")) == 1


def test_more_pictures_than_may_be_fetched_at_once_are_put_off(client: Client, server: FeedServer, story: Story) -> None:
    allow()
    for _other in range(picture_fetch.AT_ONCE):
        picture_fetch._fetching.acquire()
    try:
        answer = client.get(address(story))
    finally:
        picture_fetch._fetching.release(picture_fetch.AT_ONCE)
    assert (answer.status_code, answer["Cache-Control"]) == (502, "no-store")
    assert b"Try again in 10 seconds." in answer.content
    assert server.requests == []
    assert client.get(address(story)).status_code == 200, "nothing was remembered"


@pytest.mark.parametrize(("files", "size"), [(2, 1 << 20), (99, 2_500)], ids=["by number", "by bytes"])
def test_the_oldest_copies_go_when_there_are_too_many(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, size: int
) -> None:
    settings.WIRE_DATA_DIR = tmp_path
    monkeypatch.setattr(picture_store, "MAX_FILES", files)
    monkeypatch.setattr(picture_store, "MAX_BYTES", size)
    for age, name in ((3, "a"), (2, "b"), (1, "c")):
        with picture_store.lock_picture("wired", name):
            picture_store.store_picture("wired", name, bytes(1_000))
        then = time.time() - age
        os.utime(tmp_path / "pictures" / "wired" / f"{name}.webp", (then, then))
    with picture_store.lock_picture("axios", "d"):
        picture_store.store_picture("axios", "d", bytes(1_000))
    assert stored(settings) == ["c.webp", "d.webp"]


def test_a_picture_that_is_forbidden_while_it_is_fetched_is_not_shown_or_stored(
    client: Client, server: FeedServer, settings: Any, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow()
    save_picture = picture_store.store_picture

    def forbid_and_save(*picture: Any) -> None:
        allow(is_allowed=False)
        picture_store.delete_publication("techcrunch")
        save_picture(*picture)

    monkeypatch.setattr(picture_store, "store_picture", forbid_and_save)
    assert client.get(address(story)).status_code == 404
    assert len(server.seen("/a.jpg")) == 1
    assert stored(settings) == []


def test_a_data_directory_that_cannot_be_used_costs_pictures_and_no_page(
    client: Client, server: FeedServer, settings: Any, story: Story
) -> None:
    allow()
    directory = Path(settings.WIRE_DATA_DIR)
    directory.mkdir(exist_ok=True)
    (directory / "pictures").write_text("no directory")
    for where in list_pages(story):
        assert client.get(where).status_code == 200, where
    answer = client.get(address(story))
    assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (500, "text/plain; charset=utf-8", "no-store")
    assert server.requests == []


@pytest.mark.parametrize("story_id", ["cbn-000000000000", "x", "..%2f..%2fkeys%2fsecret_key", "%00", "*"])
def test_what_is_no_story_has_no_picture(client: Client, story_id: str) -> None:
    assert client.get(f"/pictures/{story_id}.webp").status_code == 404


def test_a_full_disk_costs_no_reader_the_picture_and_leaves_nothing(
    client: Client, story: Story, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow()

    def refuse(_self: Path, _target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    assert client.get(address(story)).status_code == 200
    assert [name for name in stored(settings) if not name.endswith(".attempt")] == []


def test_many_failures_are_bounded_and_push_no_picture_out(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_store, "MAX_FILES", 5)
    picture_store.store_picture("techcrunch", "cbn-a", b"webp")
    for number in range(9):
        picture_store.record_failure("techcrunch", f"cbn-{number}", "404")
    picture_store.store_picture("techcrunch", "cbn-b", b"webp")
    assert sum(name.endswith(".attempt") for name in stored(settings)) == 5
    assert picture_store.read_picture("techcrunch", "cbn-a") == b"webp"
