"""Publishers' pictures: fetched once, decoded within bounds, and stored as small WebP without metadata."""

import logging
import threading
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from typing import Final

from django.db import Error
from PIL import Image, ImageOps

from config.database import routing
from config.errors import UpstreamFailed
from sources import fetch, picture_store
from sources.feed_health import HostNotes

WIDTH, HEIGHT = 640, 1_280  # pixels, at most
LEAST: Final = 120  # pixels in width and height; below are counters, icons and logos
MAX_PIXELS: Final = 25_000_000  # of a picture as it comes: a camera's 24 million, in 100 MB of memory while it is decoded
MAX_BODY: Final = 10 << 20  # bytes
SECONDS: Final = 10.0  # for all of fetching
AT_ONCE: Final = 4  # requests of one process that fetch a picture or wait for another that does
FORMATS: Final = ("JPEG", "PNG", "WEBP", "AVIF", "GIF")  # recognised by their bytes; SVG is markup that can hold scripts
ACCEPT: Final = "image/webp, image/jpeg, image/png, image/avif, image/gif;q=0.5"

_fetching: Final = threading.BoundedSemaphore(AT_ONCE)
_decoding: Final = threading.Lock()  # one at a time, for each may take 100 MB

log = logging.getLogger(__name__)


class InvalidPicture(Exception):
    """No picture came, or none that is shown; the text says why."""


def fetch_picture(publication: str, story_id: str, url: str, policy: fetch.Policy) -> bytes | None:
    """Return the stored picture, else the one at this address, which is then stored; None if it could not be had in the last hour.

    Raises: UpstreamFailed while `AT_ONCE` others are fetched.
    """
    if picture_store.has_failed(publication, story_id):
        return None
    if not _fetching.acquire(blocking=False):
        raise UpstreamFailed("Other pictures are being fetched at this moment, so this one was not.", "Try again in 10 seconds.")
    try:
        with picture_store.lock_picture(publication, story_id):
            webp = picture_store.read_picture(publication, story_id)
            if webp is not None or picture_store.has_failed(publication, story_id):  # another request fetched it meanwhile
                return webp
            try:
                webp = shrink_picture(_download_picture(url, policy))
            except InvalidPicture as error:
                log.info("The picture of %s is not shown; it is fetched again in an hour at the earliest: %s", story_id, error)
                picture_store.record_failure(publication, story_id, str(error))
                return None
            try:
                picture_store.store_picture(publication, story_id, webp)
            except OSError:
                log.exception("The picture of %s could not be stored; it was shown all the same.", story_id)
            return webp
    finally:
        _fetching.release()


def _download_picture(url: str, policy: fetch.Policy) -> bytes:
    """Raises: InvalidPicture."""
    notes = HostNotes()
    bounded = replace(policy, patience=SECONDS, deadline=SECONDS, max_body=MAX_BODY)
    with closing(fetch.fetch_all([fetch.Ask(0, url, accept=ACCEPT)], bounded, notes)) as fetched:
        ((_, outcome),) = fetched
    try:
        routing.run_write(notes.save)
    except Error:
        log.exception("What was learnt about a picture's server could not be stored.")
    if not isinstance(outcome, fetch.Fetched):
        raise InvalidPicture(outcome.code if isinstance(outcome, fetch.Failed) else "not_modified")
    return outcome.body


def shrink_picture(body: bytes) -> bytes:
    """Return a picture as WebP of at most WIDTH × HEIGHT pixels, upright, its first frame only. Raises: InvalidPicture."""
    try:
        with _decoding, Image.open(BytesIO(body), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise InvalidPicture(f"It has {image.width} × {image.height} pixels, which is too many.")
            if min(image.size) < LEAST:
                raise InvalidPicture(f"It has {image.width} × {image.height} pixels, which is too few.")
            mode = "RGBA" if image.has_transparency_data else "RGB"
            image.draft("RGB", (2 * WIDTH, 2 * HEIGHT))  # a JPEG is decoded in a fraction of its size
            small = image if image.mode in ("RGB", "RGBA", "L") else image.convert(mode)  # a palette has no colours between its own
            small.thumbnail((HEIGHT, HEIGHT))  # before anything that copies it
            upright = ImageOps.exif_transpose(small).convert(mode)
            upright.thumbnail((WIDTH, HEIGHT))
            upright.info.clear()  # or the profile, the place and the camera would be written again
            webp = BytesIO()
            upright.save(webp, "WEBP", quality=80)
            return webp.getvalue()
    except InvalidPicture:
        raise
    except Exception as error:  # Pillow's readers raise whatever their parsers run into: SyntaxError, struct.error, IndexError …
        raise InvalidPicture(f"It cannot be read as a picture: {error}") from error
