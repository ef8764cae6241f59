"""One value changed in any column of any table, behind the program's back: `verifywire` names it, or nobody is shown anything else,
or docs/provenance.md says that nothing protects the column.
"""

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F
from django.test import Client
from django.test.utils import override_settings
from pytest_django import DjangoDbBlocker

from mcpserver.gateway import canonical_json
from mcpserver.gateway.models import Agent, Bucket, CallCount, Entry, Heartbeat, Override, RequestLog, UpstreamState
from sources.models import Feed, FeedHealth, FetchHost, IngestLease, RawFetch
from tests import claims, publishers
from tests.examples import FULL
from tests.factories import NOW, entry, publish, story_of, take
from tests.wire.archives import rich_wire, verifywire
from tests.wire.corpora.timeline import corpora
from wire import queries
from wire.corpora.articles import store
from wire.corpora.articles.models import Article, ArticleCount, IndexLease, Payment, Source
from wire.corpora.factchecks.models import ApiKey, Claim, ClaimVector, EndedSession, LoadJob, StoryLink
from wire.corpora.timeline.models import Report
from wire.ingest import corrections, twin_stories
from wire.models import HubState, Load, Postings, Snapshot, Story, StoryPair, StoryRevision, StoryVector, UsageCount, Witnessed
from wire.publishing import signing
from wire.text.choices import Status

pytestmark = pytest.mark.django_db

TODAY = dt.datetime.now(dt.UTC).replace(second=0, microsecond=0)
DJANGO_OWN = {"admin", "auth", "contenttypes", "sessions"}  # the desk's users and sessions; no public answer reads them
TABLES = [model for model in apps.get_models() if model._meta.app_label not in DJANGO_OWN]
COLUMNS = [(model, field) for model in TABLES for field in model._meta.concrete_fields]
MOMENT = re.compile(rb'"age_seconds": ?\d+|"checked_at": ?"[^"]+"|\d\d:\d\d UTC')  # what is another in each answer
LONG = "The robot that fell into the pond last week is well, says its maker. " * 6


def name_of(model: type[models.Model], column: str = "") -> str:
    """The name of a column in the lists: with its app, unless that is the wire or its sources."""
    app = model._meta.app_label
    return f"{'' if app in {'wire', 'sources'} else app + '.'}{model.__name__}.{column}"


def list_documented_columns() -> set[str]:
    """Return the columns that docs/provenance.md says nothing protects."""
    text = (Path(settings.BASE_DIR) / "docs" / "provenance.md").read_text()
    section = text.split("## Columns that nothing protects\n", 1)[1].split("\n#", 1)[0]
    return read_columns("".join(re.findall(r"^\| (`.*?) \|", section, re.M)))


def read_columns(text: str) -> set[str]:
    """Return the columns that a text names; `Table.*` is all of one and `Table.{this, that}` two."""
    tables = re.findall(r"\b((?:[a-z]+\.)?[A-Z]\w+)\.(\w+|\*|\{[\w, ]+\})", text)
    named = {f"{table}.{column}" for table, columns in tables for column in re.findall(r"\w+|\*", columns)}
    every = {name_of(model, "*"): [name_of(model, f.name) for f in model._meta.concrete_fields] for model in TABLES}
    return {column for name in named for column in every.get(name, [name])}


SHOWN = list_documented_columns()
# They decide what ingest and the desk do next. No answer depends on them.
NOT_SHOWN = read_columns("""
    Story.{guid, guid_feed, feed, pending, editor_category, editor_topics, event_pinned} StoryAlias.*
    Event.storyline_pinned StoryPair.{id, decided_at, decided_by} LexiconTerm.* Entity.{reason, is_shipped} EditorTake.*
    FetchHost.* RawFetch.* IngestLease.{holder, expires_at} Load.*
    HubState.{holder, expires_at, url, epoch, number, failures, next_try_at, error}
    WireState.{version, lexicon_sha256, entities_sha256} RosterRevision.id StoryTopic.id StoryEntity.id
""")
AS_PUBLISHED: dict[str, bytes] = {}
"""What readers get of the wire of these tests."""
NAMES = [name_of(model, field.name) for model, field in COLUMNS]


