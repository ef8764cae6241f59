"""What the code may not do, read from the code itself: rules that no linter has."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("config", "wire", "sources", "citations", "mcpserver")
MAY_SAY_SAFE: Final = {
    "wire/site/metadata.py": "JSON without a character that HTML knows",
    "wire/admin/base.py": "a line break of ours",
    "wire/admin/feeds.py": "two buttons of ours",
    "wire/site/docs_pages.py": "the type of our own documents as HTML, with raw HTML off",
    "wire/templatetags/wire_charts.py": "the type of what format_html returns",
    "wire/templatetags/wire_site.py": "the type of what format_html returns",
}
RUN_TEXT: Final = {"eval", "exec", "compile", "__import__"}
UNPACK_CODE: Final = {"pickle", "marshal", "shelve", "dill", "yaml", "jsonpickle", "xmlrpc", "telnetlib", "ftplib"}
ASK_THE_NETWORK: Final = {
    "httpx",
    "requests",
    "aiohttp",
    "urllib3",
    "urllib.request",
    "http.client",
    "httpcore",
    "httpcore2",
    "socket",
    "ssl",
}
ASK_THE_MACHINE: Final = {
    "sources/job_lock.py",
    "config/http/uvicorn_protocol.py",
    "wire/management/commands/serve.py",
}  # its own name; how to end a connection that came in; whether its own port listens
ASK_THE_OPERATORS: Final = {  # services at addresses that the operator gives, and at no others
    "wire/publishing/websub.py",
    "wire/corpora/articles/payment.py",
    "wire/corpora/factchecks/embedding.py",
    *(f"mcpserver/upstreams/{name}.py" for name in ("guarded_http", "connection")),  # these dial through the fetcher's check
}
READ_XML: Final = {"xml", "lxml", "defusedxml"}
READ_HTML: Final = {  # lxml's parser of HTML knows no entity but HTML's own, and opens no file; nothing else of lxml reads
    "sources/parse/article.py": {"lxml.html", "lxml.html.HTMLParser", "lxml.html.document_fromstring"},
    "sources/parse/markdown.py": {
        "lxml.etree",
        *(f"lxml.etree.{name}" for name in ("Comment", "ProcessingInstruction", "strip_elements")),
    },
    "wire/corpora/factchecks/file_formats.py": {
        *("lxml.etree", "lxml.etree.ParserError", "lxml.etree.iterwalk"),
        *("lxml.html", "lxml.html.HTMLParser", "lxml.html.document_fromstring"),
    },
}
OUR_OWN_FORM: Final = {"llms.txt", "server-card.json"}  # no browser shows them as a page, no publisher's word is in them
SAID_WHY: Final = re.compile(r"noqa: [A-Z0-9, ]*S608  \S")


@cache
def sources() -> list[tuple[str, str, ast.Module]]:
    """Every file of ours but migrations, by its path from the top."""
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py")) if "migrations" not in file.parts]
    texts = [(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in files]
    return [(name, text, ast.parse(text)) for name, text in texts]


def imported(tree: ast.Module) -> Iterator[str]:
    """`a.b` of `import a.b` and of `from a import b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_any(tree: ast.Module, names: set[str]) -> set[str]:
    return {found for found in imported(tree) for name in names if found == name or found.startswith(f"{name}.")}


def called(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield (function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")), node


def test_all_rooms_are_read() -> None:
    assert {name.partition("/")[0] for name, _, _ in sources()} == set(ROOMS)
    assert len(sources()) > 100


@pytest.mark.slow
def test_text_is_called_safe_where_it_was_made_so_and_nowhere_else() -> None:
    say_so = {name for name, text, _ in sources() if re.search(r"\b(SafeString|SafeText|mark_safe|__html__)\b", text)}
    assert say_so == set(MAY_SAY_SAFE)


def test_no_template_says_that_a_text_is_safe() -> None:
    for file in (ROOT / "templates").rglob("*"):
        if file.is_file() and file.name not in OUR_OWN_FORM and "snippets" not in file.parts:
            assert not re.search(r"\|\s*safe\b|safeseq|autoescape\s+off", file.read_text(encoding="utf-8")), file


@pytest.mark.slow
def test_no_text_is_run_and_no_bytes_become_objects() -> None:
    for name, _, tree in sources():
        assert not imports_any(tree, UNPACK_CODE), name
        for function, node in called(tree):
            assert not (isinstance(node.func, ast.Name) and function in RUN_TEXT), name


@pytest.mark.slow
def test_the_network_is_asked_by_the_fetcher_alone() -> None:
    """What is at the operator's addresses is asked beside: the limit's Redis library opens its own connection, too."""
    asks = {name for name, _, tree in sources() if imports_any(tree, ASK_THE_NETWORK)}
    assert asks
    assert {name.rpartition("/")[0] for name in asks - ASK_THE_MACHINE - ASK_THE_OPERATORS} == {"sources/fetch"}


@pytest.mark.slow
def test_xml_is_read_in_one_place_which_refuses_document_types() -> None:
    found = {name: imports for name, _, tree in sources() if (imports := imports_any(tree, READ_XML))}
    assert found.keys() == {"sources/parse/xml_tree.py", *READ_HTML}
    assert found.items() >= READ_HTML.items()


@pytest.mark.slow
def test_no_shell_is_asked() -> None:
    for name, _, tree in sources():
        for function, node in called(tree):
            assert function not in {"system", "popen", "getoutput", "getstatusoutput"}, name
            assert not [one for one in node.keywords if one.arg == "shell"], name


def test_sql_that_is_put_together_says_why_it_may_be() -> None:
    """Ruff's S608 finds it; whoever silences that gives a reason in the same line."""
    for name, text, _ in sources():
        for number, line in enumerate(text.splitlines(), 1):
            if "S608" in line:
                assert SAID_WHY.search(line), f"{name}:{number}"
    with (ROOT / "pyproject.toml").open("rb") as file:
        lint = tomllib.load(file)["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert not [rule for rule in lint["ignore"] if rule.startswith("S")]


def test_no_certificate_is_taken_unseen() -> None:
    for name, text, _ in sources():
        assert not re.search(r"CERT_NONE|check_hostname\s*=\s*False|verify\s*=\s*False|_create_unverified", text), name
