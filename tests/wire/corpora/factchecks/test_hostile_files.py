"""A file that is made to cost much costs little, by command and at the desk; one odd entry costs that entry."""

import contextlib
import gzip
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.claims import claim
from tests.wire.desk import at_desk, words
from wire.corpora.factchecks import admin
from wire.corpora.factchecks.models import Claim, LoadJob

pytestmark = pytest.mark.django_db

WHOLE: Final = admin.MAX_UPLOAD - 1_000  # what else stands in a form
UPLOAD: Final = "/admin/factchecks/loadjob/upload/"
SECONDS: Final = 2.0  # of CPU, on a machine that needs LOOP; a slower or shared one may take longer in proportion
LOOP: Final = 0.016  # seconds of 300,000 squares
GROWTH: Final = 4 * 1.5  # from a quarter to the whole
MEASURABLE: Final = 0.25  # seconds: below it the clock and the first call of everything decide


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda length: before + unit * ((length - len(before) - len(after)) // len(unit)) + after


def of_new_words(length: int) -> str:
    texts = (" ".join(f"q{number}x{place}zung" for place in range(7_000)) for number in range(length // 90_000))
    return json.dumps([{"id": f"w{number}", "synopsis": text} for number, text in enumerate(texts)])


def of_many_facts(length: int) -> str:
    facts = [{"text": " ".join(f"q{number}x{place}" for place in range(8_000))} for number in range(length // 110_000)]
    return json.dumps([{"id": "f", "synopsis": "x", "facts": facts}])


SHAPES: Final[dict[str, tuple[str, Callable[[int], str]]]] = {
    "numbers": ("a.json", repeated("0,", "[", "0]")),
    "brackets": ("a.json", repeated("[")),
    "objects in objects": ("a.json", repeated('{"a":', "[")),
    "deep, then flat": ("a.json", repeated("[]", "[" + "[" * 3_000, "]" * 3_001)),
    "deep, then a string": ("a.json", repeated('\\"', "[" + "[" * 3_000 + '"', '"' + "]" * 3_001)),
    "empty objects": ("a.json", repeated("{},", "[[", "{}]]")),
    "a string without an end": ("a.json", repeated("\\n", '["')),
    "digits": ("a.json", repeated("9", '[{"id":"a","n":', "}]")),
    "blanks": ("a.json", repeated(" ", "[")),
    "small claims": (
        "a.json",
        lambda length: "[" + ",".join(f'{{"id":"a{n}","synopsis":"m {n}"}}' for n in range(length // 34)) + "]",
    ),
    "new words": ("a.json", of_new_words),
    "a claim of many facts": ("a.json", of_many_facts),
    "keywords": ("a.json", repeated("a,", '[{"@type":"ClaimReview","claimReviewed":"x","keywords":"', '"}]')),
    "lines": ("a.ndjson", repeated("{}\n")),
    "a line without an end": ("a.ndjson", repeated("a", '{"id":"a"}\n{"b":"')),
    "openings of scripts": ("a.html", repeated("<script ", "ClaimReview")),
    "scripts without an end": ("a.html", repeated('<script type="application/ld+json">', "ClaimReview")),
    "small scripts": ("a.html", repeated('<script type="application/ld+json">{}</script>', "ClaimReview")),
    "a script of quotations": ("a.html", repeated('\\"', '<script type="application/ld+json">{"ClaimReview', "</script>")),
    "a script of commas": ("a.html", repeated(", ", '<script type="application/ld+json">["ClaimReview"', "</script>")),
    "a script of comments": ("a.html", repeated("/*", '<script type="application/ld+json">ClaimReview', "</script>")),
    "microdata": ("a.html", repeated("<p itemprop=name>x", '<div itemscope itemtype="https://schema.org/ClaimReview">')),
    "items of microdata": ("a.html", repeated('<div itemprop=author itemscope itemtype="https://schema.org/ClaimReview">')),
    "commas": ("a.csv", repeated(",")),
    "wide and long": ("a.csv", lambda length: "," * (length // 2) + "\n" + "x\n" * (length // 4)),
    "a quotation without an end": ("a.csv", repeated("a", 'claim\n"')),
    "rows": ("a.csv", repeated("a\n", "claim\n")),
    "items": ("a.xml", repeated("<item/>", '<rss version="2.0"><channel>', "</channel></rss>")),
    "elements in elements": ("a.xml", repeated("<a>")),
}
SLOWEST: Final = ("numbers", "brackets", "objects in objects", "openings of scripts", "scripts without an end", "wide and long")


def used(run: Callable[[], Any]) -> float:
    def measure(what: Callable[[], Any]) -> float:
        begun = time.process_time()
        what()
        return time.process_time() - begun

    return measure(run) / max(1, measure(lambda: sum(number * number for number in range(300_000))) / LOOP)


def load(file: Path) -> None:
    with contextlib.suppress(CommandError):  # it says what is wrong, as others test
        call_command("loadfactchecks", str(file), "--no-vectors")


def is_bounded(cost: Callable[[int], float]) -> bool:
    """Whether a file at its limit costs less than it may, and hardly more than four quarters of it. The best of two counts."""
    whole = min(cost(WHOLE), cost(WHOLE))
    return whole < SECONDS and (whole < MEASURABLE or whole <= GROWTH * max(min(cost(WHOLE // 4), cost(WHOLE // 4)), 0.01))


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def upload(desk: Client, name: str, content: bytes) -> Any:
    file = io.BytesIO(content)
    file.name = name
    return desk.post(UPLOAD, {"file": file, "language": "en"}, follow=True)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SLOWEST)
def test_the_command_gives_up_early_on_a_file_of_nothing(tmp_path: Path, shape: str) -> None:
    name, make = SHAPES[shape]
    (tmp_path / name).write_text(make(WHOLE // 4))
    assert used(lambda: load(tmp_path / name)) < SECONDS / 2


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in ("small claims", "new words", "rows")])
def test_a_file_at_its_limit_is_loaded_in_linear_time(tmp_path: Path, shape: str) -> None:
    """The command takes a file of claims of any size, and each of its claims costs its share: these are no files of claims."""
    name, make = SHAPES[shape]

    def cost(length: int) -> float:
        (tmp_path / name).write_text(make(length))
        LoadJob.objects.all().delete()
        return used(lambda: load(tmp_path / name))

    assert is_bounded(cost)


@pytest.mark.slow
def test_a_few_bytes_that_unpack_to_many_are_refused(desk: Client) -> None:
    content = gzip.compress(b"[" + b" " * 100_000_000)
    answers = list[Any]()
    assert used(lambda: answers.append(upload(desk, "a.json.gz", content))) < SECONDS
    assert "It failed." in words(answers[0])
    assert "more than may be uploaded" in words(answers[0])


ODD: Final = {
    "65 bits": '{"id":"odd-1","synopsis":"x","facts":[{"index":123456789012345678901234567890,"text":"a"}]}',
    "not finite": '{"id":"odd-1","synopsis":"x","facts":[{"index":0,"text":"a","score":1e999}]}',
    "no number": '{"id":"odd-1","synopsis":"x","facts":[{"index":0,"text":"a","score":NaN}]}',
    "a rating of 400 digits": '{"@type":"ClaimReview","identifier":"odd-1","url":"https://a.example/1","claimReviewed":"x",'
    '"reviewRating":{"ratingValue":1' + "0" * 400 + ',"worstRating":1,"bestRating":5}}',
    "5,000 digits": '{"id":"odd-1","synopsis":"x","facts":[{"index":' + "9" * 5_000 + ',"text":"a"}]}',
}
NESTED: Final = '{"id":"odd-1","facts":' + "[" * 100_000 + "]" * 100_000 + "}"
FORMS: Final[dict[str, Callable[[list[str]], str]]] = {
    "dump.json": lambda entries: f"[{','.join(entries)}]",
    "held.json": lambda entries: f'{{"claims":[{",".join(entries)}]}}',
    "dump.ndjson": lambda entries: "\n".join(entries),
}


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("form", FORMS)
def test_one_odd_entry_is_refused_and_the_others_are_stored(tmp_path: Path, form: str, odd: str) -> None:
    good = [json.dumps(claim(number, f"Bees paint {number}")) for number in (1, 2)]
    (tmp_path / form).write_text(FORMS[form]([good[0], ODD[odd], good[1]]))
    call_command("loadfactchecks", str(tmp_path / form))
    job = LoadJob.objects.get()
    assert (job.created, job.errors, job.status) == (2, 1, "done")
    assert job.messages[0].startswith("Entry 2: ")
    assert "odd-1" in job.messages[0]


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_that_is_nested_too_deeply_ends_a_list_and_no_file_of_lines(tmp_path: Path, form: str) -> None:
    good = [json.dumps(claim(number, f"Bees paint {number}")) for number in (1, 2)]
    (tmp_path / form).write_text(FORMS[form]([good[0], NESTED, good[1]]))
    if form == "dump.ndjson":
        load(tmp_path / form)
    else:
        with pytest.raises(CommandError, match=r"nested too deeply.*What was loaded stays"):
            call_command("loadfactchecks", str(tmp_path / form), "--no-vectors")
    assert Claim.objects.count() == (2 if form == "dump.ndjson" else 1)


@pytest.mark.parametrize("odd", ["65 bits", "not finite", "a rating of 400 digits"])
def test_the_desk_names_the_odd_entry_and_stores_the_others(desk: Client, odd: str) -> None:
    good = [json.dumps(claim(number, f"Bees paint {number}")) for number in (1, 2)]
    answer = upload(desk, "dump.json", FORMS["dump.json"]([good[0], ODD[odd], good[1]]).encode())
    assert "Done." in words(answer)
    assert "3 fact-checks read from the file: 2 new , 0 changed, 0 already there, 1 refused . What was refused" in words(answer)
    assert "and why Entry 2: " in words(answer)
    assert 'href="#refused"' in answer.content.decode()
    assert Claim.objects.count() == 2


@pytest.mark.parametrize(("name", "content"), [("a.json", b"[{"), ("a.json", b"\xff\xfe["), ("a.json.gz", b"x")])
def test_the_desk_says_why_a_file_of_claims_cannot_be_read(desk: Client, name: str, content: bytes) -> None:
    answer = upload(desk, name, content)
    assert "It failed. Nothing new was stored." in words(answer)
    assert "What was refused or is incomplete, and why" in words(answer)
    assert "Resume" not in words(answer), "the same file would fail again"
    assert LoadJob.objects.get().status == "failed"


@pytest.mark.parametrize(("name", "content"), [("a.exe", b"x"), ("a.json", b"")])
def test_the_desk_refuses_what_is_no_file_of_claims(desk: Client, name: str, content: bytes) -> None:
    assert upload(desk, name, content).status_code == 400
    assert not LoadJob.objects.exists()
