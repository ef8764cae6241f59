"""Settings for tests: the production ones over a directory, a database and keys that are thrown away.

TEST_DATABASE_URL runs the same tests on Postgres.
"""

import os
import tempfile
from pathlib import Path

_SCRATCH = tempfile.TemporaryDirectory(prefix="wire-tests-")
os.environ["WIRE_DATA_DIR"] = _SCRATCH.name
os.environ["WIRE_SITE_URL"] = "http://localhost:8000"
os.environ["WIRE_INGEST"] = "off"
os.environ["WIRE_VECTORS"] = "0"  # tests of vectors turn it on
os.environ["REDIS_URL"] = ""
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASES  # noqa: E402

# A file, as in production, so that threads and processes see what they would see there.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": Path(_SCRATCH.name) / "test.sqlite3"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
