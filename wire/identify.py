"""Whether a draft is a new story, a new revision of a known one, or nothing new. Decides; stores nothing."""

from dataclasses import dataclass
from enum import StrEnum

from wire.identity import headline_key
from wire.models import Story, StoryRevision
from wire.normalise import Draft


class Outcome(StrEnum):
    """What became of one entry."""

    ACCEPTED = "accepted"
    REVISED = "revised"
    DUPLICATE = "duplicate"


@dataclass(slots=True)
class Known:
    """A stored story and its revisions, oldest first."""

    story: Story
    revisions: list[StoryRevision]

    @property
    def latest(self) -> StoryRevision:
        return self.revisions[-1]


def same_article(draft: Draft, known: Known) -> bool:
    """For a draft whose GUID is known under another URL: feeds reuse GUIDs, so the headlines must agree too."""
    return headline_key(draft.headline) == headline_key(known.latest.headline)


def says_something_new(draft: Draft, known: Known) -> bool:
    """Whether the draft's text differs from every text this story ever had.

    What was said before is no news: loading an archive again, or an older one later, changes nothing. A field that the
    draft lacks is no change either, since one feed of a publication may give summaries and another only headlines.
    """
    return all(
        _differs(draft.headline, old.headline)
        or _differs(draft.summary_medium, old.summary_medium)
        or _differs(draft.author, old.author)
        for old in known.revisions
    )


def merged(draft: Draft, latest: StoryRevision) -> dict[str, object]:
    """The fields of the next revision. Date, publisher and address stay as they were first published."""
    fuller = bool(draft.summary_medium)
    return {
        "headline": draft.headline,
        "author": draft.author or latest.author,
        "summary_short": draft.summary_short if fuller else latest.summary_short,
        "summary_medium": draft.summary_medium if fuller else latest.summary_medium,
        "category": draft.category,
        "topics": draft.topics,
        "untrusted_instructions": draft.untrusted_instructions,
    }


def _differs(new: str | None, old: str | None) -> bool:
    return bool(new) and new != old
