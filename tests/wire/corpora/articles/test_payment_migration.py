"""Payments from before identities were stored: each transaction counts for one of them, and what was not settled may be charged."""

import datetime as dt

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.publishers import publisher

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_six_articles_of_one_transaction_stay_and_the_first_has_it() -> None:
    owner, now = publisher(), timezone.now()
    executor = MigrationExecutor(connection)
    executor.migrate([("articles", "0002_price_and_limit")])
    try:
        old = executor.loader.project_state([("articles", "0002_price_and_limit")]).apps.get_model("articles", "Payment")
        was = {"publisher_id": owner.pk, "key": "https://yoursite.com/a", "amount": "1", "asset": "money", "network": "wire:test"}
        for number in range(6):
            settled_at = now - dt.timedelta(minutes=number)
            old.objects.create(sha256=f"{number}", transaction="tx-0", taken_at=now, settled_at=settled_at, **was)
        old.objects.create(sha256="open", taken_at=now, **was)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    new = executor.loader.project_state(executor.loader.graph.leaf_nodes()).apps.get_model("articles", "Payment")
    rows = {row.sha256: row for row in new.objects.all()}
    assert {sha256 for sha256, row in rows.items() if row.settlement} == {"5"}
    assert rows["5"].settlement == "wire:test tx-0"
    assert (len(rows), rows["open"].settling_at, rows["0"].settling_at) == (7, now, None)
