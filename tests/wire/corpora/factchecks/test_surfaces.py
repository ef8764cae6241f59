"""REST, pages, checkbot-rag's own addresses and the desk."""

import fcntl
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import rispy
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from tests.claims import FIXTURES, LEAD, TURBINES, claim, german, load
from tests.factories import entry, publish, story_of
from tests.mcpserver.asgi import request
from tests.wire.desk import at_desk, person, words
from wire.admin import commands
from wire.corpora.factchecks import embedding, load_jobs, store
from wire.corpora.factchecks.models import ApiKey, Claim, LoadJob, RatingName, StoryLink
from wire.text import lexicons

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_rate_limit(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "off"


def get(path: str) -> Any:
    answer = request("GET", path)
    assert answer.status == 200, answer.body
    return answer.json()


class TestRest:
    def test_every_address_answers(self) -> None:
        load(LEAD, *german())
        assert get("/api/factchecks/search.json?query=Blei")["claims"][0]["id"] == LEAD["id"]
        assert get("/api/factchecks/claims.json?limit=3")["total"] == 41
        assert get("/api/factchecks/claims/2025/11/20-2.json") == get(f"/api/factchecks/claims/{LEAD['id']}.json")
        assert get("/api/factchecks/categories.json")["categories"][0]["count"] > 1
        assert get("/api/factchecks/rating-labels.json")["rating_labels"]
        assert get("/api/factchecks/stats.json")["claims"] == 41

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["category", "rating_label", "status"])
    def test_a_value_that_no_claim_can_have_finds_none(self, name: str) -> None:
        load(LEAD)
        assert get(f"/api/factchecks/claims.json?{name}=a%00b")["claims"] == []
        assert get(f"/api/factchecks/search.json?query=Blei&{name}=a%00b")["claims"] == []

    def test_citations_come_in_three_formats(self) -> None:
        load(LEAD)
        layered = get("/api/factchecks/citations/2025/11/20-2.json")["citation"]
        assert layered.startswith("According to fact-checkers (20 November 2025), the claim “Leitungswasser in Bremen")
        (item,) = json.loads(get("/api/factchecks/citations/2025/11/20-2.json?format=csl")["citation"])
        assert (item["type"], item["URL"]) == ("webpage", "https://example.org/a")
        (entry,) = rispy.loads(get("/api/factchecks/citations/2025/11/20-2.json?format=ris")["citation"])
        assert entry["title"].startswith("Leitungswasser in Bremen")

    def test_a_withdrawn_one_is_not_to_be_cited(self) -> None:
        (first,) = load(LEAD)
        store.withdraw_claim(first, "Wrong.", first.changed_at)
        assert request("GET", "/api/factchecks/citations/2025/11/20-2.json").status == 410
        assert get("/api/factchecks/claims/2025/11/20-2.json")["status"] == "withdrawn"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("claims/nix.json", 404),
            ("claims/2025/11/21-1.json", 404),
            ("search.json", 422),
            ("search.json?query=", 422),
            ("search.json?query=x&limit=0", 422),
            ("search.json?query=x&limit=21", 422),
            ("search.json?query=x&language=xx", 422),
            ("search.json?query=x&nonsense=1", 400),
            ("claims.json?cursor=x", 422),
            ("story/nix.json", 404),
        ],
    )
    def test_what_cannot_be_answered_says_why(self, path: str, status: int) -> None:
        load(LEAD, TURBINES)
        answer = request("GET", f"/api/factchecks/{path}")
        assert answer.status == status
        assert set(answer.json()) == {"error", "message", "hint"}


