"""An async Django view without middleware."""

import orjson
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchmarks.doors.contenders.payload import FINISHED

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="none", MIDDLEWARE=[])  # noqa: S106


async def finished(request: HttpRequest, name: str) -> HttpResponse:
    status, headers, body = FINISHED["/" + name]
    if request.method == "POST":
        body = b'{"jsonrpc":"2.0","id":' + orjson.dumps(orjson.loads(request.body)["id"]) + b',"result":' + body + b"}"
    lines = {key.decode(): value.decode() for key, value in headers}
    return HttpResponse(body, status=status, headers={**lines, "Content-Length": str(len(body))})


urlpatterns = [path("<path:name>", finished)]
application = get_asgi_application()
