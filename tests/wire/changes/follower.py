"""A copy of the wire that is kept by following its log of changes alone."""

import datetime as dt
from typing import Any, Final

import orjson

from config.errors import NotFound
from wire import queries
from wire.models import Change, Story
from wire.publishing.story_json import render_story_json

BEGINNING: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Follower:
    """Stories and days as a client has them that reads one page of changes after another."""

    def __init__(self) -> None:
        self.stories: dict[str, dict[str, Any]] = {}
        self.days: dict[str, int] = {}
        self.merged: dict[str, str] = {}
        self.cursor: str | None = None
        self.numbers: list[int] = []

    def follow(self, limit: int = 7) -> None:
        """Everything there is so far."""
        while True:
            page = queries.get_changes(self.cursor, limit, since=BEGINNING)
            for change in page.changes:
                self.take(change.model_dump(mode="json"))
            self.cursor = page.next_cursor
            if not page.has_more:
                return

    def take(self, change: dict[str, Any]) -> None:
        self.numbers.append(change["number"])
        kind, subject = change["kind"], change["subject"]
        if kind.startswith("story_"):
            try:
                self.stories[subject] = queries.get_story(subject).model_dump(mode="json")
            except NotFound:  # not seen in any test: what the log names is published
                raise AssertionError(change) from None
        elif kind == "event_merged":
            self.merged[subject] = change["event_id"]
        elif kind == "day_published":
            self.days[subject] = change["revision"]


def database() -> dict[str, dict[str, Any]]:
    """Return every published story as it is shown."""
    rows = Story.objects.published().with_text()
    return {story.chatbotnews_id: orjson.loads(render_story_json(story)) for story in rows}


def changes() -> list[tuple[int, str, str]]:
    """The whole log: number, kind and subject of each."""
    return list(Change.objects.order_by("number").values_list("number", "kind", "subject"))
