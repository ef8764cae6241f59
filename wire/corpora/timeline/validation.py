"""Rules of a corpus: fields, references, and what keeps fact, report and interpretation apart. Pure but for left-out names.

Every problem is found in one go, with file and line, so that an editor mends them all at once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from wire.corpora.timeline import omitted_names
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.corpus_files import CORPUS, TABLES, Problem, RefusedCorpus, Written
from wire.corpora.timeline.row_schemas import CAUSATION, NOT_AS_FACT, OFFICIAL, OFFICIAL_FACT, OMITTED, ROWS, TEACHING, VERIFIED
from wire.text.lexicons import load_lexicon
from wire.text.tokens import words

MOST: Final = 200  # problems that are listed
Row = Mapping[str, Any]
Faults = Iterator[tuple[str, tuple[str, ...]]]  # what is wrong with a row, and the names of the fields that lead to it
Known = Mapping[str, Mapping[str, Any]]  # by table, the rows that may be named, each with what `summarize_row` says of it

_FIELDS: Final = load_lexicon("timeline_fields")


def build_row_key(table: str, row: Any) -> str:
    """Return a row's id; of an edge, both motifs in order of the alphabet, since it has no direction."""
    return "|".join(sorted(row[:2])) if table == "edges" else str(row["id"])


def summarize_row(table: str, row: Row) -> Any:
    """Return what rows that name this one must agree with: an event's layer and date, a report's number of claims."""
    if table == "events":
        return row.get("layer"), row.get("date")
    return len(row.get("claims") or ()) if table == "reports" else None


def expect_valid(written: Written, corpus: CorpusFile) -> None:
    """Raises: RefusedCorpus."""
    if problems := list(islice(_find_problems(written, corpus), MOST)):
        raise RefusedCorpus(problems)


def parse_corpus_settings(written: Written, slug: str) -> CorpusFile:
    """Return what corpus.json says; without one, the names of files and the usual words. Raises: RefusedCorpus."""
    said = written.corpus
    if said is None:
        meta = written.meta["reports.json"]
        name = str(meta.get("name", slug)).removesuffix(" reports")
        said = {"slug": slug, "name": name, "version": str(meta.get("version", "1"))}
    try:
        return CorpusFile.model_validate(said)
    except ValidationError as error:
        raise RefusedCorpus([Problem(CORPUS, 0, _describe_error(row)) for row in error.errors(include_url=False)]) from error


def _describe_error(error: Any) -> str:
    """Say what pydantic found, in our words."""
    at = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{at} is an unknown field"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{at} is missing" if error["type"] == "missing" else f"{at}: {message}" if at else message


def _find_problems(written: Written, corpus: CorpusFile) -> Iterator[Problem]:
    keys = {table.name: [_read_key(table.name, row) for row in written.rows[table.name]] for table in TABLES}
    known: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, some in keys.items():
        for key, row in zip(some, written.rows[name], strict=True):
            known[name][key] = summarize_row(name, row) if isinstance(row, dict) else None
    for table in TABLES:
        counts = Counter(keys[table.name])
        for number, (key, row) in enumerate(zip(keys[table.name], written.rows[table.name], strict=True)):
            twice = [("appears here more than once", ())] if key and counts[key] > 1 else []
            for message, fields in (*twice, *check_row(table.name, row, corpus, known)):
                name = f"{_FIELDS['rows'][table.name]} {key[:120] or '?'}"
                yield Problem(table.file, written.find_line(table, number, fields), f"{name}: {message}")
    for table in TABLES:
        for file, meta in written.meta.items():
            counted = meta.get("counts")
            said = counted.get(table.member) if isinstance(counted, dict) else None
            if said is not None and said != (there := len(written.rows[table.name])):
                yield Problem(file, 0, f"meta.counts says {said}, but there are {there}")


def _read_key(table: str, row: Any) -> str:
    try:
        return build_row_key(table, row)
    except (KeyError, TypeError):
        return ""


def list_accepted_words(table: str, corpus: CorpusFile) -> dict[str, list[str]]:
    """Return the accepted words of each field of a table that holds one, by path."""
    layers = [*corpus.vocabularies.lanes()]
    own_words = {**vars(corpus.vocabularies), "layers": layers, "anchor_layers": [*layers, *corpus.vocabularies.anchor_layers]}
    return {path: own_words[vocabulary] for path, vocabulary in _FIELDS["words"].get(table, {}).items()}


def check_row(table: str, row: Any, corpus: CorpusFile, known: Known) -> Faults:
    """Find everything that is wrong with a row: its fields, then the rules that its sound fields break."""
    if table == "edges":
        if not isinstance(row, list) or len(row) != 3:
            yield "an edge is [motif, motif, weight]", ()
            return
        row = dict(zip(("a", "b", "weight"), row, strict=True))
    try:
        ROWS[table].model_validate(row)
    except ValidationError as refused:
        errors = refused.errors(include_url=False, include_input=False)
        for error in errors:
            yield _describe_error(error), tuple(part for part in error["loc"] if isinstance(part, str))
        row = _drop_fields(row, [error["loc"] for error in errors])
    if table == "edges":
        row = [row.get("a"), row.get("b")]
    for path, accepted in list_accepted_words(table, corpus).items():
        for value in _read_values(row, path):
            if value not in accepted:
                fields = _split_path(path)
                yield f"{'.'.join(fields)} is {value!r}; accepted: {', '.join(sorted(accepted))}", fields
    for path, named in _FIELDS["references"].get(table, {}).items():
        name, fields = _FIELDS["rows"][named], _split_path(path)
        for key, times in Counter(_read_values(row, path)).items():
            if key not in known[named]:
                yield f"names the unknown {name} {key}: add it first", fields
            elif times > 1 and path.count("*") == 1:
                yield f"names the {name} {key} twice", fields
    if table == "edges" and row[0] == row[1]:
        yield "links a motif with itself", ()
    elif table == "reports":
        yield from _check_report(row, corpus, known)
    elif table == "events":
        yield from _check_event(row, corpus)
    if any(list(omitted_names.find_names(words(text), corpus.left_out_names)) for text in walk_texts(row) if corpus.left_out_names):
        yield "holds a name that this corpus leaves out", ()


