"""REST of timeline corpora: parse, ask one query, render. The MCP servers ask the same queries and answer the same JSON."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, get_type_hints

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Schema
from pydantic import BaseModel, Field, create_model

from config.errors import NotFound
from config.http.responses import BRIEFLY, error_schemas, json_response
from wire.corpora.common.rest import UNKNOWN_PARAMETER, build_route_options
from wire.corpora.timeline import dump, queries, schemas
from wire.corpora.timeline.queries.scope import get_scope
from wire.corpora.timeline.row_schemas import Frame, Grade, Stance
from wire.schemas.params import MAX_QUERY

router = Router()

REFUSALS: Final = {
    400: UNKNOWN_PARAMETER,
    404: "There is no such corpus, release, report or thread; the hint says how to find one.",
    410: "`report_removed`: the report left the corpus; the message says with which release.",
    422: "An argument cannot be used; the message names it and what is accepted.",
}

Slug = Annotated[str, Path(max_length=60, description="A corpus, as corpora.json lists it.", examples=["wire"])]
Key = Annotated[str, Path(max_length=120)]
Ids = Annotated[list[Annotated[str, Field(max_length=120)]] | None, Field(max_length=20)]
Word = Annotated[str | None, Field(max_length=120)]
ThreadId = Annotated[Word, Field(description="One thread by its id.")]
AsOf = Annotated[int | None, Field(ge=1, le=2**31 - 1, description="A release by its number; its rows never change.")]


class ReleaseQuery(Schema):
    as_of: AsOf = None


class Filtered(ReleaseQuery):
    query: Annotated[str | None, Field(max_length=MAX_QUERY, description='Words that must all occur, or a "phrase".')] = None
    motifs: Annotated[Ids, Field(description="With all of these; repeat it for several.")] = None
    phenomenon_types: Annotated[Ids, Field(description="Of any of these; repeat it for several.")] = None
    source_types: Annotated[Ids, Field(description="Of any of these; repeat it for several.")] = None
    stance: Stance | None = None
    evidence_grade: Grade | None = None
    date_start: Annotated[str | None, Field(max_length=40, description="YYYY-MM-DD, included.")] = None
    date_end: Annotated[str | None, Field(max_length=40, description="YYYY-MM-DD, included.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=300, description="`next_cursor` of the previous page.")] = None


class TimelineSearchQuery(Filtered):
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class CompareQuery(ReleaseQuery):
    topic: str = Field(min_length=1, max_length=MAX_QUERY)
    frames: list[Frame] | None = Field(None, max_length=3)
    limit: int = Field(20, ge=1, le=100)
    cursor: str | None = Field(None, max_length=300)


class WordingQuery(ReleaseQuery):
    draft: str = Field(min_length=1, max_length=4_000, description="The text to check; MCP takes longer ones.")


_answers = partial(build_route_options, refusals=REFUSALS)


def _render_json(found: BaseModel) -> HttpResponse:
    # Cached briefly: a release's rows never change, but a newer version may compute something else from them.
    return json_response(orjson.dumps(found.model_dump(mode="json", exclude_unset=True)), BRIEFLY)


@router.get("/corpora.json", **_answers(schemas.CorporaOut), summary="Corpora of dated reports")
def corpora(request: HttpRequest) -> HttpResponse:
    return _render_json(queries.list_corpora())


@router.get("/{corpus}.json", **_answers(schemas.CorpusOut, 404, 422), summary="A corpus and its newest release")
def corpus(request: HttpRequest, corpus: Slug) -> HttpResponse:
    return _render_json(queries.get_corpus(corpus))


def _add_route(name: str, query: Callable[..., BaseModel], base: type[ReleaseQuery], summary: str, **own: Any) -> None:
    """Add the route of a question about a corpus. `own`: the types of its parameters beside those of `base`, None by default."""
    fields: Any = {one: (kind, None) for one, kind in own.items()}
    # The OpenAPI document lists it under this name.
    model = f"{'Catalogue' if name == 'catalog' else name.removesuffix('s').capitalize()}Query"
    parameters = create_model(model, __base__=base, **fields) if own else base

    def view(request: HttpRequest, corpus: Slug, asked: Query[parameters]) -> HttpResponse:  # type: ignore[valid-type]
        return _render_json(query(corpus, **dict(asked)))

    view.__name__ = "timeline_events" if name == "events" else name  # generated clients depend on it
    statuses = (404, 410, 422) if name == "deepen" else (404, 422)
    router.get(f"/{{corpus}}/{name}.json", **_answers(get_type_hints(query)["return"], *statuses), summary=summary)(view)


_add_route("reports", queries.search_reports, TimelineSearchQuery, "Search a corpus's reports")


@router.get("/{corpus}/reports/{report_id}.json", **_answers(schemas.TimelineReportOut, 404, 410, 422), summary="One report, whole")
def report(request: HttpRequest, corpus: Slug, report_id: Key, asked: Query[ReleaseQuery]) -> HttpResponse:
    return _render_json(queries.get_report(corpus, report_id, asked.as_of))


_add_route("catalog", queries.mandela_catalog, Filtered, "Remembered and recorded variants", category=Word, status=Word, motif=Word)
_add_route("motifs", queries.motif_map, Filtered, "Motifs and their links", family=Word, motif=Word)
_add_route("threads", queries.story_threads, Filtered, "Threads with their frames", thread_id=ThreadId, lens=Frame | None)
_add_route("events", queries.events, Filtered, "Timeline events, oldest first", layer=Word)
_add_route("compare", queries.compare_sources, CompareQuery, "A topic as each side tells it")
_add_route("deepen", queries.deepen_story, ReleaseQuery, "Directions for research", report_id=Word, motif=Word, thread_id=Word)
_add_route("stats", queries.stats, ReleaseQuery, "Statistics of a corpus")
_add_route("manifest", queries.agent_manifest, ReleaseQuery, "What a corpus is, and its rules")
_add_route("wording", queries.check_wording, WordingQuery, "Check a draft against the rules")


@router.get(
    "/{corpus}/files/{name}.json",
    response={200: dict[str, Any], **error_schemas(404, 422)},
    summary="A file of a release, as `timeline load` takes it",
)
def file(request: HttpRequest, corpus: Slug, name: Key, asked: Query[ReleaseQuery]) -> HttpResponse:
    scope = get_scope(corpus, asked.as_of)
    if name not in queries.FILES:
        raise NotFound("There is no such file.", f"Files: {', '.join(queries.FILES)}.")
    return json_response(dump.build_release_file(scope.corpus, scope.release, f"{name}.json"), BRIEFLY)
