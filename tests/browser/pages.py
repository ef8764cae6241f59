"""Every kind of page, by name: its address with places for what each wire has of its own."""

from collections.abc import Mapping
from typing import Final, Literal

from tests.browser.server import Wire

THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
PAGES: Final = {
    "home": "/",
    "day": "/day/{day}",
    "day by category": "/day/{day}?category=launches",
    "new": "/new",
    "week": "/week",
    "methodology": "/methodology",
    "story": "/story/{story}",
    "corrected story": "/story/{corrected}",
    "withdrawn story": "/story/{withdrawn}",
    "event": "/event/{event}",
    "storyline": "/storyline/{event}",
    "category": "/category/launches",
    "topic": "/topic/openai",
    "topics": "/topics",
    "names": "/names",
    "name": "/about/openai",
    "verify": "/verify",
    "verified": "/verify?text=According+to+BBC%2C+as+summarized+by+ChatbotNews.ai%2C+it+rained.+cbn-000000000000",
    "empty search": "/search",
    "search": "/search?query=moon",
    "filtered search": "/search?query=moon&tier=3&since=2026-10-12",
    "filters alone": "/search?source=reuters&sort=newest",
    "nothing found": "/search?query=zyzzyva&tier=3&category=funding",
    "suggestion": "/search?query=robto",
    "refused search": "/search?query=moon&source=Nobody",
    "archive": "/archive",
    "brief": "/editor-take/{day}",
    "sources": "/sources",
    "source": "/source/techcrunch",
    "freshness": "/freshness",
    "provenance": "/provenance",
    "provenance of a day": "/provenance/{day}",
    "usage": "/usage",
    "corrections": "/corrections",
    "for agents": "/for-agents.html",
    "MCP contract": "/mcp-spec",
    "documents": "/docs/",
    "a document": "/docs/rest",
    "a document with pictures": "/docs/clients",
    "about": "/about",
    "privacy": "/privacy",
    "terms": "/terms",
    "missing": "/no-such-page",
    "API": "/api/docs",
    "publishers": "/articles",
    "publisher": "/articles/almanac",
    "search of a publisher": "/articles/almanac?query=bridge",
    "what agents asked": "/articles/almanac/asked",
    "unknown publisher": "/articles/nobody",
    "timelines": "/timeline/",
    "timeline archive": "/timeline/harbour-clock/",
    "timeline report": "/timeline/harbour-clock/report/hc-3",
    "timeline of events": "/timeline/harbour-clock/events",
    "timeline of the wire": "/timeline/wire/events",
    "timeline motifs": "/timeline/harbour-clock/motifs",
    "timeline threads": "/timeline/harbour-clock/threads",
    "timeline catalogue": "/timeline/harbour-clock/catalog",
    "timeline releases": "/timeline/harbour-clock/releases",
    "refused timeline": "/timeline/harbour-clock/?date_start=soon",
    "unknown timeline": "/timeline/nobody/",
}
STATUS: Final = {"unknown timeline": 404, "refused timeline": 422, "missing": 404, "unknown publisher": 404, "refused search": 422}


def places(wire: Wire) -> Mapping[str, str]:
    """What stands for the names in curly brackets."""
    day = wire.json("/api/archive.json")["dates"][0]["wire_date"]
    stories = wire.json(f"/api/archive/{day}.json")["stories"]
    told = max(stories, key=lambda story: story["cross_source_count"])
    corrected = next(story for story in stories if story["status"] == "corrected")
    gone = wire.json(f"/api/archive/{day}.json?revision=1")["stories"]
    (withdrawn,) = {story["chatbotnews_id"] for story in gone} - {story["chatbotnews_id"] for story in stories}
    return {
        "day": day,
        "story": told["chatbotnews_id"],
        "event": told["event_id"],
        "corrected": corrected["chatbotnews_id"],
        "withdrawn": withdrawn,
    }
