"""What is asked of publisher content. REST, MCP and pages ask these functions and nothing else; they return schemas.

Each takes the publisher by its slug and raises NotFound for one that there is not, or that was removed.
"""

import datetime as dt
from typing import Final

from django.conf import settings
from django.db.models import Q

from citations.article import cite_article
from config.errors import InvalidArgument, NotFound
from wire.articles import payment, reading, rendering, searching
from wire.articles.addresses import key_of
from wire.articles.models import Article, LicenceKind, Publisher
from wire.articles.payment import Settled
from wire.articles.price import in_words
from wire.articles.schemas import ArticleOut, HitOut, HitsOut, PublisherOut, PublishersOut, RecentOut, RecentsOut
from wire.search.cursor import decode, encode, invalid
from wire.stories.text import addresses_model

FOUND: Final = {"hits": 3}
RECENT: Final = {"recent": 3}
"""Kinds of cursors, and how many values each has."""
WHOLE: Final = 1_000_000  # characters; no article has more


def list_publishers() -> PublishersOut:
    """Those that are served, by slug."""
    return PublishersOut(publishers=[_told(publisher) for publisher in Publisher.objects.live()])


def get_publisher(slug: str) -> PublisherOut:
    return _told(publisher_of(slug))


def search_content(slug: str, query: str, limit: int, cursor: str | None = None) -> HitsOut:
    """Articles that hold any of the keywords, by the specification's ranking. Raises: NotFound, InvalidArgument."""
    publisher = publisher_of(slug)
    if not searching.keywords(query):
        raise InvalidArgument("query holds no word.", "Give one or more keywords.")
    after = None
    if cursor is not None:
        mark, rank, number = decode(cursor, FOUND)[1]
        if mark != _mark(slug, query) or not _are_whole(rank, number):
            raise invalid()
        after = searching.Hit(rank, number)
    hits = searching.found(publisher, query, limit + 1, after)
    following = encode(*FOUND, _mark(slug, query), *hits[limit - 1]) if len(hits) > limit else None
    rows = _listed(publisher, [hit.number for hit in hits[:limit]])
    return HitsOut(
        articles=[
            HitOut(
                title=one.title,
                url=one.url,
                snippet=(snippet := _snippet(one)),
                publishedAt=one.published_at,
                author=one.author or None,
                untrusted_instructions=addresses_model(f"{one.title}\n{snippet}"),
            )
            for one in rows
        ],
        next_cursor=following,
    )


