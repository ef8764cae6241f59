"""Publishers' articles in the search over all systems. The wire's own publisher repeats the wire, and is left out."""

from collections import defaultdict
from functools import reduce
from operator import or_

from django.db.models import Q

from citations.format.corpus_citations import cite_article
from config.errors import InvalidArgument, NotFound
from config.plugins import DocumentKind
from wire.corpora.articles import rendering, search
from wire.corpora.articles.directory import find_publisher
from wire.corpora.articles.models import OWN, Article, Publisher
from wire.models import Postings
from wire.schemas.documents import DocumentHit, DocumentOut, DocumentsOut, build_document
from wire.text.plain_text import addresses_model
from wire.text.provenance_manifest import to_rfc3339
from wire.text.search_query import SOME, Text, list_query_forms
from wire.text.tokens import tokenize
from wire.text.untrusted_text import quote_structure

NAME = "article"
LOOKED_AT = 4  # times as many articles as are wanted are read: those with few of the words do not count here


def search_documents(query: str, limit: int) -> DocumentsOut:
    """Return the best articles of all publishers, by the ranking of each, that hold most of the words. Raises: InvalidArgument."""
    if not (asked := [form for form in list_query_forms(query) if form.least > SOME]):
        raise InvalidArgument("query has no words.", "Give one or more keywords.")
    words = " ".join(term.written or term.exact[0] for term in asked[0].terms)  # without "what" and "the", which titles hold
    publishers = {search.build_index_name(one): one for one in Publisher.objects.live().exclude(slug=OWN)}
    held = Postings.objects.filter(index__in=publishers, token__in=search.extract_keywords(words)).values_list("index", flat=True)
    ranked = [
        (-hit.rank, publishers[index].slug, hit.number, publishers[index])
        for index in held.distinct()
        for hit in search.find_hits(publishers[index], words, LOOKED_AT * limit)
    ]
    best = sorted(ranked, key=lambda one: one[:3])[: LOOKED_AT * limit]
    numbers: dict[int, list[int]] = defaultdict(list)
    for _, _, number, publisher in best:
        numbers[publisher.pk].append(number)
    # By number alone, as in `queries.search_content`: with the state beside it, SQLite goes through all that are live.
    wanted = reduce(or_, (Q(publisher=pk, number__in=some) for pk, some in numbers.items()), Q(pk=None))
    articles = {(row.publisher_id, row.number): row for row in Article.objects.filter(wanted).defer("markdown")}
    results = list[DocumentHit]()
    for _, _, number, publisher in best:
        article = articles.get((publisher.pk, number))
        if article is not None and article.state == Article.State.LIVE:
            text = Text(tokenize(article.title), tokenize(article.description))
            if any(text.holds(form) for form in asked):  # enough of the words of any of these forms of the question
                results.append(_to_hit(article, publisher))
    return DocumentsOut(results=results[:limit])


def fetch_document(own_id: str) -> DocumentOut:
    """Return an article as indexed; what costs something or is counted, its publisher's server alone gives. Raises: NotFound."""
    slug, _, number = own_id.partition("/")
    publisher = find_publisher(slug)
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    article = Article.objects.filter(publisher=publisher, number=int(number)).first() if is_number else None
    if article is None or article.state != Article.State.LIVE:
        raise NotFound(f"{publisher.name} has no such article, or removed it.", "search finds others.")
    note, text = "", article.markdown or article.description
    if publisher.price or publisher.per_minute or not publisher.may_answer:
        note, text = f"[Its text is at the publisher's own server, {publisher.mcp}.]", ""
    elif not publisher.full_text:
        note = "[An excerpt: the publisher gives agents no more. The whole article is at its address.]"
        text = rendering.cut_excerpt(text, publisher.excerpt_length)
    quoted = quote_structure(f"\n{text}", labelled=True).strip()  # the first line, too
    body = "\n\n".join(filter(None, (quoted, note)))
    hit = _to_hit(article, publisher)
    hit.untrusted_instructions |= addresses_model(text)
    return build_document(hit, body, author=article.author, terms=publisher.terms)


def _to_hit(article: Article, publisher: Publisher) -> DocumentHit:
    published, title = article.published_at, article.title or article.url
    day = published.date() if published else None
    return DocumentHit(
        kind=NAME,
        id=f"{NAME}:{publisher.slug}/{article.number}",
        title=title,
        url=article.url,
        source=publisher.name,
        published_at=to_rfc3339(published) if published else None,
        citation=cite_article(title, publisher.name, article.url, article.author or None, day),
        untrusted_instructions=addresses_model(f"{title}\n{article.description}"),
    )


KIND = DocumentKind(name=NAME, title="Articles", id_form="{publisher}/{number}", search=search_documents, fetch=fetch_document)
