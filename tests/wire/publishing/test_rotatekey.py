"""A new signing key: old days still verify, the old key signs nothing more."""

import base64
import datetime as dt
import io
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from config.errors import WireError
from tests.factories import entry, publish
from tests.wire.archives import comes_back_whole, verifywire
from wire.models import SigningKey, Snapshot, WireState
from wire.publishing import signing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path / "wire"


def rotate() -> str:
    out = io.StringIO()
    call_command("rotatekey", stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_the_next_day_is_signed_by_the_new_key_and_both_stay_published_and_verify(client: Client, tmp_path: Path) -> None:
    rotate()  # a wire without any key gets its first
    assert SigningKey.objects.get().key_id == signing.get_key_in_force()
    publish(entry())
    before = WireState.objects.get().version
    told = rotate()
    assert f"signed by {signing.get_key_in_force()} from now on" in told
    assert WireState.objects.get().version == before + 1
    publish(entry())
    first, second = Snapshot.objects.order_by("sequence").values_list("key", flat=True)
    assert (first != second, second) == (True, signing.get_key_in_force())
    keys = client.get("/.well-known/wire-keys.json").json()["keys"]
    assert {key["key_id"]: key["retired_at"] is None for key in keys} == {first: False, second: True}
    assert "2 snapshots" in verifywire()
    comes_back_whole(tmp_path)


def test_the_key_file_is_its_owners_alone_and_nothing_is_left_beside_it() -> None:
    publish(entry())
    rotate()
    assert stat.S_IMODE(signing.key_file().stat().st_mode) == 0o600
    assert [file.name for file in signing.key_file().parent.iterdir()] == ["ed25519.pem"]


def test_a_retired_key_that_comes_back_signs_nothing() -> None:
    publish(entry())
    old = signing.key_file().read_bytes()
    rotate()
    signing.key_file().write_bytes(old)
    with pytest.raises(WireError, match=r"which was retired on .*Nothing was signed"):
        publish(entry())
    assert Snapshot.objects.count() == 1


def test_a_key_that_cannot_be_kept_leaves_the_one_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(entry())
    before = signing.get_key_in_force()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("wire.publishing.signing.os.replace", full)
    with pytest.raises(OSError, match="No space"):
        signing.rotate_key()
    assert signing.get_key_in_force() == before
    assert SigningKey.objects.get().retired_at is None
    assert [file.name for file in signing.key_file().parent.iterdir()] == ["ed25519.pem"]


@pytest.mark.slow
@pytest.mark.parametrize("generated_at", ["later", "as it was"])
def test_a_day_signed_by_a_retired_key_is_called_forged(generated_at: str) -> None:
    """By its own time, and, since that is not hashed, by what the later key signed before it."""
    publish(entry())
    old = Snapshot.objects.get()
    stolen = serialization.load_pem_private_key(signing.key_file().read_bytes(), password=None)
    assert isinstance(stolen, Ed25519PrivateKey)
    rotate()
    publish(entry())
    publish(entry())
    assert "3 snapshots" in verifywire()
    newest = Snapshot.objects.order_by("-sequence")[0]
    forged = {"key": old.key, "signature": base64.b64encode(stolen.sign(newest.wire_sha256.encode())).decode()}
    if generated_at == "later":
        Snapshot.objects.exclude(pk=old.pk).exclude(pk=newest.pk).update(key=old.key)  # nothing to go by but the time
        forged["generated_at"] = timezone.now() + dt.timedelta(hours=1)
        Snapshot.objects.filter(sequence=2).update(
            signature=base64.b64encode(stolen.sign(Snapshot.objects.get(sequence=2).wire_sha256.encode())).decode()
        )
    Snapshot.objects.filter(pk=newest.pk).update(**forged)
    with pytest.raises(CommandError, match=r"snapshot 3 .* was signed by the key \w+ after that key was retired"):
        verifywire()


def test_a_clock_that_was_ahead_makes_nobody_a_forger() -> None:
    publish(entry(), now=timezone.now() + dt.timedelta(days=2))
    rotate()
    publish(entry(), now=timezone.now() + dt.timedelta(days=3))
    assert "2 snapshots" in verifywire()
