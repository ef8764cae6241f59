"""A publisher's terms as machines read them: llms.txt, ai.txt, RSL and the TDM reservation. All are functions of its row."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import Context, Engine
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import BRIEFLY
from wire.corpora.articles.directory import find_publisher
from wire.corpora.articles.models import LicenceKind, Publisher
from wire.corpora.articles.x402 import describe_price
from wire.text.plain_text import plain_line

PLAIN: Final = "text/plain; charset=utf-8"
RSL: Final = "application/rsl+xml; charset=utf-8"
ADDRESS: Final = re.compile(r"https?://[^\s<>\"]+")
MAX_LINE: Final = 500  # characters of a publisher's own words in a file; the page has them whole

View = Callable[[HttpRequest, Publisher], HttpResponseBase]


def view_publisher(
    missing: Callable[[HttpRequest, NotFound], HttpResponseBase],
) -> Callable[[View], Callable[..., Any]]:
    """Return a decorator for views of a publisher that is served; `missing` answers for any other."""

    def decorate(view: View) -> Callable[..., HttpResponseBase]:
        @require_safe
        @wraps(view)
        def serve(request: HttpRequest, slug: str) -> HttpResponseBase:
            try:
                publisher = find_publisher(slug)
            except NotFound as error:
                return missing(request, error)
            response = view(request, publisher)
            response["tdm-reservation"] = "0" if publisher.may_train else "1"  # TDMRep (W3C): 1 reserves mining for training
            return response

        return serve

    return decorate


def _answer_missing(_request: HttpRequest, error: NotFound) -> HttpResponse:
    text = f"{error.message} {error.hint}\n"
    return HttpResponse(text, status=404, content_type=PLAIN, headers={"Cache-Control": "no-store"})


@view_publisher(_answer_missing)
def llms_txt(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    return _render("llms.txt", PLAIN, publisher, api=f"{settings.WIRE_SITE_URL}/api", mcp=publisher.mcp)


@view_publisher(_answer_missing)
def ai_txt(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """The rule for training sets as Spawning's ai.txt has it; answering as a Content-Signal line; the reservation of TDMRep."""
    return _render("ai.txt", PLAIN, publisher, reservation="0" if publisher.may_train else "1")


@view_publisher(_answer_missing)
def license_xml(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """The terms in RSL 1.0. `search` is what a publisher agrees to by being served; credit is due for every use."""
    uses = {"search": True, "ai-input": publisher.may_answer, "ai-train": publisher.may_train}
    scheme, terms = publisher.homepage.partition("://")[0], f"{publisher.page}#terms"
    address = ADDRESS.search(publisher.licence)
    licence = address[0] if address else ""
    return _render(
        "license.xml",
        RSL,
        publisher,
        homepage=publisher.homepage,
        contents=[f"{scheme}://{domain}/" for domain in publisher.domains],
        permits=" ".join(use for use, is_allowed in uses.items() if is_allowed),
        prohibits=" ".join(use for use, is_allowed in uses.items() if not is_allowed),
        standard=licence if publisher.licence_kind == LicenceKind.CC else "",
        is_priced=bool(publisher.price),
        terms=(licence if publisher.licence_kind == LicenceKind.RSL else "") or terms,
        price=terms,
    )


def _render(name: str, content_type: str, publisher: Publisher, **context: object) -> HttpResponse:
    """Give the publisher's own words to the template as single lines, so that none of them can pass for a rule of the file."""
    kind = LicenceKind(publisher.licence_kind).label
    words = {
        "name": publisher.name,
        "licence": f"{kind}: {publisher.licence}" if publisher.licence else kind,
        "price": f"{describe_price(publisher.price)}, paid by x402" if publisher.price else "none",
    }
    own = {"publisher": publisher, "page": publisher.page} | {name: plain_line(text, MAX_LINE) for name, text in words.items()}
    values = Context(own | context, autoescape=content_type == RSL)  # the others are plain text
    text = Engine.get_default().get_template(f"articles/{name}").render(values)
    return HttpResponse(text, content_type=content_type, headers={"Cache-Control": BRIEFLY})
