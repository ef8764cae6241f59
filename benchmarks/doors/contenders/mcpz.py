"""django-mcpz, a synchronous Django view by its nature; it has tools only."""

from dataclasses import dataclass
from typing import Any

import msgspec  # type: ignore[import-not-found]  # of another environment
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest
from django.urls import path
from django_mcpz.server import MCPServer, public  # type: ignore[import-not-found]

from benchmarks.doors.contenders.payload import PAGES

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="none",  # noqa: S106
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # nearly every project has it; it sets the length
    LOGGING={"version": 1, "root": {"level": "WARNING"}},
)
ANSWERS = {asked: msgspec.Raw(text.encode()) for asked, text in PAGES.items()}
server: Any = MCPServer(name="contender", version="1.0.0", auth=public)


@dataclass
class Asked:
    query: str
    limit: int = 10
    detail: str = "full"
    since: str | None = None


@dataclass
class AskedCategory:
    category: str
    limit: int = 20
    detail: str = "full"


def search_wire(_request: HttpRequest, asked: Asked) -> Any:
    return ANSWERS[f"search_wire {asked.limit}"]


def get_category(_request: HttpRequest, asked: AskedCategory) -> Any:
    return ANSWERS[f"get_category {asked.limit}"]


server.tool(description="Search.", input_schema=Asked)(search_wire)
server.tool(description="A category.", input_schema=AskedCategory)(get_category)
urlpatterns = [path("mcp", server)]
application = get_asgi_application()
