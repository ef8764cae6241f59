"""Ids are for ever: every literal here may be added to, never changed."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wire.text.identity import MAX_URL_LENGTH, BadUrl, canonical_url, chatbotnews_id, headline_key, is_story_id

PAIRS: list[list[str]] = json.loads((Path(__file__).parent / "url_pairs.json").read_text("utf-8"))
words = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
hosts = st.builds("{}.{}.example".format, words, words)
paths = st.lists(words, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))
queries = st.dictionaries(words.filter(lambda word: word not in {"ref", "trk", "xtor"}), words, max_size=4)
trackers = st.dictionaries(st.sampled_from(["utm_source", "utm_x", "fbclid", "gclid", "mc_cid", "ref"]), words)


def joined(parameters: list[tuple[str, str]]) -> str:
    return "?" + "&".join("=".join(pair) for pair in parameters) if parameters else ""


def test_literal_pairs() -> None:
    assert len(PAIRS) >= 50
    for given_url, canonical in PAIRS:
        assert canonical_url(given_url) == canonical
        assert canonical_url(canonical) == canonical


REFUSED = {
    "not_http": [
        *("", "/relative", "//example.com/a", "javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x"),
        *("mailto:a@example.com", "ftp://example.com/"),
    ],
    "no_host": [
        *("https:example.com", "https:///a", "https://:443/"),
    ],
    "bad_host": [
        *("https://localhost/", "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f.0x1/"),
        *("https://１２７.0.0.1/", "https://[::1]/", "https://a..example/", "https://exa mple.com/", "https://ex%61mple.com/"),
        *("https://\u0301x.example/", "https://" + "a" * 64 + ".example/", "https://" + "ü" * 300 + ".example/"),
    ],
    "bad_port": [
        *("https://example.com:0/", "https://example.com:65536/", "https://example.com:8o/", "https://example.com:-1/"),
    ],
    "credentials": [
        *("https://user:password@example.com/", "https://example.com\\@evil.example/"),
    ],
    "bad_characters": [
        *("https://example.com/\x00", "https://example.com/\x7f", "https://example.com/\u202egpj.exe"),
        *("https://example.com/\u200b", "https://example.com/\ue000", "https://example.com/\ud800"),
    ],
    "too_long": [
        *("https://example.com/" + "a" * MAX_URL_LENGTH, "https://example.com/" + "é" * (MAX_URL_LENGTH // 4)),
        "https://example.com/#" + "a" * 4 * MAX_URL_LENGTH,
    ],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_urls_name_their_reason(reason: str) -> None:
    for url in REFUSED[reason]:
        with pytest.raises(BadUrl) as refusal:
            canonical_url(url)
        assert refusal.value.reason == reason == str(refusal.value), url


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


def test_literal_ids() -> None:
    for canonical, story_id in {
        "https://example.com/": "cbn-1w8nvc32pz0d",
        "https://techcrunch.com/2026/01/05/story": "cbn-8tmwqqt21bv4",
        "https://example.com/?p=12": "cbn-tna2npsg0e5m",
        "https://xn--bcher-kva.example/caf%C3%A9": "cbn-xe240xhhsza4",
        "https://example.com/a?x=2&x=1&y=0": "cbn-br91mhe21qyr",
    }.items():
        assert chatbotnews_id(canonical) == story_id
        assert canonical_url(canonical) == canonical


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_id_is_a_story_id(text: str) -> None:
    assert is_story_id(chatbotnews_id(text))


def test_other_texts_are_no_story_ids() -> None:
    texts = ["", "cbn-", "cbn-1w8nvc32pz0", "cbn-1w8nvc32pz0dd", "cbn-1w8nvc32pz0d\n", " cbn-1w8nvc32pz0d", "CBN-1W8NVC32PZ0D"]
    texts += [f"cbn-1w8nvc32pz0{letter}" for letter in "ilouA٣"]
    assert [text for text in texts if is_story_id(text)] == []


def test_headlines_that_are_the_same_and_headlines_that_are_not() -> None:
    same = [("OpenAI’s “o5”: what we know", 'OPENAI\'S "O5" - What We  Know!'), ("Ｎｖｉｄｉａ ﬁles suit", "nvidia files suit")]
    same += [("Cafe\u0301 society", "Café society"), ("snake_case", "snake case")]
    other = [("Pate", "Pâté"), ("xAI raises $5bn", "xAI raises €5bn"), ("Disney+", "Disney"), ("की", "का"), ("GPT-4", "GPT-5")]
    assert [pair for pair in same if headline_key(pair[0]) != headline_key(pair[1])] == []
    assert [pair for pair in other if headline_key(pair[0]) == headline_key(pair[1])] == []


@given(st.text())
def test_a_headline_key_is_its_own_key_and_has_single_spaces(text: str) -> None:
    key = headline_key(text)
    assert key == " ".join(key.split())
    assert headline_key(f"  {text}!? ") == key
