"""Rules of a corpus: fields, references, and what keeps fact, report and interpretation apart. Pure but for left-out names.

Every problem is found in one go, with file and line, so that an editor mends them all at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from wire.corpora.timeline import omitted_names
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.corpus_directory import CORPUS, TABLES, Problem, RefusedCorpus, Table, Written
from wire.corpora.timeline.row_schemas import ROWS
from wire.corpora.timeline.vocabulary import CAUSATION, NOT_AS_FACT, OFFICIAL, OFFICIAL_FACT, OMITTED, TEACHING, VERIFIED
from wire.text.tokens import words

MOST: Final = 200  # problems that are listed
Row = dict[str, Any]
Faults = Iterator[tuple[str, tuple[str, ...]]]  # what is wrong with a row, and the names of the fields that lead to it


def key_of(table: str, row: Any) -> str:
    """Return a row's id; of an edge, both motifs in order of the alphabet, since it has no direction."""
    return "|".join(sorted(row[:2])) if table == "edges" else str(row["id"])


def expect(written: Written, corpus: CorpusFile) -> None:
    """Raises: RefusedCorpus."""
    if problems := list(islice(_find_problems(written, corpus), MOST)):
        raise RefusedCorpus(problems)


def corpus_of(written: Written, slug: str) -> CorpusFile:
    """Return what corpus.json says; without one, the names of files and the usual words. Raises: RefusedCorpus."""
    said = written.corpus
    if said is None:
        meta = written.meta["reports.json"]
        name = str(meta.get("name", slug)).removesuffix(" reports")
        said = {"slug": slug, "name": name, "version": str(meta.get("version", "1"))}
    try:
        return CorpusFile.model_validate(said)
    except ValidationError as error:
        raise RefusedCorpus([Problem(CORPUS, 0, _describe(row)) for row in error.errors(include_url=False)]) from error


def find_wrong_fields(table: str, row: Any) -> Faults:
    """Find what a row's fields may not hold, without a look at other rows."""
    if table == "edges":
        if not isinstance(row, list) or len(row) != 3:
            yield "an edge is [motif, motif, weight]", ()
            return
        row = dict(zip(("a", "b", "weight"), row, strict=True))
    try:
        ROWS[table].model_validate(row)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            yield _describe(one), tuple(part for part in one["loc"] if isinstance(part, str))


def _describe(error: Any) -> str:
    at = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{at} is an unknown field"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{at} is missing" if error["type"] == "missing" else f"{at}: {message}" if at else message


def _find_problems(written: Written, corpus: CorpusFile) -> Iterator[Problem]:
    is_sound = True
    for table in TABLES:
        for number, row in enumerate(written.rows[table.name]):
            for message, fields in find_wrong_fields(table.name, row):
                is_sound = False
                name = str(row.get("id", "?"))[:120] if isinstance(row, dict) else "edge"
                yield _locate(written, table, number, name, message, fields)
    if not is_sound:
        return  # what follows looks into fields
    keys = {table.name: [key_of(table.name, row) for row in written.rows[table.name]] for table in TABLES}
    known = {name: set(some) for name, some in keys.items()}
    for table in TABLES:
        counts = Counter(keys[table.name])
        for number, (key, row) in enumerate(zip(keys[table.name], written.rows[table.name], strict=True)):
            if counts[key] > 1:
                yield _locate(written, table, number, key, "stands here more than once", ())
            for message, fields in find_broken_rules(table.name, row, corpus, known):
                yield _locate(written, table, number, key, message, fields)
    for table in TABLES:
        for file, meta in written.meta.items():
            counted = meta.get("counts")
            said = counted.get(table.member) if isinstance(counted, dict) else None
            if said is not None and said != (there := len(written.rows[table.name])):
                yield Problem(file, 0, f"meta.counts says {said}, but there are {there}")


def _locate(written: Written, table: Table, number: int, key: str, message: str, fields: tuple[str, ...]) -> Problem:
    kind = {"items": "item", "sources": "source family"}.get(table.name, table.name.removesuffix("s"))
    return Problem(table.file, written.locate(table, number, fields), f"{kind} {key}: {message}")


def find_broken_rules(table: str, row: Any, corpus: CorpusFile, known: dict[str, set[str]]) -> Faults:
    """Find the rules that a row breaks; `known` has the keys of each table."""
    for field, vocabulary in _WORDS.get(table, {}).items():
        yield from _among(row.get(field), getattr(corpus.vocabularies, vocabulary), field)
    for field, named in _REFERENCES.get(table, {}).items():
        yield from _all_known(row.get(field) or (), known[named], named.removesuffix("s"), (field,))
    if table in _CHECKS:
        yield from _CHECKS[table](row, corpus, known)
    if any(list(omitted_names.find_runs(words(text), corpus.left_out_names)) for text in texts(row) if corpus.left_out_names):
        yield "holds a name that this corpus leaves out", ()


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def _edge(row: Sequence[Any], _corpus: CorpusFile, known: dict[str, set[str]]) -> Faults:
    yield from _all_known(row[:2], known["motifs"], "motif", ())
    if row[0] == row[1]:
        yield "links a motif with itself", ()


