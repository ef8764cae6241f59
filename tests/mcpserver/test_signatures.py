"""Signed answers (RFC 9421), read from the RFC by a verifier of the tests' own, with the key that the wire publishes."""

import base64
import hashlib
import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config import ed25519
from config.http import memory_cache, signatures
from tests.clients.server import environment, free_port, running
from tests.mcpserver.asgi import Answer, get, request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

TODAY: Final = "/api/today.json"
DAY: Final = "/api/archive/2026-10-12.json"
SIGNED: Final = [
    TODAY,
    DAY,
    f"{DAY}?revision=1",
    f"{DAY}?as_of=2126-01-01T00:00:00Z&revision=1",
    f"{TODAY}?as_of=2126-01-01T00:00:00Z",
]


@pytest.fixture(autouse=True)
def signing(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """A wire that signs its answers with keys of its own, and caches them as it does while it serves."""
    settings.WIRE_DATA_DIR = tmp_path
    settings.WIRE_SIGN_ANSWERS = True
    memory_cache.answers.clear()
    memory_cache.answers.set_version(1)
    yield
    memory_cache.answers.set_version(None)


def published_key() -> dict[str, str]:
    (key,) = get("/.well-known/wire-keys.json")["answer_keys"]
    found: dict[str, str] = key
    return found


def verify(answer: Answer, address: str, key: dict[str, str] | None = None) -> dict[str, str]:
    """The parameters of the signature, by RFC 9421: 3.2 how to verify, 2.5 the base. Raises: InvalidSignature, ValueError."""
    key = key or published_key()
    label, members = re.fullmatch(r"(\w+)=(\(.*)", answer["signature-input"] or "").groups()  # type: ignore[union-attr]
    covered, described = re.fullmatch(r"\(([^)]*)\)(.*)", members).groups()  # type: ignore[union-attr]
    parameters = {name: value.strip('"') for name, value in re.findall(r';(\w+)=("[^"]*"|\d+)', described)}
    if (parameters["keyid"], parameters["alg"], parameters["tag"]) != (key["key_id"], "ed25519", "chatbotnews-answer"):
        raise ValueError("another key, algorithm or purpose")
    path, mark, query = address.partition("?")
    derived = {'"@status"': str(answer.status), '"@path";req': path, '"@query";req': f"?{query}" if mark else "?"}
    if not set(covered.split(" ")) >= {*derived, '"content-digest"', '"content-type"'}:
        raise ValueError("too little is covered")
    values = {f'"{name}"': value for name, value in answer.headers} | derived
    lines = [f"{name}: {values[name]}" for name in covered.split(" ")]
    base = "\n".join([*lines, f'"@signature-params": {members}'])
    signature = base64.b64decode(re.fullmatch(rf"{label}=:(.*):", answer["signature"] or "").group(1))  # type: ignore[union-attr]
    Ed25519PublicKey.from_public_bytes(base64.b64decode(key["public_key"])).verify(signature, base.encode())
    if answer["content-digest"] != f"sha-256=:{digest(answer.body)}:":
        raise ValueError("another body")
    return parameters


def digest(body: bytes) -> str:
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


@pytest.mark.parametrize("coding", ["", "gzip", "zstd"])
@pytest.mark.parametrize("address", SIGNED)
def test_an_answer_is_signed_by_the_published_key_made_or_cached(address: str, coding: str) -> None:
    made = request("GET", address, headers={"accept-encoding": coding})
    cached = request("GET", address, headers={"accept-encoding": coding, "host": "127.0.0.1:8000"})
    assert made["content-encoding"] == (coding or None)
    assert verify(made, address) == verify(cached, address)
    assert made.headers == cached.headers, "signed once"


def test_the_same_parameters_in_another_order_are_signed_as_they_were_sent() -> None:
    for query in ("revision=1&as_of=2126-01-01T00:00:00Z", "as_of=2126-01-01T00:00:00Z&revision=1"):
        assert verify(request("GET", f"{DAY}?{query}"), f"{DAY}?{query}")


@pytest.mark.parametrize("query", ["&", "&&&", "revision=1&", "&revision=1&&"])
def test_what_means_nothing_in_a_query_makes_no_new_answer(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same stored answer of the same moment, and signed for the query as it was sent."""
    plain = f"{DAY}?revision=1" if "revision" in query else DAY
    first, key = request("GET", plain), published_key()
    with monkeypatch.context() as patched:
        patched.setattr("config.http.response_cache._ask", None)  # nothing is asked again
        again = request("GET", f"{DAY}?{query}")
    assert verify(again, f"{DAY}?{query}", key)["created"] == verify(first, plain, key)["created"]
    assert (again.body, again["etag"]) == (first.body, first["etag"])
    junk = request("GET", f"{DAY}?{query}&junk=1")
    assert (junk.status, junk["signature"]) == (400, None)


def test_what_is_made_again_after_a_publish_is_signed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = int(verify(request("GET", TODAY), TODAY)["created"])
    monkeypatch.setattr("config.http.response_cache.time.time", lambda: before + 90.5)
    assert int(verify(request("GET", TODAY), TODAY)["created"]) == before
    memory_cache.answers.set_version(2)
    assert int(verify(request("GET", TODAY), TODAY)["created"]) == before + 90


def tampered(answer: Answer, change: str) -> Answer:
    headers, status, body = dict(answer.headers), answer.status, answer.body
    if change == "body":
        body = body.replace(b"moon", b"Moon", 1)
    elif change == "body and digest":
        body = body.replace(b"moon", b"Moon", 1)
        headers["content-digest"] = f"sha-256=:{digest(body)}:"
    elif change == "status":
        status = 203
    elif change == "created":
        headers["signature-input"] = re.sub(r"created=(\d)", r"created=9\1", headers["signature-input"])
    elif change == "covers less":
        headers["signature-input"] = headers["signature-input"].replace(' "content-digest"', "")
    elif change == "other tag":
        headers["signature-input"] = headers["signature-input"].replace("chatbotnews-answer", "chatbotnews-day")
    else:
        headers[change] = headers[change][:10] + headers[change][10:].swapcase()
    changed = Answer(status, list(headers.items()), body)
    assert changed != answer
    return changed


CHANGES: Final = [
    "body",
    "body and digest",
    "status",
    "created",
    "covers less",
    "other tag",
    "content-type",
    "content-digest",
    "signature",
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_on_the_way_is_refused(change: str) -> None:
    answer = request("GET", DAY)
    assert verify(answer, DAY)
    with pytest.raises((InvalidSignature, ValueError)):
        verify(tampered(answer, change), DAY)


@pytest.mark.parametrize("other", [TODAY, f"{DAY}?revision=1", "/api/archive/2026-10-13.json"])
def test_an_answer_to_another_question_is_refused(other: str) -> None:
    with pytest.raises(InvalidSignature):
        verify(request("GET", DAY), other)


def test_a_coding_that_was_taken_off_is_refused() -> None:
    answer = request("GET", DAY, headers={"accept-encoding": "gzip"})
    kept = [(name, "identity" if name == "content-encoding" else value) for name, value in answer.headers]
    with pytest.raises(InvalidSignature):
        verify(Answer(answer.status, kept, answer.body), DAY)


def test_a_304_and_an_error_are_not_signed_and_head_is() -> None:
    answer = request("GET", DAY)
    unchanged = request("GET", DAY, headers={"if-none-match": str(answer["etag"])})
    missing = request("GET", "/api/archive/1999-01-01.json")
    assert (unchanged.status, missing.status) == (304, 404)
    assert {one[name] for one in (unchanged, missing) for name in ("signature", "signature-input")} == {None}
    head = request("HEAD", DAY)
    assert (head.body, head["signature"]) == (b"", answer["signature"])


def test_only_days_are_signed_and_nothing_is_unless_it_is_turned_on(settings: Settings) -> None:
    for path in ("/api/archive.json", "/api/sources.json", "/"):
        assert request("GET", path)["signature"] is None, path
    settings.WIRE_SIGN_ANSWERS = False
    memory_cache.answers.clear()
    for path in SIGNED:
        answer = request("GET", path)
        assert (answer.status, answer["signature"], answer["signature-input"]) == (200, None, None)
    assert get("/.well-known/wire-keys.json").keys() == {"keys"}


def test_the_key_says_what_it_is_for_and_signs_no_day(tmp_path: Path) -> None:
    keys = get("/.well-known/wire-keys.json")
    assert keys["answer_keys"][0]["purpose"] == 'HTTP message signatures (RFC 9421) of answers, with tag="chatbotnews-answer"'
    assert keys["answer_keys"][0]["public_key"] not in {key["public_key"] for key in keys["keys"]}
    file = tmp_path / "keys" / "answers.pem"
    assert (file.stat().st_mode & 0o777, signatures.key_file()) == (0o600, file)
    assert keys["answer_keys"][0]["key_id"] == ed25519.key_id(ed25519.read(file))


def test_a_new_key_leaves_the_old_one_published(tmp_path: Path) -> None:
    old = request("GET", DAY)
    before = published_key()
    (tmp_path / "keys" / "answers.pem").unlink()
    signatures.key.cache_clear()
    memory_cache.answers.clear()
    new = request("GET", DAY)
    keys = {key["key_id"]: key for key in get("/.well-known/wire-keys.json")["answer_keys"]}
    assert keys[before["key_id"]] == before
    assert len(keys) == 2
    for answer in (old, new):
        key_id = re.findall(r'keyid="(\w+)"', answer["signature-input"] or "")[0]
        assert verify(answer, DAY, keys[key_id])["keyid"] == key_id


def test_a_key_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "answers.pem"
    file.parent.mkdir(exist_ok=True)
    file.write_text("no key")
    signatures.key.cache_clear()
    with pytest.raises(ImproperlyConfigured, match=r"answers\.pem cannot be read: .*a new one is made"):
        signatures.key(file)


@pytest.mark.slow
def test_a_served_wire_signs_and_goes_on_with_its_key(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        env = environment(tmp_path, free_port()) | {"WIRE_SIGN_ANSWERS": "on"}
        with running(["manage.py", "serve"], env, tmp_path / "server.log") as site:
            (key,) = json.loads(fetched(f"{site}/.well-known/wire-keys.json").body)["answer_keys"]
            assert verify(fetched(f"{site}{DAY}?revision=1"), f"{DAY}?revision=1", key)
            keys.append(key)
    assert keys[0] == keys[1]


def fetched(url: str) -> Answer:
    with urllib.request.urlopen(url) as answer:  # noqa: S310  a server of ours
        return Answer(answer.status, [(name.lower(), value) for name, value in answer.headers.items()], answer.read())


VECTOR_KEY: Final = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
VECTOR: Final = [
    ('"date"', "Tue, 20 Apr 2021 02:07:55 GMT"),
    ('"@method"', "POST"),
    ('"@path"', "/foo"),
    ('"@authority"', "example.com"),
    ('"content-type"', "application/json"),
    ('"content-length"', "18"),
]


def test_the_rfcs_own_example_gives_the_rfcs_own_signature() -> None:
    """RFC 9421, B.2.6."""
    private: Any = load_pem_private_key(VECTOR_KEY, password=None)
    assert isinstance(private, Ed25519PrivateKey)
    described = f'({" ".join(name for name, _ in VECTOR)});created=1618884473;keyid="test-key-ed25519"'
    signature = base64.b64encode(private.sign(signatures.base(VECTOR, described))).decode()
    assert signature == "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
