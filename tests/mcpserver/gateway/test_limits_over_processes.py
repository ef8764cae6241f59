"""One limit for four processes that share nothing but the database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wire.installation import install_sqlite

ASK = """
import sys, time
import django
django.setup()
from django.db import OperationalError
from mcpserver.gateway.process_context import read_uptime
from mcpserver.gateway.limiter import Limit, acquire_limits
limits, got = [Limit("shared", 50, 3600.0)], 0
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    got += acquire_limits([limits], time.time(), read_uptime())[0].wait == 0
print(got, flush=True)
"""
ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.usefixtures("django_db_setup")
def test_a_limit_holds_over_four_processes_that_ask_at_once(tmp_path: Path) -> None:
    env = os.environ | {"WIRE_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    for name in ("DATABASE_URL", "REDIS_URL"):
        env.pop(name, None)
    install_sqlite(tmp_path)
    processes = [
        subprocess.Popen([sys.executable, "-c", ASK], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for one in processes:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    told = []
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in processes:
        told.append(int(one.communicate()[0]))
        assert one.returncode == 0
    assert sum(told) == 50
