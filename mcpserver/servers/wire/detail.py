"""How much of each story a list shows. `full` is the specification's shape; the others let a client save tokens."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from wire.schemas import StoriesOut, estimated_tokens


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


def shaped(page: StoriesOut, detail: Detail) -> dict[str, Any]:
    """The page as JSON values, its stories cut to `detail`; always with the layered citation."""
    found = page.model_dump(mode="json", by_alias=True)
    if detail is Detail.FULL:
        return found
    found["stories"] = [_cut(story, FIELDS[detail]) for story in found["stories"]]
    found["est_tokens"] = estimated_tokens(found["stories"])
    return found


def _cut(story: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    kept = {name: story[name] for name in fields}
    cited = story["citation_objects"]
    return kept | {"citation_objects": cited and {"layered_ready": cited["layered_ready"]}}


def output_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A list's JSON Schema, in which only what a brief story shows is required."""
    definitions = schema.get("$defs", {})
    if "StoryOut" in definitions and schema.get("title") != "StoryOut":
        definitions["StoryOut"]["required"] = [*BRIEF, "citation_objects"]
        definitions["CitationObjects"]["required"] = ["layered_ready"]
    return schema
