"""The documents as pages of the wire: all of them listed, links that work, and no file that no document links to."""

import re

import pytest
from django.test import Client

from config.http.responses import BRIEFLY
from wire.site import cache_rules, docs_pages

pytestmark = pytest.mark.django_db


def read_page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def list_links(html: str) -> list[str]:
    return re.findall(r'(?:href|src)="([^"]*)"', html.partition("<main")[2].partition("</main>")[0])


def test_the_index_leads_to_every_document(client: Client) -> None:
    linked = {link.partition("#")[0] for link in list_links(read_page(client, "/docs/"))}
    assert set(docs_pages.list_addresses()) - linked == {"/docs/"}


def test_every_link_of_every_document_leads_to_a_page_and_a_heading(client: Client) -> None:
    anchors: dict[str, set[str]] = {}
    links = []
    for address in docs_pages.list_addresses():
        html = read_page(client, address)
        targets = re.findall(r'<h\d id="([^"]+)"', html)
        assert len(targets) == len(set(targets)), address
        anchors[address] = set(targets)
        links += [(address, *link.partition("#")[::2]) for link in list_links(html)]
    for source, target, anchor in links:
        page = target or source
        if page in anchors:
            assert not anchor or anchor in anchors[page], (source, target, anchor)
        elif page.startswith("/"):
            assert client.get(page).status_code == 200, (source, page)
        else:
            assert re.match("https?:|mailto:", page), (source, page)


def test_a_document_is_shown_as_html_and_given_as_markdown(client: Client) -> None:
    html = read_page(client, "/docs/rest")
    assert "<title>REST · ChatbotNews.ai</title>" in html
    assert "&lt;!--" not in html
    response = client.get("/docs/rest.md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content == (docs_pages.FOLDER / "rest.md").read_bytes()


def test_a_picture_of_a_document_is_shown(client: Client) -> None:
    assert client.get("/docs/files/docs/card-event.png")["Content-Type"] == "image/png"


def test_a_link_to_a_file_shows_its_text(client: Client) -> None:
    response = client.get("/docs/files/docs/verify_day.py")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content == (docs_pages.FOLDER / "verify_day.py").read_bytes()


@pytest.mark.parametrize(
    "name", ["nothing", "files/manage.py", "files/../manage.py", "files/config/settings.py", "../README", "rest/"]
)
def test_nothing_else_is_shown(client: Client, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code == 404


def test_a_link_to_a_file_that_is_not_installed_is_left_out() -> None:
    assert docs_pages._resolve_link("../nowhere.py", docs_pages.FOLDER / "rest.md") is None
    assert docs_pages._resolve_link("../../outside.md", docs_pages.FOLDER / "rest.md") is None


def test_documents_are_cached_and_in_the_sitemap(client: Client) -> None:
    assert cache_rules.get_cached_parameters("/docs/how-to/deploy") == frozenset()
    assert client.get("/docs/rest")["Cache-Control"] == BRIEFLY
    pages = client.get("/sitemap-pages.xml").content.decode()
    assert all(f"<loc>http://localhost:8000{address}</loc>" in pages for address in docs_pages.list_addresses())
    assert 'href="/docs/"' in read_page(client, "/about")
