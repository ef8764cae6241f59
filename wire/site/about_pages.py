"""Pages about the wire: its sources, its proofs, its use, and how to use it."""

from collections import defaultdict
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config.http.responses import BRIEFLY
from sources.choices import Tier
from wire import queries
from wire.schemas.params import read_date
from wire.site import llms_txt
from wire.site.pages import PER_LIST, page, parse_or_404, public_page
from wire.templatetags.wire_site import render_markdown

SNIPPETS: Final = (
    ("claude", "Claude", "claude.sh"),
    ("chatgpt", "ChatGPT", "chatgpt.txt"),
    ("cursor", "Cursor", "cursor.json"),
    ("vscode", "VS Code", "vscode.json"),
    ("curl", "curl", "curl.sh"),
    ("python", "Python", "python.py"),
    ("javascript", "JavaScript", "javascript.mjs"),
)
EXAMPLES: Final = (
    ("mcp-python-sdk", "the MCP Python SDK", "mcp_python_sdk.py"),
    ("langchain", "LangChain", "langchain_tools.py"),
    ("openai-agents-sdk", "the OpenAI Agents SDK", "openai_agents_sdk.py"),
    ("vercel-ai-sdk", "the Vercel AI SDK", "vercel_ai_sdk.mjs"),
)
MAX_PASTED: Final = 6_000  # characters; addresses hold no more with certainty
CHART_HEIGHT: Final = 120


@public_page
def sources(request: HttpRequest) -> HttpResponse:
    health: dict[str, list[object]] = defaultdict(list)
    found = queries.get_feeds_health()
    for feed in found.feeds:
        health[feed.publication].append(feed)
    roster = queries.list_sources()
    tiers = [(tier, [(source, health[source.name]) for source in roster.sources if source.tier == tier]) for tier in Tier]
    return page(request, "sources.html", {"roster": roster, "tiers": tiers, "note": found.note})


@public_page
def source(request: HttpRequest, slug: str) -> HttpResponse:
    context = {
        "source": (found := queries.get_source(slug)),
        "tier": Tier(found.tier),
        "list": queries.list_source_stories(slug, PER_LIST, request.GET.get("cursor")),
        "activity": queries.get_activity(source=slug),
        "activity_address": f"/api/activity.json?source={slug}",
        "feed": f"source-{slug}",
        "name": found.name,
    }
    return page(request, "source.html", context)


@public_page
def freshness(request: HttpRequest) -> HttpResponse:
    return page(request, "freshness.html", {"health": queries.get_feeds_health()}, "no-store")


@public_page
def provenance(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """Show hash, link and signature of a day (default: the latest), and how to check them."""
    found = queries.get_provenance(parse_or_404(read_date, day) if day else None)
    return page(request, "provenance.html", {"day": found, "near": queries.list_neighbours(found.wire_date), "chosen": day})


@public_page
def verify(request: HttpRequest) -> HttpResponse:
    """Check every citation of the wire in a pasted text against the record."""
    pasted = request.GET.get("text", "").replace("\r\n", "\n").strip()  # a line's end is one character where a browser counts
    text = pasted[:MAX_PASTED]
    context = {
        "text": text,
        "found": queries.verify_citation(text) if text else None,
        "most": MAX_PASTED,
        "unread": len(pasted) - len(text),
    }
    return page(request, "verify.html", context, "no-store" if text else BRIEFLY)


@public_page
def usage(request: HttpRequest) -> HttpResponse:
    """Show the number of calls by agents, without anything about the callers."""
    days, names = queries.count_usage()
    most = max(calls for _, calls, _ in days) or 1

    def bar(number: int) -> tuple[int, int]:
        """Return y and height of a bar of the chart."""
        height = -(-CHART_HEIGHT * number // most)
        return CHART_HEIGHT - height, height

    bars = [(day, calls, errors, bar(calls), bar(errors), 20 * number) for number, (day, calls, errors) in enumerate(days)]
    sums = {"calls": sum(calls for _, calls, _ in days), "errors": sum(errors for *_, errors in days)}
    return page(request, "usage.html", {"names": names, **sums, "bars": bars, "most": most, "height": CHART_HEIGHT})


@public_page
def for_agents(request: HttpRequest) -> HttpResponse:
    """Show how to connect; a test runs each snippet and each example."""
    addresses = llms_txt.list_addresses()
    snippets = [(name, label, render_to_string(f"snippets/{file}", addresses).strip()) for name, label, file in SNIPPETS]
    examples = [(name, label, _read_example(file)) for name, label, file in EXAMPLES]
    return page(request, "for_agents.html", {"snippets": [*snippets, *examples], "costs": render_markdown(_read_costs())})


def _read_example(file: str) -> str:
    """Return a program of examples/ that asks this wire."""
    text = (settings.BASE_DIR / "examples" / file).read_text(encoding="utf-8")
    return text.replace("http://localhost:8000", settings.WIRE_MCP_URL.removesuffix("/mcp")).strip()


def _read_costs() -> str:
    """Return the table of questions, tools and costs of docs/agents.md."""
    text = (settings.BASE_DIR / "docs" / "agents.md").read_text(encoding="utf-8")
    return text.partition("<!-- costs -->\n")[2].partition("<!-- /costs -->")[0]


@public_page
def mcp_spec(request: HttpRequest) -> HttpResponse:
    return page(request, "mcp_spec.html", {"spec_html": render_markdown(llms_txt.read_mcp_spec().decode())})


@public_page
def text_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show about, privacy or terms."""
    return page(request, f"{name}.html", {})
