"""Writes articles: new ones, edits as revisions, what is gone, and the index that searches read. One transaction a batch."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F

from config.errors import InvalidArgument, NotFound
from wire import postings
from wire.articles.addresses import is_own
from wire.articles.models import AT_ONCE, OWN, Article, ArticleAlias, ArticleRevision, Publisher, place_of
from wire.articles.searching import index_of, tokens_of
from wire.models import WireState

BATCH: Final = 100  # articles of one transaction
AGAIN: Final = dt.timedelta(days=7)  # until the page of an article that no source shows any more is looked at
SEEN: Final = dt.timedelta(days=1)  # for so long it is not noted that a source shows an article once more
FIRST_WAIT: Final = dt.timedelta(hours=6)  # until a page that could not be read is asked again; doubles up to AGAIN
APART: Final = dt.timedelta(days=1)  # between the first and another answer that an article is not there, before it counts as gone


@dataclass(frozen=True, slots=True)
class Draft:
    """An article as a feed, a sitemap or its page tells it, made safe. `markdown` is None where only its page has the text.

    `key` is the canonical form of `url`; `change` the last change that a sitemap tells.
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
        """Of what a reader is told, as JSON: title, author, date, description and text."""
        moment = self.published_at.astimezone(dt.UTC).isoformat() if self.published_at else None
        told = [self.title, self.author, moment, self.description, self.markdown or ""]
        return hashlib.sha256(orjson.dumps(told)).hexdigest()


@dataclass(slots=True)
class Stored:
    """How many articles of a batch were new, edited, the same, or named for a later reading; `listed` are found by searches though
    their texts were not read yet.
    """

    new: int = 0
    listed: int = 0
    edited: int = 0
    same: int = 0
    waiting: int = 0


def store(publisher: Publisher, drafts: Sequence[Draft], now: dt.datetime) -> Stored:
    """Write one batch. A draft without text is a name: its page is read later, unless it was read since `change`. What has a title
    is found by searches until then, as far as that goes.

    The same drafts twice change nothing but `last_seen_at`. Raises: NotFound for a publisher that was removed meanwhile.
    """
    counted = Stored()
    with transaction.atomic():
        lock(publisher)  # numbers are given out by one at a time
        wanted = {draft.key: draft for draft in drafts}
        known = _known(publisher, wanted)
        number = Publisher.objects.values_list("next_number", flat=True).get(pk=publisher.pk)
        fresh, named, rewritten = list[Article](), list[Article](), list[Article]()
        same: list[int] = []
        for key, draft in wanted.items():
            article = known.get(key)
            if article is None:
                fresh.append(_made(publisher, number + len(fresh), draft, now))
                counted.waiting += draft.markdown is None
                counted.new += draft.markdown is not None
                counted.listed += draft.markdown is None and bool(draft.title)
            elif draft.markdown is None:
                if not article.content_sha256 and _retell(publisher, article, draft):
                    counted.listed += 1
                    rewritten.append(article)
                counted.waiting += _is_wanted(article, draft, now)
                named.append(article)
            elif article.state == Article.State.LIVE and article.content_sha256 == draft.sha256:
                same.append(article.pk)
                if draft.change is not None and draft.change != article.listed_change:
                    Article.objects.filter(pk=article.pk).update(listed_change=draft.change)
                counted.same += 1
            else:
                counted.edited += article.is_read
                counted.new += not article.is_read
                _rewrite(publisher, article, draft, now)
                rewritten.append(article)
        Article.objects.bulk_create(fresh)
        Publisher.objects.filter(pk=publisher.pk).update(next_number=number + len(fresh))
        Article.objects.filter(pk__in=same).update(
            last_seen_at=now, read_at=now, ask_at=now + AGAIN, missing_since=None, failures=0, error=""
        )
        _shown_again(named, now)
        _list(publisher, [article for article in (*fresh, *rewritten) if article.state == Article.State.LIVE])
        if counted.edited:
            announce()  # what was said before must not be answered from a cache, even if the run is killed now
    return counted


def lock(publisher: Publisher) -> None:
    """Let nobody else write this publisher's articles until the transaction ends. Raises: NotFound for one that was removed."""
    if not Publisher.objects.live().select_for_update().filter(pk=publisher.pk).exists():
        raise NotFound(f"{publisher.name} was removed.", "manage.py publishers list names those that are served.")


def alias(publisher: Publisher, article: Article, key: str) -> None:
    """Note another address of an article; one that is an article's own stays that."""
    if key != article.key and not Article.objects.filter(publisher=publisher, key=key).exists():
        ArticleAlias.objects.get_or_create(publisher=publisher, key=key, defaults={"article": article})


