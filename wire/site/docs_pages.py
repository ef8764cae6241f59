"""The documents of docs/ as pages: the list, each document as HTML and as Markdown, and the files that they link to."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from config.errors import NotFound
from config.http.responses import BRIEFLY
from wire.site.pages import page, public_page
from wire.templatetags.wire_site import wrap_tables

ROOT: Final = Path(settings.BASE_DIR)
FOLDER: Final = ROOT / "docs"
PROJECT_DOCUMENTS: Final = ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")
INDEX: Final = "index"
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_COMMENT: Final = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)
_LINK: Final = re.compile(r"\]\((?![a-z]+:|#|/)([^)#\s]+)")


@lru_cache(maxsize=1)
def list_documents() -> dict[str, Path]:
    """Return the documents by the name in their address, such as `rest`, `how-to/deploy` or `SECURITY`."""
    inside = {file.relative_to(FOLDER).with_suffix("").as_posix(): file for file in sorted(FOLDER.rglob("*.md"))}
    return inside | {name: file for name in PROJECT_DOCUMENTS if (file := ROOT / f"{name}.md").is_file()}


def list_addresses() -> list[str]:
    return [get_address(name) for name in list_documents()]


def get_address(name: str) -> str:
    return reverse("docs") if name == INDEX else reverse("docs-page", args=[name])


@public_page
def document(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    title, content = render_document(_find_document(name))
    return page(request, "docs.html", {"title": title, "document_html": content, "name": name, "is_index": name == INDEX})


@public_page
def document_markdown(_request: HttpRequest, name: str) -> HttpResponse:
    return _to_text(_find_document(name), "text/markdown")


@public_page
def linked_file(_request: HttpRequest, name: str) -> HttpResponse:
    """Show a picture or the text of a file of the project, if a document links to it."""
    if name not in _list_linked_files():
        raise NotFound("There is no such file.")
    kind = guess_type(name)[0] or ""
    if kind.startswith("image/"):
        return HttpResponse((ROOT / name).read_bytes(), content_type=kind, headers={"Cache-Control": BRIEFLY})
    return _to_text(ROOT / name, "text/plain")


@lru_cache(maxsize=100)
def render_document(file: Path) -> tuple[str, SafeString]:
    """Return the title of a document and its HTML, with a target at each heading and links that work below /docs/."""
    tokens = _MARKDOWN.parse(_COMMENT.sub("", file.read_text(encoding="utf-8")))
    title, used = "", Counter[str]()
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            title = title or following.content.replace("`", "")
            anchor = get_anchor(following.content)
            token.attrSet("id", f"{anchor}-{used[anchor]}" if used[anchor] else anchor)  # as GitHub does
            used[anchor] += 1
        _resolve_links(following.children or [], file)
    rendered = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return title, wrap_tables(rendered.replace("<pre>", '<pre tabindex="0">'))  # a long block scrolls, by keyboard too


def get_anchor(heading: str) -> str:
    """Return the target of a heading as GitHub makes it: "What a list costs" is `what-a-list-costs`."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def _resolve_links(tokens: list[Token], file: Path) -> None:
    openings: list[Token] = []
    for token in tokens:
        if token.type == "link_open":
            openings.append(token)
            address = _resolve_link(str(token.attrGet("href")), file)
            if address is None:  # the file is not part of this installation
                token.tag, token.attrs = "span", {}
            else:
                token.attrSet("href", address)
        elif token.type == "image":
            token.attrSet("src", _resolve_link(str(token.attrGet("src")), file) or "")
        elif token.type == "link_close":
            token.tag = openings.pop().tag


def _resolve_link(target: str, file: Path) -> str | None:
    if not _LINK.match(f"]({target}"):
        return target
    path, hash_mark, anchor = target.partition("#")
    linked = (file.parent / path).resolve()
    names = {document: name for name, document in list_documents().items()}
    if linked in names:
        return get_address(names[linked]) + hash_mark + anchor
    if linked.is_file() and linked.is_relative_to(ROOT):
        return reverse("docs-file", args=[linked.relative_to(ROOT).as_posix()])
    return None


@lru_cache(maxsize=1)
def _list_linked_files() -> frozenset[str]:
    return frozenset(_find_linked_files())


def _find_linked_files() -> Iterator[str]:
    documents = set(list_documents().values())
    for file in documents:
        for target in _LINK.findall(file.read_text(encoding="utf-8")):
            linked = (file.parent / target).resolve()
            if linked.is_file() and linked not in documents and linked.is_relative_to(ROOT):
                yield linked.relative_to(ROOT).as_posix()


def _find_document(name: str) -> Path:
    try:
        return list_documents()[name]
    except KeyError:
        raise NotFound("There is no such document.") from None


def _to_text(file: Path, content_type: str) -> HttpResponse:
    headers = {"Cache-Control": BRIEFLY}
    return HttpResponse(file.read_bytes(), content_type=f"{content_type}; charset=utf-8", headers=headers)
