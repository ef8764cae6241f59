"""Permissions of editors and publishers, as two groups, and the first account of a wire that has none."""

from typing import Any, Final

from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from config.errors import InvalidArgument
from config.plugins import list_plugins

EDITOR: Final = "editor"
PUBLISHER: Final = "publisher"
FIRST_ACCOUNT: Final = "editor"
FIRST_ACCOUNT_READY: Final = f"The account `{FIRST_ACCOUNT}` is ready."

EDITED: Final = (
    "change_story",  # correct, withdraw, classify, merge, split, pin
    *("add_editortake", "change_editortake"),
    *("add_lexiconterm", "change_lexiconterm"),
    *("add_entity", "change_entity"),
    "try_feed",
)
PUBLISHED: Final = (
    "add_rosterrevision",  # a replacement
    *("change_publication", "add_feed", "change_feed"),
)


def create_groups(**_kwargs: Any) -> None:
    """Make both groups, or set what they may again: it is decided here and by plugins, not in the admin."""
    may_edit = Q(content_type__app_label__in=("sources", "wire"), codename__in=EDITED) | Q(codename="view_logentry")
    may_edit |= Q(content_type__app_label__in=("sources", "wire"), codename__startswith="view_")
    may_publish = Q(content_type__app_label="sources", codename__in=PUBLISHED)
    for plugin in list_plugins():
        of_app = Q(content_type__app_label=plugin.label)
        may_edit |= of_app & (Q(codename__startswith="view_") | Q(codename__in=plugin.edit_permissions))
        may_publish |= of_app & Q(codename__in=plugin.publish_permissions)
    for name, may in ((EDITOR, may_edit), (PUBLISHER, may_edit | may_publish)):
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(may))


def validate_new_username(name: str) -> None:
    """Raises: InvalidArgument for a name that is taken or cannot be one."""
    name = User.normalize_username(name)  # as an account has it
    if User.objects.filter(username=name).exists():
        raise InvalidArgument(f"The account {name} already exists.", f"For a new password: manage.py changepassword {name}.")
    try:
        User(username=name, password="x").clean_fields()  # noqa: S106  no password, which a hash would be in its place
    except ValidationError as error:
        raise InvalidArgument(" ".join(error.messages), "Choose another name.") from error


@transaction.atomic
def create_editor(name: str, password: str, *, publisher: bool = False) -> None:
    """Make an account in the group of editors. Raises: InvalidArgument for a password that is empty, short or common."""
    try:
        validate_password(password, User(username=name))
    except ValidationError as error:
        raise InvalidArgument(" ".join(error.messages), "Choose another password.") from error
    user = User.objects.create_user(name, password=password, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=(EDITOR, PUBLISHER) if publisher else (EDITOR,)))


def open_first_account(password: str) -> bool:
    """Open `editor`, in both groups and no superuser, on a wire without any user; False on any other. Raises: InvalidArgument."""
    if User.objects.exists():
        return False
    create_editor(FIRST_ACCOUNT, password, publisher=True)
    return True
