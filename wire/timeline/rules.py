"""What a corpus must fulfil: fields, references, and the rules that keep fact, report and interpretation apart. Pure but for names.

Every problem is found in one go, with file and line, so that an editor mends them all at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from wire.timeline import names, rows
from wire.timeline.corpusfile import CorpusFile, of
from wire.timeline.reading import CORPUS, TABLES, Problem, Refused, Written
from wire.timeline.vocabulary import (
    CAUSATION,
    NOT_AS_FACT,
    OFFICIAL,
    OFFICIAL_FACT,
    OMITTED,
    TEACHING,
    VERIFIED,
)

MOST: Final = 200  # problems that are told
Row = dict[str, Any]
_Found = Iterator[tuple[str, tuple[str, ...]]]
"""What is wrong with a row, and the names of the fields that lead to it."""

_TYPES: Final[dict[str, TypeAdapter[Any]]] = {
    "sources": TypeAdapter(rows.SourceFamilyRow),
    "motifs": TypeAdapter(rows.MotifRow),
    "events": TypeAdapter(rows.EventRow),
    "reports": TypeAdapter(rows.ReportRow),
    "items": TypeAdapter(rows.ItemRow),
    "threads": TypeAdapter(rows.ThreadRow),
    "edges": TypeAdapter(rows.EdgeRow),
}


def key_of(table: str, row: Any) -> str:
    """What a row is known by: its id; of an edge both motifs in order of the alphabet, since it has no direction."""
    return "|".join(sorted(row[:2])) if table == "edges" else str(row["id"])


def expect(written: Written, corpus: CorpusFile) -> None:
    """Raises: Refused."""
    problems = []
    for problem in _problems(written, corpus):
        problems.append(problem)
        if len(problems) == MOST:
            break
    if problems:
        raise Refused(problems)


def corpus_of(written: Written, slug: str) -> CorpusFile:
    """What corpus.json says; without one, the names of files and the usual words. Raises: Refused."""
    said = written.corpus
    if said is None:
        meta = written.meta["reports.json"]
        name = str(meta.get("name", slug)).removesuffix(" reports")
        said = {"slug": slug, "name": name, "version": str(meta.get("version", "1"))}
    try:
        return of(said)
    except ValidationError as error:
        raise Refused([Problem(CORPUS, 0, _told(row)) for row in error.errors(include_url=False)]) from error


def wrong_fields(table: str, row: Any) -> _Found:
    """Of one row by itself: what its fields may not hold."""
    if table == "edges":
        if not isinstance(row, list) or len(row) != 3:
            yield "an edge is [motif, motif, weight]", ()
            return
        row = dict(zip(("a", "b", "weight"), row, strict=True))
    try:
        _TYPES[table].validate_python(row)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            yield _told(one), tuple(part for part in one["loc"] if isinstance(part, str))


def _told(error: Any) -> str:
    at = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{at} is an unknown field"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{at} is missing" if error["type"] == "missing" else f"{at}: {message}" if at else message


def _problems(written: Written, corpus: CorpusFile) -> Iterator[Problem]:
    rows_of = written.rows
    sound = True
    for table in TABLES:
        for number, row in enumerate(rows_of[table.name]):
            for message, fields in wrong_fields(table.name, row):
                sound = False
                yield _at(written, table.name, number, _named(row), message, fields)
    if not sound:
        return  # what follows looks into fields
    known = {table.name: {key_of(table.name, row) for row in rows_of[table.name]} for table in TABLES}
    for table in TABLES:
        counts = Counter(key_of(table.name, row) for row in rows_of[table.name])
        for number, row in enumerate(rows_of[table.name]):
            key = key_of(table.name, row)
            if counts[key] > 1:
                yield _at(written, table.name, number, key, "stands here more than once", ())
            for message, fields in broken(table.name, row, corpus, known):
                yield _at(written, table.name, number, key, message, fields)
    for file, member, number in _counted(written):
        if number != len(rows_of[member]):
            yield Problem(file, 0, f"meta.counts says {number}, but there are {len(rows_of[member])}")


def _counted(written: Written) -> Iterator[tuple[str, str, Any]]:
    """Numbers of rows that a file claims to have."""
    members = {table.member: table.name for table in TABLES}
    for file, meta in written.meta.items():
        counts = meta.get("counts")
        for member, number in counts.items() if isinstance(counts, dict) else ():
            if member in members:
                yield file, members[member], number


def _named(row: Any) -> str:
    return str(row.get("id", "?"))[:120] if isinstance(row, dict) else "edge"


def _at(written: Written, table: str, number: int, key: str, message: str, fields: tuple[str, ...]) -> Problem:
    kind = {"items": "item", "sources": "source family"}.get(table, table.removesuffix("s"))
    return Problem(*written.place(table, number, fields), f"{kind} {key}: {message}")


def broken(table: str, row: Any, corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    """The rules that a row breaks; `known` has the keys of each table."""
    yield from _CHECKS[table](row, corpus, known)
    if corpus.left_out_names:
        for _ in names.found_in(texts(row), corpus.left_out_names):
            yield "holds a name that this corpus leaves out", ()


def texts(value: Any) -> Iterator[str]:
    """Every text of a row."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def _source(row: Row, corpus: CorpusFile, _known: Any) -> _Found:
    words = corpus.vocabularies
    yield from _among(row["kind"], words.source_types, "kind")
    yield from _among(row.get("author_policy"), words.author_policies, "author_policy")