def move(publisher: Publisher, article: Article, draft: Draft) -> bool:
    """Its page says that the article's address is another, the draft's: the article has it from now on, and the old one as well.

    Where that is another article's already, the two become one: the other. Whether the draft is to be stored: what another says is
    for its own page to tell, once that was read. For a caller inside a transaction.
    """
    old, other = article.key, _known(publisher, [draft.key]).get(draft.key)
    if other is None:
        Article.objects.filter(pk=article.pk).update(key=draft.key, url=draft.url)
        article.key = draft.key
        alias(publisher, article, old)
        return True
    if other.pk == article.pk:
        return True
    _unlist(publisher, [article])
    ArticleAlias.objects.filter(article=article).update(article=other)
    article.delete()
    alias(publisher, other, old)
    return not other.is_read and other.state != Article.State.GONE


def failed(article: Article, error: str, now: dt.datetime) -> None:
    """Its page could not be read as an article; it is asked again later each time. One that was read before stays as it is."""
    state = Article.State.FAILED if article.state == Article.State.WAITING else article.state
    wait = min(FIRST_WAIT * (1 << min(article.failures, 20)), AGAIN)
    told = {"error": error[:500], "ask_at": now + wait, "missing_since": None}
    Article.objects.filter(pk=article.pk).update(state=state, failures=F("failures") + 1, **told)


def missing(article: Article, now: dt.datetime) -> bool:
    """Its page answered 404 or 410. Whether it now counts as gone: when that happened before, a day ago or earlier.

    One that is gone is looked at once more, a week later, and from then on only if its sitemap tells of a change.
    """
    row = Article.objects.filter(pk=article.pk)
    if article.state == Article.State.GONE or article.missing_since is None:
        row.update(missing_since=article.missing_since or now, ask_at=None)
        return False
    if now - article.missing_since < APART:
        return False
    with transaction.atomic():
        _unlist(article.publisher, [article])
        row.update(state=Article.State.GONE, gone_at=now, ask_at=now + AGAIN)
        announce()
    return True


def withdraw(publisher: Publisher, articles: Iterable[Article]) -> None:
    """Forget articles without a trace. For a caller inside a transaction."""
    for article in articles:
        _unlist(publisher, [article])
        article.delete()


def leave_out(publisher: Publisher) -> int:
    """Forget the articles that are on other hosts than the publisher's now, or are left out now. How many there were."""
    rows = Article.objects.filter(publisher=publisher).order_by("pk")
    strange = [pk for pk, url in rows.values_list("pk", "url").iterator() if not is_own(publisher, url)]
    for start in range(0, len(strange), BATCH):
        with transaction.atomic():
            lock(publisher)
            withdraw(publisher, rows.filter(pk__in=strange[start : start + BATCH]).defer("markdown"))
            announce()
    return len(strange)


def unsaved(publisher: Publisher, draft: Draft, now: dt.datetime) -> Article:
    """An article as it would be stored."""
    return _made(publisher, 0, draft, now)


def remove(publisher: Publisher, now: dt.datetime) -> int:
    """End a publisher: its articles, files and counts go, its row stays as a tombstone. How many articles there were.

    Raises: InvalidArgument for the wire's own, which every installation has; NotFound for one that was removed before.
    """
    if publisher.slug == OWN:
        raise InvalidArgument("The wire's own content cannot be removed.", "It belongs to every installation.")
    with transaction.atomic():
        lock(publisher)  # a batch under way is stored first, and removed with the others
        postings.clear(index_of(publisher))
        rows = Article.objects.filter(publisher=publisher)
        number = rows.count()
        for parts in (ArticleRevision, ArticleAlias):
            parts.objects.filter(article__publisher=publisher).delete()
        rows._raw_delete(rows.db)  # a plain delete would load every text first
        publisher.counts.all().delete()
        publisher.sources.all().delete()
        Publisher.objects.filter(pk=publisher.pk).update(removed_at=now)
        announce()
    return number


def announce() -> None:
    """Let every process drop the answers that it cached: what they were made of has changed."""
    WireState.raise_version()


def _known(publisher: Publisher, keys: Iterable[str]) -> dict[str, Article]:
    """The articles of these keys, aliases included; the same object for all of an article's. Their texts are not loaded."""
    rows = Article.objects.filter(publisher=publisher).defer("markdown")
    found = {article.key: article for article in rows.filter(key__in=list(keys))}
    aliases = dict(ArticleAlias.objects.filter(publisher=publisher, key__in=list(keys)).values_list("key", "article"))
    known = {article.pk: article for article in found.values()}
    known = rows.in_bulk(set(aliases.values()) - set(known)) | known
    return {key: known[pk] for key, pk in aliases.items()} | found


