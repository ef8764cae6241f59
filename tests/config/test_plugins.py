"""A corpus of its own is a folder and a line in INSTALLED_APPS: pages, REST, MCP server, card, sitemap, desk and check follow."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from django.conf import settings

pytestmark = pytest.mark.slow

FILES = {
    "house.py": """
        from config.settings import *

        INSTALLED_APPS = [*INSTALLED_APPS, "toys"]
    """,
    "toys/__init__.py": "",
    "toys/apps.py": """
        from django.apps import AppConfig

        from config import plugins


        class ToysConfig(AppConfig):
            name = "toys"

            def ready(self) -> None:
                plugins.register(self.name)
    """,
    "toys/models.py": """
        from django.db import models


        class Toy(models.Model):
            name = models.CharField(max_length=100)
    """,
    "toys/admin.py": """
        from django.contrib import admin

        from toys.models import Toy

        admin.site.register(Toy)
    """,
    "toys/mcp.py": """
        import mcp_types as types

        from mcpserver.servers.base import build_server, Toolbox
        from mcpserver.tooling.tools import HOUR_MS

        STREAMS = False
        usage_name = lambda method, given: ""


        async def call_tool(_context, _params):
            return types.CallToolResult(content=[types.TextContent(type="text", text="a kite")])


        def build():
            return build_server("toys", Toolbox(), call_tool, HOUR_MS)
    """,
    "toys/plugin.py": """
        from django.http import HttpRequest, HttpResponse
        from django.urls import path
        from ninja import Router

        from config.plugins import DocumentKind, MenuItem, Plugin
        from wire.ops.doctor.finding import Finding, Level

        from wire.schemas.documents import DocumentHit, DocumentsOut, build_document

        router = Router()
        KITE = DocumentHit(
            kind="toy", id="toy:kite", title="A kite", url="http://localhost:8000/toys", source="Toys", published_at=None,
            citation="A kite, Toys.", untrusted_instructions=False,
        )
        KIND = DocumentKind(
            name="toy", title="Toys", id_form="kite", search=lambda query, limit: DocumentsOut(results=[KITE]),
            fetch=lambda own_id: build_document(KITE, "It flies."),
        )


        @router.get("/count.json")
        def count(request: HttpRequest) -> dict[str, int]:
            return {"toys": 1}


        def page(request: HttpRequest) -> HttpResponse:
            return HttpResponse("<h1>Toys</h1>")


        PLUGIN = Plugin(
            label="toys",
            title="Toys",
            urlpatterns=[path("toys", page), path("sitemap-toys.xml", page)],
            router=router,
            tag="toys",
            navigation=[("Toys", "/toys")],
            sitemaps=["/sitemap-toys.xml"],
            mcp_servers={"/mcp/toys": "toys.mcp"},
            list_server_cards=lambda: [
                (
                    {"name": "example/toys", "title": "Toys", "description": "Toys.", "remotes": [{"url": "https://toys.example/mcp"}]},
                    {"licence": "MIT"},
                )
            ],
            document_kind=KIND,
            menu=[MenuItem(title="All toys", icon="toys", model="toys.toy")],
            edit_permissions=["change_toy"],
            checks={"toys": lambda _now: [Finding("toys", Level.OK, "One toy is there.")]},
        )
    """,
    "look.py": """
        import asyncio, json, os

        import django

        django.setup()

        from django.contrib.auth.models import Group, User
        from django.core.management import call_command
        from django.test import Client

        call_command("migrate", run_syncdb=True, verbosity=0)
        from config.asgi import application
        from wire.ops.doctor import run_checks
        from wire.queries import fetch_document


        async def ask(body):
            sent = []
            scope = {
                "type": "http", "method": "POST", "path": "/mcp/toys", "raw_path": b"/mcp/toys", "query_string": b"",
                "http_version": "1.1", "client": ("127.0.0.1", 1), "server": ("localhost", 8000), "scheme": "http",
                "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"accept", b"application/json")],
            }
            messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

            async def receive():
                return messages.pop() if messages else await asyncio.sleep(60)

            async def send(message):
                sent.append(message)

            await application(scope, receive, send)
            return json.loads(b"".join(message.get("body", b"") for message in sent))


        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        initialized = asyncio.run(ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        client = Client(headers={"host": "localhost"})
        person = User.objects.create_user("ada", password="a long enough one", is_staff=True)
        person.groups.add(Group.objects.get(name="editor"))
        at_desk = Client(headers={"host": "localhost"})
        at_desk.force_login(person)
        print(
            json.dumps(
                {
                    "page": client.get("/toys").content.decode(),
                    "footer": '<a href="/toys">Toys</a>' in client.get("/about").content.decode(),
                    "rest": client.get("/api/toys/count.json").json(),
                    "found": client.get("/api/search-all.json?query=kite").json()["results"][0]["id"],
                    "fetched": fetch_document("toy:kite").text,
                    "openapi": "/api/toys/count.json" in client.get("/api/openapi.json").json()["paths"],
                    "sitemap": "/sitemap-toys.xml" in client.get("/sitemap.xml").content.decode(),
                    "card": [row for row in client.get("/.well-known/mcp.json").json()["servers"] if row["title"] == "Toys"],
                    "server": initialized["result"]["serverInfo"]["name"],
                    "list": at_desk.get("/admin/toys/toy/").status_code,
                    "menu": "All toys" in at_desk.get("/admin/").content.decode(),
                    "may": person.has_perm("toys.change_toy"),
                    "finding": [finding.found for finding in run_checks() if finding.name == "toys"],
                }
            )
        )
    """,
}


def test_a_folder_and_a_setting_make_an_app_of_the_house(tmp_path: Path) -> None:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text))
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "house",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{settings.BASE_DIR}",
        "WIRE_DATA_DIR": str(tmp_path / "wire"),
        "DATABASE_URL": "",
        "WIRE_VECTORS": "0",
    }
    done = subprocess.run(
        [sys.executable, tmp_path / "look.py"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "page": "<h1>Toys</h1>",
        "footer": True,
        "rest": {"toys": 1},
        "found": "toy:kite",
        "fetched": "A kite\n\nIt flies.\n\nCite as: A kite, Toys.",
        "openapi": True,
        "sitemap": True,
        "card": [
            {
                "name": "example/toys",
                "title": "Toys",
                "description": "Toys.",
                "url": "https://toys.example/mcp",
                "licence": "MIT",
            }
        ],
        "server": "toys",
        "list": 200,
        "menu": True,
        "may": True,
        "finding": ["One toy is there."],
    }
