"""Answers with stories: a schema, and each story as the finished JSON that was stored when it was published."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import orjson

from wire.schemas.story import DayOut, StoriesOut, StoryOut, estimate_tokens


def set_field(story: bytes, name: str, value: Any) -> bytes:
    """Return a story's JSON with one more field at its end."""
    return story[:-1] + b"," + orjson.dumps({name: value})[1:]


S = TypeVar("S", bound=StoriesOut | DayOut)


class StoriesAnswer(Generic[S]):
    """`head` is the answer without stories; `story_json` are its stories, each a StoryOut as JSON, in order. REST passes the JSON
    on, MCP takes values, the site reads schemas. The other fields of `head` can be read from the answer itself, except
    `est_tokens`, which only a whole answer has: estimating takes longer than reading the stories.
    """

    def __init__(self, head: S, story_json: Sequence[bytes]) -> None:
        self.head = head
        self.story_json = story_json

    def json(self, **more: Any) -> bytes:
        """Return the whole answer, stories as they are stored; `more` values stand before all others."""
        return orjson.dumps({**more, **self._add_stories([orjson.Fragment(story) for story in self.story_json])})

    def values(self) -> dict[str, Any]:
        """Return the whole answer as JSON values."""
        return self._add_stories([orjson.loads(story) for story in self.story_json])

    def shorten(self, read: Callable[[bytes], Any]) -> dict[str, Any]:
        """Return the answer as JSON values, each story as `read` gives it. The caller has to estimate `est_tokens`."""
        return self._head_values() | {"stories": [read(story) for story in self.story_json]}

    @cached_property
    def stories(self) -> list[StoryOut]:
        return [StoryOut.model_validate_json(story) for story in self.story_json]

    def _add_stories(self, stories: list[Any]) -> dict[str, Any]:
        values = self._head_values()
        if "est_tokens" in values:
            values["est_tokens"] = estimate_tokens(self.story_json) + estimate_tokens([orjson.dumps(values)])
        return values | {"stories": stories}

    def _head_values(self) -> dict[str, Any]:
        values: dict[str, Any] = self.head.model_dump(mode="json", by_alias=True)
        if (values.get("period") or {}).get("note"):  # to be said before anything of the stories is, so read before them too
            values = {"period": values["period"], **values}
        return values

    def __getattr__(self, name: str) -> Any:
        if name in type(self.head).model_fields:
            return getattr(self.head, name)
        raise AttributeError(name)