def _made(publisher: Publisher, number: int, draft: Draft, now: dt.datetime) -> Article:
    article = Article(publisher=publisher, number=number, key=draft.key, first_seen_at=now, last_seen_at=now)
    _fill(article, draft, now)
    return article


def _fill(article: Article, draft: Draft, now: dt.datetime) -> None:
    article.url, article.title, article.author = draft.url, draft.title, draft.author
    article.published_at, article.place = draft.published_at, place_of(draft.published_at)
    article.description, article.language = draft.description, draft.language
    article.listed_change = draft.change or article.listed_change
    if draft.markdown is not None:
        article.markdown, article.content_sha256 = draft.markdown, draft.sha256
        article.state, article.read_at, article.failures, article.error = Article.State.LIVE, now, 0, ""
        article.missing_since = article.gone_at = None
        article.ask_at = now + AGAIN
    elif draft.title:
        article.state, article.ask_at = Article.State.LIVE, AT_ONCE


def _retell(publisher: Publisher, article: Article, draft: Draft) -> bool:
    """A source tells of an article whose text was not read; it may tell more than before. Whether it is to be listed anew."""
    told = {name: getattr(draft, name) for name in ("title", "author", "description", "language", "published_at")}
    told = {name: value for name, value in told.items() if value and value != getattr(article, name)}
    if not told or article.state == Article.State.GONE:
        return False
    _unlist(publisher, [article])
    told["place"] = place_of(draft.published_at or article.published_at)
    if draft.title and article.state != Article.State.LIVE:
        told["state"] = Article.State.LIVE
        if article.state == Article.State.WAITING and article.missing_since is None:
            told["ask_at"] = AT_ONCE
    _write(article, told)
    return article.state == Article.State.LIVE


def _is_wanted(article: Article, draft: Draft, now: dt.datetime) -> bool:
    """A source names it once more. Whether its page is to be read for that: it never was, or was changed since."""
    told: dict[str, Any] = {}
    if draft.change is not None and (article.listed_change is None or draft.change > article.listed_change):
        told["listed_change"] = draft.change
        if article.state == Article.State.FAILED:
            told["state"] = Article.State.WAITING
        elif article.state == Article.State.GONE or (article.read_at is not None and draft.change > article.read_at):
            told["ask_at"] = AT_ONCE
    if told:
        _write(article, told | {"last_seen_at": now})
    return article.state == Article.State.WAITING or article.ask_at == AT_ONCE


def _write(article: Article, told: dict[str, Any]) -> None:
    Article.objects.filter(pk=article.pk).update(**told)
    for name, value in told.items():
        setattr(article, name, value)


def _shown_again(named: Iterable[Article], now: dt.datetime) -> None:
    """Sources still show these. Written once a day: a sitemap that gains one address names thousands of others again."""
    shown = [article for article in named if article.last_seen_at < now - SEEN]
    Article.objects.filter(pk__in=[article.pk for article in shown]).update(last_seen_at=now)
    well = [one.pk for one in shown if one.state == Article.State.LIVE and one.ask_at != AT_ONCE and not one.failures]
    Article.objects.filter(pk__in=well, missing_since=None).update(ask_at=now + AGAIN)
    gone = [one.pk for one in shown if one.state == Article.State.GONE and one.ask_at is None]
    Article.objects.filter(pk__in=gone).update(ask_at=now + AGAIN)


def _rewrite(publisher: Publisher, article: Article, draft: Draft, now: dt.datetime) -> None:
    """Another text of a known article, which is to be listed again: what it said becomes a revision."""
    if article.is_read:
        ArticleRevision.objects.create(
            article=article,
            title=article.title,
            author=article.author,
            description=article.description,
            markdown=article.markdown,
            content_sha256=article.content_sha256,
            replaced_at=now,
        )
    _unlist(publisher, [article])
    _fill(article, draft, now)
    article.last_seen_at = now
    article.save()


def _list(publisher: Publisher, articles: Sequence[Article]) -> None:
    """Let searches find these."""
    postings.add(index_of(publisher), {one.number: tokens_of(one.title, one.description) for one in articles})
    postings.put(index_of(publisher), {one.number: one.place for one in articles})


def _unlist(publisher: Publisher, articles: Iterable[Article]) -> None:
    live = [article for article in articles if article.state == Article.State.LIVE]
    postings.remove(index_of(publisher), {one.number: tokens_of(one.title, one.description) for one in live})
