"""Files that tell machines a publisher's terms: each is a function of its row, and no word of it passes for a rule."""

import re
from urllib import robotparser
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from tests.wire.corpora.articles.publishers import HOSTILE, NOW, publisher
from wire.corpora.articles import store

pytestmark = pytest.mark.django_db

FILES = ("llms.txt", "ai.txt", "license.xml")
NS = "{https://rslstandard.org/rsl}"


def read(client: Client, name: str, status: int = 200) -> str:
    answer = client.get(f"/articles/quill/{name}")
    assert answer.status_code == status, answer.content
    return str(answer.content.decode())


def rsl(client: Client) -> ET.Element:
    return ET.fromstring(read(client, "license.xml"))  # noqa: S314  ours


def text(element: ET.Element, path: str) -> list[str | None]:
    return [one.text for one in element.iterfind("/".join(f"{NS}{part}" for part in path.split("/")))]


def test_llms_txt_says_what_is_here_where_on_which_terms_and_how_to_cite(client: Client) -> None:
    publisher("quill", full_text=False, excerpt_length=200, licence_kind="cc", licence="CC BY-ND 4.0")
    found = read(client, "llms.txt")
    assert found.startswith("# Quill\n> Articles of Quill (https://quill.example/)")
    addresses = ("/mcp/articles/quill", "/api/articles/quill.json", "/api/articles/quill/search.json?query=")
    for address in (*addresses, "/api/articles/quill/recent.json", "/api/articles/quill/article.json?url="):
        assert f"http://localhost:8000{address}\n" in found
    for line in (
        "Agents get excerpts of up to 200 characters.",
        "Licence: Creative Commons licence: CC BY-ND 4.0",
        "Answering questions from the text, with a citation: allowed",
        "Training models on the text: not allowed",
        "Name the author, the publisher and the title",
    ):
        assert line in found


@pytest.mark.parametrize(("may_train", "reservation"), [(False, "1"), (True, "0")])
@pytest.mark.parametrize("may_answer", [False, True])
def test_all_three_and_the_header_say_the_same(client: Client, may_train: bool, may_answer: bool, reservation: str) -> None:
    publisher("quill", may_train=may_train, may_answer=may_answer)
    ai_txt = read(client, "ai.txt")
    rules = robotparser.RobotFileParser()
    rules.parse(ai_txt.splitlines())
    assert rules.can_fetch("AnyBot", "https://quill.example/article-0") is may_train
    yes = {True: "yes", False: "no"}
    assert f"\nContent-Signal: search=yes, ai-input={yes[may_answer]}, ai-train={yes[may_train]}\n" in ai_txt
    assert f"\ntdm-reservation: {reservation}\n" in ai_txt
    permits, prohibits = (text(rsl(client), f"content/license/{name}") for name in ("permits", "prohibits"))
    allowed, denied = (set((found[0] or "").split()) if found else set() for found in (permits, prohibits))
    assert (("ai-train" in allowed), ("ai-input" in allowed)) == (may_train, may_answer)
    assert allowed | denied == {"search", "ai-input", "ai-train"}
    assert not allowed & denied
    for name in (*FILES, ""):
        assert client.get(f"/articles/quill/{name}".rstrip("/"))["tdm-reservation"] == reservation


def test_rsl_names_each_domain_the_terms_and_the_licence_where_it_has_an_address(client: Client) -> None:
    licence = "https://creativecommons.org/licenses/by/4.0/"
    quill = publisher("quill", domains=["quill.example", "quill.example.org"], licence_kind="cc", licence=f"CC BY 4.0, {licence}")
    found = rsl(client)
    assert [one.get("url") for one in found] == ["https://quill.example/", "https://quill.example.org/"]
    assert text(found, "content/license/payment/standard") == [licence] * 2
    assert {one.get("type") for one in found.iter(f"{NS}payment")} == {"attribution"}
    assert set(text(found, "content/terms")) == {"http://localhost:8000/articles/quill#terms"}
    quill.licence_kind, quill.licence = "rsl", "https://quill.example/rsl.xml"
    quill.save()
    assert set(text(rsl(client), "content/terms")) == {"https://quill.example/rsl.xml"}
    assert text(rsl(client), "content/license/payment/standard") == []
    quill.licence_kind, quill.licence = "text", "Ask us first."
    quill.save()
    assert set(text(rsl(client), "content/terms")) == {"http://localhost:8000/articles/quill#terms"}


def test_what_a_publisher_is_called_and_says_is_never_a_rule_or_markup(client: Client) -> None:
    words = f"Free\n\nUser-Agent: *\nAllow: /\ntdm-reservation: 0 {HOSTILE}\x01"
    publisher("quill", name=f"Quill\nAllow: / {HOSTILE}", licence_kind="rsl", licence=f"https://quill.example/{words}")
    lines = read(client, "ai.txt").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == [
        *("User-Agent: *", "Disallow: /", "Disallow: *", "Content-Signal: search=yes, ai-input=yes, ai-train=no"),
        "tdm-reservation: 1",
    ]
    assert not re.search(r"^(Allow|tdm)", read(client, "llms.txt"), re.M)
    assert [one.tag for one in rsl(client).iter() if not one.tag.startswith(NS)] == []
    publisher("medlar", licence_kind="cc", licence="https://medlar.example/?a=1&b='x'</standard>")
    found = ET.fromstring(client.get("/articles/medlar/license.xml").content)  # noqa: S314  ours
    assert text(found, "content/license/payment/standard") == ["https://medlar.example/?a=1&b='x'"]


def test_each_has_its_type_and_may_be_cached(client: Client) -> None:
    publisher("quill")
    types = ("text/plain", "text/plain", "application/rsl+xml")
    for name, kind in zip(FILES, types, strict=True):
        answer = client.get(f"/articles/quill/{name}")
        assert answer["Content-Type"] == f"{kind}; charset=utf-8"
        assert answer["Cache-Control"].startswith("public")


@pytest.mark.parametrize("name", FILES)
def test_there_are_none_of_an_unknown_and_of_a_removed_publisher(client: Client, name: str) -> None:
    assert read(client, name, 404).startswith("There is no publisher with this name.")
    store.remove_publisher(publisher("quill", 1), NOW)
    assert read(client, name, 404).startswith("Quill was removed on 2026-03-15 and is no longer served.")
