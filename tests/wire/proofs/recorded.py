"""A wire's public answers, recorded from the real application and served again over HTTP, as they were or changed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from django.test import Client

from wire.models import Snapshot

Answers = dict[str, bytes]


def record() -> Answers:
    """Everything that a verifier or a witness asks for."""
    size = Snapshot.objects.count()
    paths = ["/.well-known/wire-checkpoint", "/.well-known/wire-keys.json", "/api/log/witnessed.json"]
    paths += [f"/api/log/leaves.json?start={start}&limit=1000" for start in range(size)]
    paths += [f"/api/log/consistency.json?first={first}&second={size}" for first in range(1, size + 1)]
    for day, revision in Snapshot.objects.values_list("wire_date", "revision"):
        paths += [f"/api/{kind}/{day}.json?revision={revision}" for kind in ("provenance", "archive")]
    client = Client()
    found = {path: client.get(path) for path in paths}
    return {path: answer.content for path, answer in found.items() if answer.status_code == 200}


@contextmanager
def serve(answers: Answers) -> Iterator[str]:
    """The address at which these answers are given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
