"""A file of terms at its limit, made to cost much, costs a request no more than two seconds of processor time."""

import csv
import io
import json
import time
from typing import Any, Final

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.db import connection
from django.utils.datastructures import MultiValueDict

from wire.admin.lexicon import MAX_ROWS, TermsForm

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="processor time of texts does not depend on the database"),
]
LARGEST: Final = 10_000_000  # bytes


def _table(rows: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("kind", "target", "term", "weight"))
    writer.writerows(("topic", "openai", f"quince {number}", "1") for number in range(rows))
    return text.getvalue()


def _items(rows: int) -> str:
    return json.dumps([{"kind": "topic", "target": "openai", "term": f"quince {number}", "weight": 1} for number in range(rows)])


SHAPES: Final = {
    "a list of numbers": "[" + "0," * (LARGEST // 2) + "0]",
    "nested lists": "[" * LARGEST,
    "objects that hold nothing": "[" + "{}," * (LARGEST // 3) + "{}]",
    "one long line": "kind,target,term,weight\n" + "a" * LARGEST,
    "quotation marks": "kind,target,term,weight\n" + '"' * LARGEST,
    "empty lines": "kind,target,term,weight\n" + "\n" * LARGEST,
    "many columns": "a," * (LARGEST // 2),
    "as many rows as are taken": _table(MAX_ROWS),
    "as many items as are taken": _items(MAX_ROWS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_of_terms_at_its_limit_costs_two_seconds_at_most(shape: str) -> None:
    sent: list[UploadedFile[Any]] = [SimpleUploadedFile("terms.csv", SHAPES[shape].encode())]
    form = TermsForm({}, MultiValueDict({"file": sent}))
    began = time.process_time()
    form.is_valid()
    assert time.process_time() - began < 2
