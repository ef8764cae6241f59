"""REST about the roster."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from config.http.responses import BRIEFLY, answer, errors
from sources import queries
from sources.schemas import VerdictOut

router = Router()


@router.get("/verify-source.json", response={200: VerdictOut, **errors(422)}, summary="Is this publication in the roster?")
def verify_source(
    request: HttpRequest,  # noqa: ARG001
    publication_name: Annotated[str, Query(max_length=500)],
) -> HttpResponse:
    return answer(queries.verify_source(publication_name), BRIEFLY)
