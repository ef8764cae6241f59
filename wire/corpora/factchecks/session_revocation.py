"""Sessions that clients of the MCP server ended before they expired: one table, so that every worker knows."""

import datetime as dt

from django.utils import timezone

from wire.corpora.factchecks.models import EndedSession


class EndedSessions:
    def __contains__(self, session: str) -> bool:
        return EndedSession.objects.filter(pk=session).exists()

    def add(self, session: str, seconds_left: float) -> None:
        """Store the session, and delete those that have expired by now."""
        now = timezone.now()
        EndedSession.objects.filter(expires_at__lt=now).delete()
        EndedSession.objects.get_or_create(pk=session, defaults={"expires_at": now + dt.timedelta(seconds=seconds_left)})
