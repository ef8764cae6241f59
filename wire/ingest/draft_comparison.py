"""Comparison of drafts with known stories: new, a revision, or nothing new. Decides; stores nothing."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sources.choices import FeedType
from wire.ingest.item_digests import ARCHIVE, FEED, MOST, Input, add_input, is_fully_recorded, raise_newest_revision, read_inputs
from wire.ingest.normalise import Context, StoryDraft, is_google_news
from wire.models import Story, StoryRevision
from wire.models.snapshot import is_sealed
from wire.text.choices import NEWER_RULES
from wire.text.identity import headline_key
from wire.text.lexicons import load_lexicon

SAME_NEWS: Final = dt.timedelta(hours=72)  # how far apart a publisher and Google News may date one article
TEXTS: Final = ("headline", "author", "summary_medium")  # what a publisher may change of a story
DATE: Final = ("published_at", "published_at_estimated")
REVISED_AGAIN_AFTER: Final = dt.timedelta(hours=1)
Texts = Mapping[str, str | None]
# What changes without anybody having written anything. Only comparisons leave it out.
_COUNTER: Final = re.compile("|".join(load_lexicon("headlines")["counters"]), re.I)


class Outcome(StrEnum):
    """Result of one entry."""

    ACCEPTED = "accepted"
    REVISED = "revised"
    DUPLICATE = "duplicate"  # known already, and unchanged
    MERGED = "merged"  # the article of a known story, under another address
    REPEATED = "repeated"  # the document shows the item a second time; the first counts
    POSTPONED = "postponed"  # the publisher changed it again within the hour, or back within a day: looked at again later
    READ_DIFFERENTLY = "read_differently"  # only today's rules make something else of it; the story stays as it is
    FINAL_DAY = "final_day"  # today's rules would change a story of a final day, or add one, and nobody asked for that


@dataclass(slots=True)
class Known:
    story: Story
    revisions: list[StoryRevision]
    # Further addresses, and when each was recorded; None: before that was recorded.
    aliases: dict[str, dt.datetime | None] = field(default_factory=dict)

    @classmethod
    def from_row(cls, story: Story) -> "Known":
        return cls(story, list(story.revisions.all()), {alias.url: alias.seen_at for alias in story.aliases.all()})

    @property
    def latest(self) -> StoryRevision:
        return self.revisions[-1]

    def as_of(self, moment: dt.datetime) -> "Known | None":
        """Return the story with what was recorded by then; None if there were no revisions."""
        revisions = [revision for revision in self.revisions if revision.recorded_at <= moment]
        aliases = {url: seen_at for url, seen_at in self.aliases.items() if seen_at is None or seen_at <= moment}
        return Known(self.story, revisions, aliases) if revisions else None

    def has_address(self, url: str) -> bool:
        return url == self.story.original_url or url in self.aliases

    @property
    def published_texts(self) -> list[Texts]:
        """The publisher's texts, by revision of theirs; where one repeats an editor's text, the publisher's own still stands."""
        published: list[Texts] = []
        before: set[tuple[str, str | None]] = set()
        for revision in self.revisions:
            texts = set(_get_texts(revision).items())
            if _is_by_publisher(revision):
                published.append({**(published[-1] if published else {}), **dict(texts - before)})
            before = texts
        return published

    @property
    def newest_own_revision(self) -> int:
        """Number of the newest revision that the publisher's own words made."""
        return max(revision.revision for revision in self.revisions if not revision.reason)

    @property
    def revised_at(self) -> dt.datetime:
        return max(revision.recorded_at for revision in self.revisions if _is_by_publisher(revision))

    @property
    def headline_keys(self) -> set[str]:
        """Keys of the latest headline, and of every one that the publisher gave it."""
        return {headline_key(headline or "") for headline in (self.latest.headline, *(t["headline"] for t in self.published_texts))}

    @property
    def is_by_google_news(self) -> bool:
        return is_google_news(self.story.original_url) and all(map(is_google_news, self.aliases))


def find_same_news(draft: StoryDraft, candidates: Iterable[Known]) -> Known | None:
    """Return the publication's own article that Google News links to, or the reverse: the same headline, nearest in time."""
    fitting = [
        known
        for known in candidates
        if known.is_by_google_news != draft.is_by_google_news
        and abs(known.story.published_at - draft.published_at) <= SAME_NEWS
        and headline_key(draft.headline) in known.headline_keys
    ]
    return min(fitting, key=lambda known: abs(known.story.published_at - draft.published_at), default=None)


def find_changes(draft: StoryDraft, known: Known, context: Context) -> dict[str, Any]:
    """Return the fields of the story's next revision that differ from its latest; empty when the draft brings nothing new.

    - A story follows one feed (`follows_feed`); any other only fills in what the story lacks.
    - What the publisher wrote before is no news from an archive, nor from a feed recorded before the newest revision; from
      the feed of today it is, since a publisher may go back to an older headline.
    - Only what the publisher changed is taken over, so an editor's correction of the rest stands.
    - A field that the draft lacks is no change. Publisher and address stay as they were first published, and so does the date, but
      for one that was missing or wrong, as long as the story's day is not final.
    """
    published, latest = known.published_texts, known.latest
    texts = dict(_get_texts(draft))
    mine = context.feed is None or follows_feed(draft, known, context)
    if not mine:
        texts = {name: value for name, value in texts.items() if not (getattr(latest, name) or published[-1].get(name))}
    is_new = all(_find_changed_texts(texts, old) for old in ([published[-1]] if is_seen_later(known, context) else published))
    changes: dict[str, Any] = _find_changed_texts(_find_changed_texts(texts, published[-1]), _get_texts(latest)) if is_new else {}
    if mine and is_date_corrected(draft, known, context):
        changes |= {"published_at": draft.published_at, "published_at_estimated": False}
    if "summary_medium" in changes:
        changes["summary_short"] = draft.summary_short
    if changes or (mine and context.by_newer_rules):
        changes["category"] = known.story.editor_category or draft.category
        changes["topics"] = draft.topics if known.story.editor_topics is None else known.story.editor_topics
        changes["untrusted_instructions"] = draft.untrusted_instructions
    return {name: value for name, value in changes.items() if value != getattr(latest, name)}