@pytest.fixture(scope="module", autouse=True)
def wire(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """A wire that has a row in every table, and keys of its own; undone at the end."""
    own = override_settings(WIRE_DATA_DIR=tmp_path_factory.mktemp("every-column"))
    with own, django_db_blocker.unblock(), transaction.atomic():
        rich_wire()
        publish(pond := entry(title="A robot falls into a pond", summary=LONG, publisher="Wired", url="https://wired.com/pond"))
        corrections.correct_texts(story_of(pond).chatbotnews_id, headline="A robot falls into a lake", reason="A lake.", now=NOW)
        signing.rotate_key(NOW)
        publish(
            entry(
                title="Another robot falls into a lake",
                publisher="Axios",
                url="https://axios.com/lake",
                summary="Sam Altman saw it.",
            )
        )
        merge_twins()
        take(entry(url=pond.url, publisher="Wired", title="It was a pond after all"), entry(title="Not public yet"))
        feed = Feed.objects.order_by("pk")[0]
        FeedHealth.objects.create(
            feed=feed, tried_at=TODAY, succeeded_at=TODAY, newest_item_at=TODAY, usual_gap=dt.timedelta(hours=1)
        )
        RawFetch.objects.create(feed=feed, fetched_at=TODAY, sha256="0" * 64, url="https://a.example/")
        FetchHost.objects.create(host="a.example", robots="", robots_at=TODAY)
        IngestLease.objects.get_or_create(pk=1, defaults={"holder": "a machine", "expires_at": TODAY})
        UsageCount.objects.create(kind="tools/call", name="get_story", minute=TODAY, outcome="success", count=3)
        StoryVector.objects.create(story=Story.objects.live().order_by("pk")[0], model="a model", vector=b"\0" * 8)
        Postings.objects.create(index="articles 1", token="cake", block=0, found=b"\0" * 4)
        HubState.objects.create(pk=1, url="https://hub.example", epoch="e", number=1, error="No.", next_try_at=TODAY)
        Load.objects.create(name="a.ndjson", digest="0" * 64, line=5)
        Witnessed.objects.create(
            origin="b.example/log",
            url="https://b.example",
            public_key="0" * 44,
            size=1,
            root=b"\0" * 32,
            note="A note.",
            seen_at=TODAY,
        )
        fill_articles()
        fill_factchecks()
        fill_gateway()
        corpora.harbour()
        one, other = Story.objects.live().order_by("published_at", "chatbotnews_id")[1:3]
        StoryPair.objects.update_or_create(story=one, other=other, defaults={"probability": 0.4})
        verifywire()
        AS_PUBLISHED.clear()  # a worker that is handed more of these tests later makes another wire
        AS_PUBLISHED.update(answers())
        yield
        transaction.set_rollback(True)


def merge_twins() -> None:
    """Two stories that became one article when the younger got the headline of the older, into which it is merged."""
    usual = {"publisher": "Axios", "summary": "It is well."}
    older = usual | {"title": "A robot falls into a well", "url": "https://axios.com/well"}
    for values in (
        older,
        usual | {"title": "A wet robot", "url": "https://axios.com/wet"},
        older | {"url": "https://axios.com/wet"},
    ):
        publish(entry(**values))
    assert len(twin_stories.merge_twins(NOW)[0].twins) == 1


def fill_articles() -> None:
    """A publisher with two articles, one of them edited and known by another address."""
    chef = publishers.publisher()
    publishers.store(chef, publishers.cake(), publishers.draft("Plum pie", "https://yoursite.com/pie"))
    publishers.store(chef, publishers.cake(markdown="Rich, moist chocolate cake without cocoa."))
    cake = Article.objects.get(url=publishers.CAKE)
    store.add_alias(chef, cake, "yoursite.com/cake")
    Source.objects.create(publisher=chef, kind=Source.Type.FEED, url="https://yoursite.com/feed.xml", asked_at=TODAY)
    IndexLease.objects.create(publisher=chef, holder="a machine", expires_at=TODAY)
    ArticleCount.objects.create(publisher=chef, day=TODAY.date(), tool="get-article", number=cake.number, count=3)
    paid = {"amount": "10", "asset": "a token", "network": "a chain", "transaction": "0x0", "taken_at": TODAY}
    Payment.objects.create(publisher=chef, sha256="0" * 64, key=cake.key, **paid)


def fill_factchecks() -> None:
    """Four claims, one of them of a story's, with all that is kept beside them."""
    claims.load(claims.LEAD | {"ratingLabelName": "mixed"})  # an earlier version
    first, *_ = claims.load(claims.LEAD, claims.TURBINES, claims.claim(3, "Robots swim in lakes"), claims.claim(4, "Robots fly"))
    StoryLink.objects.create(claim=first, story=Story.objects.live().order_by("pk")[0], kind=StoryLink.Origin.PINNED)
    ClaimVector.objects.create(claim=first, part=0, model="a model", dimensions=4, vector=b"\0" * 8)
    LoadJob.objects.create(source="a.json", fingerprint="0" * 64, beat_at=TODAY, finished_at=TODAY)
    ApiKey.objects.create(name="Ada", token_sha256="0" * 64, revoked_at=TODAY)
    EndedSession.objects.create(session="a session", expires_at=TODAY)


def fill_gateway() -> None:
    Agent.objects.create(name="ada", token_sha256="0" * 64, revoked_at=TODAY)
    Override.objects.create(resource="news", number="ttl", value=60)
    times = {"fetched_at": 1.0, "fresh_until": 2.0, "gone_after": 3.0, "used_at": 1.0}
    body = b'["news"]'
    held = {
        "resource": "news",
        "uri": "news://global",
        "body": body,
        "sha256": canonical_json.hash_json(["news"]),
        "upstream": "one",
    }
    Entry.objects.create(key="0" * 64, size=len(body), count=1, **held, **times)
    Bucket.objects.create(name="news", log=b"\0" * 8, used_at=1.0)
    UpstreamState.objects.create(name="one", answered_at=TODAY, failed_at=TODAY, opened_until=TODAY)
    log = {"resource": "news", "asked": "news://global", "outcome": "fresh", "duration_ms": 1.0, "cache_hit": False}
    more = {"retry_attempt": 0, "cost_units": 0.0, "stale_s": 0.0, "result_count": 1, "error_code": "", "rate_limit_remaining": 1}
    RequestLog.objects.create(request_id="r-1", timestamp=TODAY, **log, **more)
    CallCount.objects.create(hour=TODAY.replace(minute=0), resource="news", outcome="fresh", calls=1)
    beat = {"timestamp": TODAY, "received_at": TODAY, "verdict": Heartbeat.Verdict.SIGNED}
    Heartbeat.objects.create(agent_id="ada", heartbeat_id="h-1", body={}, **beat)


def others(field: "models.Field[Any, Any]", value: Any) -> Iterator[Any]:
    """Values of the column's kind in the place of `value`."""
    if isinstance(field, models.ForeignKey):
        target = field.related_model
        yield from target._default_manager.exclude(pk=value).order_by("pk").values_list("pk", flat=True)
    elif isinstance(field, models.BooleanField):
        yield not value
    elif isinstance(field, models.IntegerField):
        yield from (10**6,) if field.primary_key and value < 10**6 else ((value or 0) + 1, value - 1 if value else 7)
    elif isinstance(field, models.FloatField):
        yield from ((value or 0.0) + 0.25, 0.0 if value else 1.0)
    elif isinstance(field, models.DateTimeField):
        yield from ((value or TODAY) + dt.timedelta(days=1), (value or TODAY) - dt.timedelta(days=1))
    elif isinstance(field, models.DateField):
        yield from ((value or TODAY.date()) + dt.timedelta(days=1), (value or TODAY.date()) - dt.timedelta(days=1))
    elif isinstance(field, models.DurationField):
        yield (value or dt.timedelta(0)) + dt.timedelta(hours=1)
    elif isinstance(field, models.JSONField):
        yield from ([*value, value[0] if value else "xai"], value[1:]) if isinstance(value, list) else ({"else": 1},)
    elif isinstance(field, models.BinaryField):
        yield from (bytes(value)[:-1] + bytes([bytes(value)[-1] ^ 1]), b"") if value else (b"0",)
    elif field.choices:
        yield next(choice for choice, _ in field.flatchoices if choice != value)
    else:
        assert isinstance(field, models.CharField | models.TextField)
        text = str(value or "")
        yield from ((text + " else")[: field.max_length], text[:-1] or "else", "0" + text[1:] if text else "0")
    if field.null and value is not None:
        yield None


@contextmanager
def changed(model: type[models.Model], field: "models.Field[Any, Any]", pk: Any, value: Any) -> Iterator[bool]:
    """One value is another inside; says whether the database itself accepts it."""
    sql = f'UPDATE "{model._meta.db_table}" SET "{field.column}" = %s WHERE "{model._meta.pk.column}" = %s'  # noqa: S608
    key = model._meta.pk.get_db_prep_save(pk, connection)
    kept = None if value is None else field.get_db_prep_save(value, connection)
    with transaction.atomic():
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(sql, [kept, key])
                assert cursor.rowcount == 1
        except DatabaseError:
            yield False
        else:
            yield True
        transaction.set_rollback(True)


def rows(model: type[models.Model]) -> list[Any]:
    """The keys of a few rows: the first, one in the middle, the last; of stories and revisions one of each kind."""
    keys = list(model._default_manager.order_by("pk").values_list("pk", flat=True))
    assert keys, f"there is no {model.__name__} to change"
    some = {keys[0], keys[len(keys) // 2], keys[-1]}
    if model is Story:
        gone = Story.objects.filter(status=Status.WITHDRAWN)
        kinds = (Story.objects.filter(current=None), gone.filter(merged_into=None), gone.exclude(merged_into=None))
        some |= {kind.earliest("pk").pk for kind in kinds}
    if model is StoryRevision:
        superseded = StoryRevision.objects.filter(revision__lt=F("story__current__revision"), summary_medium__startswith=LONG[:160])
        waiting = StoryRevision.objects.filter(revision__gt=F("story__current__revision"))
        some |= {superseded.earliest("pk").pk, waiting.earliest("pk").pk}
    return sorted(some)


def changes_of(model: type[models.Model], field: "models.Field[Any, Any]") -> list[tuple[Any, Any]]:
    """Keys of rows, and what may stand in the column instead: two or three values of each."""
    found = []
    for pk in rows(model):
        value = model._default_manager.values_list(field.attname, flat=True).get(pk=pk)
        found += [(pk, other) for other in islice((one for one in others(field, value) if one != value), 3)]
    return found


def choose_changes(model: type[models.Model], field: "models.Field[Any, Any]") -> list[tuple[Any, Any]]:
    """All changes, or one of them, which is another one in the next column; all of a column that the lists name, since one of them
    has to pass unnoticed.
    """
    found = changes_of(model, field)
    if FULL or len(found) < 2 or name_of(model, field.name) in SHOWN | NOT_SHOWN:
        return found
    return [found[NAMES.index(name_of(model, field.name)) % len(found)]]


def is_named() -> bool:
    """Whether verifywire names a break."""
    try:
        verifywire()
    except CommandError as broken:
        return str(broken).startswith("First break: ")
    return False


def answers() -> dict[str, bytes]:
    """What readers get of every kind of address of REST and of the site, MCP's own lists included, in which a table can show."""
    client = Client()
    ids = ["cbn-000000000000", *Story.objects.order_by("published_at", "pk").values_list("chatbotnews_id", flat=True)]
    days = queries.list_published_dates()
    paths = [
        *(f"/api/stories/{story}.json" for story in ids),
        *(f"/api/consensus.json?story_id={story}" for story in ids),
        *(f"/story/{story}" for story in ids),
        *(f"/event/{story}" for story in ids[:4]),
        *(f"/api/archive/{day}.json" for day in days),
        *(f"/api/archive/{day}.json?revision=1" for day in days),
        *(f"/api/{kind}/{day}.json" for day in days for kind in ("provenance", "editor-take")),
        *("/", f"/day/{days[0]}", "/archive", "/corrections", "/usage", "/sitemap-stories-0.xml"),
        *("/sources", "/source/techcrunch", "/source/engadget"),
        *("/api/today.json", "/api/archive.json", "/api/sources.json", "/.well-known/wire-keys.json"),
        *("/api/search.json?query=robot&limit=50", "/api/categories/funding.json", "/api/topics/nvidia.json"),
        *(
            "/api/verify-source.json?publication_name=Engadget",
            "/feeds/stories.json",
            "/feeds/corrections.atom",
            "/api/health/feeds.json",
        ),
        *further_paths(ids[1:], days),
    ]
    return {path: MOMENT.sub(b"", client.get(path).content) for path in paths}


def further_paths(stories: list[str], days: list[str]) -> list[str]:
    """Addresses of the log, of changes, and of the other systems."""
    corpus, reports = "/api/timeline/harbour-clock", Report.objects.order_by("pk").values_list("key", flat=True)
    rated = [one.id_shown for one in Claim.objects.order_by("number")]
    size = Snapshot.objects.count()
    return [
        "/.well-known/wire-checkpoint",
        *("/api/changes.json?since=1970-01-01&limit=500", "/api/log/leaves.json?limit=1000", "/api/log/witnessed.json"),
        *(f"/api/log/consistency.json?first={first}&second={size}" for first in range(1, size + 1)),
        *(f"/api/proofs/{story}.json" for story in stories),
        *(f"/api/timemap/{day}.json" for day in days),
        *(f"/provenance/{day}" for day in days[:1]),
        *(f"/api/{kind}/{stories[0]}.json" for kind in ("citations", "events", "compare", "ninjs/stories", "ninjs/events")),
        f"/api/factchecks/story/{Story.objects.live().order_by('pk')[0].chatbotnews_id}.json",
        *(f"/api/factchecks/{name}.json" for name in ("claims", "categories", "rating-labels", "stats")),
        "/api/factchecks/search.json?query=Leitungswasser",
        *(f"/api/factchecks/{kind}/{one}.json" for one in rated for kind in ("claims", "citations", "revisions")),
        *(f"/factcheck/{one}" for one in rated),
        "/factchecks",
        *("/api/articles/publishers.json", "/articles", "/sitemap-articles.xml"),
        *(f"/api/articles/{slug}{rest}.json" for slug in ("chef", "wire") for rest in ("", "/recent")),
        "/api/articles/chef/search.json?query=cake",
        *(f"/api/articles/chef/article.json?url={url}" for url in Article.objects.values_list("url", flat=True)),
        *(f"/articles/chef{rest}" for rest in ("", "/llms.txt", "/ai.txt", "/license.xml", "/asked")),
        "/api/timeline/corpora.json",
        *(f"{corpus}{rest}.json" for rest in ("", "/reports", "/catalog", "/motifs", "/threads", "/events", "/stats", "/manifest")),
        *(f"{corpus}/reports/{report}.json" for report in reports),
        f"{corpus}/compare.json?topic=clock",
        f"{corpus}/release.json",
        "/timeline/harbour-clock",
    ]


def test_the_lists_name_columns_that_there_are_and_none_of_them_twice() -> None:
    assert set(NAMES) >= SHOWN | NOT_SHOWN
    assert not SHOWN & NOT_SHOWN


QUICK = {"factchecks.Claim.rating_label", "articles.Article.markdown", "articles.Publisher.licence", "timeline.Report.stance"}
QUICK |= {"timeline.CorpusRelease.released_at", "Change.kind", "LogNode.digest", "LogEntry.root", "Witnessed.url"}
CASES = [
    pytest.param(*column, id=name, marks=[] if name in QUICK else pytest.mark.slow)
    for column, name in zip(COLUMNS, NAMES, strict=True)
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "field"), CASES)
def test_a_value_that_was_changed_is_named_or_shown_to_nobody_or_known_to_be_unprotected(
    model: type[models.Model], field: "models.Field[Any, Any]"
) -> None:
    """A table that says too much is as wrong as one that says too little: some change of what it lists must pass unnoticed."""
    is_listed = name_of(model, field.name) in SHOWN | NOT_SHOWN
    for pk, other in choose_changes(model, field):
        with changed(model, field, pk, other) as accepted:
            if not accepted or is_named():
                continue
            if is_listed:
                return
            assert answers() == AS_PUBLISHED, (pk, other)
    assert not is_listed, "docs/provenance.md says that nothing protects it"


@pytest.mark.slow
def test_what_no_reader_is_shown_changes_no_answer() -> None:
    hidden = [(m, f) for m, f in COLUMNS if name_of(m, f.name) in NOT_SHOWN and not f.primary_key]
    with ExitStack() as stack:
        accepted = [stack.enter_context(changed(model, field, *changes_of(model, field)[0])) for model, field in hidden]
        assert sum(accepted) > len(hidden) / 2
        assert answers() == AS_PUBLISHED
