"""Writes articles: new ones, edits as revisions, removals, and the index that searches read. One transaction a batch."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from wire.corpora.articles.models import AT_ONCE, OWN, Article, ArticleAlias, ArticleRevision, Publisher, to_sort_key
from wire.corpora.articles.search import build_index_name, weigh_tokens
from wire.corpora.articles.url_keys import build_url_key
from wire.models import WireState
from wire.search import postings_index
from wire.text.identity import headline_key

BATCH: Final = 100  # articles of one transaction
AGAIN: Final = dt.timedelta(days=7)  # until the page of an article that no source shows any more is looked at
SEEN: Final = dt.timedelta(days=1)  # for so long it is not noted that a source shows an article once more
FIRST_WAIT: Final = dt.timedelta(hours=6)  # until a page that could not be read is asked again; doubles up to AGAIN
APART: Final = dt.timedelta(days=1)  # between the first and another answer that an article is not there, before it counts as gone

State = Article.State


@dataclass(frozen=True, slots=True)
class ArticleDraft:
    """An article as a feed, a sitemap or its page gives it, made safe. `markdown` is None where only its page has the text.

    `key` is the canonical form of `url`; `change` the last change that a sitemap gives.
    """

    url: str
    key: str
    title: str = ""
    author: str = ""
    published_at: dt.datetime | None = None
    description: str = ""
    language: str = ""
    markdown: str | None = None
    change: dt.datetime | None = None

    @property
    def sha256(self) -> str:
        """Hash of title, author, date, description and text as JSON."""
        moment = self.published_at.astimezone(dt.UTC).isoformat() if self.published_at else None
        content = [self.title, self.author, moment, self.description, self.markdown or ""]
        return hashlib.sha256(orjson.dumps(content)).hexdigest()


def store_drafts(publisher: Publisher, drafts: Sequence[ArticleDraft], now: dt.datetime) -> Counter[str]:
    """Write one batch. A draft without text is a name: its page is read later, unless it was read since `change`; until then
    searches find it by its title, if it has one. Return how many articles were `new` (with text), `listed` (without), `edited`, the
    `same`, or are `waiting` for their page to be read.

    The same drafts twice change nothing but `last_seen_at`. Raises: NotFound for a publisher that was removed meanwhile.
    """
    counts = Counter[str]()
    with transaction.atomic():
        lock_publisher(publisher)  # numbers are given out by one at a time
        wanted = {draft.key: draft for draft in drafts}
        known = _find_by_keys(publisher, wanted)
        number = Publisher.objects.values_list("next_number", flat=True).get(pk=publisher.pk)
        fresh, named, rewritten = list[Article](), list[Article](), list[Article]()
        same: list[int] = []
        for key, draft in wanted.items():
            article = known.get(key)
            if article is None:
                fresh.append(build_article(publisher, draft, now, number + len(fresh)))
                counts["waiting"] += draft.markdown is None
                counts["new"] += draft.markdown is not None
                counts["listed"] += draft.markdown is None and bool(draft.title)
            elif draft.markdown is None:
                if not article.content_sha256 and _update_from_listing(publisher, article, draft):
                    counts["listed"] += 1
                    rewritten.append(article)
                _schedule_reread(article, draft, now)
                counts["waiting"] += article.state == State.WAITING or article.ask_at == AT_ONCE
                named.append(article)
            elif article.state == State.LIVE and article.content_sha256 == draft.sha256:
                same.append(article.pk)
                if draft.change is not None and draft.change != article.listed_change:
                    Article.objects.filter(pk=article.pk).update(listed_change=draft.change)
                counts["same"] += 1
            else:
                counts["edited"] += article.is_read
                counts["new"] += not article.is_read
                _keep_revision(article, article, now)
                _remove_from_index(publisher, article)
                _copy_draft(article, draft, now)
                article.last_seen_at = now
                article.save()
                rewritten.append(article)
        Article.objects.bulk_create(fresh)
        Publisher.objects.filter(pk=publisher.pk).update(next_number=number + len(fresh))
        Article.objects.filter(pk__in=same).update(
            last_seen_at=now, read_at=now, ask_at=now + AGAIN, missing_since=None, failures=0, error=""
        )
        _mark_seen(named, now)
        listed = [article for article in (*fresh, *rewritten) if article.state == State.LIVE]
        postings_index.add(build_index_name(publisher), {one.number: weigh_tokens(one.title, one.description) for one in listed})
        postings_index.set_values(build_index_name(publisher), {one.number: one.place for one in listed})
        if counts["edited"]:
            invalidate_caches()  # the text before must not be answered from a cache, even if the run is killed now
    return counts


def lock_publisher(publisher: Publisher) -> None:
    """Let nobody else write this publisher's articles until the transaction ends. Raises: NotFound for one that was removed."""
    if not Publisher.objects.live().select_for_update().filter(pk=publisher.pk).exists():
        raise NotFound(f"{publisher.name} was removed.", "`manage.py publishers list` shows those that are served.")


