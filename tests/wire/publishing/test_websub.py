"""The WebSub hub is told which feeds changed: each once, again when it did not answer, and never before readers see it."""

import datetime as dt
import http.server
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import feedparser
import flask_websub.hub as hubs
import flask_websub.subscriber as subscribers
import pytest
from django.test import Client
from flask import Flask
from werkzeug.serving import make_server

from sources import job_lock
from tests.clients.server import environment, free_port, running, services
from tests.factories import NOW, entry, publish, story_of
from tests.test_two_workers import Wire
from tests.wire.installation import set_up
from wire import queries
from wire.ingest import corrections
from wire.models import HubState, WireState
from wire.ops.doctor import checks
from wire.publishing import websub

pytestmark = pytest.mark.django_db

SITE = "http://localhost:8000/feeds/"


class Hub(http.server.ThreadingHTTPServer):
    """Notes the feeds that it is told, and answers with `status`, or with 400 for one in `refused`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.refused = 204, ""
        self.words = b"No, not now."
        self.told: list[str] = []
        self.paths: set[str] = set()

    def take(self) -> set[str]:
        """The feeds of which it was told since, without the address of the site and the form."""
        names = {topic.removeprefix(SITE).rpartition(".")[0] for topic in self.told}
        assert sorted(self.told) == sorted(f"{SITE}{name}.{form}" for name in names for form in ("rss", "atom", "json"))
        self.told.clear()
        return names


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        assert form["hub.mode"] == ["publish"]
        (topic,) = form["hub.url"]
        status = 400 if topic == self.server.refused else self.server.status
        if status == 204:
            self.server.told.append(topic)
        body = b"" if status == 204 else self.server.words
        self.server.paths.add(self.path)
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        if body:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hub(settings: Any) -> Iterator[Hub]:
    with Hub() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        settings.WIRE_WEBSUB_HUB = f"http://127.0.0.1:{server.server_port}/hub"
        publish(entry(title="A marmot sings"))
        announce()  # begins at the end of the log: what was published before is no news
        assert server.told == []
        yield server
        server.shutdown()


def announce(now: dt.datetime = NOW) -> float:
    return websub.announce_changes(queries.get_last_number(), now)


def check() -> tuple[str, str]:
    (finding,) = checks.check_hub(NOW)
    return str(finding.level), f"{finding.found} {finding.advice}"


def test_a_publish_is_told_once_with_every_list_that_it_changed(hub: Hub) -> None:
    publish(made := entry(title="OpenAI launches quince"))
    event = story_of(made).event_id
    assert announce() == websub.IDLE
    lists = {"events", "stories", "takes", "category-launches", "topic-openai", "about-openai", "source-techcrunch"}
    assert hub.take() == lists | {f"event-{event}", f"storyline-{event}"}
    announce()
    assert hub.take() == set()
    corrections.withdraw_story(story_of(made).chatbotnews_id, reason="Retracted.", now=NOW)
    announce()
    assert {"corrections", "stories", f"event-{event}"} < hub.take()
    assert check()[0] == "ok"


def test_of_a_whole_archive_only_the_lists_are_told(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websub, "MOST", 1)
    publish(
        entry(title="OpenAI launches quince"), entry(title="Gherkins rise in Peru", publisher="Wired", url="https://wired.com/g")
    )
    announce()
    told = hub.take()
    assert {"events", "source-wired"} < told
    assert not [name for name in told if name.startswith(("event-", "storyline-"))]


def test_a_hub_that_does_not_answer_is_tried_again_later_and_told_everything_then(hub: Hub) -> None:
    hub.status = 503
    publish(entry(title="OpenAI launches quince"))
    assert announce() == 60
    level, said = check()
    assert (level, "does not answer, 1 time in a row: status 503" in said, "No, not now." in said) == ("warn", True, True)
    hub.status = 204
    assert announce(NOW + dt.timedelta(seconds=20)) == 40  # it is left alone until then
    assert hub.take() == set()
    publish(entry(title="A second one launches"))
    announce(NOW + dt.timedelta(seconds=60))
    assert "topic-openai" in hub.take()
    assert (check()[0], HubState.objects.get().failures) == ("ok", 0)


def test_a_hub_that_is_gone_is_tried_less_and_less_often(hub: Hub) -> None:
    hub.shutdown()
    hub.server_close()
    publish(entry())
    now, pauses = NOW, []
    for _ in range(12):
        pauses.append(announce(now))
        now += dt.timedelta(seconds=pauses[-1])
    assert (pauses[:3], pauses[-1]) == ([60, 120, 240], websub.LONGEST_PAUSE)


def test_what_a_hub_refuses_keeps_it_from_nothing_else_and_the_doctor_says_so(hub: Hub) -> None:
    hub.refused = f"{SITE}stories.atom"
    publish(entry(title="OpenAI launches quince"))
    assert announce() == websub.IDLE
    assert f"{SITE}stories.json" in hub.told
    level, said = check()
    assert (level, f"refuses: status 400 for {SITE}stories.atom: No, not now." in said) == ("warn", True)


def test_no_other_address_is_asked_in_place_of_the_hub_and_no_endless_answer_is_read(hub: Hub) -> None:
    hub.status, hub.words = 307, b"x" * 1_000_000
    publish(entry())
    assert announce() == websub.IDLE
    assert hub.paths == {"/hub"}
    level, said = check()
    assert (level, "status 307" in said, len(said) < 600) == ("warn", True, True)


def test_one_process_at_a_time_tells_it_and_another_hub_begins_anew(hub: Hub, settings: Any) -> None:
    publish(entry())
    with job_lock.acquire(HubState.objects.filter(pk=1), "test"):
        assert announce() == websub.WHILE_BUSY
    assert hub.take() == set()
    WireState.objects.update(changes_epoch="another")  # as after a restore
    announce()
    assert hub.take() == set()
    publish(entry())
    announce()
    assert "stories" in hub.take()
    assert websub.announce_changes(None) == 1  # this process has not seen yet what all show
    settings.WIRE_WEBSUB_HUB = ""
    assert check() == ("ok", "No WebSub hub is named. ")


def test_feeds_name_the_hub_but_for_searches(client: Client, settings: Any) -> None:
    publish(entry())
    settings.WIRE_WEBSUB_HUB = address = "https://hub.example/"
    for form in ("rss", "atom"):
        answer = client.get(f"/feeds/stories.{form}")
        found = feedparser.parse(answer.content)
        assert not found.bozo
        assert {link.rel: link.href for link in found.feed.links}["hub"] == address
        assert answer["Link"] == f'<{address}>; rel="hub", <{SITE}stories.{form}>; rel="self"'
    assert client.get("/feeds/stories.json").json()["hubs"] == [{"type": "WebSub", "url": address}]
    assert "hubs" not in client.get("/feeds/search.json?query=quince").json()
    assert "hub" not in client.get("/feeds/search.atom?query=quince").headers.get("Link", "")
    settings.WIRE_WEBSUB_HUB = ""
    assert "hubs" not in client.get("/feeds/stories.json").json()


class _Tasks:
    """Runs the hub's tasks at once in threads; it knows Celery's queues only."""

    def task(self, *, bind: bool = False, **_options: Any) -> Any:
        def wrap(work: Any) -> Any:
            def delay(*args: Any) -> None:
                threading.Thread(target=work, args=((None, *args) if bind else args), daemon=True).start()

            return SimpleNamespace(delay=delay)

        return wrap


@contextmanager
def served(app: Flask, port: int) -> Iterator[None]:
    server = make_server("127.0.0.1", port, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_a_subscriber_of_somebody_elses_hub_gets_a_story_that_was_just_published(tmp_path: Path) -> None:
    """Hub and subscriber are Flask-WebSub's; two workers serve the wire."""
    ports = free_port(), free_port()
    hub_app, subscriber_app = Flask("hub"), Flask("subscriber")
    hub_app.config["PUBLISH_SUPPORTED"] = True
    subscriber_app.config["SERVER_NAME"] = f"127.0.0.1:{ports[1]}"
    hub = hubs.Hub(hubs.SQLite3HubStorage(str(tmp_path / "hub.db")), _Tasks(), **hub_app.config)
    hub_app.register_blueprint(hub.build_blueprint(url_prefix="/hub"))
    files = str(tmp_path / "subscriber.db")
    subscriber = subscribers.Subscriber(
        subscribers.SQLite3SubscriberStorage(files), subscribers.SQLite3TempSubscriberStorage(files)
    )
    subscriber_app.register_blueprint(subscriber.build_blueprint(url_prefix="/callbacks"))
    arrived: queue.Queue[bytes] = queue.Queue()
    agreed = threading.Event()
    subscriber.add_listener(lambda _topic, _callback, body: arrived.put(body))
    subscriber.add_success_handler(lambda *_: agreed.set())

    set_up(tmp_path)
    env = environment(tmp_path, free_port()) | {"WIRE_WORKERS": "2", "WIRE_WEBSUB_HUB": f"http://127.0.0.1:{ports[0]}/hub"}
    wire = Wire(tmp_path, env | services(tmp_path))
    wire.load(0)
    with (
        served(hub_app, ports[0]),
        served(subscriber_app, ports[1]),
        running(["manage.py", "serve"], wire.env, tmp_path / "serve.log") as site,
    ):
        found = subscribers.discover(f"{site}/feeds/stories.atom")
        assert found["hub_url"] == env["WIRE_WEBSUB_HUB"]
        with subscriber_app.app_context():
            subscriber.subscribe(**found)
        assert agreed.wait(20)
        for number in range(1, 9):  # the first may be published before the wire begins to follow its log
            wire.load(number)
            with suppress(queue.Empty):
                body = arrived.get(timeout=4)
                break
        else:
            pytest.fail("Nothing arrived.")
    (item, *_) = feedparser.parse(body).entries
    assert f"Quince{number}" in item.title
