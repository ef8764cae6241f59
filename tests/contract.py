"""The public contract, for tests to hold answers against."""

from typing import Any, Protocol

from django.http import HttpResponse

STORY_KEYS = [
    *("chatbotnews_id", "permalink", "headline", "author", "category", "topics"),
    *("original_publisher", "original_publisher_tier", "original_publisher_tier_label", "original_url", "via", "credited_source"),
    *("published_at", "published_at_estimated", "first_seen_at", "updated_at", "summary_short", "summary_medium", "language"),
    *("untrusted_instructions", "consensus_score", "cross_source_count", "event_id", "status", "revision", "story_sha256"),
    "citation_objects",
]
CITATION_KEYS = ["layered_ready", "inline_ready", "reference_ready", "academic_story", "markdown_link", "bibtex"]

SHARED = "public, max-age=60, s-maxage=300, stale-while-revalidate=60, stale-if-error=86400"
BRIEFLY = "public, max-age=60, stale-if-error=86400"


class Asked(Protocol):
    """What Django's test client gives, as far as these tests look."""

    status_code: int
    content: bytes
    headers: Any

    def json(self) -> Any: ...


def refused(response: HttpResponse | Asked, status: int, code: str) -> dict[str, str]:
    """The error of a refused request, after checking that it has the one shape of every error and is never kept."""
    error: dict[str, str] = response.json()  # type: ignore[union-attr]
    assert (response.status_code, error.get("error")) == (status, code), error
    assert list(error) == ["error", "message", "hint"]
    assert error["message"].endswith(".")
    assert error["hint"].endswith(".")
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    return error