def build_article(publisher: Publisher, draft: ArticleDraft, now: dt.datetime, number: int = 0) -> Article:
    article = Article(publisher=publisher, number=number, key=draft.key, first_seen_at=now, last_seen_at=now)
    _copy_draft(article, draft, now)
    return article


def add_alias(publisher: Publisher, article: Article, key: str) -> None:
    """Add another address of an article; one that is an article's own stays that."""
    if key != article.key and not Article.objects.filter(publisher=publisher, key=key).exists():
        ArticleAlias.objects.get_or_create(publisher=publisher, key=key, defaults={"article": article})


def resolve_address(publisher: Publisher, article: Article | None, draft: ArticleDraft, url: str) -> ArticleDraft:
    """Return a page's draft under the address that it names, or under `url` if that is another article's (a common mistake)."""
    key = build_url_key(url)
    other = None if draft.key == key else _find_by_keys(publisher, [draft.key]).get(draft.key)
    if other is None or other == article or headline_key(other.title) == headline_key(draft.title):
        return draft
    return replace(draft, url=url.partition("#")[0], key=key)


def move_article(publisher: Publisher, article: Article, draft: ArticleDraft, now: dt.datetime | None = None) -> bool:
    """Give an article the draft's address, which its page names as its own; the old one becomes an alias.

    Where that is another article's already, the two become one: the other, with the texts of this one among its revisions.
    Return whether the draft is to be stored: not over another article whose own page was read. For a caller inside a transaction.
    """
    old, other = article.key, _find_by_keys(publisher, [draft.key]).get(draft.key)
    if other is None:
        Article.objects.filter(pk=article.pk).update(key=draft.key, url=draft.url)
        article.key = draft.key
        add_alias(publisher, article, old)
        return True
    if other.pk == article.pk:
        return True
    _remove_from_index(publisher, article)
    _keep_revision(article, other, now or timezone.now())
    ArticleRevision.objects.filter(article=article).update(article=other)
    ArticleAlias.objects.filter(article=article).update(article=other)
    article.delete()
    add_alias(publisher, other, old)
    return not other.is_read and other.state != State.GONE


def mark_failed(article: Article, error: str, now: dt.datetime) -> None:
    """Note that its page could not be read; it is asked again later each time. An article that was read before stays as it is."""
    Article.objects.filter(pk=article.pk).update(
        state=State.FAILED if article.state == State.WAITING else article.state,
        failures=F("failures") + 1,
        error=error[:500],
        ask_at=now + min(FIRST_WAIT * (1 << min(article.failures, 20)), AGAIN),
        missing_since=None,
    )


def mark_missing(article: Article, now: dt.datetime) -> bool:
    """Note that its page answered 404 or 410. Return whether it is gone now: that happened before, a day ago or earlier.

    A gone article is looked at once more, a week later, and from then on only if its sitemap gives a change.
    """
    row = Article.objects.filter(pk=article.pk)
    if article.state == State.GONE or article.missing_since is None:
        row.update(missing_since=article.missing_since or now, ask_at=None)
        return False
    if now - article.missing_since < APART:
        return False
    with transaction.atomic():
        _remove_from_index(article.publisher, article)
        row.update(state=State.GONE, gone_at=now, ask_at=now + AGAIN)
        invalidate_caches()
    return True


def delete_articles(publisher: Publisher, articles: Iterable[Article]) -> None:
    """Delete articles without a trace. For a caller inside a transaction."""
    for article in articles:
        _remove_from_index(publisher, article)
        article.delete()


def delete_excluded(publisher: Publisher) -> int:
    """Delete the articles that are on other hosts than the publisher's now, or are left out now; return their number."""
    rows = Article.objects.filter(publisher=publisher).order_by("pk")
    strange = [pk for pk, url in rows.values_list("pk", "url").iterator() if not publisher.has_address(url)]
    for start in range(0, len(strange), BATCH):
        with transaction.atomic():
            lock_publisher(publisher)
            delete_articles(publisher, rows.filter(pk__in=strange[start : start + BATCH]).defer("markdown"))
            invalidate_caches()
    return len(strange)


