"""Watching other wires' logs: one history is signed, of the log that was named, and no server leads or holds up the witness."""

import datetime as dt
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, Final

import pytest
from django.db import connection, connections

from config.errors import UpstreamFailed, WireError
from sources.fetch.fetch_all import fetch_once
from tests.factories import NOW, entry, publish
from tests.wire.archives import empty_wire
from tests.wire.proofs.recorded import Answers, record, serve
from wire.ingest.feed_entries import get_fetch_policy
from wire.models import Witnessed
from wire.publishing.transparency import signed_note, witness
from wire.publishing.transparency.witness import witness_log

SITE: Final = "https://a.example"


def record_wire(settings: Any, tmp_path: Any, words: tuple[str, ...]) -> Answers:
    """Return what the wire a.example serves that published one story with each of these words; the same key signs all of them."""
    before = settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = SITE, tmp_path / "a"
    for at, word in enumerate(words):
        text, when = f"A {word} learned trick {at}", f"2026-01-{at + 2:02}T10:00:00Z"
        made = entry(title=text, url=f"https://techcrunch.com/{at}", published_at=when, summary=f"It did so on day {at}.")
        publish(made, now=NOW + dt.timedelta(days=at))
    found = record()
    empty_wire()
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = before
    return found


def getter(answers: Answers, before: Callable[[str], object] = lambda _path: None) -> Callable[[str], bytes]:
    def get(url: str) -> bytes:
        path = url.removeprefix(SITE)
        before(path)
        if path not in answers:
            raise OSError(f"404 {path}")
        return answers[path]

    return get


@pytest.fixture
def forks(settings: Any, tmp_path: Any) -> tuple[Answers, ...]:
    """A log of two snapshots, and two of three that both go on from it; then the tables of an empty wire that watches."""
    settings.WIRE_DATA_DIR = tmp_path / "own"
    common = record_wire(settings, tmp_path, ("robot", "robot"))
    return common, *(record_wire(settings, tmp_path, ("robot", "robot", word)) for word in ("rabbit", "hedgehog"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_known", [True, False], ids=["seen before", "never seen"])
def test_of_two_runs_at_once_one_signs_and_the_other_finds_the_fork(forks: tuple[Answers, ...], is_known: bool) -> None:
    common, *both = forks
    if is_known:
        witness_log(SITE, getter(common))
    meet = threading.Barrier(2)
    arrived = threading.local()

    def wait(path: str) -> None:
        if path == witness.KEYS and not hasattr(arrived, "once"):  # both know what was signed before, and neither has signed
            arrived.once = True
            meet.wait(20)

    def run(answers: Answers) -> Witnessed | UpstreamFailed:
        try:
            return witness_log(SITE, getter(answers, wait))
        except UpstreamFailed as fault:
            return fault
        finally:
            connections.close_all()

    connection.close()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, both, timeout=60))
    signed = [one for one in results if isinstance(one, Witnessed)]
    refused = [one for one in results if isinstance(one, UpstreamFailed)]
    assert (len(signed), len(refused)) == (1, 1)
    assert "do not begin with the 3 that were seen" in refused[0].message
    stored = Witnessed.objects.get()
    assert (stored.note, stored.root) == (signed[0].note, signed[0].root)
    assert stored.fault == refused[0].message


@pytest.mark.django_db
def test_a_run_that_was_overtaken_asks_again(forks: tuple[Answers, ...]) -> None:
    common, longer, _ = forks
    witness_log(SITE, getter(common))
    overtaking = [True]

    def overtake(path: str) -> None:
        if path == witness.KEYS and overtaking.pop():
            overtaking.append(False)
            assert witness_log(SITE, getter(longer)).size == 3
            slow.update(longer)  # the slow run gets the same log from now on
        elif not overtaking:
            overtaking.append(False)

    slow = dict(common)
    assert witness_log(SITE, getter(slow, overtake)).size == 3
    assert Witnessed.objects.get().fault == ""


