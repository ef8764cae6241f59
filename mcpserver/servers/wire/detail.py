"""Size of the lists that tools answer, and how their schemas are listed."""

from collections.abc import Callable
from typing import Any, Final

import orjson

from mcpserver.tooling.json_schema import compact_schema
from wire.schemas.detail import BRIEF, Page, fit_into_budget
from wire.schemas.story import estimate_tokens

MOST_TOKENS: Final = 10_000  # of a list, unless more are asked for by `max_tokens`


def fit(max_tokens: int | None, limit: int, items: str, ask: Callable[[int], Page]) -> Page:
    """Return a list cut to `max_tokens`; where these are not given, to about MOST_TOKENS with a note that says so."""
    whole = ask(limit)
    page = fit_into_budget(max_tokens or MOST_TOKENS, whole, items, ask)
    shown, asked = len(page[items]), len(whole[items])
    if max_tokens is not None or shown == asked:
        return page
    note = (
        f"Cut at about {MOST_TOKENS:,} tokens: {shown} of the {asked} {items} asked for. next_cursor has the rest; a larger "
        "max_tokens, up to 1,000,000, gives more at once."
    )
    return {"note": note, **page, "est_tokens": page["est_tokens"] + estimate_tokens([orjson.dumps(note)])}


def shorten_output_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A tool's JSON Schema as it is listed. Of a list of stories it names what every one shows, however brief: a full one is as
    get_story describes it, and to describe it with each list would be half of what a client reads before its first question.
    """
    if "next_cursor" in schema["properties"]:
        schema["properties"]["note"] = {"type": "string", "description": "For a cut list: how to get the rest."}
    story = schema.get("$defs", {}).get("StoryOut")
    if story is not None:
        story["properties"] = {name: story["properties"][name] for name in BRIEF} | {
            "says": {"type": "string", "description": "detail=brief: goes into citation_pattern."},
            "citation_objects": {
                "anyOf": [{"type": "object"}, {"type": "null"}],
                "description": "If detail=brief: only where citation_pattern does not fit.",
            },
        }
        story["required"] = [*BRIEF]
        pattern = {"type": "string", "description": "detail=brief: makes a story's layered citation of its fields."}
        schema["properties"]["citation_pattern"] = pattern
    return compact_schema(schema)