def is_date_corrected(draft: StoryDraft, known: Known, context: Context) -> bool:
    """Return whether the publisher corrects a date: missing, ahead or wrong by more than a day; never to after the first sight."""
    if (
        not (context.by_newer_rules or is_seen_later(known, context))
        or draft.published_at_estimated
        or is_sealed(known.story.wire_date, context.now)
    ):
        return False
    moved = abs(draft.published_at - known.latest.published_at)
    is_possible = moved > dt.timedelta(0) and draft.published_at <= known.story.first_seen_at
    # By less than a day a publisher's date only moves with an edit.
    return is_possible and (known.latest.published_at_estimated or moved > dt.timedelta(days=1))


def is_change_postponed(changes: Mapping[str, Any], known: Known, context: Context) -> bool:
    """Return whether a change waits: the second within an hour, or one back to older texts within a day of the newest."""
    if context.feed is None or context.by_newer_rules or not is_seen_later(known, context):
        return False
    since = context.now - known.revised_at
    if sum(map(_is_by_publisher, known.revisions)) > 1 and since < REVISED_AGAIN_AFTER:
        return True
    after = {**_get_texts(known.latest), **{name: value for name, value in changes.items() if name in TEXTS}}
    # Two headlines that are tried out in turn would otherwise revise a story at each fetch.
    return since < dt.timedelta(days=1) and any(not _find_changed_texts(after, texts) for texts in known.published_texts[:-1])


def is_seen_later(known: Known, context: Context) -> bool:
    """Return whether the entries were seen in a feed after the publisher's newest revision was recorded."""
    return context.feed is not None and context.now > known.revised_at


def is_same_input(draft: StoryDraft, known: Known, context: Context) -> bool:
    """Return whether the story was read from the publisher's item already, so that only our rules make something else of it.

    - An item is known by its digest. In the feed of today it also has to be the newest: a publisher may go back to an older one.
    - An item that the feed showed the time before is the same if today's parser reads both the same.
    - A story from before digests were stored is changed by another headline alone, as long as its source has no digest.
    """
    source = _get_input_source(draft, known, context)
    recorded = [item for item in read_inputs(known.story.inputs) if item.source == source]
    for item in recorded:
        if item.digest == draft.digest:
            return item.revision >= known.newest_own_revision or not is_seen_later(known, context)
    takes_over = source == FEED and context.feed is not None and known.story.feed_id != context.feed.pk
    if not takes_over and (before := context.previous().get(draft.original_url)):
        return before == draft.digest
    if recorded or not source or is_fully_recorded(read_inputs(known.story.inputs)):
        return False
    headlines = [texts["headline"] or "" for texts in known.published_texts]
    return headline_key(draft.headline) in map(headline_key, headlines[-1:] if is_seen_later(known, context) else headlines)


def record_input(draft: StoryDraft, known: Known, context: Context, *, is_revised: bool) -> bool:
    """Note in the story that it was read from the draft's item; return whether that is new."""
    source, before = _get_input_source(draft, known, context), known.story.inputs
    if not source:  # it filled in, if anything: what the story was read from is as new as before
        known.story.inputs = raise_newest_revision(before, known.newest_own_revision) if is_revised else before
        return known.story.inputs != before
    revision: int | None = known.newest_own_revision
    if not is_seen_later(known, context) and not context.by_newer_rules:
        inputs = read_inputs(before)
        if any((item.source, item.digest) == (source, draft.digest) for item in inputs) or len(inputs) >= MOST:
            return False
        if source == FEED:  # the publisher's newest that says what the draft says
            numbers = [one.revision for one in known.revisions if _is_by_publisher(one)]
            said = zip(numbers, known.published_texts, strict=True)
            revision = max((number for number, texts in said if not _find_changed_texts(_get_texts(draft), texts)), default=None)
    if revision is None:
        return False
    known.story.inputs = add_input(before, Input(source, revision, draft.digest))
    return known.story.inputs != before


def _get_input_source(draft: StoryDraft, known: Known, context: Context) -> str:
    # Each kind of source writes items in its own way; "" for feeds that only fill in.
    return ARCHIVE if context.feed is None else FEED if follows_feed(draft, known, context) else ""


def follows_feed(draft: StoryDraft, known: Known, context: Context) -> bool:
    """Return whether the story follows the edits of the draft's feed: of its first one, until that is off, or the publisher's own
    feed brings what came by Google News.
    """
    if draft.is_by_google_news and not known.is_by_google_news:
        return False
    current = context.active_feeds.get(known.story.feed_id or 0)
    return current is None or current == context.feed or (current.feed_type == FeedType.QUERY and not draft.is_by_google_news)


def _is_by_publisher(revision: StoryRevision) -> bool:
    return revision.reason in ("", NEWER_RULES)


def _get_texts(source: StoryRevision | StoryDraft) -> Texts:
    return {name: getattr(source, name) for name in TEXTS}


def _find_changed_texts(texts: Texts, old: Texts) -> dict[str, str | None]:
    """Return the texts in which a reader would see more of a difference than counters and white space."""
    both = {name: (value, old[name]) for name, value in texts.items() if value and value != old[name]}
    return {
        name: one
        for name, (one, other) in both.items()
        if other is None or _COUNTER.sub("", one).split() != _COUNTER.sub("", other).split()
    }
