"""The wire's own content as a publisher's: the editor's take of each published day, and its corrections, a page for each story."""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from django.conf import settings
from django.db import transaction

from sources.fetch.url import WebAddress
from wire import queries
from wire.articles import rendering, storing
from wire.articles.addresses import key_of
from wire.articles.drafts import MAX_DESCRIPTION
from wire.articles.models import OWN, Article, LicenceKind, Publisher
from wire.articles.storing import Draft
from wire.models import Snapshot
from wire.models.record import newest_of_day
from wire.queries import Correction

NAME: Final = "ChatbotNews.ai"
LICENCE: Final = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
PER_PAGE: Final = 500  # corrections
_TITLE: Final = re.compile(r"\A# (.*)\n+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~])")


def found() -> None:
    """The publisher's row, once; its addresses are where the site is now."""
    site = settings.WIRE_SITE_URL
    where = {"homepage": f"{site}/", "domains": [WebAddress.parse(site).authority]}
    first = where | {
        "name": NAME,
        "consent_note": "The wire's own content.",
        "consented_on": dt.date(2026, 1, 1),
        "licence_kind": LicenceKind.CC,
        "licence": LICENCE,
    }
    publisher, is_new = Publisher.objects.get_or_create(slug=OWN, defaults=first)
    if not is_new and (publisher.homepage, publisher.domains) != (where["homepage"], where["domains"]):
        Publisher.objects.filter(pk=publisher.pk).update(**where)


def synchronise(publisher: Publisher, now: dt.datetime) -> Counter[str]:
    """Make the articles what takes and corrections are by now. How many were `new` and `edited`; again changes nothing."""
    counts = Counter[str]()
    read = dict(Article.objects.filter(publisher=publisher).values_list("key", "listed_change"))
    keys = set[str]()
    drafts = _changed(_all(read), read, keys)
    while batch := list(islice(drafts, storing.BATCH)):
        stored = storing.store(publisher, batch, now)
        counts += Counter(new=stored.new, edited=stored.edited)
    with transaction.atomic():  # after the site moved to another address, those of the old one
        left = Article.objects.filter(publisher=publisher, key__in=read.keys() - keys)
        counts["gone"] += left.count()
        storing.withdraw(publisher, left)
    return +counts


def _changed(drafts: Iterable[Draft], read: dict[str, dt.datetime | None], keys: set[str]) -> Iterator[Draft]:
    for draft in drafts:
        keys.add(draft.key)
        if read.get(draft.key) != draft.change:
            yield draft


def _all(read: dict[str, dt.datetime | None]) -> Iterator[Draft]:
    yield from _takes(read)
    yield from _corrections()


def _takes(read: dict[str, dt.datetime | None]) -> Iterator[Draft]:
    """Of each published day, whether rules or an editor wrote it, as its newest snapshot has it; those read before without text."""
    newest = Snapshot.objects.days().annotate(newest=newest_of_day()).values("newest")
    rows = Snapshot.objects.filter(pk__in=newest).order_by("wire_date").values_list("pk", "wire_date", "generated_at")
    for pk, day, changed in rows:
        url = f"{settings.WIRE_SITE_URL}/editor-take/{day}"
        draft = Draft(url, key_of(url), change=changed)
        if read.get(draft.key) != changed:
            whole = str(Snapshot.objects.get(pk=pk).manifest["editor_take"])
            title = _TITLE.match(whole)
            markdown = _TITLE.sub("", whole).strip()
            draft = Draft(
                url=url,
                key=draft.key,
                title=title[1] if title else f"Editor's Take: {day.day} {day:%B %Y}",
                author=NAME,
                published_at=dt.datetime.combine(day, dt.time(), dt.UTC),
                description=" ".join(rendering.rendered(markdown, "text").split())[:MAX_DESCRIPTION],  # what searches look at
                language="en",
                markdown=markdown,
                change=changed,
            )
        yield draft


def _corrections() -> Iterator[Draft]:
    """One article for each story that an editor corrected, withdrew or filed anew: its corrections, newest first."""
    by_story = defaultdict[str, list[Correction]](list)
    before: int | None = None
    while True:
        corrections, before = queries.corrections(PER_PAGE, before)
        for one in corrections:
            by_story[one.chatbotnews_id].append(one)
        if before is None:
            break
    for story, told in by_story.items():
        url, last = f"{settings.WIRE_SITE_URL}/story/{story}", told[0]
        yield Draft(
            url=url,
            key=key_of(url),
            title=f"{last.what}: {last.headline}"[:500],
            author=NAME,
            published_at=last.recorded_at,
            description=last.reason,
            language="en",
            markdown="\n\n".join(map(_told, told)),
            change=last.recorded_at,
        )


def _told(one: Correction) -> str:
    when = one.recorded_at.astimezone(dt.UTC)
    about, why = (_SPECIAL.sub(r"\\\1", text) for text in (f"“{one.headline}”, a story of {one.publisher}", one.reason))
    return f"**{one.what}** on {when.day} {when:%B %Y, %H:%M} UTC, revision {one.revision} of {about}.\n\n{why}"
