"""Pages read in other processes: as they are read here, within their time, by any thread, and leaving nothing behind."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sources.parse import extractor_pool
from sources.parse.article import Article, InvalidArticle, parse_article
from sources.parse.extractor_pool import Page, Pool, extract_article, extract_articles
from tests.sources.parse.pages import pages

PAGES = [(page.html.encode(), "text/html", page.url) for page in pages(each=1)]
SLOW = b"<p>" + b"<a href=/x>" * 49_000  # more than half a second


def test_a_page_is_read_as_it_is_here() -> None:
    dated = PAGES[0][0].replace(b"</head>", b'<meta property="article:published_time" content="2026-01-15T12:00:00Z"></head>')
    assert extract_article(dated, "text/html", PAGES[0][2], 60) == parse_article(dated, content_type="text/html", url=PAGES[0][2])


def test_a_refusal_keeps_its_code_and_words() -> None:
    with pytest.raises(InvalidArticle, match="answers with application/pdf") as refusal:
        extract_article(b"%PDF", "application/pdf", "", 60)
    assert refusal.value.code == "not_html"


@pytest.mark.slow
def test_a_page_that_takes_too_long_ends_its_worker_and_no_other() -> None:
    with Pool(1) as pool:
        began = time.monotonic()
        with pytest.raises(InvalidArticle, match=r"more than 0\.1 s") as refusal:
            pool.extract(SLOW, "text/html", "", 0.1)
        assert refusal.value.code == "timeout"
        assert time.monotonic() - began < 5
        assert pool.extract(*PAGES[0]).markdown


@pytest.mark.slow
def test_a_page_that_needs_too_much_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor_pool, "SECONDS", 0.05)
    with Pool(1) as pool:
        refused = pool.read(SLOW, "text/html", "")
    assert isinstance(refused, InvalidArticle)
    assert (refused.code, str(refused)) == ("timeout", "Reading the page took more than 0.05 s of work.")


@pytest.mark.slow
def test_the_clock_refuses_no_page_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool(1) as pool, ThreadPoolExecutor(1) as threads:
        pool.extract(*PAGES[0])
        worker = pool._free.queue[0]
        assert worker
        monkeypatch.setattr(extractor_pool, "SECONDS", 1.0)
        worker._process.send_signal(signal.SIGSTOP)
        page = threads.submit(pool.read, *PAGES[1])
        time.sleep(1.5)
        worker._process.send_signal(signal.SIGCONT)
        assert isinstance(page.result(), Article)


@pytest.mark.slow
def test_waiting_for_a_worker_counts() -> None:
    with Pool(1) as pool, ThreadPoolExecutor(1) as threads:
        busy = threads.submit(pool.read, SLOW, "text/html", "")
        while pool._free.qsize():
            time.sleep(0.01)
        with pytest.raises(InvalidArticle) as refusal:
            pool.extract(*PAGES[0], 0.05)
        assert refusal.value.code == "timeout"
        assert isinstance(busy.result(), InvalidArticle)


@pytest.mark.slow
def test_many_threads_get_their_own_pages() -> None:
    def patient(page: Page) -> Article:
        return extract_article(*page, seconds=60)

    expected = [parse_article(data, url=url).markdown for data, _, url in PAGES]
    with ThreadPoolExecutor(8) as threads:
        assert [found.markdown for found in threads.map(patient, PAGES * 5)] == expected * 5


@pytest.mark.slow
def test_all_pages_are_read_in_order_and_refusals_stand_in_their_place() -> None:
    found = list(extract_articles(iter([PAGES[0], (b"", "", ""), PAGES[1]]), workers=2))
    assert [one.entry.url if isinstance(one, Article) else one.code for one in found] == [PAGES[0][2], "no_text", PAGES[1][2]]


def test_few_pages_are_taken_in_advance() -> None:
    taken = []

    def given() -> Iterator[Page]:
        for number in range(50):
            taken.append(number)
            yield PAGES[0]

    results = extract_articles(given(), workers=1)
    next(results)
    assert len(taken) <= 4
    results.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_worker_is_replaced_after_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    popen = subprocess.Popen

    def start(*arguments: object, **options: object) -> object:
        started.append(1)
        return popen(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(extractor_pool, "PAGES", 2)
    monkeypatch.setattr(subprocess, "Popen", start)
    with Pool(1) as pool:
        for page in PAGES[:5]:
            assert pool.extract(*page).markdown
    assert len(started) == 3


@pytest.mark.slow
def test_a_worker_that_died_is_replaced() -> None:
    with Pool(1) as pool:
        pool.extract(*PAGES[0])
        worker = pool._free.queue[0]
        assert worker
        worker._process.kill()
        refused = pool.read(*PAGES[0])
        assert isinstance(refused, InvalidArticle)
        assert refused.code == "broken"
        assert pool.extract(*PAGES[0]).markdown


@pytest.mark.slow
def test_workers_end_with_who_started_them() -> None:
    """The worker holds the pipe of its standard error, too: it is closed when the last of them has ended."""
    work = "extract_article(*PAGES[0], 60); os.kill(os.getpid(), 9)"
    program = f"import os; from tests.sources.parse.test_extractor_pool import *; {work}"
    root = Path(__file__).parents[3]
    process = subprocess.Popen([sys.executable, "-c", program], cwd=root, stderr=subprocess.PIPE)
    assert process.communicate(timeout=30)[1] == b""
    assert process.returncode == -9