def list_recent(slug: str, limit: int, cursor: str | None = None) -> RecentsOut:
    """The newest articles; those without a date come last. Raises: NotFound, InvalidArgument."""
    publisher = publisher_of(slug)
    rows = Article.objects.live().filter(publisher=publisher).newest_first()
    if cursor is not None:
        of, place, number = decode(cursor, RECENT)[1]
        if of != slug or not _are_whole(place, number):
            raise invalid()
        rows = rows.filter(Q(place__lt=place) | Q(place=place, number__gt=number))
    found = list(rows[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    return RecentsOut(
        articles=[
            RecentOut(
                title=one.title,
                url=one.url,
                publishedAt=one.published_at,
                author=one.author or None,
                snippet=(snippet := _snippet(one)),
                untrusted_instructions=addresses_model(f"{one.title}\n{snippet}"),
            )
            for one in found[:limit]
        ],
        next_cursor=encode(*RECENT, slug, last.place, last.number) if last else None,
    )


def get_article(slug: str, url: str, form: rendering.Format = "markdown", max_chars: int = WHOLE, offset: int = 0) -> ArticleOut:
    """`buy_article` of a publisher that takes nothing for it."""
    return buy_article(slug, url, form, max_chars, offset)[0]


def buy_article(
    slug: str, url: str, form: rendering.Format = "markdown", max_chars: int = WHOLE, offset: int = 0, paying: object = None
) -> tuple[ArticleOut, Settled | None]:
    """One article by its address: as it was indexed, else its page is read now. Where it costs something, `paying` is the x402
    payment, and its settlement comes back.

    Raises: NotFound for a removed article (a tombstone) and what is no article; InvalidArgument for an address that is not the
    publisher's; PaymentRequired where it costs something and this payment is none; UpstreamFailed when its page cannot be read, or
    nobody can check the payment.
    """
    publisher = publisher_of(slug)

    def give() -> ArticleOut:
        return _given(publisher, reading.article_at(publisher, url), form, max_chars, offset)

    if not publisher.price:
        return give(), None
    known = reading.known_at(publisher, url)  # nobody is asked to pay for what there is not
    url = known.url if known else url
    return payment.bought(publisher, url, key_of(url), paying, give)


def _given(publisher: Publisher, article: Article, form: rendering.Format, max_chars: int, offset: int) -> ArticleOut:
    whole = article.markdown if publisher.full_text else rendering.excerpt(article.markdown, publisher.excerpt_length)
    text = rendering.rendered(whole, form)
    part = text[offset : offset + max_chars]
    author = article.author or None
    return ArticleOut(
        title=article.title,
        url=article.url,
        author=author,
        publishedAt=article.published_at,
        language=article.language or None,
        format=form,
        text=part,
        total_chars=len(text),
        next_offset=offset + len(part) if offset + len(part) < len(text) else None,
        is_excerpt=not publisher.full_text,
        citation=cite_article(article.title, publisher.name, article.url, author, _day(article.published_at)),
        licence=publisher.licence or None,
        content_sha256=article.content_sha256,
        untrusted_instructions=addresses_model(f"{article.title}\n{article.markdown}"),
    )


def publisher_of(slug: str) -> Publisher:
    """Raises: NotFound, which says when one was removed."""
    publisher = Publisher.objects.called(slug).first()
    if publisher is None:
        raise NotFound("There is no publisher of this name.", "All of them are listed at /api/articles/publishers.json.")
    if publisher.removed_at is not None:
        raise NotFound(
            f"{publisher.name} was removed on {publisher.removed_at:%Y-%m-%d} and is served no more.",
            "All publishers are listed at /api/articles/publishers.json.",
        )
    return publisher


def _told(publisher: Publisher) -> PublisherOut:
    rows = Article.objects.live().filter(publisher=publisher)
    newest = rows.newest_first().first()
    return PublisherOut(
        slug=publisher.slug,
        name=publisher.name,
        homepage=publisher.homepage,
        page=f"{settings.WIRE_SITE_URL}/articles/{publisher.slug}",
        mcp=f"{settings.WIRE_MCP_URL}/articles/{publisher.slug}",
        articles=rows.count(),
        newest=newest.published_at if newest else None,
        full_text=publisher.full_text,
        excerpt_length=publisher.excerpt_length,
        licence_kind=LicenceKind(publisher.licence_kind),
        licence=publisher.licence or None,
        may_answer=publisher.may_answer,
        may_train=publisher.may_train,
        price=in_words(publisher.price) or None,
        per_minute=publisher.per_minute,
    )


def _listed(publisher: Publisher, numbers: list[int]) -> list[Article]:
    """These articles in this order; without what was removed meanwhile."""
    # Asked for by number alone: with the state beside it, SQLite takes the other index and goes through all that are live.
    found = {one.number: one for one in Article.objects.filter(publisher=publisher, number__in=numbers)}
    rows = (found.get(number) for number in numbers)
    return [one for one in rows if one is not None and one.state == Article.State.LIVE]


def _snippet(article: Article) -> str:
    return rendering.snippet(article.description, article.markdown)


def _day(moment: dt.datetime | None) -> dt.date | None:
    return None if moment is None else moment.astimezone(dt.UTC).date()


def _mark(slug: str, query: str) -> str:
    return f"{slug} {' '.join(searching.keywords(query))}"


def _are_whole(*values: object) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**62 for value in values)
