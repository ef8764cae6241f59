"""Size of a list: how much of each story (`detail`), and how many of them (`max_tokens`). `full` is the
specification's shape; the others let a client save tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import orjson
from django.conf import settings
from ninja import Field, Schema

from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import estimate_tokens


class Detail(StrEnum):
    """How much of each story."""

    BRIEF = "brief"
    STANDARD = "standard"
    FULL = "full"


# What every story shows however brief: who said what, when, and whether it stands.
BRIEF: Final = (
    *("chatbotnews_id", "headline", "original_publisher", "original_publisher_tier", "published_at"),
    *("untrusted_instructions", "status"),
)
STANDARD: Final = (
    *BRIEF,
    *("permalink", "author", "category", "topics", "original_url", "credited_source", "summary_short", "consensus_score"),
    *("cross_source_count", "event_id", "updated_at"),
)


class ShortStoriesOut(Schema):
    """A list in `brief` or `standard`: the fields of the whole one, but of each story only some, and in brief its own `says`."""

    stories: list[dict[str, Any]]
    next_cursor: str | None
    total: int
    est_tokens: int
    citation_pattern: str | None = Field(None, description="detail=brief: makes a story's layered citation of its fields.")


MORE: Final = "more_of_event"  # which stories of a search by event have

BEGINS: Final = "According to {original_publisher}, as summarized by ChatbotNews.ai, "
ENDS: Final = " Source: {permalink}"

Page = dict[str, Any]


def shape_page(page: StoriesAnswer[Any], detail: Detail) -> Page:
    """Return the page as JSON values, with as much of each story as `detail` says."""
    if detail is Detail.FULL:
        return page.values()
    if detail is Detail.STANDARD:
        found = page.shorten(_shape_standard_story)
    else:
        found = page.shorten(_shape_brief_story)
        ends = ENDS.format(permalink=f"{settings.WIRE_SITE_URL}/story/{{chatbotnews_id}}")
        found["citation_pattern"] = f"{BEGINS}{{says}}{ends}"
    found["est_tokens"] = estimate_tokens([orjson.dumps(found)])
    return found


def _shape_standard_story(story: bytes) -> dict[str, Any]:
    """With the layered citation, whole."""
    whole = orjson.loads(story)
    shown = {name: whole[name] for name in STANDARD} | ({MORE: whole[MORE]} if MORE in whole else {})
    return shown | _layered_citation(whole)


def _shape_brief_story(story: bytes) -> dict[str, Any]:
    """With the words that stand in the layered citation (`says`): the rest of it is the same for all stories, takes half of a
    brief one, and is said once, as the page's `citation_pattern`. The citation whole where the pattern does not make it.
    """
    whole = orjson.loads(story)
    found = {name: whole[name] for name in BRIEF}
    if whole.get(MORE):
        found |= {"event_id": whole["event_id"], MORE: whole[MORE]}
    layered = (whole["citation_objects"] or {}).get("layered_ready", "")
    begins, ends = BEGINS.format_map(whole), ENDS.format_map(whole)
    if layered.startswith(begins) and layered.endswith(ends):
        return found | {"says": layered.removeprefix(begins).removesuffix(ends)}
    return found | _layered_citation(whole)


def _layered_citation(whole: Mapping[str, Any]) -> dict[str, Any]:
    cited = whole["citation_objects"]
    return {"citation_objects": cited and {"layered_ready": cited["layered_ready"]}}


def fit_into_budget(budget: int | None, page: Page, items: str, ask: Callable[[int], Page]) -> Page:
    """Return as many of the page's `items` as fit into `budget` tokens by its own est_tokens, and at least one.

    The page is asked for again with fewer, so that its next_cursor goes on behind the last one that is shown.
    """
    while budget is not None and page["est_tokens"] > budget and len(page[items]) > 1:
        page = ask(_count_fitting_items(page, page[items], budget))
    return page


def _count_fitting_items(page: Page, items: Sequence[Any], budget: int) -> int:
    """Return how many of the items fit beside the rest of the page; fewer than there are."""
    costs = [estimate_tokens([orjson.dumps(item)]) for item in items]
    left, number = budget - (page["est_tokens"] - sum(costs)), 0
    while number < len(costs) - 1 and costs[number] <= left:
        left -= costs[number]
        number += 1
    return max(number, 1)
