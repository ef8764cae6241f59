"""The desk as its pages are read: who works there, and what a page says."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client

from wire.admin.stories import StoryForm
from wire.models import Story

PASSWORD = "correct horse battery"


def person(name: str, *groups: str) -> User:
    """Somebody who may log in to the desk, in these groups."""
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


def at_desk(*groups: str) -> Client:
    """The browser of somebody in these groups who is logged in."""
    client = Client()
    client.force_login(person("-".join(groups) or "nobody", *groups))
    return client


def words(answer: Any) -> str:
    """What a page says, scripts, styles, tags and white space aside."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(re.sub("<[^>]*>", " ", text).split())


def save(desk: Client, page: str, form: Mapping[str, object], *, follow: bool = False) -> Any:
    """The answer to a form that is opened and sent, with what the page keeps of what it was opened with."""
    context = desk.get(page).context
    opened = context["adminform"].form if "adminform" in context else context["form"]
    return desk.post(page, {"seen": opened.initial["seen"], **form}, follow=follow)


def story_form(story: Story, **changes: object) -> dict[str, object]:
    """A story's form as it is opened, with these changes."""
    assert story.current is not None
    told = story.current
    form: dict[str, object] = {
        "headline": told.headline,
        "summary": told.summary_medium,
        "author": told.author or "",
        "category": told.category,
        "topics": told.topics,
        "seen": StoryForm(instance=story).initial["seen"],
        "reason": "",
        "revisions-TOTAL_FORMS": 0,
        "revisions-INITIAL_FORMS": 0,
    }
    return form | changes


def run_at_once(arguments: Sequence[str], log: Any) -> None:
    """Run a command that the desk starts, in the test's own process and database."""
    said = io.StringIO()
    try:
        call_command(*arguments[2:], stdout=said, stderr=said)
    except CommandError as error:
        said.write(f"CommandError: {error}")
    log.write(said.getvalue().encode())
