"""Values for the variables of resource templates and the arguments of prompts."""

from collections.abc import Callable, Mapping
from typing import Final

from mcp_types import Completion

from mcpserver.servers.wire.prompts import Focus
from wire import queries
from wire.text.vocabulary import Category, Topic

MOST: Final = 100  # MCP, completion/complete


def _todays_ids() -> list[str]:
    return [story.chatbotnews_id for story in queries.todays_stories()]


_VALUES: Final[Mapping[tuple[str, str], Callable[[], list[str]]]] = {
    ("wire://story/{id}", "id"): _todays_ids,
    ("wire://topic/{slug}", "slug"): lambda: list(Topic.values),
    ("wire://today/{category}", "category"): lambda: list(Category.values),
    ("wire://archive/{date}", "date"): queries.published_dates,
    ("wire://provenance/{date}", "date"): queries.published_dates,
    ("daily-briefing", "focus"): lambda: [focus.value for focus in Focus],
    ("cite-chatbotnews", "story_id"): _todays_ids,
    ("topic-deep-dive", "topic"): lambda: list(Topic.values),
    ("topic-deep-dive", "window_days"): lambda: ["1", "3", "7", "14", "30", "90"],
}


def completion(of: str, argument: str, begun: str) -> Completion:
    """Values that begin as given, for a variable of the template or prompt `of`; none where they cannot be listed."""
    values = _VALUES[of, argument]() if (of, argument) in _VALUES else []
    found = [value for value in values if value.startswith(begun)]
    return Completion(values=found[:MOST], total=len(found), has_more=len(found) > MOST)
