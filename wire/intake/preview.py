"""What saving a term of the lexicon would change, before it is saved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wire.intake import lexicon
from wire.intake.classify import Lexicon
from wire.models import LexiconTerm, Story

LOOKED_AT: Final = 500  # newest stories
SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A story that the lexicon would tell otherwise: (what, old, new) each."""

    story: Story
    told: Sequence[tuple[str, str, str]]


def changes(term: LexiconTerm) -> tuple[list[Change], int]:
    """Which of the newest live stories the lexicon would tell otherwise if `term` were saved, newest first; and how many
    were looked at.

    Both sides are today's lexicon, without and with the term; what editors set is left out, as they overrule it. Stored
    stories only change once they are read again (`manage.py rebuild`).
    """
    old, new = lexicon.load(), lexicon.load(with_term=term)
    stories = list(Story.objects.live().select_related("current", "publication", "feed").newest_first()[:LOOKED_AT])
    found = (Change(story, list(_told(story, old, new))) for story in stories)
    return [change for change in found if change.told], len(stories)


def _told(story: Story, old: Lexicon, new: Lexicon) -> Iterator[tuple[str, str, str]]:
    assert story.current is not None, "live stories are published"  # noqa: S101
    text = story.current.headline, story.current.summary_medium
    if not story.editor_category:
        yield from _differ("category", str(old.category(*text).label), str(new.category(*text).label))
    if story.editor_topics is None:
        told = (terms.topics(*text, story.publication.name) for terms in (old, new))
        yield from _differ("topics", *(", ".join(map(str, topics)) or "none" for topics in told))
    if not (story.feed and story.feed.ai_only):  # everything of such a feed is let in
        yield from _differ("about AI", *("yes" if terms.is_about_ai(*text) else "no" for terms in (old, new)))


def _differ(what: str, old: str, new: str) -> Iterator[tuple[str, str, str]]:
    if old != new:
        yield what, old, new
