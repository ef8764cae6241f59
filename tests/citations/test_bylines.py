"""Bylines as they come: every format's own reader finds the same people."""

import json
import re

import pytest
import rispy
from citeproc.source.json import CiteProcJSON
from hypothesis import example, given
from hypothesis import strategies as st
from pybtex.database import Person as BibtexPerson
from pybtex.database import parse_string

from citations.format.bylines import Person, clean_byline, parse_authors
from citations.format.formats import Citable, CitationFormat, cite_story, fold_to_one_line
from citations.format.latex import unescape_latex
from tests.citations.stories import STORY, story, texts
from tests.examples import examples

Parts = tuple[str, ...]
"""Family, given name and suffix of a person; the one name of anybody else."""

NAMED: dict[str, list[Parts]] = {
    # One person
    "Jane Doe": [("Doe", "Jane")],
    "By Jane Doe": [("Doe", "Jane")],
    "JANE DOE": [("Doe", "Jane")],
    "Doe, Jane": [("Doe", "Jane")],
    "Quill, Ada B.": [("Quill", "Ada B.")],
    "Dr. Jane Doe": [("Doe", "Jane")],
    "Jane Doe, Ph.D.": [("Doe", "Jane")],
    "Ludwig van Beethoven": [("van Beethoven", "Ludwig")],
    "van der Berg, Jan": [("van der Berg", "Jan")],
    "José Ortega y Gasset": [("Ortega y Gasset", "José")],
    "Martin Luther King Jr.": [("King", "Martin Luther", "Jr.")],
    "Martin Luther King, Jr.": [("King", "Martin Luther", "Jr.")],
    "Ann-Marie O’Brien III": [("O’Brien", "Ann-Marie", "III")],
    "J. R. R. Tolkien": [("Tolkien", "J. R. R.")],
    "Ronan McDonald": [("McDonald", "Ronan")],
    "Leonardo DiCaprio": [("DiCaprio", "Leonardo")],
    "Anders And": [("And", "Anders")],
    "danah boyd": [("boyd", "danah")],
    "Dean King": [("King", "Dean")],
    # Several
    "Jane Doe and John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "By Jane Doe and John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "Jane Doe, John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "Jane Doe; John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "Jane Doe & John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "Mark Bergen, Dina Bass, and Ada de la Quill": [("Bergen", "Mark"), ("Bass", "Dina"), ("de la Quill", "Ada")],
    "Doe, Jane; Roe, John": [("Doe", "Jane"), ("Roe", "John")],
    "Doe, Jane and Roe, John": [("Doe", "Jane"), ("Roe", "John")],
    "Doe, Jane, and John Roe": [("Doe", "Jane"), ("Roe", "John")],
    "María García y Juan Pérez": [("García", "María"), ("Pérez", "Juan")],
    "Иван Петров и Анна Иванова": [("Петров", "Иван"), ("Иванова", "Анна")],
    "山田 太郎": [("山田", "太郎")],
    "山田太郎、鈴木花子": [("山田太郎",), ("鈴木花子",)],
    # What is said of them
    "Jane Doe (Contributor)": [("Doe", "Jane")],
    "Jane Doe (@jane)": [("Doe", "Jane")],
    "Jane Doe @jane": [("Doe", "Jane")],
    "Senior Editor, Jane Doe": [("Doe", "Jane")],
    "Jane Doe, Senior Editor": [("Doe", "Jane")],
    "Staff Writer Jane Doe": [("Doe", "Jane")],
    "Jane Doe, Special to ZDNET": [("Doe", "Jane")],
    "Jane Doe, VP of Product, Google Research": [("Doe", "Jane")],
    "Jane Doe, Reporter, and John Roe, Contributing Writer": [("Doe", "Jane"), ("Roe", "John")],
    "Jane Doe in San Francisco and John Roe in New York": [("Doe", "Jane"), ("Roe", "John")],
    "Rebecca Ratcliffe and agencies": [("Ratcliffe", "Rebecca")],
    # Organisations, handles and what could be anything
    "Reuters Staff": [("Reuters Staff",)],
    "OpenAI": [("OpenAI",)],
    "Google DeepMind team": [("Google DeepMind team",)],
    "the Gemini team": [("the Gemini team",)],
    "Ars Staff": [("Ars Staff",)],
    "Food and Drug Administration": [("Food and Drug Administration",)],
    "Johnson & Johnson": [("Johnson & Johnson",)],
    "Agence France-Presse": [("Agence France-Presse",)],
    "Jane Doe, Reuters": [("Doe", "Jane"), ("Reuters",)],
    "Reuters and Jane Doe": [("Reuters",), ("Doe", "Jane")],
    "Jane Doe | The Verge": [("Doe", "Jane"), ("The Verge",)],
    "@janedoe": [("@janedoe",)],
    "Dr. X": [("Dr. X",)],
    "Jane and John Doe": [("Jane and John Doe",)],
    "Last Week in AI": [("Last Week in AI",)],
    "Severin Carrell Scotland editor": [("Severin Carrell Scotland editor",)],
    "Fei-Fei Li 李飞飞": [("Fei-Fei Li 李飞飞",)],
    "Jane Doe and Hu Xijin 胡锡进": [("Doe", "Jane"), ("Hu Xijin 胡锡进",)],
    # Nobody but the publisher
    "TechCrunch": [],
    "techcrunch": [],
    "Jane Doe, TechCrunch": [("Doe", "Jane")],
    "": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("byline", NAMED)
def test_a_byline_names_the_same_people_in_every_format(byline: str) -> None:
    cited = story(author=byline)
    assert [_parts(author) for author in cited.authors] == NAMED[byline]
    assert _of_every_format(cited) == {form: _author_texts(cited) for form in ("bibtex", "csl", "ris")}


_ODD = (
    *("Zoë Schiffer", "d'Arc, Jeanne", "X Æ A-12", "Jr., Jane", "And And", "and", "von", "A. B.", "de la", "李 雷", "محمد علي"),
    *("Doe,", "{J} D", "(A)", "Editor"),
)
_NAMES = st.sampled_from([*(name for name in NAMED if name), *_ODD])
_BETWEEN = st.sampled_from((" and ", ", ", ", and ", "; ", " & ", " | ", " with ", " und ", "/", " ", ",", " – ", ", Editor, "))
bylines = st.one_of(st.lists(st.tuples(_NAMES, _BETWEEN), max_size=5).map(lambda named: "".join(map("".join, named))), texts)


@pytest.mark.slow
@given(bylines)
@example("A, B and C")
@example("And And and And, And")
@example("Jane {Doe} and \\John and ~")
@examples(300)
def test_any_byline_names_the_same_people_in_every_format(byline: str) -> None:
    cited = story(author=byline)
    assert _of_every_format(cited) == {form: _author_texts(cited) for form in ("bibtex", "csl", "ris")}


@given(bylines)
@examples(200)
def test_a_cleaned_byline_stays_as_it_is_and_names_the_same(byline: str) -> None:
    byline = fold_to_one_line(byline)
    cleaned = clean_byline(byline, "TechCrunch", "TC")
    assert clean_byline(cleaned, "TechCrunch", "TC") == cleaned
    assert parse_authors(cleaned, "TechCrunch", "TC") == parse_authors(byline, "TechCrunch", "TC")
    assert cleaned is None or len(cleaned) <= len(byline)


@pytest.mark.parametrize(
    ("byline", "shown"),
    [
        ("Jane Doe and John Roe", "Jane Doe and John Roe"),
        ("Doe, Jane", "Doe, Jane"),
        ("JANE DOE", "JANE DOE"),
        ("Jane Doe (Contributor)", "Jane Doe"),
        ("Senior Editor, Jane Doe", "Jane Doe"),
        ("Doe, Jane (Editor); Roe, John", "Doe, Jane; Roe, John"),
        ("Jane Doe, OpenAI", "Jane Doe"),
        ("OpenAI Blog", None),
        ("openai", None),
        ("The OpenAI Newsroom", None),
        ("OpenAI Research", "OpenAI Research"),
        ("", None),
        (None, None),
    ],
)
def test_what_is_shown_is_what_was_written_without_what_is_said_of_the_authors(byline: str | None, shown: str | None) -> None:
    assert clean_byline(byline, "OpenAI Blog", "OpenAI", "OpenAI Newsroom") == shown


def test_a_maker_is_no_author_of_its_own_blog() -> None:
    assert parse_authors("OpenAI", "OpenAI Blog") == parse_authors("Google", "Google AI Blog") == []
    assert [author.written for author in parse_authors("OpenAI", "TechCrunch")] == ["OpenAI"]


@pytest.mark.parametrize("named", ["Catherine, Princess of Wales", "Jane Doe, the Duchess of Sussex"])
def test_a_title_behind_a_comma_belongs_to_the_name(named: str) -> None:
    cited = story(author=f"{named} and John Roe")
    assert [author.written for author in cited.authors] == [named, "John Roe"]
    read = _of_every_format(cited)
    assert read["bibtex"] == read["csl"] == [named, "Roe, John"]
    assert read["ris"] == [named.replace(",", ""), "Roe, John"]  # whose readers take what follows a comma for the given name


def test_without_an_author_no_format_names_one() -> None:
    for byline in (None, "TechCrunch"):
        cited = story(author=byline)
        assert "author" not in cite_story(cited, CitationFormat.BIBTEX)
        assert "  key = {TechCrunch},\n" in cite_story(cited, CitationFormat.BIBTEX)
        assert "author" not in json.loads(cite_story(cited, CitationFormat.CSL))[0]
        assert "\nAU  - " not in cite_story(cited, CitationFormat.RIS)
        assert cite_story(cited, CitationFormat.ACADEMIC).startswith("TechCrunch. (2026, November 5). ")


def _parts(author: object) -> Parts:
    if isinstance(author, Person):
        return (author.family, author.given, author.suffix) if author.suffix else (author.family, author.given)
    return (author.written,)  # type: ignore[attr-defined]


def _author_texts(cited: Citable) -> list[str]:
    """Return a text for each author, so that readers can be compared that know nothing of one another."""
    return [", ".join(_parts(author)) for author in cited.authors]


def _of_every_format(cited: Citable) -> dict[str, list[str]]:
    return {
        "bibtex": _read_bibtex(cite_story(cited, CitationFormat.BIBTEX)),
        "csl": _read_csl(cite_story(cited, CitationFormat.CSL)),
        "ris": _read_ris(cite_story(cited, CitationFormat.RIS)),
    }


def _read_bibtex(citation: str) -> list[str]:
    [entry] = parse_string(citation, "bibtex").entries.values()
    return [_bibtex_name(person) for person in entry.persons.get("author", [])]


def _bibtex_name(person: BibtexPerson) -> str:
    family = [*person.prelast_names, *person.last_names]
    parts = (family, [*person.first_names, *person.middle_names], person.lineage_names)
    return ", ".join(unescape_latex(re.sub(r"^\{(.*)\}$", r"\1", " ".join(part))) for part in parts if part)


def _read_csl(citation: str) -> list[str]:
    [item] = CiteProcJSON(json.loads(citation)).values()
    return [_csl_name(name) for name in item.get("author", [])]


def _csl_name(name: dict[str, str]) -> str:
    return ", ".join(name[part] for part in ("literal", "family", "given", "suffix") if name.get(part))


def _read_ris(citation: str) -> list[str]:
    [record] = rispy.loads(citation)
    return [str(author) for author in record.get("authors", [])]


def test_the_example_of_all_formats_has_one_author() -> None:
    assert _author_texts(STORY) == ["Doe, Jane"]
