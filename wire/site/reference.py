"""What explains the wire: its sources, its proofs, how it is used, and how to use it."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config.http.responses import BRIEFLY
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire import queries
from wire.bounds import read_date
from wire.site import directives
from wire.site.pages import PER_LIST, page, public, read
from wire.templatetags.wire_site import html

SNIPPETS: Final = (
    ("claude", "Claude", "claude.sh"),
    ("chatgpt", "ChatGPT", "chatgpt.txt"),
    ("cursor", "Cursor", "cursor.json"),
    ("vscode", "VS Code", "vscode.json"),
    ("curl", "curl", "curl.sh"),
    ("python", "Python", "python.py"),
    ("javascript", "JavaScript", "javascript.mjs"),
)
MAX_PASTED: Final = 6_000  # characters; addresses hold no more with certainty
CHART_HEIGHT: Final = 120


@public
def sources(request: HttpRequest) -> HttpResponse:
    """The roster by tier, and how old each source is."""
    health: dict[str, list[object]] = {}
    for feed in sources_queries.feeds_health().feeds:
        health.setdefault(feed.publication, []).append(feed)
    roster = sources_queries.list_sources()
    tiers = [(tier, [(source, health.get(source.name, [])) for source in roster.sources if source.tier == tier]) for tier in Tier]
    return page(request, "sources.html", {"roster": roster, "tiers": tiers})


@public
def source(request: HttpRequest, slug: str) -> HttpResponse:
    """One publication: who it is, how its feeds fare, and its stories of all days."""
    context = {
        "source": (found := queries.get_source(slug)),
        "tier": Tier(found.tier),
        "list": queries.list_source_stories(slug, PER_LIST, request.GET.get("cursor")),
        "feed": f"source-{slug}",
        "name": found.name,
    }
    return page(request, "source.html", context)


@public
def freshness(request: HttpRequest) -> HttpResponse:
    """Feed health."""
    return page(request, "freshness.html", {"health": queries.feeds_health()}, "no-store")


@public
def provenance(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """Hash, link and signature of a day (default: the latest), and how anybody checks them."""
    found = queries.get_provenance(read(read_date, day) if day else None)
    return page(request, "provenance.html", {"day": found, "near": queries.neighbours(found.wire_date), "chosen": day})


@public
def verify(request: HttpRequest) -> HttpResponse:
    """A text is pasted, and every citation of the wire in it is held against the record."""
    pasted = request.GET.get("text", "").replace("\r\n", "\n").strip()  # a line's end is one character where a browser counts
    text = pasted[:MAX_PASTED]
    context = {
        "text": text,
        "found": queries.verify_citation(text) if text else None,
        "most": MAX_PASTED,
        "unread": len(pasted) - len(text),
    }
    return page(request, "verify.html", context, "no-store" if text else BRIEFLY)


@public
def usage(request: HttpRequest) -> HttpResponse:
    """How often agents ask, without a word of who they are."""
    found = queries.usage()
    most = max((day.calls for day in found.days), default=0) or 1
    bars = [(day, _bar(day.calls, most), _bar(day.errors, most), 20 * number) for number, day in enumerate(found.days)]
    return page(request, "usage.html", {"use": found, "bars": bars, "most": most, "height": CHART_HEIGHT})


def _bar(number: int, most: int) -> tuple[int, int]:
    """Where a bar begins and how high it is."""
    height = -(-CHART_HEIGHT * number // most)
    return CHART_HEIGHT - height, height


@public
def for_agents(request: HttpRequest) -> HttpResponse:
    """How to connect: each snippet is one that a test runs."""
    snippets = [(name, label, snippet(file)) for name, label, file in SNIPPETS]
    return page(request, "for_agents.html", {"snippets": snippets})


def snippet(file: str) -> str:
    """One quick start with this site's own addresses."""
    return render_to_string(f"snippets/{file}", directives.addresses()).strip()


@public
def mcp_spec(request: HttpRequest) -> HttpResponse:
    """The MCP contract."""
    return page(request, "mcp_spec.html", {"spec_html": html(directives.spec().decode())})


@public
def text(request: HttpRequest, name: str) -> HttpResponse:
    """About, privacy, terms."""
    return page(request, f"{name}.html", {})
