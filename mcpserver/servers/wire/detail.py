"""How much of each story a list shows. `full` is the specification's shape; the others let a client save tokens."""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Final

import orjson

from wire.answers import StoriesAnswer
from wire.schemas import estimated_tokens


class Detail(StrEnum):
    BRIEF = "brief"
    STANDARD = "standard"
    FULL = "full"


# What every story shows however brief: who said what, when, whether it stands, and how to cite it.
BRIEF: Final = (
    *("chatbotnews_id", "permalink", "headline", "original_publisher", "original_publisher_tier", "published_at"),
    *("untrusted_instructions", "status"),
)
STANDARD: Final = (
    *BRIEF,
    *("author", "category", "topics", "original_url", "credited_source", "summary_short", "consensus_score"),
    *("cross_source_count", "event_id", "updated_at"),
)
FIELDS: Final[Mapping[Detail, tuple[str, ...]]] = {Detail.BRIEF: BRIEF, Detail.STANDARD: STANDARD}


def shaped(page: StoriesAnswer[Any], detail: Detail) -> dict[str, Any]:
    """The page as JSON values, with as much of each story as `detail` says; always with the layered citation."""
    if detail is Detail.FULL:
        return page.values()
    found = page.values(partial(_cut, FIELDS[detail]))
    found["est_tokens"] = estimated_tokens([orjson.dumps(story) for story in found["stories"]])
    return found


def _cut(fields: tuple[str, ...], story: bytes) -> dict[str, Any]:
    whole = orjson.loads(story)
    cited = whole["citation_objects"]
    return {name: whole[name] for name in fields} | {"citation_objects": cited and {"layered_ready": cited["layered_ready"]}}


def output_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A list's JSON Schema, in which only what a brief story shows is required."""
    definitions = schema.get("$defs", {})
    if "StoryOut" in definitions and schema.get("title") != "StoryOut":
        definitions["StoryOut"]["required"] = [*BRIEF, "citation_objects"]
        definitions["CitationObjects"]["required"] = ["layered_ready"]
    return schema
