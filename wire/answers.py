"""Answers that hold stories: a schema, and each story as the finished JSON that was stored when it was published."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import orjson

from wire.schemas import DayOut, StoriesOut, StoryOut, estimated_tokens

S = TypeVar("S", bound=StoriesOut | DayOut)


class StoriesAnswer(Generic[S]):
    """`head` is the answer with an empty list of stories; `story_json` are its stories, each a StoryOut as JSON, in order.

    Each door frames them its own way: REST passes the JSON on, MCP takes values, the site reads schemas. The other fields of
    `head` can be read from the answer itself.
    """

    def __init__(self, head: S, story_json: Sequence[bytes]) -> None:
        self.head = head
        self.story_json = story_json

    def json(self, **more: Any) -> bytes:
        """The whole answer, stories as they are stored; `more` values stand before all others."""
        return orjson.dumps({**more, **self._with([orjson.Fragment(story) for story in self.story_json])})

    def values(self, read: Callable[[bytes], Any] = orjson.loads) -> dict[str, Any]:
        """The whole answer as JSON values, each story as `read` gives it."""
        return self._with([read(story) for story in self.story_json])

    @cached_property
    def stories(self) -> list[StoryOut]:
        return [StoryOut.model_validate_json(story) for story in self.story_json]

    def _with(self, stories: list[Any]) -> dict[str, Any]:
        values: dict[str, Any] = self.head.model_dump(mode="json", by_alias=True)
        if "est_tokens" in values:  # of the stories; the rest of the answer costs something, too
            values["est_tokens"] += estimated_tokens([orjson.dumps(values)])
        return values | {"stories": stories}

    def __getattr__(self, name: str) -> Any:
        if name in type(self.head).model_fields:
            return getattr(self.head, name)
        raise AttributeError(name)
