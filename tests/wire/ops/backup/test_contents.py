"""Every table and every key file belongs to a backup, or stands in a list with its reason: also those that a later release adds."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.conf import settings as conf
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config import key_files, keyring
from config.errors import InvalidArgument
from mcpserver.gateway import auth
from tests import claims, publishers
from wire.corpora.timeline import omitted_names
from wire.ops.backup.contents import COUNTED, FOUNDED, KEYS_LEFT_OUT, TABLES_LEFT_OUT, find_filled_table, list_keys, list_tables
from wire.publishing import signing

pytestmark = pytest.mark.django_db

SEARCH_INDEX: Final = "wire_searchindex"
"""FTS5's own tables: they are in the copy of SQLite's file, and Postgres has an index instead."""


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> Path:
    settings.WIRE_DATA_DIR = tmp_path
    return tmp_path / "keys"


def test_every_table_of_every_app_is_in_a_backup_or_left_out_for_a_reason() -> None:
    models = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    present = {table for table in connection.introspection.table_names() if not table.startswith(SEARCH_INDEX)}
    assert models <= present
    assert set(list_tables()) == present - set(TABLES_LEFT_OUT)
    assert models.isdisjoint(TABLES_LEFT_OUT)
    assert all(reason.endswith(".") for reason in (*TABLES_LEFT_OUT.values(), *KEYS_LEFT_OUT.values()))


def test_every_key_that_the_code_makes_is_in_a_backup_or_left_out_for_a_reason(own_keys: Path) -> None:
    keyring.load_or_create_secret(own_keys / "secret_key")
    key_files.load_or_create_key(signing.key_file())
    omitted_names.hash_name("Ada Quillfeather")
    (own_keys / "of_a_later_release").write_bytes(b"secret")
    (own_keys / ".ed25519.pem.0a1b").write_bytes(b"a draft of a rotation that was killed")
    present = {file.name for file in own_keys.iterdir() if not file.name.startswith(".")}
    assert {file.name for file in list_keys()} == present - set(KEYS_LEFT_OUT)
    assert set(KEYS_LEFT_OUT) <= present


def test_every_module_that_stores_a_secret_puts_it_into_the_directory_of_keys() -> None:
    """A secret elsewhere would be in no backup."""
    files = [file for room in ("config", "sources", "wire", "mcpserver") for file in (Path(conf.BASE_DIR) / room).rglob("*.py")]
    storing = [
        file for file in files if re.search(r"\b(keyring|key_files)\.(load_or_create|stored)", file.read_text(encoding="utf-8"))
    ]
    elsewhere = [file.name for file in storing if '"keys"' not in file.read_text(encoding="utf-8")]
    assert elsewhere == ["key_files.py"]  # which stores what it is given a place for


def test_a_new_installation_is_empty_and_whatever_somebody_put_in_counts() -> None:
    labels = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    assert labels >= {*FOUNDED, *COUNTED.values()}
    assert find_filled_table() == ""
    auth.create_agent("alpha", ["twitter://"], 50, {})
    assert find_filled_table() == "gateway_agent"
    apps.get_model("gateway.Agent").objects.all().delete()
    publishers.publisher()
    assert find_filled_table() == "articles_publisher"
    apps.get_model("articles.Publisher").objects.filter(slug="chef").delete()
    User.objects.create_user("ada")
    assert find_filled_table() == "auth_user"
    User.objects.all().delete()
    claims.load(claims.LEAD)
    assert find_filled_table() in {"factchecks_claim", "wire_postings"}  # its words


def test_tables_that_a_newer_program_made_are_not_left_out_without_a_word() -> None:
    MigrationRecorder(connection).record_applied("wire", "0999_future")
    with pytest.raises(InvalidArgument, match=r"it applied wire\.0999_future.*"):
        list_tables()
