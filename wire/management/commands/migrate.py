from django.core.management.commands import migrate

from config.command_base import WireCommand


class Command(migrate.Command, WireCommand):
    requires_system_checks = WireCommand.requires_system_checks