@pytest.mark.django_db
def test_a_log_of_another_name_than_its_address_is_not_signed(forks: tuple[Answers, ...]) -> None:
    common, *_ = forks
    answers = {path.replace(SITE, ""): body for path, body in common.items()}
    with pytest.raises(UpstreamFailed, match=r"b\.example: the checkpoint at this address is of the log a\.example"):
        witness_log("https://b.example", lambda url: answers[url.removeprefix("https://b.example")])
    assert not Witnessed.objects.exists()
    for address in ("https://a.example/", "https://A.example"):
        assert witness_log(address, lambda url: answers[url.lower().removeprefix(SITE)]).origin == "a.example"


@pytest.mark.django_db
def test_a_wire_that_takes_another_name_keeps_what_was_signed(forks: tuple[Answers, ...]) -> None:
    common, *_ = forks
    seen = witness_log(SITE, getter(common))
    key = "/.well-known/wire-checkpoint"
    note = common[key].replace(b"a.example", b"c.example")
    with pytest.raises(UpstreamFailed, match=r"of the log c\.example"):
        witness_log(SITE, getter(common | {key: note}))
    stored = Witnessed.objects.get()
    assert (stored.note, stored.origin) == (seen.note, "a.example")
    assert "c.example" in stored.fault
    assert signed_note.parse_checkpoint(stored.note).size == 2


@contextmanager
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers each connection by itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = threading.Event()

        def accept() -> None:
            while not ends.is_set():
                try:
                    connected, _ = server.accept()
                except OSError:
                    return
                with connected:
                    connected.recv(4096)
                    answer(connected)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            ends.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def allowing(*networks: str) -> Any:
    return replace(get_fetch_policy(), allow=tuple(map(ip_network, networks)))


def test_an_answer_is_read_once() -> None:
    with serve({"/a": b"text"}) as site:
        assert fetch_once(f"{site}/a", allowing("127.0.0.1/32")) == b"text"
        with pytest.raises(OSError, match="answers 404"):
            fetch_once(f"{site}/b", allowing("127.0.0.1/32"))
        with pytest.raises(OSError, match="not a public address"):
            fetch_once(f"{site}/a", allowing())
    for strange in ("file:///etc/passwd", "gopher://a.example", "http://user:secret@a.example/"):
        with pytest.raises(ValueError, match="it "):
            fetch_once(strange, allowing())


@pytest.mark.parametrize("target", ["http://127.0.0.1:{port}/secret", "http://[::1]/secret", "http://169.254.169.254/latest"])
def test_no_redirect_leads_the_witness_to_another_server(target: str) -> None:
    with serve({"/secret": b"of this machine"}) as inside:
        location = target.format(port=inside.rpartition(":")[2])

        def redirect(connected: socket.socket) -> None:
            connected.sendall(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

        with raw_server(redirect) as site, pytest.raises(OSError, match=r"redirects to .*; nothing was fetched"):
            fetch_once(f"{site}/.well-known/wire-checkpoint", allowing("127.0.0.1/32"))


@pytest.mark.slow
def test_a_dripping_answer_ends_with_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[fetch_once.__module__], "PATIENCE", 0.5)
    has_ended = threading.Event()

    def drip(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(600):
            try:
                connected.sendall(b"a")
            except OSError:
                break
            if has_ended.wait(0.05):
                break

    with raw_server(drip) as site:
        with pytest.raises(OSError, match="took too long to answer"):
            fetch_once(f"{site}/", allowing("127.0.0.1/32"))
        has_ended.set()


@pytest.mark.django_db
def test_an_error_of_the_guarded_fetch_says_what_to_do() -> None:
    with serve({}) as site, pytest.raises(WireError, match="not a public address") as refused:
        witness_log(site, lambda url: fetch_once(url, allowing()))
    assert "WIRE_FETCH_ALLOW" in refused.value.hint
