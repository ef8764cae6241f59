"""Whether a draft is a new story, a new revision of a known one, or nothing new. Decides; stores nothing."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sources.vocabulary import FeedType
from wire.intake.normalise import Context, Draft, is_google_news
from wire.models import Story, StoryRevision
from wire.stories.identity import headline_key
from wire.stories.vocabulary import NEWER_RULES

SAME_NEWS: Final = dt.timedelta(hours=72)
"""How far apart a publisher and Google News may date one article."""
TEXTS: Final = ("headline", "author", "summary_medium")
"""What a publisher may change of a story."""
Texts = Mapping[str, str | None]


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
    aliases: set[str] = field(default_factory=set)

    @property
    def latest(self) -> StoryRevision:
        return self.revisions[-1]

    @property
    def published_texts(self) -> list[Texts]:
        """What the publisher wrote, by revision of theirs; where one repeats an editor's text, the publisher's own still stands."""
        published: list[Texts] = []
        before: set[tuple[str, str | None]] = set()
        for revision in self.revisions:
            texts = set(_texts(revision).items())
            if _is_publishers(revision):
                published.append({**(published[-1] if published else {}), **dict(texts - before)})
            before = texts
        return published

    @property
    def revised_at(self) -> dt.datetime:
        """When the publisher's newest revision was recorded."""
        return max(revision.recorded_at for revision in self.revisions if _is_publishers(revision))

    @property
    def headline_keys(self) -> set[str]:
        """Of every headline that the publisher gave it, and of an editor's correction."""
        return {
            headline_key(headline)
            for headline in (self.latest.headline, *(texts["headline"] or "" for texts in self.published_texts))
        }

    @property
    def by_google_news(self) -> bool:
        """Whether the publisher's own address is not known."""
        return is_google_news(self.story.original_url) and all(map(is_google_news, self.aliases))


def same_article(draft: Draft, known: Known) -> bool:
    """For a draft whose GUID is known under another URL: feeds reuse GUIDs, so the headlines must agree too."""
    return headline_key(draft.headline) in known.headline_keys


def same_news(draft: Draft, candidates: Iterable[Known]) -> Known | None:
    """The publication's own article that Google News links to, or the other way round: the same headline, the nearest in time.

    Google's redirects are never followed, so this is all there is to go by. Two of the publisher's own addresses are
    never taken for one: sites use a title again.
    """
    fitting = [
        known
        for known in candidates
        if known.by_google_news != draft.by_google_news
        and abs(known.story.published_at - draft.published_at) <= SAME_NEWS
        and same_article(draft, known)
    ]
    return min(fitting, key=lambda known: abs(known.story.published_at - draft.published_at), default=None)


def news(draft: Draft, known: Known, context: Context) -> dict[str, Any]:
    """The fields of the story's next revision that differ from its latest; empty when the draft brings nothing new.

    - A story follows one feed (`follows`); any other only fills in what the story lacks.
    - What the publisher wrote before is no news from an archive, nor from a feed recorded before the newest revision; from
      the feed of today it is, since a publisher may go back to an older headline.
    - Only what the publisher changed is taken over, so an editor's correction of the rest stands.
    - A field that the draft lacks is no change. Date, publisher and address stay as they were first published.
    """
    published, latest = known.published_texts, known.latest
    texts = {"headline": draft.headline, "author": draft.author, "summary_medium": draft.summary_medium}
    mine = context.feed is None or follows(draft, known, context)
    if not mine:
        texts = {name: value for name, value in texts.items() if not (getattr(latest, name) or published[-1].get(name))}
    is_newest = context.feed is not None and context.now > known.revised_at
    is_new = all(_changed(texts, old) for old in ([published[-1]] if is_newest else published))
    changes: dict[str, Any] = _changed(_changed(texts, published[-1]), _texts(latest)) if is_new else {}
    if "summary_medium" in changes:
        changes["summary_short"] = draft.summary_short
    if changes or (mine and context.by_newer_rules):
        changes["category"] = known.story.editor_category or draft.category
        changes["topics"] = draft.topics if known.story.editor_topics is None else known.story.editor_topics
        changes["untrusted_instructions"] = draft.untrusted_instructions
    return {name: value for name, value in changes.items() if value != getattr(latest, name)}


def follows(draft: Draft, known: Known, context: Context) -> bool:
    """Whether the draft's feed is the one whose edits the story follows, or takes over.

    That is the feed which brought it first, until it is switched off, or until the publisher's own feed brings what
    came by Google News.
    """
    if draft.by_google_news and not known.by_google_news:
        return False
    current = context.active_feeds.get(known.story.feed_id or 0)
    return current is None or current == context.feed or (current.feed_type == FeedType.QUERY and not draft.by_google_news)


def _is_publishers(revision: StoryRevision) -> bool:
    return revision.reason in ("", NEWER_RULES)


def _texts(revision: StoryRevision) -> Texts:
    return {name: getattr(revision, name) for name in TEXTS}


def _changed(texts: Texts, old: Texts) -> dict[str, str | None]:
    return {name: value for name, value in texts.items() if value and value != old[name]}
