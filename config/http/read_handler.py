"""Django's answers to public GETs, made in threads that keep their database connection.

Django's own ASGI handler starts a thread for each request, and with it a database connection, which takes three times as long as
a search. What is left out here no public read needs: uploads, streamed answers, and the signals that open and close connections.
"""

from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from config.database.threads import in_thread
from config.http.request_guard import Receive, Scope, Send


class DjangoReads(BaseHandler):
    """An ASGI application. The views behind it read only, and answer with a whole body."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        response = await in_thread(lambda: self._answer(scope))
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": response.content})

    def _answer(self, scope: Scope) -> HttpResponse:
        response: Any = self.get_response(ASGIRequest(dict(scope), BytesIO()))
        assert isinstance(response, HttpResponse), "public reads answer with a whole body"  # noqa: S101
        return response
