"""What the desk's pages need beside Unfold's tags."""

import re
from collections.abc import Mapping
from typing import Any, Final

from django import template
from django.template.defaultfilters import capfirst
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from wire.text.identity import STORY_ID_PATTERN

register = template.Library()
_STORY_ID: Final = re.compile(f"({STORY_ID_PATTERN.strip('^$')})")


@register.filter
def link_stories(text: str) -> str:
    """Link each id of a story in a text to the desk's list, searched for it."""
    stories = reverse("admin:wire_story_changelist")
    parts = enumerate(_STORY_ID.split(text))
    return format_html_join(
        "", "{}", ((format_html('<a href="{0}?q={1}">{1}</a>', stories, one) if at % 2 else one,) for at, one in parts)
    )


@register.filter
def get_menu_title(part: Mapping[str, Any]) -> str:
    """Return the title of a part of the path above a page: of a list, the one in the menu."""
    from wire.admin.menu import find_list_titles  # Unfold renders a widget, and so loads all tags, before the desk is there

    title = part["title"]
    return find_list_titles().get(str(part.get("link")), title if hasattr(title, "pk") else str(capfirst(title)))
