"""What every public answer carries: caching rules, ETags, HEAD, CORS, and one shape for every error."""

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from config.errors import WireError
from tests.contract import BRIEFLY, SHARED, refused
from tests.factories import DAY, entry, publish, story_of
from wire import queries
from wire.models import Snapshot

pytestmark = pytest.mark.django_db
STORY = entry(title="OpenAI launches quince model", url="https://techcrunch.com/quince", summary="It reads maps.")
STORY_ID = "cbn-ekf2h0kr6ek5"
CACHING = {
    "/api/today.json": SHARED,
    "/api/today.schema.json": SHARED,
    "/api/categories/launches.json": SHARED,
    "/": SHARED,
    "/api/archive/2026-01-15.json?revision=1": BRIEFLY,
    "/api/archive.json": BRIEFLY,
    "/api/archive/2026-01-15.json": BRIEFLY,
    f"/api/stories/{STORY_ID}.json": BRIEFLY,
    "/api/search.json?query=quince": BRIEFLY,
    "/api/topics/openai.json": BRIEFLY,
    "/api/entities.json": BRIEFLY,
    "/api/entities/openai.json": BRIEFLY,
    f"/api/consensus.json?story_id={STORY_ID}": BRIEFLY,
    f"/api/citations/{STORY_ID}.json": BRIEFLY,
    "/api/editor-take/2026-01-15.json": BRIEFLY,
    "/api/provenance/2026-01-15.json": BRIEFLY,
    "/api/sources.json": BRIEFLY,
    "/api/verify-source.json?publication_name=Wired": BRIEFLY,
    "/.well-known/wire-keys.json": BRIEFLY,
    "/api/openapi.json": BRIEFLY,
    "/api/docs": BRIEFLY,
    "/llms.txt": BRIEFLY,
    "/mcp-spec.md": BRIEFLY,
    "/sources": BRIEFLY,
    f"/story/{STORY_ID}": BRIEFLY,
    "/editor-take/2026-01-15": BRIEFLY,
}


@pytest.fixture(autouse=True)
def wire(db: None) -> None:  # noqa: ARG001
    publish(STORY)
    assert story_of(STORY).chatbotnews_id == STORY_ID


@pytest.mark.slow
def test_every_answer_says_how_long_it_may_be_cached_and_has_a_strong_etag_that_answers_304(client: Client) -> None:
    for address, caching in CACHING.items():
        first = client.get(address)
        assert (first.status_code, first["Cache-Control"]) == (200, caching), address
        assert first["ETag"].startswith('"')
        assert "Accept-Encoding" in first["Vary"]
        assert "Cookie" not in first["Vary"]
        assert not first.cookies
        for seen in (first["ETag"], f'"other", {first["ETag"]}', "*", f"W/{first['ETag']}"):
            again = client.get(address, headers={"If-None-Match": seen})
            assert (again.status_code, again.content) == (304, b"")
            assert (again["ETag"], again["Cache-Control"], again["Vary"]) == (first["ETag"], caching, first["Vary"])
        assert client.get(address, headers={"If-None-Match": '"other"'}).content == first.content


@pytest.mark.slow
def test_head_is_get_without_the_body(client: Client) -> None:
    for address in CACHING:
        get, head = client.get(address), client.head(address)
        assert (head.status_code, head.content) == (200, b"")
        assert dict(head.headers) == dict(get.headers)
        assert head["Content-Length"] == str(len(get.content))
        assert client.head(address, headers={"If-None-Match": get["ETag"]}).status_code == 304


@pytest.mark.slow
def test_an_etag_changes_with_the_answer_and_with_nothing_else(client: Client) -> None:
    before = {address: client.get(address)["ETag"] for address in CACHING}
    assert {address: client.get(address)["ETag"] for address in CACHING} == before
    other = "It compares prices of maize, beans, tea, coffee and quince in forty towns, and works offline, the company says."
    publish(entry(title="Meta launches a shopping app for farmers in Kenya", summary=other))  # no report of the same happening
    changed = {address for address in CACHING if client.get(address)["ETag"] != before[address]}
    assert {"/api/today.json", "/api/categories/launches.json", "/api/search.json?query=quince", "/"} <= changed
    assert changed.isdisjoint({"/api/archive/2026-01-15.json?revision=1", f"/api/stories/{STORY_ID}.json"})


@pytest.mark.slow
def test_any_page_of_the_web_may_read_the_api(client: Client) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    for address in (address for address in CACHING if address.startswith("/api/")):
        answer = client.get(address, headers=origin)
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert answer["Content-Type"] == ("text/html; charset=utf-8" if address == "/api/docs" else "application/json")
        not_modified = client.get(address, headers={**origin, "If-None-Match": answer["ETag"]})
        assert (not_modified.status_code, not_modified["Access-Control-Allow-Origin"]) == (304, "*")
        preflight = client.options(address, headers={**origin, "Access-Control-Request-Method": "GET"})
        assert (preflight.status_code, preflight.content) == (204, b"")
        assert preflight["Access-Control-Allow-Origin"] == "*"
        assert preflight["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
        assert preflight["Access-Control-Allow-Headers"] == "*, Authorization"  # `*` does not stand for it (Fetch standard)


@pytest.mark.parametrize(
    "address",
    ["/api/nowhere", "/api/", "/api/today", "/api/today.json/", "/api/stories/a/b.json", "/api/categories/.json", "/api/\0"],
)
def test_an_unknown_address_is_not_found_in_the_shape_of_every_error(client: Client, address: str) -> None:
    answer = client.get(address)
    assert "/api/openapi.json" in refused(answer, 404, "not_found")["hint"]
    assert answer["Access-Control-Allow-Origin"] == "*"
    head = client.head(address)
    assert (head.status_code, head.content) == (404, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "TRACE", "QUINCE"])