def remove_publisher(publisher: Publisher, now: dt.datetime) -> int:
    """Delete a publisher's articles, sources and counts, keep its row as a tombstone; return the number of articles. Raises:
    InvalidArgument for the wire's own, which every installation has; NotFound for one that was removed before.
    """
    if publisher.slug == OWN:
        raise InvalidArgument("The wire's own content cannot be removed.", "It belongs to every installation.")
    with transaction.atomic():
        lock_publisher(publisher)  # a batch under way is stored first, and removed with the others
        postings_index.clear_index(build_index_name(publisher))
        rows = Article.objects.filter(publisher=publisher)
        number = rows.count()
        for parts in (ArticleRevision, ArticleAlias):
            parts.objects.filter(article__publisher=publisher).delete()
        rows._raw_delete(rows.db)  # a plain delete would load every text first
        publisher.counts.all().delete()
        publisher.sources.all().delete()
        Publisher.objects.filter(pk=publisher.pk).update(removed_at=now)
        invalidate_caches()
    return number


def invalidate_caches() -> None:
    WireState.raise_version()


def _find_by_keys(publisher: Publisher, keys: Iterable[str]) -> dict[str, Article]:
    """Return the articles of these keys, aliases included; the same object for all of an article's. Their texts are not loaded."""
    rows = Article.objects.filter(publisher=publisher).defer("markdown")
    found = {article.key: article for article in rows.filter(key__in=list(keys))}
    aliases = dict(ArticleAlias.objects.filter(publisher=publisher, key__in=list(keys)).values_list("key", "article"))
    known = {article.pk: article for article in found.values()}
    known = rows.in_bulk(set(aliases.values()) - set(known)) | known
    return {key: known[pk] for key, pk in aliases.items()} | found


def _copy_draft(article: Article, draft: ArticleDraft, now: dt.datetime) -> None:
    for name in ("url", "title", "author", "published_at", "description", "language"):
        setattr(article, name, getattr(draft, name))
    article.place = to_sort_key(draft.published_at)
    article.listed_change = draft.change or article.listed_change
    if draft.markdown is not None:
        article.markdown, article.content_sha256 = draft.markdown, draft.sha256
        article.state, article.read_at, article.failures, article.error = State.LIVE, now, 0, ""
        article.missing_since = article.gone_at = None
        article.ask_at = now + AGAIN
    elif draft.title:
        article.state, article.ask_at = State.LIVE, AT_ONCE


def _update_from_listing(publisher: Publisher, article: Article, draft: ArticleDraft) -> bool:
    """Take from a source's listing what it newly says of an article whose text was not read; return whether to index it anew."""
    given = {name: getattr(draft, name) for name in ("title", "author", "description", "language", "published_at")}
    values = {name: value for name, value in given.items() if value and value != getattr(article, name)}
    if not values or article.state == State.GONE:
        return False
    _remove_from_index(publisher, article)
    values["place"] = to_sort_key(draft.published_at or article.published_at)
    if draft.title and article.state != State.LIVE:
        values["state"] = State.LIVE
        if article.state == State.WAITING and article.missing_since is None:
            values["ask_at"] = AT_ONCE
    _update_article(article, values)
    return article.state == State.LIVE


def _schedule_reread(article: Article, draft: ArticleDraft, now: dt.datetime) -> None:
    """Have the page read again if its sitemap gives a change since."""
    if draft.change is None or (article.listed_change is not None and draft.change <= article.listed_change):
        return
    values: dict[str, Any] = {"listed_change": draft.change, "last_seen_at": now}
    if article.state == State.FAILED:
        values["state"] = State.WAITING
    elif article.state == State.GONE or (article.read_at is not None and draft.change > article.read_at):
        values["ask_at"] = AT_ONCE
    _update_article(article, values)


def _update_article(article: Article, values: dict[str, Any]) -> None:
    Article.objects.filter(pk=article.pk).update(**values)
    for name, value in values.items():
        setattr(article, name, value)


def _mark_seen(named: Iterable[Article], now: dt.datetime) -> None:
    """Note once a day that sources still show these: a sitemap that gains one address names thousands of others again."""
    shown = [article for article in named if article.last_seen_at < now - SEEN]
    Article.objects.filter(pk__in=[article.pk for article in shown]).update(last_seen_at=now)
    well = [one.pk for one in shown if one.state == State.LIVE and one.ask_at != AT_ONCE and not one.failures]
    Article.objects.filter(pk__in=well, missing_since=None).update(ask_at=now + AGAIN)
    gone = [one.pk for one in shown if one.state == State.GONE and one.ask_at is None]
    Article.objects.filter(pk__in=gone).update(ask_at=now + AGAIN)


def _keep_revision(article: Article, owner: Article, now: dt.datetime) -> None:
    """Keep an article's text as a revision of `owner`, if it was read."""
    if article.content_sha256:
        names = ("title", "author", "published_at", "description", "markdown", "content_sha256")
        values = {name: getattr(article, name) for name in names}
        ArticleRevision.objects.create(article=owner, replaced_at=now, **values)


def _remove_from_index(publisher: Publisher, article: Article) -> None:
    if article.state == State.LIVE:
        postings_index.remove(build_index_name(publisher), {article.number: weigh_tokens(article.title, article.description)})
