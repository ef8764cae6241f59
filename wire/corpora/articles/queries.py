"""Queries of publisher content. REST, MCP and pages ask these functions and nothing else; they return schemas.

Each takes the publisher by its slug and raises NotFound for one that there is not, or that was removed.
"""

import datetime as dt
from typing import Any, Final

from django.db.models import Q

from citations.format.corpus_citations import cite_article
from config.errors import InvalidArgument
from wire.corpora.articles import page_fetch, payment, rendering, search
from wire.corpora.articles.directory import find_publisher
from wire.corpora.articles.models import Article, LicenceKind, Publisher
from wire.corpora.articles.schemas import ArticleOut, HitOut, HitsOut, PublisherOut, PublishersOut, RecentOut, RecentsOut
from wire.corpora.articles.x402 import describe_price
from wire.corpora.common.cursors import ListCursor
from wire.schemas import build_from
from wire.text.plain_text import addresses_model

WHOLE: Final = 1_000_000  # characters; no article has more


def list_publishers() -> PublishersOut:
    return PublishersOut(publishers=[_describe_publisher(publisher) for publisher in Publisher.objects.live()])


def get_publisher(slug: str) -> PublisherOut:
    return _describe_publisher(find_publisher(slug))


def search_content(slug: str, query: str, limit: int, cursor: str | None = None) -> HitsOut:
    """Return articles that hold any of the keywords, by the specification's ranking. Raises: NotFound, InvalidArgument."""
    publisher = find_publisher(slug)
    if not (keywords := search.extract_keywords(query)):
        raise InvalidArgument("query has no words.", "Give one or more keywords.")
    cursors = ListCursor("hits", slug, keywords)
    after = None if cursor is None else search.SearchHit(*cursors.decode_position(cursor, 2))
    hits = search.find_hits(publisher, query, limit + 1, after)
    numbers = [hit.number for hit in hits[:limit]]
    # Asked for by number alone: with the state beside it, SQLite takes the other index and goes through all that are live.
    found = {one.number: one for one in Article.objects.filter(publisher=publisher, number__in=numbers)}
    rows = [found[number] for number in numbers if number in found and found[number].state == Article.State.LIVE]
    following = cursors.encode_position(*hits[limit - 1]) if len(hits) > limit else None
    return HitsOut(articles=[HitOut(**_describe_article(one)) for one in rows], next_cursor=following)


def list_recent(slug: str, limit: int, cursor: str | None = None) -> RecentsOut:
    """Return the newest articles; those without a date come last. Raises: NotFound, InvalidArgument."""
    rows, cursors = Article.objects.live().filter(publisher=find_publisher(slug)).newest_first(), ListCursor("recent", slug)
    if cursor is not None:
        place, number = cursors.decode_position(cursor, 2)
        rows = rows.filter(Q(place__lt=place) | Q(place=place, number__gt=number))
    found = list(rows[: limit + 1])
    following = cursors.encode_position(found[limit - 1].place, found[limit - 1].number) if len(found) > limit else None
    return RecentsOut(articles=[RecentOut(**_describe_article(one)) for one in found[:limit]], next_cursor=following)


def _describe_article(article: Article) -> dict[str, Any]:
    snippet = rendering.cut_snippet(article.description, article.markdown)
    return {
        "title": article.title,
        "url": article.url,
        "snippet": snippet,
        "publishedAt": article.published_at,
        "author": article.author or None,
        "untrusted_instructions": addresses_model(f"{article.title}\n{snippet}"),
    }


def buy_article(
    slug: str, url: str, form: rendering.Format = "markdown", max_chars: int = WHOLE, offset: int = 0, paying: object = None
) -> tuple[ArticleOut, payment.Settlement | None]:
    """Return an article by its address: as it was indexed, else its page is read now. Where it costs something, `paying` is the
    x402 payment, and its settlement comes back. Raises: NotFound for a removed article (a tombstone) and what is no article;
    InvalidArgument for an address that is not the publisher's; PaymentRequired where it costs something and this payment is none;
    UpstreamFailed when its page cannot be read, or nobody can check the payment.
    """
    publisher = find_publisher(slug)

    def build_answer() -> ArticleOut:
        article = page_fetch.get_or_fetch_article(publisher, url)
        whole = article.markdown if publisher.full_text else rendering.cut_excerpt(article.markdown, publisher.excerpt_length)
        text = rendering.render_markdown(whole, form)
        end = offset + len(text[offset : offset + max_chars])
        author, published = article.author or None, article.published_at
        day = published.astimezone(dt.UTC).date() if published else None
        return ArticleOut(
            title=article.title,
            url=article.url,
            author=author,
            publishedAt=published,
            language=article.language or None,
            format=form,
            text=text[offset:end],
            total_chars=len(text),
            next_offset=end if end < len(text) else None,
            is_excerpt=not publisher.full_text,
            citation=cite_article(article.title, publisher.name, article.url, author, day),
            licence=publisher.licence or None,
            content_sha256=article.content_sha256,
            untrusted_instructions=addresses_model(f"{article.title}\n{article.markdown}"),
        )

    if not publisher.price:
        return build_answer(), None
    known = page_fetch.find_known_article(publisher, url)  # nobody is asked to pay for what there is not
    url = known.url if known else url
    return payment.sell_once(publisher, url, paying, build_answer)


def _describe_publisher(publisher: Publisher) -> PublisherOut:
    rows = Article.objects.live().filter(publisher=publisher)
    newest = rows.newest_first().first()
    return build_from(
        PublisherOut,
        publisher,
        articles=rows.count(),
        newest=newest.published_at if newest else None,
        licence_kind=LicenceKind(publisher.licence_kind),
        licence=publisher.licence or None,
        price=describe_price(publisher.price) or None,
    )