def _motif(row: Row, corpus: CorpusFile, _known: Any) -> _Found:
    yield from _among(row["family"], corpus.vocabularies.families, "family")


def _edge(row: Sequence[Any], _corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    yield from _all_known(row[:2], known["motifs"], "motif", ())
    if row[0] == row[1]:
        yield "links a motif with itself", ()


def _report(row: Row, corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    words, source, flags = corpus.vocabularies, row["source"], row.get("safety_flags") or []
    yield from _among(row["phenomenon_type"], words.phenomenon_types, "phenomenon_type")
    yield from _among(source["source_type"], words.source_types, "source", "source_type")
    yield from _among(source["author_policy"], words.author_policies, "source", "author_policy")
    for flag in flags:
        yield from _among(flag, words.safety_flags, "safety_flags")
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    yield from _all_known(row.get("related_report_ids") or (), known["reports"], "report", ("related_report_ids",))
    if (family := source.get("source_id")) and family not in known["sources"]:
        yield f"source.source_id names the unknown source family {family}", ("source", "source_id")
    for claim in row["claims"]:
        yield from _claim(claim, flags, corpus)
    layers = {*words.lanes(), *words.anchor_layers}
    for anchor in row.get("anchors") or ():
        yield from _among(anchor["relation"], words.relations, "anchors", "relation")
        yield from _among(anchor["layer"], layers, "anchors", "layer")
        if anchor["layer"] not in words.anchor_layers:
            yield from _all_known([anchor["anchor_id"]], known["events"], "event", ("anchors", "anchor_id"))
    if row["evidence_grade"] == "speculative" and not flags:
        yield "is graded speculative, so it needs a safety flag", ("evidence_grade",)
    if source["source_type"] == TEACHING and source["author_policy"] != OMITTED:
        yield f"is a {TEACHING}, so author_policy must be {OMITTED}", ("source", "author_policy")
    if source["author_policy"] == OMITTED and source.get("author_display"):
        yield "names an author whose policy is omitted", ("source", "author_display")


def _claim(claim: Row, flags: list[str], corpus: CorpusFile) -> _Found:
    words = corpus.vocabularies
    yield from _among(claim["claim_type"], words.claim_types, "claims", "claim_type")
    yield from _among(claim["status"], words.claim_statuses, "claims", "status")
    if claim["claim_type"] == OFFICIAL_FACT and (claim["status"] != VERIFIED or not claim.get("source_url")):
        yield f"a claim of type {OFFICIAL_FACT} needs the status {VERIFIED} and a source_url", ("claims", "claim_type")
    if claim["claim_type"] == CAUSATION and NOT_AS_FACT not in flags:
        yield f"a claim of type {CAUSATION} needs the safety flag {NOT_AS_FACT}", ("claims", "claim_type")


def _event(row: Row, corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    words = corpus.vocabularies
    lanes = words.lanes()
    yield from _among(row["layer"], lanes, "layer")
    yield from _among(row["claim_status"], words.event_statuses, "claim_status")
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    is_official = lanes.get(row["layer"]) == OFFICIAL
    if is_official != (row["claim_status"] == OFFICIAL):
        yield f"the layer {row['layer']} and the claim_status {row['claim_status']} contradict each other", ("claim_status",)
    if is_official and not str(row.get("source_url", "")).startswith("https://"):
        yield "is official, so it needs a source_url that begins with https://", ("layer",)


def _item(row: Row, corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    yield from _among(row["category"], corpus.vocabularies.categories, "category")
    yield from _among(row["status"], corpus.vocabularies.item_statuses, "status")
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    yield from _all_known(row["related_report_ids"], known["reports"], "report", ("related_report_ids",))


def _thread(row: Row, _corpus: CorpusFile, known: dict[str, set[str]]) -> _Found:
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    yield from _all_known(row["report_ids"], known["reports"], "report", ("report_ids",))
    yield from _all_known(row["anchor_ids"], known["events"], "event", ("anchor_ids",))


_CHECKS: Final[dict[str, Any]] = {
    "sources": _source,
    "motifs": _motif,
    "edges": _edge,
    "reports": _report,
    "events": _event,
    "items": _item,
    "threads": _thread,
}


def _among(value: str | None, accepted: Iterable[str], *fields: str) -> _Found:
    if value is not None and value not in accepted:
        yield f"{'.'.join(fields)} is {value!r}; accepted are {', '.join(sorted(accepted))}", fields


def _all_known(ids: Iterable[str], known: set[str], kind: str, fields: tuple[str, ...]) -> _Found:
    seen = set[str]()
    for one in ids:
        if one not in known:
            yield f"names the unknown {kind} {one}", fields
        elif one in seen:
            yield f"names the {kind} {one} twice", fields
        seen.add(one)
