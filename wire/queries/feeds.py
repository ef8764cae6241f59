"""How the roster's feeds fare, and what only the wire knows of that: whether it asks any."""

from typing import Final

from sources import queries as sources_queries
from sources.schemas import FeedsHealthOut
from wire.queries.days import is_sample

ASKS_NONE: Final = (
    "The sample wire fetches no feeds. `manage.py doctor`, on the machine that serves this, reports on the real wire's; "
    "the real wire is served here as soon as its first day is published."
)


def feeds_health() -> FeedsHealthOut:
    """How old each source is and how its feeds fare; of the sample wire, whose feeds would seem forgotten, that it asks none."""
    found = sources_queries.feeds_health()
    if is_sample():
        found.note = ASKS_NONE
    return found
