"""The published verifier as a program of its own, against true answers and forged ones; and two wires that watch each other."""

import base64
import datetime as dt
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from config.errors import UpstreamFailed
from tests.factories import NOW, entry, publish
from tests.wire.archives import dump, empty_wire, loadwire
from tests.wire.proofs.recorded import Answers, record, serve
from wire.models import SigningKey, Snapshot, Witnessed
from wire.publishing import signing
from wire.publishing.transparency import signed_note
from wire.publishing.transparency.witness import witness_log

pytestmark = pytest.mark.django_db

VERIFIER = Path(configured.BASE_DIR) / "docs" / "verify_wire.py"


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path / "wire"


def verify(answers: Answers, *options: str) -> str:
    with serve(answers) as site:
        run = subprocess.run(
            [sys.executable, str(VERIFIER), site, *options], capture_output=True, text=True, check=False, timeout=60
        )
    assert run.stderr == ""
    assert (run.returncode == 0) == run.stdout.startswith("OK: ")
    return run.stdout


def days(number: int, *, but: int | None = None, word: str = "robot") -> None:
    """So many days of one story each, without one of them or with another word in the first."""
    for at in range(number):
        if at != but:
            text = f"A {word if at == 0 else 'robot'} learned trick {at}"
            when = f"2026-01-{at + 2:02}T10:00:00Z"
            made = entry(title=text, url=f"https://techcrunch.com/{at}", published_at=when, summary=f"It did so on day {at}.")
            publish(made, now=NOW + dt.timedelta(days=at))


def test_the_verifier_is_short_and_needs_one_package() -> None:
    code = VERIFIER.read_text(encoding="utf-8")
    assert len(code.splitlines()) < 150
    packages = {line.split()[1].partition(".")[0] for line in code.splitlines() if line.startswith(("import ", "from "))}
    assert packages - set(sys.stdlib_module_names) == {"cryptography"}


@pytest.mark.slow
def test_a_true_wire_verifies_and_goes_on_verifying(tmp_path: Path) -> None:
    days(3)
    state = tmp_path / "seen.json"
    assert verify(record(), "--state", str(state)).startswith("OK: localhost:8000: 3 snapshots of 3 days")
    publish(entry(published_at="2026-01-12T09:00:00Z"), now=NOW + dt.timedelta(days=9))
    assert verify(record(), "--state", str(state)).startswith("OK: localhost:8000: 4 snapshots")
    assert json.loads(state.read_text())["size"] == 4


def forge(answers: Answers, path: str, *changes: tuple[str, str]) -> Answers:
    """The answers with other words in some of them."""
    changed = dict(answers)
    for name in [name for name in answers if path in name]:
        for old, new in changes:
            changed[name] = changed[name].replace(old.encode(), new.encode())
    assert changed != answers
    return changed


@pytest.mark.slow
def test_each_forgery_of_what_is_served_is_found() -> None:
    days(4)
    true = record()
    assert "story cbn-" in verify(forge(true, "/archive/", ("A robot learned trick 1", "A robot unlearned trick 1")))
    assert "wire_sha256" in verify(forge(true, "/provenance/", ('"cross_source_count":1', '"cross_source_count":3')))
    assert "root" in verify(forge(true, "/leaves", ("2026-01-03", "2026-01-04")))
    leaves = json.loads(true["/api/log/leaves.json?start=0&limit=1000"])
    del leaves["leaves"][1]
    dropped = true | {"/api/log/leaves.json?start=0&limit=1000": json.dumps(leaves).encode()}
    assert "DIFFERS" in verify(dropped | {"/api/log/leaves.json?start=3&limit=1000": json.dumps({"leaves": []}).encode()})
    note = true["/.well-known/wire-checkpoint"]
    assert "signature" in verify(true | {"/.well-known/wire-checkpoint": note.replace(b"\n4\n", b"\n3\n")})
    keys = json.loads(true["/.well-known/wire-keys.json"])
    keys["keys"][0]["public_key"] = base64.b64encode(bytes(32)).decode()
    assert "not signed by any key" in verify(true | {"/.well-known/wire-keys.json": json.dumps(keys).encode()})


