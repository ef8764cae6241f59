"""news:// from this installation's own wire: a call becomes one query; what the wire cannot know is never guessed."""

import datetime as dt
from typing import Final

from config.errors import WireError
from config.http import memory_cache
from mcpserver.http.threads import run_query as run_query
from mcpserver.upstreams.config import parse_duration
from mcpserver.upstreams.protocol import SERVER_ERROR, UNSUPPORTED, UpstreamAnswer, UpstreamCall, UpstreamError
from wire.queries.events import list_trending_events
from wire.text.vocabulary import Category

# By category of the gateway: the wire's categories that have it; None is every category. The wire reports on nothing else.
CATEGORIES: Final[dict[str, tuple[Category, ...] | None]] = {
    "general": None,
    "news": None,
    "technology": None,
    "finance": (Category.FUNDING,),
    "other": (Category.INDUSTRY, Category.ANALYSIS),
}


def explain_refusal(call: UpstreamCall) -> UpstreamError | None:
    """Return why the wire cannot answer a call, or None."""
    if call.resource == "news_region_trends" and call.params["region"] != "global":
        return UpstreamError(UNSUPPORTED, "The wire stores no place of origin, so it cannot tell regions apart.")
    if call.resource == "news_category_trends" and call.params["category"] not in CATEGORIES:
        return UpstreamError(
            UNSUPPORTED, f"The wire reports on the AI industry only and has no category {call.params['category']}."
        )
    return None


def marker() -> str:
    """Return the wire version, while this process follows it: a publish makes every trend old."""
    generation = memory_cache.answers.generation
    return "" if generation is None else str(generation[0])


async def ask(call: UpstreamCall) -> UpstreamAnswer:
    """Raises: UpstreamError."""
    version, params = marker(), call.params
    category = params.get("category")
    window = dt.timedelta(seconds=parse_duration(str(params["timeWindow"])))
    order = str(params.get("sortBy", "engagement_score"))
    try:
        of = CATEGORIES.get(str(category or "general"))
        trends, note = await run_query(list_trending_events, window, of, order, int(params["limit"]))
    except WireError as error:
        raise UpstreamError(SERVER_ERROR, error.message) from error
    if category and category != "general":
        for trend in trends:
            trend["metadata"]["category"] = category
    untrusted = any(trend["metadata"]["untrusted_instructions"] for trend in trends)
    return UpstreamAnswer(trends, untrusted, version, note)
