"""What apps above the wire add to its answers. They register themselves when they are ready; the wire knows none of them."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

OF_STORY: Final[dict[str, Callable[[str], Sequence[Any]]]] = {}
"""What stands beside a story in the answer to whoever asks for it, by its name there: a function of the story's id."""
CHECKS: Final[dict[str, Callable[[dt.datetime], Iterable[Any]]]] = {}
"""Checks of the doctor, by name: functions that give findings (`wire.doctor`)."""


def of_story(story_id: str) -> dict[str, Sequence[Any]]:
    """Nothing for what there is nothing of."""
    return {name: found for name, ask in OF_STORY.items() if (found := ask(story_id))}
