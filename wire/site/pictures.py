"""Publishers' pictures, each at an address of ours, so that no reader's browser asks a publisher's server."""

import logging
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import InternalError, WireError
from wire import queries

# A day in browsers, five minutes in caches that many share: what is withdrawn or forbidden is soon gone from them.
CACHING: Final = "public, max-age=86400, s-maxage=300"
# Allowed here is not allowed elsewhere: neither in a search for pictures nor in other sites' pages.
ONLY_HERE: Final = {"X-Robots-Tag": "noindex", "Cross-Origin-Resource-Policy": "same-origin"}

log = logging.getLogger(__name__)


@require_safe
def picture(request: HttpRequest, story_id: str) -> HttpResponse:  # noqa: ARG001
    """Return a story's picture where its publication allows it; a sentence in plain text and 404 everywhere else."""
    try:
        webp = queries.get_picture(story_id)
    except WireError as error:
        return _to_error_response(error)
    except OSError:  # the data directory is full or not ours; pages do without
        log.exception("The picture of %s could not be read or stored.", story_id)
        return _to_error_response(InternalError())
    return HttpResponse(webp, content_type="image/webp", headers={"Cache-Control": CACHING, **ONLY_HERE})


def _to_error_response(error: WireError) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(f"{error} {error.hint}\n", "text/plain; charset=utf-8", error.status, headers=headers)