def test_the_api_is_only_ever_read(method: str) -> None:
    for address in ("/api/today.json", "/api/archive/x.json", "/api/docs"):
        answer = Client(enforce_csrf_checks=True).generic(method, address, "{}", content_type="application/json")
        refused(answer, 405, "method_not_allowed")
        assert (answer["Allow"], answer["Access-Control-Allow-Origin"]) == ("GET, HEAD, OPTIONS", "*")


def test_a_request_that_cannot_be_read_is_an_error_like_every_other(client: Client) -> None:
    too_many = "&".join(f"a{n}=1" for n in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))
    refused(client.get(f"/api/search.json?query=q&{too_many}"), 400, "bad_request")
    refused(client.get("/api/today.json", headers={"Host": "evil.example"}), 400, "bad_request")
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_a_fault_of_ours_is_an_error_like_every_other_and_tells_nothing(client: Client) -> None:
    Snapshot.objects.update(packed=zlib.compress(b"{}"))
    client.raise_request_exception = False
    error = refused(client.get("/api/today.json"), 500, "internal_error")
    assert "KeyError" not in str(error)
    page = client.get("/")
    assert page.status_code == 500
    assert "Something failed on our side" in page.content.decode()
    assert "KeyError" not in page.content.decode()


def test_every_argument_that_is_wrong_is_named(client: Client) -> None:
    error = refused(client.get("/api/search.json", {"limit": "0", "tier": "9", "since": "soon"}), 422, "invalid_argument")
    named = [problem.split(": ")[0] for problem in error["message"].split("; ")]
    assert named == ["query", "tier", "since", "limit"]


def test_every_error_has_a_code_of_its_own_and_a_status() -> None:
    def kinds(kind: type[WireError]) -> list[type[WireError]]:
        return [kind, *(found for below in kind.__subclasses__() for found in kinds(below))]

    codes = [kind.code for kind in kinds(WireError) if "code" in vars(kind)]
    assert len(codes) == len(set(codes))
    assert all(400 <= kind.status < 600 for kind in kinds(WireError))


@pytest.mark.slow
def test_the_openapi_document_and_its_page_are_served(client: Client) -> None:
    document = client.get("/api/openapi.json")
    assert document.json()["openapi"].startswith("3.1")
    assert document["ETag"]
    page = client.get("/api/docs").content.decode()
    for told in (
        "integer, 1 to 50, default 10",
        "layered · ",
        "launches · funding",
        "at most 300 characters",
        "<code>next_cursor</code>",
    ):
        assert told in page
    sections = re.findall(r'<section aria-labelledby="(.*?)">', page)
    assert set(sections) <= set(re.findall(r'<a href="#(.*?)">', page))
    assert len(sections) == len(document.json()["paths"])


def test_the_page_of_the_api_has_contents_whose_links_lead_to_each_address(client: Client) -> None:
    page = client.get("/api/docs").content.decode()
    contents, _, rest = page.partition('<nav class="contents"')[2].partition("</nav>")
    linked = re.findall(r'href="#([^"]+)"', contents)
    operations = [methods["get"]["operationId"] for methods in client.get("/api/openapi.json").json()["paths"].values()]
    assert set(operations) < set(linked)
    assert linked[0] == "group-wire"
    assert [rest.count(f' id="{anchor}"') for anchor in linked] == [1] * len(linked)
    assert len(re.findall(r'<h2 id="group-', rest)) == len(linked) - len(operations)


def test_security_headers_are_on_every_answer(client: Client) -> None:
    for address in ("/", "/api/today.json", "/api/nowhere"):
        answer = client.get(address)
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
    assert queries.get_archived_day(DAY).stories


@pytest.mark.slow
def test_browsers_are_told_to_use_https_where_the_site_has_it(tmp_path: Path) -> None:
    names = ("SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD")
    code = f"from config import settings; print(*(getattr(settings, name) for name in {names}))"
    for site, hsts, expected in (
        ("https://wire.example", "host", "31536000 False False"),
        ("https://wire.example", "subdomains", "31536000 True False"),
        ("https://wire.example", "preload", "31536000 True True"),
        ("http://wire.example", "host", "0 False False"),
    ):
        env = {**os.environ, "WIRE_DATA_DIR": str(tmp_path), "DATABASE_URL": "", "WIRE_HSTS": hsts, "WIRE_SITE_URL": site}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
