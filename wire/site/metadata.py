"""Metadata of pages: JSON-LD of schema.org, and the tags that citation managers read."""

import json
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from citations.format.bylines import Person, parse_authors
from config.plugins import list_plugins
from sources import queries as sources_queries
from wire import queries
from wire.schemas.story import StoryOut
from wire.site import llms_txt

Node = dict[str, Any]

_UNSAFE: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def add_site_context(request: HttpRequest) -> dict[str, Any]:
    """Template context of every page."""
    return {
        **llms_txt.list_addresses(),
        "sample": SimpleLazyObject(queries.is_sample_wire),
        "navigation": [link for plugin in list_plugins() for link in plugin.navigation],
        "graph": SimpleLazyObject(lambda: render_graph()),
        "publication_slugs": SimpleLazyObject(sources_queries.get_slugs_by_name),
        "canonical": f"{settings.WIRE_SITE_URL}{request.path}",
    }


def render_graph(nodes: Sequence[Node] = ()) -> SafeString:
    """The JSON-LD of a page: the site's own nodes and these; safe inside <script>."""
    document = {
        "@context": "https://schema.org",
        "@graph": [*json.loads(render_to_string("graph.json", llms_txt.list_addresses())), *nodes],
    }
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return SafeString("".join(_UNSAFE.get(character, character) for character in text))


def build_article(story: StoryOut) -> Node:
    """A story's metadata. What the publisher wrote is the publisher's: the node points to it and claims a summary only."""
    original: Node = {
        "@type": "NewsArticle",
        "url": story.original_url,
        "headline": story.headline,
        "publisher": {"@type": "Organization", "name": story.original_publisher},
        "datePublished": f"{story.published_at:%Y-%m-%dT%H:%M:%SZ}",
    }
    if authors := parse_authors(story.author, story.original_publisher):
        original["author"] = [
            {"@type": "Person" if isinstance(author, Person) else "Organization", "name": author.written} for author in authors
        ]
    return {
        "@type": "NewsArticle",
        "@id": f"{story.permalink}#story",
        "headline": story.headline[:110],
        "url": story.permalink,
        "mainEntityOfPage": story.permalink,
        "identifier": story.chatbotnews_id,
        "datePublished": f"{story.published_at:%Y-%m-%dT%H:%M:%SZ}",
        "dateModified": f"{story.updated_at:%Y-%m-%dT%H:%M:%SZ}",
        **({"abstract": story.summary_medium} if story.summary_medium else {}),
        "inLanguage": story.language,
        "articleSection": story.category.label,
        "keywords": [topic.label for topic in story.topics],
        "creditText": story.citation_objects.layered_ready if story.citation_objects else None,
        "isBasedOn": original,
        "provider": {"@id": f"{settings.WIRE_SITE_URL}/#organization"},
        "isAccessibleForFree": True,
    }
