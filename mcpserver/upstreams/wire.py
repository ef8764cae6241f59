"""news:// from this installation's own wire: what is asked becomes one query; what the wire cannot know is never guessed."""

import datetime as dt
from typing import Final

from config.errors import WireError
from config.http import answer_cache
from mcpserver.adapter import ask as query
from sources.gateway.policy import seconds
from sources.gateway.reach import SERVER_ERROR, UNSUPPORTED, Call, Reached, UpstreamError
from wire.queries.trends import list_trends
from wire.stories.vocabulary import Category

CATEGORIES: Final[dict[str, tuple[Category, ...] | None]] = {
    "general": None,
    "news": None,
    "technology": None,
    "finance": (Category.FUNDING,),
    "other": (Category.INDUSTRY, Category.ANALYSIS),
}
"""By category of the gateway's: which of the wire's have it; None is every one. The wire reports on nothing else."""


def cannot(call: Call) -> UpstreamError | None:
    """What the wire does not know."""
    if call.resource == "news_region_trends" and call.params["region"] != "global":
        return UpstreamError(UNSUPPORTED, "The wire stores no place of origin, so it cannot tell regions apart.")
    if call.resource == "news_category_trends" and call.params["category"] not in CATEGORIES:
        return UpstreamError(
            UNSUPPORTED, f"The wire reports on the AI industry only and has no category {call.params['category']}."
        )
    return None


def marker() -> str:
    """The wire version, while this process follows it: a publish makes every trend old."""
    generation = answer_cache.answers.generation
    return "" if generation is None else str(generation[0])


async def ask(call: Call) -> Reached:
    """Raises: UpstreamError."""
    made_of = marker()
    categories = CATEGORIES.get(str(call.params.get("category", "general")))
    window = dt.timedelta(seconds=seconds(str(call.params["timeWindow"])))
    try:
        found = await query(
            list_trends, window, categories, str(call.params.get("sortBy", "engagement_score")), int(call.params["limit"])
        )
    except WireError as error:
        raise UpstreamError(SERVER_ERROR, error.message) from error
    category = call.params.get("category")
    items = [one.model_dump(mode="json") for one in found.trends]
    for one in items:
        if category and category != "general":
            one["metadata"]["category"] = category
    untrusted = any(one["metadata"]["untrusted_instructions"] for one in items)
    return Reached(items, untrusted, made_of, found.note)
