"""The base class of this program's commands."""

from django.core.management.base import BaseCommand


class WireCommand(BaseCommand):
    """A command that starts at once: Django's checks would first import every surface and the desk. `make lint` runs them."""

    requires_system_checks: list[str] = []
