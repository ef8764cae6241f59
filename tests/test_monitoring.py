"""Dashboard and alert rules: well formed, naming only metrics that the running application serves, and firing when they should."""

import datetime as dt
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from config.database import routing
from config.http import error_counts
from mcpserver.gateway import metrics as gateway_metrics
from mcpserver.gateway.response import Attempt, GatewayResponse
from sources.models import Feed, FeedHealth
from tests.clients.server import ROOT
from tests.factories import entry, publish
from tests.mcpserver.asgi import request, rpc

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.django_db

TOKEN: Final = "quince-marmalade-and-orange-peel"
RULES: Final = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD: Final = ROOT / "deploy" / "grafana" / "wire.json"
NAME: Final = re.compile(r"\b(?:wire|process)_[a-z_]+\b(?!=)")
PATTERN: Final = re.compile(r'__name__=~"([^"]+)"')


@pytest.fixture(autouse=True)
def token(settings: Any) -> None:
    settings.WIRE_METRICS_TOKEN = TOKEN


def list_rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


def list_expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in list_rules())
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def ask_metrics() -> dict[str, float]:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


@pytest.fixture
def with_replica(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setitem(settings.DATABASES, routing.REPLICA, dict(settings.DATABASES["default"]))
    monkeypatch.setattr(routing, "recycle_connection", lambda: None)  # it would end the test's transaction


@pytest.mark.usefixtures("with_replica")
def test_every_metric_that_is_named_is_served() -> None:
    publish(entry(), now=dt.datetime.now(dt.UTC))
    FeedHealth.objects.create(feed=Feed.objects.all()[0], tried_at=timezone.now())
    failed = Attempt("news://global/trends", "news", 0.0, error="TIMEOUT")
    response = GatewayResponse("r1", "news", "news://global/trends", "stale", 0.0, False, attempts=[failed], remaining=7)
    gateway_metrics.observe_response(response, 7.0)
    served = {name.partition("{")[0] for name in ask_metrics()}
    expressions = list(list_expressions())
    names = {name for text in expressions for name in NAME.findall(text)}
    assert len(names) > 12
    assert names <= served, names - served
    for pattern in {found for text in expressions for found in PATTERN.findall(text)}:
        assert any(re.fullmatch(pattern, name) for name in served), pattern


def test_rules_say_how_bad_it_is_and_panels_are_apart() -> None:
    for rule in list_rules():
        assert rule["labels"]["severity"] in {"page", "ticket"}, rule["alert"]
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        assert re.fullmatch(r"\d+[mh]", rule["for"])
    described = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert [rule["alert"] for rule in list_rules() if f"`{rule['alert']}`" not in described] == []
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) == len({str(panel["gridPos"]) for panel in panels})


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package `prometheus` has promtool")
@pytest.mark.parametrize(
    "command",
    [
        ("check", "rules", "alerts.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
        ("test", "rules", "alerts_test.yml"),
    ],
)
def test_promtool_accepts_them_and_alerts_fire(command: tuple[str, ...]) -> None:
    ran = subprocess.run(["promtool", *command], cwd=RULES.parent, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.usefixtures("with_replica")
def test_a_primary_that_is_down_shows_while_the_database_that_is_read_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ask_metrics()["wire_database_up"], ask_metrics()["wire_primary_up"]) == (1, 1)

    def away(*_: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(routing, "_read_version", away)
    assert (ask_metrics()["wire_database_up"], ask_metrics()["wire_primary_up"]) == (1, 0)


def test_faults_are_counted_by_the_surface_that_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(entry())
    before = dict(error_counts.counts)
    assert request("GET", "/nowhere").status == 404
    assert dict(error_counts.counts) == before
    with monkeypatch.context() as patch:
        patch.setattr(routing.source, "away", "gone")
        assert request("GET", "/api/search.json?query=quince").status == 503
        assert [request("GET", path).status for path in ("/search?query=quince", "/search?query=gherkin")] == [503, 503]
        assert rpc("resources/read", {"uri": "wire://today"}).status == 200
        assert rpc("tools/call", {"name": "list_events", "arguments": {}}).status == 200
    found = ask_metrics()
    errors = {door: found[f'wire_errors_total{{door="{door}"}}'] - before.get(door, 0) for door in error_counts.DOORS}
    assert errors == {"site": 2, "rest": 1, "mcp": 2, "desk": 0}
