"""What editors and publishers may, as two groups, and the first account of a wire that has none."""

from typing import Any, Final

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import Q

EDITOR: Final = "editor"
PUBLISHER: Final = "publisher"
FIRST_ACCOUNT: Final = "editor"

DESK: Final = Q(content_type__app_label__in=("sources", "wire", "articles", "factchecks", "timeline", "gateway"))
SEEN: Final = DESK & Q(codename__startswith="view_") | Q(codename="view_logentry")
EDITED: Final = (
    "change_story",  # correct, withdraw, classify, merge, split, pin
    *("add_editortake", "change_editortake"),
    *("add_lexiconterm", "change_lexiconterm"),
    "try_feed",
    *("add_publisher", "change_publisher"),  # of publisher content: its terms
    "delete_publisher",  # its removal, which leaves a tombstone
    *("add_source", "change_source", "delete_source"),
    *("change_claim", "change_ratingname", "change_loadjob", "add_storylink", "change_storylink"),  # of fact-checks
    *("add_corpus", "change_corpus", "add_corpusrelease"),  # of timelines
    *(
        f"{what}_{row}"
        for what in ("add", "change", "delete")
        for row in ("report", "thread", "timelineevent", "motif", "catalogitem", "sourcefamily")
    ),
    *("change_agent", "add_override", "change_override", "delete_override"),  # of the resource gateway
)
PUBLISHED: Final = (
    "add_rosterrevision",  # a replacement
    *("change_publication", "add_feed", "change_feed"),
)
HANDED_OUT: Final = ("add_apikey", "change_apikey")  # of fact-checks: keys, and revoking them


def found(**_kwargs: Any) -> None:
    """Make both groups, or set what they may again: it is decided here, not in the admin."""
    may_edit = SEEN | DESK & Q(codename__in=EDITED)
    may_publish = may_edit | Q(content_type__app_label="sources", codename__in=PUBLISHED)
    may_publish |= Q(content_type__app_label="factchecks", codename__in=HANDED_OUT)
    for name, may in ((EDITOR, may_edit), (PUBLISHER, may_publish)):
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(may))


@transaction.atomic
def open_first_account(password: str) -> bool:
    """Open `editor`, in both groups and no superuser, on a wire without any user; False on any other."""
    if User.objects.exists():
        return False
    user = User.objects.create_user(FIRST_ACCOUNT, password=password, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=(EDITOR, PUBLISHER)))
    return True
