"""The desk is loaded when somebody asks for it, and for checks: nobody else waits for it."""

import os
from pathlib import Path

import pytest

from tests.wire.installation import install, python

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the processes have SQLite files"),
]

LOADED = """
import sys
from django.conf import settings
from django.test import Client
def loaded(path):
    status = Client(headers={"host": "localhost"}).get(path).status_code
    print(path, status, "wire.admin.stories" in sys.modules, "wire.ingest.run" in sys.modules)
"""


CHECKED = """
import os
if child := os.fork():
    os.waitpid(child, 0)
else:
    from django.contrib import admin
    from django.core import checks
    from wire.models import Story
    print(admin.site.is_registered(Story), checks.run_checks(tags=["admin"]), admin.site.is_registered(Story), flush=True)
    os._exit(0)
"""


@pytest.mark.slow
def test_no_public_page_waits_for_the_desk_and_checks_see_every_class_of_it(tmp_path: Path) -> None:
    install(tmp_path)
    paths = ("/about", "/sources", "/nothing", "/api/nothing", "/readyz", "/llms.txt")
    code = LOADED + "".join(f"loaded({path!r})\n" for path in paths) + CHECKED + "loaded('/admin/login/')\n"
    assert [line.split() for line in python(tmp_path, code).stdout.splitlines()] == [
        ["/about", "200", "False", "False"],
        ["/sources", "200", "False", "False"],
        ["/nothing", "404", "False", "False"],
        ["/api/nothing", "404", "False", "False"],
        ["/readyz", "503", "False", "False"],
        ["/llms.txt", "200", "False", "False"],
        ["False", "[]", "True"],
        ["/admin/login/", "200", "True", "True"],
    ]
