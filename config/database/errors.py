"""Errors of databases that the caller can mend."""

from django.db import DataError

from config.errors import InvalidArgument


def refuse_nul(error: DataError) -> InvalidArgument:
    """Return what a caller is told whose text holds NUL, which PostgreSQL takes nowhere. Raises: the error, if it is another."""
    if "NUL" not in str(error):
        raise error
    return InvalidArgument("A text holds NUL, which no text may hold.", "Send it without.")