HISTORIES = {"a day dropped": {"but": 1}, "a story rewritten": {"word": "rabbit"}, "a day dropped and others added": {"but": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("forgery", [*HISTORIES, "everything signed anew"])
def test_a_history_forged_by_the_wire_itself_is_found_by_whoever_saw_the_true_one(forgery: str, tmp_path: Path) -> None:
    """Signed with its own key, such a history is whole in itself."""
    days(4)
    state = tmp_path / "seen.json"
    assert verify(record(), "--state", str(state)).startswith("OK")
    if forgery in HISTORIES:
        empty_wire()
        days(6 if "added" in forgery else 4, **HISTORIES[forgery])  # type: ignore[arg-type]
    else:
        key = signing.key_file()
        key.unlink()
        Snapshot.objects.all().delete()
        SigningKey.objects.all().delete()
        empty_wire()
        days(4)
    other = record()
    assert verify(other).startswith("OK"), "by itself nothing is wrong with it"
    told = verify(other, "--state", str(state))
    assert told.startswith("DIFFERS: what was seen before"), told


def getter(answers: Answers, site: str) -> Any:
    def get(url: str) -> bytes:
        path = url.removeprefix(site)
        if path not in answers:
            raise OSError(f"404 {path}")
        return answers[path]

    return get


def find_cosigning_time(checkpoint: signed_note.Checkpoint, name: str, public: bytes) -> int | None:
    """Return when the witness of this name and key signed it, in seconds since 1970; None if it did not."""
    for signer, signed in checkpoint.signatures:
        if signer == name and signed[:4] == signed_note.compute_key_id(name, public, signed_note.COSIGNATURE) and len(signed) == 76:
            timestamp = int.from_bytes(signed[4:12], "big")
            if signed_note.is_valid_signature(public, signed[12:], signed_note.build_cosigned_text(checkpoint, timestamp)):
                return timestamp
    return None


@pytest.mark.slow
def test_two_wires_watch_each_other_and_each_finds_the_others_forgery(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = "https://a.example", tmp_path / "a"
    days(3)
    of_a, of_a_dumped = record(), tmp_path / "a.ndjson"
    dump(of_a_dumped)

    empty_wire()
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = "https://b.example", tmp_path / "b"
    days(5, word="hedgehog")
    seen = witness_log("https://a.example/", getter(of_a, "https://a.example"))
    assert (seen.origin, seen.size, seen.fault) == ("a.example", 3, "")
    key = base64.b64decode(SigningKey.objects.get().public_key)
    assert find_cosigning_time(signed_note.parse_checkpoint(seen.note), "b.example", key) == int(seen.seen_at.timestamp())
    assert find_cosigning_time(signed_note.parse_checkpoint(seen.note), "c.example", key) is None
    of_b = record()
    assert json.loads(of_b["/api/log/witnessed.json"])["logs"][0]["note"] == seen.note
    with pytest.raises(UpstreamFailed, match="it had 3 snapshots and has 2"):
        witness_log("https://a.example", getter(_shorter(of_a, settings, tmp_path), "https://a.example"))
    assert Witnessed.objects.get().fault
    assert Witnessed.objects.get().size == 3

    empty_wire()
    Witnessed.objects.all().delete()
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = "https://a.example", tmp_path / "a"
    loadwire(of_a_dumped)
    publish(entry(published_at="2026-01-12T09:00:00Z"), now=NOW + dt.timedelta(days=9))
    assert witness_log("https://b.example", getter(of_b, "https://b.example")).size == 5
    of_a_later = record()
    changed = dict(of_a_later)
    changed["/api/log/consistency.json?first=3&second=4"] = json.dumps({"path": []}).encode()
    for answers, is_true in ((changed, False), (of_a_later, True)):
        Witnessed.objects.create(
            origin="a.example",
            url="https://a.example",
            public_key=base64.b64encode(key_of(of_a)).decode(),
            size=3,
            root=signed_note.parse_checkpoint(of_a["/.well-known/wire-checkpoint"].decode()).root,
            note=seen.note,
            seen_at=NOW,
        )
        if is_true:
            assert witness_log("https://a.example", getter(answers, "https://a.example")).size == 4
        else:
            with pytest.raises(UpstreamFailed, match="do not begin with the 3"):
                witness_log("https://a.example", getter(answers, "https://a.example"))
        Witnessed.objects.filter(origin="a.example").delete()


def key_of(answers: Answers) -> bytes:
    return base64.b64decode(json.loads(answers["/.well-known/wire-keys.json"])["keys"][0]["public_key"])


def _shorter(answers: Answers, settings: Any, tmp_path: Path) -> Answers:
    """The same wire with a day less, signed by its own key."""
    stored = dump(tmp_path / "stored.ndjson")
    before = settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR
    witnessed = list(Witnessed.objects.all())
    empty_wire()
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = "https://a.example", tmp_path / "a"
    days(2)
    found = record()
    assert found.keys() != answers.keys()
    empty_wire()
    settings.WIRE_SITE_URL, settings.WIRE_DATA_DIR = before
    (tmp_path / "stored.ndjson").write_bytes(stored)
    loadwire(tmp_path / "stored.ndjson")
    Witnessed.objects.bulk_create(witnessed)
    return found


def test_a_wire_that_cannot_be_read_is_said_to_be_so() -> None:
    with pytest.raises(UpstreamFailed, match="cannot be read"):
        witness_log("https://a.example", getter({}, "https://a.example"))
