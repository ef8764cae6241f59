"""Stores the publisher that clients ask, as a program of its own in the environment of the server."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from tests.publishers import cake, draft, publisher, store  # noqa: E402  tables need settings

if __name__ == "__main__":
    plums = (draft(f"Plum cake {n}", f"https://yoursite.com/plum-{n}", description="With plums.") for n in range(12))
    store(publisher("sample"), cake(), *plums)
