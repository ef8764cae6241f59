"""Text comes out as it was written, whatever the feed says about itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.parse import parse
from sources.parse.charsets import decode

TITLE = "Café “Zürich” — naïve"
JAPANESE = "日本語の記事"


def feed(declared: str, title: str = TITLE) -> str:
    return f'<?xml version="1.0" encoding="{declared}"?><rss><item><title>{title}</title></item></rss>'


@pytest.mark.parametrize(
    ("data", "header", "title"),
    [
        (feed("utf-8").encode(), "", TITLE),
        (feed("windows-1252").encode("cp1252"), "", TITLE),
        (feed("utf-8").encode("utf-8-sig"), "text/xml; charset=iso-8859-1", TITLE),
        (feed("utf-16").encode("utf-16"), "", TITLE),
        (feed("utf-16").encode("utf-16-be"), "", TITLE),
        (feed("utf-8", "Café").encode("latin-1"), "", "Café"),
        (feed("iso-8859-1").encode(), "", TITLE),
        (feed("utf-8").encode(), "text/xml; charset=iso-8859-1", TITLE),
        (feed("utf-8", JAPANESE).encode("shift_jis"), "text/xml; charset=Shift_JIS", JAPANESE),
        (feed("euc-jp", JAPANESE).encode("euc-jp"), "text/xml", JAPANESE),
        (feed("iso-2022-jp", JAPANESE).encode("iso-2022-jp"), "", JAPANESE),
        (feed("gb2312", "中文").encode("gb2312"), "", "中文"),
        (feed("no-such-charset").encode("cp1252"), "", TITLE),
        (feed("utf-8").encode().replace("ï".encode(), b"\xff"), "", TITLE.replace("ï", "�")),
    ],
)
def test_no_wrong_declaration_makes_mojibake(data: bytes, header: str, title: str) -> None:
    assert parse(data, content_type=header).entries[0].title == title


@pytest.mark.parametrize("name", ["punycode", "idna", "unicode_escape", "utf-7", "rot13", "undefined", "utf-16"])
def test_pythons_own_codecs_are_no_charsets(name: str) -> None:
    assert "é" in decode(feed(name, r"\u0041+AEE-é").encode("cp1252"))
    assert r"\u0041+AEE-" in decode(feed(name, r"\u0041+AEE-é").encode("cp1252"))


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_unicode_text_is_read_back(text: str, encoding: str) -> None:
    assert decode(f"<rss>{text}".encode(encoding)) == f"<rss>{text}"


@given(st.binary(), st.text())
def test_decoding_never_fails(data: bytes, header: str) -> None:
    decode(data, f"text/xml; charset={header}").encode()


@pytest.mark.parametrize("title", ["It&#146;s", "It&#x92;s", "It&#146;s & more", "It\u0092s"])
def test_a_reference_to_windows_1252_is_read_as_html_reads_it(title: str) -> None:
    assert parse(feed("utf-8", title).encode()).entries[0].title.startswith("It’s")
