"""What the desk's pages need beside Unfold's tags."""

import re
from collections.abc import Mapping
from typing import Any, Final

from django import template
from django.template.defaultfilters import capfirst
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from wire.text.identity import STORY_ID_PATTERN

register = template.Library()
_STORY_ID: Final = re.compile(STORY_ID_PATTERN.strip("^$"))


@register.filter
def link_stories(text: str) -> SafeString:
    """Link each id of a story in a text to the desk's list, searched for it."""
    stories = reverse("admin:wire_story_changelist")
    return mark_safe(_STORY_ID.sub(rf'<a href="{stories}?q=\g<0>">\g<0></a>', escape(text)))  # noqa: S308


@register.filter
def get_menu_title(part: Mapping[str, Any]) -> str:
    """Return the title of a part of the path above a page: of a list, the one in the menu."""
    from wire.admin.menu import find_list_titles  # Unfold renders a widget, and so loads all tags, before the desk is there

    title = part["title"]
    return find_list_titles().get(str(part.get("link")), title if hasattr(title, "pk") else str(capfirst(title)))
