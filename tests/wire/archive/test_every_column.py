"""One value changed in any column of any table, behind the program's back: `verifywire` names it, or nobody is shown anything else,
or SECURITY.md says that nothing protects the column.
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

from sources.models import Feed, FeedHealth, FetchHost, IngestLease, RawFetch
from tests.factories import NOW, entry, publish, story_of, take
from tests.wire.archives import rich_wire, verifywire
from wire import queries
from wire.intake import corrections
from wire.models import Load, Postings, Story, StoryRevision, StoryVector, UsageCount, Witnessed
from wire.snapshots import signing
from wire.stories.vocabulary import Status

pytestmark = pytest.mark.django_db

TODAY = dt.datetime.now(dt.UTC).replace(second=0, microsecond=0)
TABLES = [model for label in ("sources", "wire") for model in apps.get_app_config(label).get_models()]
COLUMNS = [(model, field) for model in TABLES for field in model._meta.concrete_fields]
MOMENT = re.compile(rb'"age_seconds": ?\d+|"checked_at": ?"[^"]+"|\d\d:\d\d UTC')  # what is another in each answer
LONG = "The robot that fell into the pond last week is well, says its maker. " * 6


def in_security_md(heading: str) -> set[str]:
    """The columns that the table under a heading lists, `Table.*` being all of one."""
    text = (Path(settings.BASE_DIR) / "SECURITY.md").read_text()
    section = text.split(f"### {heading}\n", 1)[1].split("\n#", 1)[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`([A-Z]\w+\.[\w*]+)`", row)}
    every = {f"{model.__name__}.*": [f"{model.__name__}.{f.name}" for f in model._meta.concrete_fields] for model in TABLES}
    return {column for name in named for column in every.get(name, [name])}


SHOWN = in_security_md("Columns that nothing protects")
NOT_SHOWN = in_security_md("Columns that no reader is shown")
AS_PUBLISHED: dict[str, bytes] = {}
"""What readers get of the wire of these tests."""
NAMES = [f"{model.__name__}.{field.name}" for model, field in COLUMNS]


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
        corrections.correct(story_of(pond).chatbotnews_id, headline="A robot falls into a lake", reason="A lake.", now=NOW)
        signing.rotate(NOW)
        publish(entry(title="Another robot falls into a lake", publisher="Axios", url="https://axios.com/lake"))
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
        verifywire()
        AS_PUBLISHED.clear()  # a worker that is handed more of these tests later makes another wire
        AS_PUBLISHED.update(answers())
        yield
        transaction.set_rollback(True)


def others(field: "models.Field[Any, Any]", value: Any) -> Iterator[Any]:
    """Values of the column's kind in the place of `value`."""
    if isinstance(field, models.ForeignKey):
        target = field.related_model
        yield from target._default_manager.exclude(pk=value).order_by("pk").values_list("pk", flat=True)
    elif isinstance(field, models.BooleanField):
        yield not value
    elif isinstance(field, models.IntegerField):
        yield from (10**6,) if field.primary_key and value < 10**6 else (value + 1, value - 1 if value else 7)
    elif isinstance(field, models.FloatField):
        yield from (value + 0.25, 0.0 if value else 1.0)
    elif isinstance(field, models.DateTimeField):
        yield from ((value or TODAY) + dt.timedelta(days=1), (value or TODAY) - dt.timedelta(days=1))
    elif isinstance(field, models.DateField):
        yield from ((value or TODAY.date()) + dt.timedelta(days=1), (value or TODAY.date()) - dt.timedelta(days=1))
    elif isinstance(field, models.DurationField):
        yield (value or dt.timedelta(0)) + dt.timedelta(hours=1)
    elif isinstance(field, models.JSONField):
        yield from ([*value, value[0] if value else "xai"], value[1:]) if isinstance(value, list) else ({"else": 1},)
    elif isinstance(field, models.BinaryField):
        yield from (bytes(value)[:-1] + bytes([bytes(value)[-1] ^ 1]), b"")
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
        kinds = (Story.objects.filter(current=None), Story.objects.filter(status=Status.WITHDRAWN))
        some |= {kind.earliest("pk").pk for kind in kinds}
    if model is StoryRevision:
        superseded = StoryRevision.objects.filter(revision__lt=F("story__current__revision"), summary_medium__startswith=LONG[:160])
        waiting = StoryRevision.objects.filter(revision__gt=F("story__current__revision"))
        some |= {superseded.earliest("pk").pk, waiting.earliest("pk").pk}
    return sorted(some)


def changes(model: type[models.Model], field: "models.Field[Any, Any]") -> Iterator[tuple[Any, Any]]:
    """Keys of rows, and what may stand in the column instead: two or three values of each."""
    for pk in rows(model):
        value = model._default_manager.values_list(field.attname, flat=True).get(pk=pk)
        for other in islice((one for one in others(field, value) if one != value), 3):
            yield pk, other


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
    days = queries.published_dates()
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
    ]
    return {path: MOMENT.sub(b"", client.get(path).content) for path in paths}


def test_the_lists_name_columns_that_there_are_and_none_of_them_twice() -> None:
    assert set(NAMES) >= SHOWN | NOT_SHOWN
    assert not SHOWN & NOT_SHOWN


@pytest.mark.slow
@pytest.mark.parametrize(("model", "field"), COLUMNS, ids=NAMES)
def test_a_value_that_was_changed_is_named_or_shown_to_nobody_or_known_to_be_unprotected(
    model: type[models.Model], field: "models.Field[Any, Any]"
) -> None:
    """A table that says too much is as wrong as one that says too little: some change of what it lists must pass unnoticed."""
    is_listed = f"{model.__name__}.{field.name}" in SHOWN | NOT_SHOWN
    for pk, other in changes(model, field):
        with changed(model, field, pk, other) as accepted:
            if not accepted or is_named():
                continue
            if is_listed:
                return
            assert answers() == AS_PUBLISHED, (pk, other)
    assert not is_listed, "SECURITY.md says that nothing protects it"


@pytest.mark.slow
def test_what_no_reader_is_shown_changes_no_answer() -> None:
    hidden = [(m, f) for m, f in COLUMNS if f"{m.__name__}.{f.name}" in NOT_SHOWN and not f.primary_key]
    with ExitStack() as stack:
        accepted = [stack.enter_context(changed(model, field, *next(changes(model, field)))) for model, field in hidden]
        assert sum(accepted) > len(hidden) / 2
        assert answers() == AS_PUBLISHED
