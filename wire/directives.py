"""llms.txt: what crawlers and agents are asked to do. One text for the site and for the MCP resource."""

from django.conf import settings
from django.template.loader import render_to_string


def llms_txt() -> str:
    """The directives, with this site's own addresses."""
    return render_to_string("llms.txt", {"site": settings.WIRE_SITE_URL, "mcp": settings.WIRE_MCP_URL})