def _drop_fields(row: Any, places: Sequence[tuple[int | str, ...]]) -> dict[str, Any]:
    """Return a copy without the values at these places; what is missing there, or was dropped with what held it, is no matter."""
    sound = deepcopy(row) if isinstance(row, dict) else {}
    for *way, last in (place for place in places if place):
        part: Any = sound
        try:
            for step in way:
                part = part[step]
            part[last] = None
        except (KeyError, IndexError, TypeError):
            continue
    return sound


def _read_values(row: Any, path: str) -> list[Any]:
    """Return the values at a path, such as `claims.*.status`, without nulls."""
    values = [row]
    for step in path.split("."):
        parts = (part for value in values for part in (value if step == "*" else (value.get(step),)))
        values = [part for part in parts if part is not None]
    return values


def _split_path(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.split(".") if step != "*")


def walk_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from walk_texts(inner)


def _check_report(row: Row, corpus: CorpusFile, known: Known) -> Faults:
    source, flags = row.get("source") or {}, row.get("safety_flags") or []
    for claim in _read_values(row, "claims.*"):
        yield from _check_claim(claim, flags, corpus)
        for dispute in claim.get("disputes") or ():
            claims = known["reports"].get(dispute.get("report_id"))
            if dispute.get("report_id") == row.get("id"):
                yield "disputes one of its own claims", ("claims", "disputes")
            elif claims is not None and (number := dispute.get("claim") or 0) > claims:
                yield f"names claim {number} of {dispute['report_id']}, which has {claims}", ("claims", "disputes", "claim")
    for anchor in _read_values(row, "anchors.*"):
        yield from _check_anchor(anchor, corpus, known["events"])
    if row.get("evidence_grade") == OFFICIAL:
        yield from _check_domain(source.get("source_url"), corpus, ("source", "source_url"))
    if row.get("evidence_grade") == "speculative" and not flags:
        yield "is graded speculative, so it needs a safety flag", ("evidence_grade",)
    if source.get("source_type") == TEACHING and source.get("author_policy") != OMITTED:
        yield f"is a {TEACHING}, so author_policy must be {OMITTED!r}", ("source", "author_policy")
    if source.get("author_policy") == OMITTED and source.get("author_display"):
        yield "names an author, but author_policy is omitted", ("source", "author_display")


def _check_claim(claim: Row, flags: Sequence[str], corpus: CorpusFile) -> Faults:
    if claim.get("claim_type") == OFFICIAL_FACT:
        if claim.get("status") != VERIFIED or not claim.get("source_url"):
            yield f"a claim of type {OFFICIAL_FACT} needs the status {VERIFIED} and a source_url", ("claims", "claim_type")
        yield from _check_domain(claim.get("source_url"), corpus, ("claims", "source_url"))
    if claim.get("claim_type") == CAUSATION and NOT_AS_FACT not in flags:
        yield f"a claim of type {CAUSATION} needs the safety flag {NOT_AS_FACT}", ("claims", "claim_type")


def _check_anchor(anchor: Row, corpus: CorpusFile, events: Mapping[str, Any]) -> Faults:
    key, layer, date = anchor.get("anchor_id"), anchor.get("layer"), anchor.get("date")
    if key is None or layer is None or layer in corpus.vocabularies.anchor_layers:
        return
    if key not in events:
        yield f"names the unknown event {key}", ("anchors", "anchor_id")
        return
    for name, said, right in zip(("layer", "date"), (layer, date), events[key] or (), strict=False):
        if said is not None and right is not None and said != right:
            yield f"anchors.{name} is {said}, but the event {key} has {right}", ("anchors", name)


def _check_event(row: Row, corpus: CorpusFile) -> Faults:
    layer, status, url = row.get("layer"), row.get("claim_status"), str(row.get("source_url") or "")
    is_official = corpus.vocabularies.lanes().get(str(layer)) == OFFICIAL
    if layer and status and is_official != (status == OFFICIAL):
        yield f"the layer {layer} and the claim_status {status} contradict each other", ("claim_status",)
    if is_official and not url.startswith("https://"):
        yield "is official, so it needs a source_url that begins with https://", ("source_url",)
    elif is_official:
        yield from _check_domain(url, corpus, ("source_url",))


def _check_domain(url: str | None, corpus: CorpusFile, fields: tuple[str, ...]) -> Faults:
    if url and corpus.official_domains is not None and not is_on_domain(url, corpus.official_domains):
        accepted = ", ".join(corpus.official_domains) or "none"
        yield f"is official, but {urlsplit(url).hostname} is not an official domain of this corpus ({accepted})", fields


def is_on_domain(url: str, domains: Iterable[str]) -> bool:
    host = f".{urlsplit(url).hostname or ''}"
    return any(host.endswith(f".{domain}") for domain in domains)