class TestPages:
    @pytest.mark.slow
    def test_a_search_and_a_list(self) -> None:
        load(LEAD, *german())
        assert b"Leitungswasser in Bremen" in request("GET", "/factchecks?query=Blei").body
        assert b"More fact-checks" in request("GET", "/factchecks").body
        assert request("GET", "/factchecks?query=%3F%21").status == 422
        assert request("GET", "/factcheck/nix").status == 404
        assert b"/factcheck/2025/11/20-2</loc>" in request("GET", "/sitemap-factchecks.xml").body

    def test_a_claim_that_only_its_meaning_found_is_marked(self, settings: Settings) -> None:
        settings.FACTCHECKS_EMBEDDING = "hashed"
        load(LEAD, TURBINES | {"status": "published"})
        embedding.embed_missing()
        assert request("GET", "/factchecks?query=Blei").body.count(b"found by meaning only") == 1
        assert b"found by meaning only" not in request("GET", "/factchecks").body

    def test_a_page_carries_a_claim_review_that_a_load_reads_again(self, tmp_path: Path) -> None:
        from wire.corpora.factchecks import file_formats

        load(LEAD | {"ratingLabelName": "falsch"})
        body = request("GET", "/factcheck/2025/11/20-2").body.decode()
        (graph,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', body, re.S)
        (review,) = [node for node in json.loads(graph)["@graph"] if node["@type"] == "ClaimReview"]
        assert review["claimReviewed"] == LEAD["synopsis"]
        assert review["reviewRating"] == {
            "@type": "Rating",
            "alternateName": "falsch",
            "ratingValue": 1,
            "worstRating": 1,
            "bestRating": 5,
        }
        page = tmp_path / "page.html"
        page.write_text(body)
        (draft,) = file_formats.read_entries(page, "")
        assert draft.synopsis == LEAD["synopsis"]  # type: ignore[union-attr]

    def test_texts_are_escaped(self) -> None:
        load(claim(1, "<script>alert(1)</script> Mond", publishingUrl="javascript:alert(1)"))
        body = request("GET", "/factcheck/2026/01/01-1").body
        assert b"<script>alert" not in body
        assert b"javascript:" not in body

    def test_a_withdrawn_one_says_so_and_has_no_review(self) -> None:
        (first,) = load(LEAD)
        store.withdraw_claim(first, "The source erred.", first.changed_at)
        body = request("GET", "/factcheck/2025/11/20-2").body
        assert b"The source erred." in body
        assert b"ClaimReview" not in body


class TestDesk:
    @pytest.fixture
    def desk(self) -> Client:
        return at_desk("editor")

    @pytest.mark.slow
    def test_every_list_and_form_opens(self) -> None:
        load(LEAD, *german())
        desk = at_desk("editor", "publisher")
        for page in ("claim", "ratingname", "storylink", "loadjob", "apikey", "storylink/add", "apikey/add", "loadjob/upload"):
            assert desk.get(f"/admin/factchecks/{page}/").status_code == 200, page
        assert desk.get(f"/admin/factchecks/claim/{Claim.objects.all()[0].pk}/change/").status_code == 200

    @pytest.mark.slow
    def test_an_editor_withdraws_gives_back_and_supersedes(self, desk: Client) -> None:
        first, *_ = load(LEAD, *german())
        page = f"/admin/factchecks/claim/{first.pk}/change/"
        assert desk.get(page).status_code == 200
        assert desk.post(page, {"withdrawn_reason": "", "superseded_by": "nix"}).status_code == 200
        assert desk.post(page, {"withdrawn_reason": "It was wrong.", "superseded_by": ""}).status_code == 302
        assert Claim.objects.get(pk=first.pk).withdrawn_reason == "It was wrong."
        assert "It was wrong." in LogEntry.objects.latest("pk").get_change_message()
        assert desk.post(page, {"withdrawn_reason": "", "superseded_by": german()[0]["shortId"]}).status_code == 302
        back = Claim.objects.get(pk=first.pk)
        assert (back.withdrawn_at, back.superseded_by) == (None, german()[0]["id"])
        assert back.synopsis == first.synopsis

    @pytest.mark.slow
    def test_a_link_to_a_story_is_made_by_the_ids_or_addresses_of_both(self, desk: Client) -> None:
        first, *_ = load(LEAD)
        publish(made := entry())
        story = story_of(made)
        add, kind = "/admin/factchecks/storylink/add/", {"kind": "pinned"}
        wrong = desk.post(add, kind | {"claim": str(first.pk), "story": story.chatbotnews_id[:8]}).context["adminform"].form.errors
        assert wrong == {"claim": ["There is no such fact-check."], "story": ["There is no such story."]}
        addresses = {
            "claim": f"http://localhost/factcheck/{first.short_id}",
            "story": f"http://localhost/story/{story.chatbotnews_id}",
        }
        assert desk.post(add, kind | addresses).status_code == 302
        assert list(StoryLink.objects.values_list("claim", "story", "kind")) == [(first.pk, story.pk, "pinned")]
        page = f"/admin/factchecks/storylink/{StoryLink.objects.get().pk}/change/"
        assert desk.post(page, {"kind": "cut"}).status_code == 302
        assert "1 link to a story" in words(desk.get("/admin/factchecks/storylink/"))

    def test_an_upload_leads_to_the_page_of_its_load(self, desk: Client) -> None:
        with (FIXTURES / "claims_de.json").open("rb") as file:
            answer = desk.post("/admin/factchecks/loadjob/upload/", {"file": file, "language": "de"}, follow=True)
        job = LoadJob.objects.get()
        assert (Claim.objects.count(), job.status) == (40, "done")
        assert answer.redirect_chain == [(f"/admin/factchecks/loadjob/{job.pk}/change/", 302)]
        assert "Done. Readers see what was stored." in words(answer)
        assert "40 fact-checks read from the file: 40 new , 0 changed, 0 already there, none refused." in words(answer)
        assert 'hx-trigger="every' not in answer.content.decode(), "nothing more is to come"

    def test_the_page_of_a_load_counts_what_lost_a_value(self, desk: Client) -> None:
        file = SimpleUploadedFile("a.csv", b"claim,rating,url,date,publisher\nMoon,False,moon,31.13.2026,Check")
        shown = words(desk.post("/admin/factchecks/loadjob/upload/", {"file": file, "language": "en"}, follow=True))
        assert "1 new , 0 changed, 0 already there, none refused, 1 incomplete ." in shown
        assert "Row 2: stored without a web address: none could be read from “moon”; stored without a date: none" in shown

    def test_the_page_of_an_upload_names_columns_that_are_read(self, desk: Client) -> None:
        page = desk.get("/admin/factchecks/loadjob/upload/").content.decode()
        named = set(re.findall("<code>([a-z]+)</code>", page))
        read = set(" ".join(lexicons.load_lexicon("factchecks")["columns"].values()).split())
        assert {"claim", "title", "rating", "url", "date"} <= named <= read

    def test_the_page_of_a_load_leads_to_its_claims_alone(self, desk: Client) -> None:
        load(LEAD, claim(1, "Mond"))
        entries = [claim(1, "Der Mond ist aus Käse"), claim(2, "Mars")]
        file = SimpleUploadedFile("a.json", json.dumps(entries).encode())
        answer = desk.post("/admin/factchecks/loadjob/upload/", {"file": file, "language": "de"}, follow=True)
        pages = [
            html.unescape(page)
            for page in re.findall(r'href="(/admin/factchecks/claim/\?first_seen[^"]*)"', answer.content.decode())
        ]
        listed = [[row.synopsis for row in desk.get(page).context["cl"].result_list] for page in pages]
        assert listed == [["Mars"], ["Der Mond ist aus Käse"]]

    def test_a_saved_fact_check_is_linked_to_its_public_page(self, desk: Client) -> None:
        first, *_ = load(LEAD)
        page = f"/admin/factchecks/claim/{first.pk}/change/"
        answer = desk.post(page, {"withdrawn_reason": "Wrong.", "superseded_by": ""}, follow=True).content.decode()
        assert re.search(rf'Saved: <a href="[^"]*/factcheck/{LEAD["shortId"]}">{LEAD["synopsis"]}</a>\.', answer)

    def test_a_load_that_was_killed_goes_on_at_the_desk(self, desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as killed, (FIXTURES / "claims_de.json").open("rb") as file:
            killed.setattr(commands, "run_process", lambda *_: None)
            answer = desk.post("/admin/factchecks/loadjob/upload/", {"file": file, "language": ""}, follow=True)
        assert "It stopped half-way: its process is gone." in words(answer)
        page = answer.redirect_chain[0][0]
        assert "Done." in words(desk.post(page, {"resume": "1"}, follow=True))
        assert Claim.objects.count() == 40

    def test_a_load_that_was_killed_is_cancelled_at_once_and_its_file_goes(
        self, desk: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        upload, name = "/admin/factchecks/loadjob/upload/", FIXTURES / "claims_de.json"
        with monkeypatch.context() as killed, name.open("rb") as file:
            killed.setattr(commands, "run_process", lambda *_: None)
            page = desk.post(upload, {"file": file, "language": ""}, follow=True).redirect_chain[0][0]
        assert "Cancelled." in words(desk.post(page, {"cancel": "1"}, follow=True))
        assert "Resume" not in words(desk.get(page))
        with name.open("rb") as file:
            desk.post(upload, {"file": file, "language": "de"})
        assert sorted(LoadJob.objects.values_list("status", flat=True)) == ["canceled", "done"]
        assert len(list((settings.WIRE_DATA_DIR / "desk" / "uploads").iterdir())) == 1

    def test_a_load_that_was_cancelled_before_its_process_began_loads_nothing(self, desk: Client) -> None:
        file = FIXTURES / "claims_de.json"
        job = load_jobs.get_or_create_job(file, "de")
        assert load_jobs.request_cancel(job)
        load_jobs.run_job(load_jobs.get_or_create_job(file, "de"), file)
        assert (LoadJob.objects.get().status, Claim.objects.count()) == ("canceled", 0)
        page = f"/admin/factchecks/loadjob/{job.pk}/change/"
        desk.post(page, {"resume": "1"})
        assert (LoadJob.objects.get().status, Claim.objects.count()) == ("canceled", 0)

    def test_an_upload_leaves_another_ones_file_and_takes_any_name(self, desk: Client, settings: Settings) -> None:
        other = settings.WIRE_DATA_DIR / "desk" / "uploads" / "of-another"
        other.mkdir(parents=True)
        name, content = f"{'ä' * 200}.json", (FIXTURES / "claims_de.json").read_bytes()
        desk.post("/admin/factchecks/loadjob/upload/", {"file": SimpleUploadedFile(name, content), "language": "de"})
        assert (LoadJob.objects.get().source, LoadJob.objects.get().status) == (name, "done")
        assert other.exists()

    def test_while_its_process_works_a_load_shows_progress_and_is_cancelled_after_the_batch(
        self, desk: Client, settings: Settings
    ) -> None:
        job = LoadJob.objects.create(source="x", fingerprint="x", status="running", processed=3)
        page, log = f"/admin/factchecks/loadjob/{job.pk}/change/", settings.WIRE_DATA_DIR / "desk" / f"load-{job.pk}.log"
        log.parent.mkdir(parents=True)
        log.write_text("{}\n")
        with log.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            shown = desk.get(page).content.decode()
            assert 'hx-trigger="every 2s"' in shown
            assert "<progress" in shown
            assert "It stops after the current batch." in words(desk.post(page, {"cancel": "1"}, follow=True))
        job.refresh_from_db()
        assert (job.status, job.cancel_requested) == ("running", True)

    def test_who_may_only_look_cancels_no_load(self) -> None:
        looker, client = person("looker"), Client()
        looker.user_permissions.set(Permission.objects.filter(codename="view_loadjob"))
        client.force_login(looker)
        job = LoadJob.objects.create(source="x", fingerprint="x", status="running")
        page = f"/admin/factchecks/loadjob/{job.pk}/change/"
        assert "Cancel" not in words(client.get(page))
        assert client.post(page, {"cancel": "1"}).status_code == 403
        assert at_desk().get(page).status_code == 403
        assert client.get("/admin/factchecks/loadjob/x/change/").status_code == 404

    def test_a_running_load_is_cancelled(self, desk: Client) -> None:
        job = LoadJob.objects.create(source="x", fingerprint="x", status="running")
        desk.post("/admin/factchecks/loadjob/", {"action": "cancel", "_selected_action": [job.pk]})
        job.refresh_from_db()
        assert job.cancel_requested

    def test_an_editor_s_rating_of_a_label_counts(self, desk: Client) -> None:
        load(claim(1, "Mond", ratingLabelName="quatsch"))
        page = "/admin/factchecks/ratingname/quatsch/change/"
        for rating in ("", "unknown"):
            assert desk.post(page, {"rating": rating}).context["adminform"].form.errors.keys() == {"rating"}
        assert not RatingName.objects.get(key="quatsch").is_edited, "it stays in the queue"
        saved = desk.post(page, {"rating": "false"}, follow=True)
        assert "1 fact-check has this label. Readers see the rating within a minute." in words(saved)
        name = RatingName.objects.get(key="quatsch")
        assert (name.rating, name.is_edited) == ("false", True)

    @pytest.mark.slow
    def test_a_key_is_shown_once_and_revoked(self) -> None:
        desk = at_desk("editor", "publisher")
        answer = desk.post("/admin/factchecks/apikey/add/", {"name": "Newsroom"}, follow=True)
        (token,) = re.findall(r"fck_[\w-]{43}", answer.content.decode())
        assert token not in desk.get("/admin/factchecks/apikey/").content.decode()
        key = ApiKey.objects.get()
        desk.post("/admin/factchecks/apikey/", {"action": "revoke", "_selected_action": [key.pk]})
        key.refresh_from_db()
        assert key.revoked_at is not None

    def test_an_editor_hands_out_no_keys(self, desk: Client) -> None:
        assert desk.get("/admin/factchecks/apikey/add/").status_code == 403