def _report(row: Row, corpus: CorpusFile, known: dict[str, set[str]]) -> Faults:
    accepted, source, flags = corpus.vocabularies, row["source"], row.get("safety_flags") or []
    yield from _among(row["phenomenon_type"], accepted.phenomenon_types, "phenomenon_type")
    yield from _among(source["source_type"], accepted.source_types, "source", "source_type")
    yield from _among(source["author_policy"], accepted.author_policies, "source", "author_policy")
    for flag in flags:
        yield from _among(flag, accepted.safety_flags, "safety_flags")
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    yield from _all_known(row.get("related_report_ids") or (), known["reports"], "report", ("related_report_ids",))
    if (family := source.get("source_id")) and family not in known["sources"]:
        yield f"source.source_id names the unknown source family {family}", ("source", "source_id")
    for claim in row["claims"]:
        yield from _claim(claim, flags, corpus)
    layers = {*accepted.lanes(), *accepted.anchor_layers}
    for anchor in row.get("anchors") or ():
        yield from _among(anchor["relation"], accepted.relations, "anchors", "relation")
        yield from _among(anchor["layer"], layers, "anchors", "layer")
        if anchor["layer"] not in accepted.anchor_layers:
            yield from _all_known([anchor["anchor_id"]], known["events"], "event", ("anchors", "anchor_id"))
    if row["evidence_grade"] == "speculative" and not flags:
        yield "is graded speculative, so it needs a safety flag", ("evidence_grade",)
    if source["source_type"] == TEACHING and source["author_policy"] != OMITTED:
        yield f"is a {TEACHING}, so author_policy must be {OMITTED}", ("source", "author_policy")
    if source["author_policy"] == OMITTED and source.get("author_display"):
        yield "names an author whose policy is omitted", ("source", "author_display")


def _claim(claim: Row, flags: list[str], corpus: CorpusFile) -> Faults:
    accepted = corpus.vocabularies
    yield from _among(claim["claim_type"], accepted.claim_types, "claims", "claim_type")
    yield from _among(claim["status"], accepted.claim_statuses, "claims", "status")
    if claim["claim_type"] == OFFICIAL_FACT and (claim["status"] != VERIFIED or not claim.get("source_url")):
        yield f"a claim of type {OFFICIAL_FACT} needs the status {VERIFIED} and a source_url", ("claims", "claim_type")
    if claim["claim_type"] == CAUSATION and NOT_AS_FACT not in flags:
        yield f"a claim of type {CAUSATION} needs the safety flag {NOT_AS_FACT}", ("claims", "claim_type")


def _event(row: Row, corpus: CorpusFile, known: dict[str, set[str]]) -> Faults:
    accepted = corpus.vocabularies
    lanes = accepted.lanes()
    yield from _among(row["layer"], lanes, "layer")
    yield from _among(row["claim_status"], accepted.event_statuses, "claim_status")
    yield from _all_known(row["motifs"], known["motifs"], "motif", ("motifs",))
    is_official = lanes.get(row["layer"]) == OFFICIAL
    if is_official != (row["claim_status"] == OFFICIAL):
        yield f"the layer {row['layer']} and the claim_status {row['claim_status']} contradict each other", ("claim_status",)
    if is_official and not str(row.get("source_url", "")).startswith("https://"):
        yield "is official, so it needs a source_url that begins with https://", ("layer",)


# By table: fields that hold a word of a vocabulary, fields that name rows, and what is left to check.
_WORDS: Final[dict[str, dict[str, str]]] = {
    "sources": {"kind": "source_types", "author_policy": "author_policies"},
    "motifs": {"family": "families"},
    "items": {"category": "categories", "status": "item_statuses"},
}
_REFERENCES: Final[dict[str, dict[str, str]]] = {
    "items": {"motifs": "motifs", "related_report_ids": "reports"},
    "threads": {"motifs": "motifs", "report_ids": "reports", "anchor_ids": "events"},
}
_CHECKS: Final[dict[str, Any]] = {"edges": _edge, "reports": _report, "events": _event}


def _among(value: str | None, accepted: Iterable[str], *fields: str) -> Faults:
    if value is not None and value not in accepted:
        yield f"{'.'.join(fields)} is {value!r}; accepted are {', '.join(sorted(accepted))}", fields


def _all_known(ids: Iterable[str], known: set[str], kind: str, fields: tuple[str, ...]) -> Faults:
    seen = set[str]()
    for one in ids:
        if one not in known:
            yield f"names the unknown {kind} {one}", fields
        elif one in seen:
            yield f"names the {kind} {one} twice", fields
        seen.add(one)
