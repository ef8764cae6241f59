"""Ids are for ever: every literal here may be added to, never changed."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wire.identity import MAX_URL_LENGTH, BadUrl, canonical_url, chatbotnews_id, headline_key, is_story_id

PAIRS: list[list[str]] = json.loads((Path(__file__).parent / "url_pairs.json").read_text("utf-8"))
NAUGHTY = Path(__file__).parents[3] / "shared/data/hostile/blns.json"

words = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
hosts = st.builds("{}.{}.example".format, words, words)
paths = st.lists(words, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))
queries = st.dictionaries(words.filter(lambda word: word not in {"ref", "trk", "xtor"}), words, max_size=4)
trackers = st.dictionaries(st.sampled_from(["utm_source", "utm_x", "fbclid", "gclid", "mc_cid", "ref"]), words)


def joined(parameters: list[tuple[str, str]]) -> str:
    return "?" + "&".join("=".join(pair) for pair in parameters) if parameters else ""


def test_there_are_at_least_fifty_literal_pairs() -> None:
    assert len(PAIRS) >= 50


@pytest.mark.parametrize(("given_url", "canonical"), PAIRS)
def test_literal_pairs(given_url: str, canonical: str) -> None:
    assert canonical_url(given_url) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "not_http"),
        ("/relative", "not_http"),
        ("//example.com/a", "not_http"),
        ("javascript:alert(1)", "not_http"),
        ("java\nscript:alert(1)", "not_http"),
        ("data:text/html,x", "not_http"),
        ("mailto:a@example.com", "not_http"),
        ("ftp://example.com/", "not_http"),
        ("https:example.com", "no_host"),
        ("https:///a", "no_host"),
        ("https://:443/", "no_host"),
        ("https://localhost/", "bad_host"),
        ("https://127.0.0.1/", "bad_host"),
        ("https://127.1/", "bad_host"),
        ("https://2130706433/", "bad_host"),
        ("https://0x7f.0x1/", "bad_host"),
        ("https://１２７.0.0.1/", "bad_host"),
        ("https://[::1]/", "bad_host"),
        ("https://a..example/", "bad_host"),
        ("https://exa mple.com/", "bad_host"),
        ("https://ex%61mple.com/", "bad_host"),
        ("https://\u0301x.example/", "bad_host"),
        ("https://" + "a" * 64 + ".example/", "bad_host"),
        ("https://" + "ü" * 300 + ".example/", "bad_host"),
        ("https://example.com:0/", "bad_port"),
        ("https://example.com:65536/", "bad_port"),
        ("https://example.com:8o/", "bad_port"),
        ("https://example.com:-1/", "bad_port"),
        ("https://user:password@example.com/", "credentials"),
        ("https://example.com\\@evil.example/", "credentials"),
        ("https://example.com/\x00", "bad_characters"),
        ("https://example.com/\x7f", "bad_characters"),
        ("https://example.com/\u202egpj.exe", "bad_characters"),
        ("https://example.com/\u200b", "bad_characters"),
        ("https://example.com/\ue000", "bad_characters"),
        ("https://example.com/\ud800", "bad_characters"),
        ("https://example.com/" + "a" * MAX_URL_LENGTH, "too_long"),
        ("https://example.com/" + "é" * (MAX_URL_LENGTH // 4), "too_long"),
        ("https://example.com/#" + "a" * 4 * MAX_URL_LENGTH, "too_long"),
    ],
)
def test_refused_urls_name_their_reason(url: str, reason: str) -> None:
    with pytest.raises(BadUrl) as refusal:
        canonical_url(url)
    assert refusal.value.reason == reason == str(refusal.value)


@given(st.data(), hosts, paths, queries, trackers)
def test_noise_does_not_change_the_id(
    data: st.DataObject, host: str, path: str, query: dict[str, str], tracking: dict[str, str]
) -> None:
    plain = f"https://{host}{path}{joined(list(query.items()))}"
    shuffled = data.draw(st.permutations([*query.items(), *tracking.items()]))
    scheme, port = data.draw(st.sampled_from([("http", ":80"), ("HTTPS", ":443"), ("hTTp", ""), ("https", ":")]))
    dot, slash, fragment = (data.draw(st.sampled_from(options)) for options in (["", "."], ["", "/"], ["", "#x?y"]))
    noisy = f"{scheme}://{host.upper()}{dot}{port}{path}{slash}{joined(shuffled)}{fragment}"
    assert chatbotnews_id(canonical_url(noisy)) == chatbotnews_id(canonical_url(plain))


@given(hosts, paths, paths, queries, queries)
def test_what_identifies_an_article_changes_the_id(
    host: str, path: str, other_path: str, query: dict[str, str], other_query: dict[str, str]
) -> None:
    assume((path, query) != (other_path, other_query))
    one, other = (f"https://{host}{p}{joined(list(q.items()))}" for p, q in ((path, query), (other_path, other_query)))
    assert canonical_url(one) != canonical_url(other)


@given(st.text(max_size=80), st.sampled_from(["", "https://example.com/", "https://example.com/?", "http://"]))
@example("?amp;b=1&a=2", "https://example.com/")
@example("%%34%31/%2%35/..%2f./%2e", "https://example.com/")
@example("//.//..//x//", "https://example.com/")
def test_any_text_is_refused_or_has_one_canonical_form(text: str, prefix: str) -> None:
    try:
        canonical = canonical_url(prefix + text)
    except BadUrl:
        return
    assert canonical_url(canonical) == canonical
    assert canonical.isascii()
    assert canonical.isprintable()
    assert len(canonical) <= MAX_URL_LENGTH
    assert canonical.startswith("https://")
    assert not set(canonical) & set(" <>\"'\\^`{|}#") - {"'"}


@pytest.mark.parametrize(
    ("canonical", "story_id"),
    [
        ("https://example.com/", "cbn-1w8nvc32pz0d"),
        ("https://techcrunch.com/2026/01/05/story", "cbn-8tmwqqt21bv4"),
        ("https://example.com/?p=12", "cbn-tna2npsg0e5m"),
        ("https://xn--bcher-kva.example/caf%C3%A9", "cbn-xe240xhhsza4"),
        ("https://example.com/a?x=2&x=1&y=0", "cbn-br91mhe21qyr"),
    ],
)
def test_literal_ids(canonical: str, story_id: str) -> None:
    assert chatbotnews_id(canonical) == story_id
    assert canonical_url(canonical) == canonical


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_id_is_a_story_id(text: str) -> None:
    assert is_story_id(chatbotnews_id(text))


@pytest.mark.parametrize(
    "text",
    ["", "cbn-", "cbn-1w8nvc32pz0", "cbn-1w8nvc32pz0dd", "cbn-1w8nvc32pz0d\n", " cbn-1w8nvc32pz0d", "CBN-1W8NVC32PZ0D"]
    + [f"cbn-1w8nvc32pz0{letter}" for letter in "ilouA٣"],
)
def test_other_texts_are_no_story_ids(text: str) -> None:
    assert not is_story_id(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OpenAI’s “o5”: what we know", 'OPENAI\'S "O5" - What We  Know!'),
        ("Ｎｖｉｄｉａ ﬁles suit", "nvidia files suit"),
        ("Cafe\u0301 society", "Café society"),
        ("snake_case", "snake case"),
    ],
)
def test_headlines_that_are_the_same(one: str, other: str) -> None:
    assert headline_key(one) == headline_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Pate", "Pâté"), ("xAI raises $5bn", "xAI raises €5bn"), ("Disney+", "Disney"), ("की", "का"), ("GPT-4", "GPT-5")],
)
def test_headlines_that_are_not(one: str, other: str) -> None:
    assert headline_key(one) != headline_key(other)


@given(st.text())
def test_a_headline_key_is_its_own_key_and_has_single_spaces(text: str) -> None:
    key = headline_key(text)
    assert key == " ".join(key.split())
    assert headline_key(f"  {text}!? ") == key


@pytest.mark.skipif(not NAUGHTY.exists(), reason="the big list of naughty strings is not here")
def test_naughty_strings_pass() -> None:
    for text in json.loads(NAUGHTY.read_text("utf-8")):
        headline_key(text)
        is_story_id(text)
        for url in (text, f"https://example.com/{text}", f"https://{text}/"):
            with contextlib.suppress(BadUrl):
                assert canonical_url(url)
