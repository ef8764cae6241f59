"""Queries of stories' pictures, which are shown only where their publication allows it."""

from typing import NamedTuple

from config.errors import NotFound
from sources import picture_store
from wire.models import Story
from wire.text.identity import is_story_id


class Picture(NamedTuple):
    """Picture of a live story whose publication allows it. `publication` is the name to credit, `source_url` the publisher's."""

    story_id: str
    publication: str
    slug: str
    source_url: str


def find_picture(story_id: str) -> Picture | None:
    """Return the picture that may be shown of a story. Asks nobody else's server."""
    if not is_story_id(story_id):
        return None
    rows = Story.objects.live().filter(chatbotnews_id=story_id, publication__allows_pictures=True).exclude(image_url="")
    row = rows.values_list("chatbotnews_id", "publication__name", "publication__slug", "image_url").first()
    return Picture(*row) if row else None


def find_shown_picture(story_id: str) -> Picture | None:
    """Return the picture for a page: none that could not be had within the last hour, so that no page has an empty frame."""
    found = find_picture(story_id)
    return None if found is None or picture_store.has_failed(found.slug, story_id) else found


def get_picture(story_id: str) -> bytes:
    """Return a story's picture as WebP, from the store or from its publisher. Raises: NotFound, UpstreamFailed."""
    found = find_picture(story_id)
    webp = picture_store.read_picture(found.slug, story_id) if found else None
    if found and webp is None:
        from sources.picture_fetch import fetch_picture  # these take long to load, and few processes fetch a picture
        from wire.ingest import feed_entries

        webp = fetch_picture(found.slug, story_id, found.source_url, feed_entries.get_fetch_policy())
        if find_picture(story_id) != found:  # withdrawn or no longer allowed while it was fetched
            picture_store.delete_stories([story_id])
            webp = None
    if webp is None:
        raise NotFound("There is no picture for this story.", "Its publication may not allow it; /api/sources.json says so.")
    return webp
