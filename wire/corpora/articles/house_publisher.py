"""The wire's own content as a publisher's: the editor's take of each published day, and its corrections, a page for each story."""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from django.conf import settings
from django.db import transaction

from sources.fetch.url import WebAddress
from wire import queries
from wire.corpora.articles import rendering, store
from wire.corpora.articles.models import OWN, Article, LicenceKind, Publisher
from wire.corpora.articles.normalize import MAX_DESCRIPTION
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import build_url_key
from wire.models import Snapshot
from wire.models.snapshot import newest_of_day
from wire.queries import Correction

NAME: Final = "ChatbotNews.ai"
PER_PAGE: Final = 500  # corrections
_TITLE: Final = re.compile(r"\A# (.*)\n+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~])")


def create_publisher() -> None:
    """Create the publisher's row, once; its addresses are where the site is now."""
    site = settings.WIRE_SITE_URL
    where = {"homepage": f"{site}/", "domains": [WebAddress.parse(site).authority]}
    consent = {"consent_note": "The wire's own content.", "consented_on": dt.date(2026, 1, 1)}
    licence = {"licence_kind": LicenceKind.CC, "licence": "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"}
    facts = where | consent | licence | {"name": NAME}
    publisher, is_new = Publisher.objects.get_or_create(slug=OWN, defaults=facts)
    if not is_new and (publisher.homepage, publisher.domains) != (where["homepage"], where["domains"]):
        Publisher.objects.filter(pk=publisher.pk).update(**where)


def synchronise(publisher: Publisher, now: dt.datetime) -> Counter[str]:
    """Sync its articles from takes and corrections. Return how many were `new`, `edited` and `gone`; again changes nothing."""
    counts, keys = Counter[str](), set[str]()
    read = dict(Article.objects.filter(publisher=publisher).values_list("key", "listed_change"))
    drafts = chain(_draft_takes(read), _draft_corrections())
    while batch := list(islice(drafts, store.BATCH)):
        keys |= {draft.key for draft in batch}
        stored = store.store_drafts(publisher, [draft for draft in batch if read.get(draft.key) != draft.change], now)
        counts += Counter({name: stored[name] for name in ("new", "edited")})
    with transaction.atomic():  # after the site moved to another address, those of the old one
        left = Article.objects.filter(publisher=publisher, key__in=read.keys() - keys)
        counts["gone"] += left.count()
        store.delete_articles(publisher, left)
    return +counts


def _draft_takes(read: dict[str, dt.datetime | None]) -> Iterator[ArticleDraft]:
    """Draft the take of each published day from its newest snapshot; without text if it did not change since it was `read`."""
    newest = Snapshot.objects.days().annotate(newest=newest_of_day()).values("newest")
    rows = Snapshot.objects.filter(pk__in=newest).order_by("wire_date").values_list("pk", "wire_date", "generated_at")
    for pk, day, changed in rows:
        url = f"{settings.WIRE_SITE_URL}/editor-take/{day}"
        key = build_url_key(url)
        if read.get(key) == changed:
            yield ArticleDraft(url, key, change=changed)
            continue
        whole = str(Snapshot.objects.get(pk=pk).manifest["editor_take"])
        title = _TITLE.match(whole)
        markdown = _TITLE.sub("", whole).strip()
        yield ArticleDraft(
            url=url,
            key=key,
            title=title[1] if title else f"Editor's Take: {day.day} {day:%B %Y}",
            author=NAME,
            published_at=dt.datetime.combine(day, dt.time(), dt.UTC),
            description=" ".join(rendering.render_markdown(markdown, "text").split())[:MAX_DESCRIPTION],  # for searches
            language="en",
            markdown=markdown,
            change=changed,
        )


def _draft_corrections() -> Iterator[ArticleDraft]:
    """Draft an article for each story that an editor corrected, withdrew or filed anew: its corrections, newest first."""
    by_story = defaultdict[str, list[Correction]](list)
    before: int | None = None
    while True:
        corrections, before = queries.list_corrections(PER_PAGE, before)
        for one in corrections:
            by_story[one.chatbotnews_id].append(one)
        if before is None:
            break
    for story, corrections in by_story.items():
        url, last, texts = f"{settings.WIRE_SITE_URL}/story/{story}", corrections[0], []
        for one in corrections:
            when = one.recorded_at.astimezone(dt.UTC)
            about, why = (_SPECIAL.sub(r"\\\1", text) for text in (f"“{one.headline}”, a story of {one.publisher}", one.reason))
            at = f"{when.day} {when:%B %Y, %H:%M} UTC"
            texts.append(f"**{one.what}** on {at}, revision {one.revision} of {about}.\n\n{why}")
        yield ArticleDraft(
            url=url,
            key=build_url_key(url),
            title=f"{last.what}: {last.headline}"[:500],
            author=NAME,
            published_at=last.recorded_at,
            description=last.reason,
            language="en",
            markdown="\n\n".join(texts),
            change=last.recorded_at,
        )
