"""What every client asks of the sample wire: each tool, each kind of address and each prompt, with arguments that it answers."""

from typing import Any, Final

KINDS_OF_MANY: Final = ("wire://story/", "wire://archive/")


def tool_calls(story_id: str) -> dict[str, dict[str, Any]]:
    """Arguments by tool."""
    return {
        "search_wire": {"query": "moon library", "limit": 3, "detail": "brief"},
        "get_story": {"story_id": story_id},
        "get_category": {"category": "launches", "limit": 5},
        "get_topic_coverage": {"topic": "openai", "since": "2026-10-12T00:00:00Z", "limit": 5},
        "get_consensus": {"story_id": story_id},
        "get_citation": {"story_id": story_id, "format": "bibtex"},
        "get_editor_take": {},
        "list_sources": {"tier": 1},
        "verify_source_integrity": {"publication_name": "Tech Crunch"},
        "list_events": {"limit": 5},
        "get_event": {"event_id": story_id},
        "get_storyline": {"event_id": story_id},
        "get_entity": {"name": "OpenAI", "limit": 5},
        "verify_citation": {"text": f"As http://localhost:8000/story/{story_id} says."},
        "get_provenance": {"story_id": story_id},
        "get_changes": {"limit": 5, "since": "last week"},
        "corroborate": {"claim": "OpenAI opened a library on the moon."},
        "compare_coverage": {"event_id": story_id},
        "check_limits": {},
        "search": {"query": "moon library"},
        "fetch": {"id": story_id},
    }


def publisher_calls() -> dict[str, dict[str, Any]]:
    """Arguments by tool of the sample publisher's server."""
    return {
        "search-content": {"query": "plum dumplings", "limit": 3},
        "get-article": {"url": "https://almanac.example/2026/01/plum-dumplings", "format": "text", "max_chars": 500},
        "list-recent": {"limit": 5},
    }


def prompts(story_id: str) -> dict[str, dict[str, str]]:
    """Arguments by prompt; in MCP they are always texts."""
    return {
        "daily-briefing": {"focus": "all"},
        "cite-chatbotnews": {"story_id": story_id},
        "compare-coverage": {"event": "moon library"},
        "topic-deep-dive": {"topic": "openai", "window_days": "30"},
    }


def addresses(listed: list[str]) -> list[str]:
    """All that resources/list names, of stories and archived days one each, and the provenance of that day."""
    few = [uri for uri in listed if not uri.startswith(KINDS_OF_MANY)]
    one_each = [next(uri for uri in listed if uri.startswith(kind)) for kind in KINDS_OF_MANY]
    day = one_each[-1].rpartition("/")[2]
    return [*few, *one_each, f"wire://provenance/{day}"]


def a_story(listed: list[str]) -> str:
    """The id of a story of today."""
    return next(uri for uri in listed if uri.startswith("wire://story/")).rpartition("/")[2]
