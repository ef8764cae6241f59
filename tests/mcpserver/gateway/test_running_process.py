"""What the desk and the command change reaches a process that runs already, over nothing but the database."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcpserver.gateway.resolver import LOOK
from tests.wire.installation import install_sqlite

ANSWER = """
import asyncio, sys
import django
django.setup()
from mcpserver.gateway import queries
from mcpserver.gateway.auth import ANYBODY

async def go():
    while await asyncio.to_thread(sys.stdin.readline):
        answer = await queries.read_resource("news://global/trends", ANYBODY)
        print(answer.outcome, round(answer.fresh_until - answer.fetched_at), flush=True)

asyncio.run(go())
"""
OVERRIDE = """
import django
django.setup()
from mcpserver.gateway.models import Override
for number, value in (("ttl", 60), ("min_interval", 0)):
    Override.objects.create(resource="news_global_trends", number=number, value=value)
"""
ROOT = Path(__file__).parents[3]
MARGIN = 3.0  # seconds, for a machine with other work


@pytest.mark.slow
@pytest.mark.usefixtures("django_db_setup")
def test_overrides_and_forget_reach_a_running_process_within_five_seconds(tmp_path: Path) -> None:
    env = os.environ | {"WIRE_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    for name in ("DATABASE_URL", "REDIS_URL", "WIRE_GATEWAY_POLICY"):
        env.pop(name, None)

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, check=True, capture_output=True)

    install_sqlite(tmp_path)
    running = subprocess.Popen(
        [sys.executable, "-c", ANSWER], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with running:
        assert running.stdin is not None
        assert running.stdout is not None

        def ask() -> str:
            assert running.stdin is not None
            assert running.stdout is not None
            running.stdin.write("again\n")
            running.stdin.flush()
            return running.stdout.readline().strip()

        assert ask() == "fresh 1800"
        assert ask() == "cached 1800"
        run("-c", OVERRIDE)
        run("manage.py", "gateway", "forget", "--all")
        ends = time.monotonic() + LOOK + MARGIN
        while (told := ask()) == "cached 1800" and time.monotonic() < ends:
            time.sleep(0.2)
        assert told == "fresh 60"
        running.stdin.close()
