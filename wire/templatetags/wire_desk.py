"""What the desk's pages need beside Unfold's tags."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.template.defaultfilters import capfirst

register = template.Library()


@register.filter
def menu_title(part: Mapping[str, Any]) -> str:
    """Return the title of a part of the path above a page: of a list, the one in the menu."""
    from wire.admin.menu import find_list_titles  # Unfold renders a widget, and so loads all tags, before the desk is there

    title = part["title"]
    return find_list_titles().get(str(part.get("link")), title if hasattr(title, "pk") else str(capfirst(title)))
