"""Text comes out as it was written, whatever the feed says about itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.parse import parse_feed
from sources.parse.charsets import decode_text

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
    assert parse_feed(data, content_type=header).entries[0].title == title


@pytest.mark.parametrize("name", ["punycode", "idna", "unicode_escape", "utf-7", "rot13", "undefined", "utf-16"])
def test_pythons_own_codecs_are_no_charsets(name: str) -> None:
    assert "é" in decode_text(feed(name, r"\u0041+AEE-é").encode("cp1252"))
    assert r"\u0041+AEE-" in decode_text(feed(name, r"\u0041+AEE-é").encode("cp1252"))


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_unicode_text_is_read_back(text: str, encoding: str) -> None:
    assert decode_text(f"<rss>{text}".encode(encoding)) == f"<rss>{text}"


@given(st.binary(), st.text())
def test_decoding_never_fails(data: bytes, header: str) -> None:
    decode_text(data, f"text/xml; charset={header}").encode()


@pytest.mark.parametrize("title", ["It&#146;s", "It&#x92;s", "It&#146;s & more", "It\u0092s"])
def test_a_reference_to_windows_1252_is_read_as_html_reads_it(title: str) -> None:
    assert parse_feed(feed("utf-8", title).encode()).entries[0].title.startswith("It’s")


RUSSIAN = "Нейросеть научилась печь хлеб"


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (feed("windows-1251", RUSSIAN + " Z").encode("cp1251").replace(b"Z", b"\x98"), RUSSIAN + " �"),
        (feed("cp-1251", RUSSIAN).encode("cp1251"), RUSSIAN),
        (feed("win-1251", RUSSIAN).encode("cp1251"), RUSSIAN),
        (feed("x-cp1251", RUSSIAN).encode("cp1251"), RUSSIAN),
        (feed("x-sjis", JAPANESE).encode("shift_jis"), JAPANESE),
        (feed("Shift_JIS", JAPANESE + "①㈱").encode("cp932"), JAPANESE + "①㈱"),
        (feed("euc-kr", "똠방각하 뷁").encode("cp949"), "똠방각하 뷁"),
        (feed("big5", "烤麵包 嘅").encode("big5hkscs"), "烤麵包 嘅"),
        (feed("gbk", "融资额为 Z 欧元").encode("gbk").replace(b"Z", b"\x80"), "融资额为 € 欧元"),
        (feed("gbk", "人工智能学会烤面包Z").encode("gbk").replace(b"Z", b"\xc8"), "人工智能学会烤面包�"),
    ],
)
def test_a_charset_is_read_as_browsers_read_it_and_a_bad_byte_costs_one_character(data: bytes, title: str) -> None:
    assert parse_feed(data).entries[0].title == title
    assert parse_feed(data).doubt == ""


@pytest.mark.parametrize("declared", ["utf-8", "utf-16", "no-such-charset"])
def test_a_charset_that_is_declared_falsely_is_guessed_and_the_guess_is_said(declared: str) -> None:
    found = parse_feed(feed(declared, RUSSIAN).encode("cp1251"))
    assert found.entries[0].title == RUSSIAN
    assert "read as cp1251, a guess" in found.doubt


def test_a_text_without_a_declaration_is_guessed_and_western_text_as_browsers_do() -> None:
    found = parse_feed(b"<rss><item><title>" + RUSSIAN.encode("koi8_r") + b"</title></item></rss>")
    assert "declares no charset" in found.doubt
    western = parse_feed(b"<rss><item><title>" + TITLE.encode("cp1252") + b"</title></item></rss>")
    assert western.entries[0].title == TITLE
    assert "cp1252" in western.doubt


# Small letters alone: a capital before ё may be valid UTF-8, and what is UTF-8 in most of its letters is read as that.
@given(st.text(st.characters(min_codepoint=0x430, max_codepoint=0x44F), min_size=20), st.integers(0, 19))
def test_one_bad_byte_never_costs_more_than_one_character(text: str, at: int) -> None:
    data = bytearray(feed("windows-1251", text).encode("cp1251"))
    start = data.index(b"<title>") + len(b"<title>")
    data[start + at] = 0x98
    assert decode_text(bytes(data)) == feed("windows-1251", f"{text[:at]}\ufffd{text[at + 1 :]}")
