"""Preview of saving a term of the lexicon: the stories that would change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wire.ingest import lexicon
from wire.models import LexiconTerm, Story

LOOKED_AT: Final = 500  # newest stories
SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class StoryChange:
    """A story that the lexicon would classify otherwise: (what, old, new) each."""

    story: Story
    told: Sequence[tuple[str, str, str]]


def changes(term: LexiconTerm) -> tuple[list[StoryChange], int]:
    """List the newest live stories that would be classified otherwise if `term` were saved, newest first; and how many were read.

    Both sides are today's lexicon, without and with the term; what editors set is left out, as they overrule it. Stored
    stories only change once they are read again (`manage.py rebuild`).
    """
    both = lexicon.load(), lexicon.load(with_term=term)
    stories = list(Story.objects.live().select_related("current", "publication", "feed").newest_first()[:LOOKED_AT])
    changes = []
    for story in stories:
        assert story.current is not None, "live stories are published"  # noqa: S101
        text = story.current.headline, story.current.summary_medium
        values: dict[str, list[str]] = {}
        if not story.editor_category:
            values["category"] = [str(terms.category(*text).label) for terms in both]
        if story.editor_topics is None:
            values["topics"] = [", ".join(map(str, terms.topics(*text, story.publication.name))) or "none" for terms in both]
        if not (story.feed and story.feed.ai_only):  # everything of such a feed is let in
            values["about AI"] = ["yes" if terms.is_about_ai(*text) else "no" for terms in both]
        if differing := [(what, old, new) for what, (old, new) in values.items() if old != new]:
            changes.append(StoryChange(story, differing))
    return changes, len(stories)
