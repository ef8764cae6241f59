"""How many examples a property is tried with, few in every run, many in `make test-slow`; and how often a test kills a process."""

import os
from typing import Any, Final

from hypothesis import HealthCheck, settings

FULL: Final = os.environ.get("FULL") == "1"  # every case of a long table, where others take a share: make test-slow FULL=1

# A busy machine is no defect, and what a fixture set up may serve every example.
_EVERYWHERE: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
settings.register_profile("few", max_examples=20, **_EVERYWHERE)
settings.register_profile("many", max_examples=100 if FULL else 25, **_EVERYWHERE)
settings.load_profile("few")

KILLS: Final = int(os.environ.get("KILLS") or (10 if FULL else 5))  # docs/reliability.md tells of fifty: make test-slow KILLS=50


def examples(many: int) -> settings:
    """For what costs more: so many examples of it where others are tried with a hundred, and a fifth of them in every run."""
    return settings(max_examples=max(3, many * settings().max_examples // 100))
