"""A claim is its checker's: no file replaces the claim of another one, none is stored twice, and what changes is kept."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests import claims
from tests.claims import LEAD, claim, load
from tests.mcpserver.asgi import request
from tests.wire.desk import at_desk
from wire.corpora.factchecks import claim_parsers, load_jobs, queries, store
from wire.corpora.factchecks.models import Claim, ClaimRevision, LoadJob

pytestmark = pytest.mark.django_db

A = ",claim,rating,url\n0,The pier was painted by bees,False,https://a.example/pier\n1,Owls run the tram,False,https://a.example/tram\n"
B = ",claim,rating,url\n0,The lake tastes of mint,True,https://b.example/lake\n"


@pytest.fixture(autouse=True)
def no_rate_limit(settings: Any) -> None:
    settings.WIRE_RATE_LIMIT = "off"


def load_file(path: Path, text: str) -> LoadJob:
    path.write_text(text, encoding="utf-8")
    job = load_jobs.get_or_create_job(path, "en")
    load_jobs.run_job(job, path)
    claims.forget()
    return job


def review(**fields: Any) -> dict[str, Any]:
    told = {"@type": "ClaimReview", "claimReviewed": LEAD["synopsis"], "reviewRating": {"alternateName": "wahr"}}
    return told | fields


def load_reviews(path: Path, *reviews: dict[str, Any]) -> LoadJob:
    return load_file(path, json.dumps(list(reviews)))


def labels(synopsis: str) -> list[str]:
    return sorted(Claim.objects.filter(synopsis=synopsis).values_list("rating_label", flat=True))


@pytest.mark.parametrize("name", ["", "id", "Id"])
def test_rows_of_two_tables_that_are_counted_alike_are_all_there(tmp_path: Path, name: str) -> None:
    load_file(tmp_path / "a.csv", name + A)
    load_file(tmp_path / "b.csv", name + B)
    assert list(Claim.objects.order_by("number").values_list("rating_label", flat=True)) == ["False", "False", "True"]


def test_a_table_that_is_loaded_again_changes_nothing(tmp_path: Path) -> None:
    load_file(tmp_path / "a.csv", A)
    before = list(Claim.objects.order_by("number").values())
    job = load_file(tmp_path / "again.csv", A + "2,Snails vote,True,https://a.example/snails\n")
    assert (job.created, job.updated, job.skipped) == (1, 0, 2)
    assert list(Claim.objects.order_by("number").values())[:2] == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [
        {"author": {"name": "Other Facts"}, "url": "https://other.example/1"},
        {"author": {"name": "Other Facts"}},
        {"author": {"name": "Other Facts"}, "url": LEAD["publishingUrl"]},
        {"author": {"name": "Other Facts"}, "claimReviewed": "Etwas ganz anderes"},
        {"url": "https://other.example/1"},
        {},
    ],
)
@pytest.mark.parametrize("identifier", [LEAD["id"], LEAD["shortId"]])
def test_a_review_that_names_another_checker_s_id_replaces_nothing(tmp_path: Path, identifier: str, fields: dict[str, Any]) -> None:
    load(LEAD)
    before = Claim.objects.values().get()
    load_reviews(tmp_path / "over.json", review(identifier=identifier, **fields))
    assert Claim.objects.filter(pk=before["id"]).values().get() == before
    assert Claim.objects.count() == 2
    for one in (LEAD["id"], LEAD["shortId"]):
        assert queries.get_claim(one).rating_label == "false"


def test_a_row_with_another_claim_s_short_id_is_stored_without_it(tmp_path: Path) -> None:
    load(LEAD)
    job = load_file(tmp_path / "a.csv", f"id,short_id,claim,rating\nx1,{LEAD['shortId']},Alles erfunden,wahr\n")
    assert queries.get_claim(LEAD["shortId"]).rating_label == "false"
    assert queries.get_claim("x1").short_id is None
    assert "stored without it" in job.messages[0]
    again = load_file(tmp_path / "b.csv", f"id,short_id,claim,rating\nx1,{LEAD['shortId']},Alles erfunden,wahr\n\n")
    assert (again.updated, again.skipped) == (0, 1)


def test_equal_claims_of_two_checkers_stay_two(tmp_path: Path) -> None:
    both = [
        review(author={"name": name}, reviewRating={"alternateName": label}) for name, label in (("A", "wahr"), ("B", "falsch"))
    ]
    load_reviews(tmp_path / "a.json", *both)
    load_reviews(tmp_path / "b.json", *reversed(both))
    assert labels(LEAD["synopsis"]) == ["falsch", "wahr"]


def test_rows_of_two_publishers_with_one_id_are_two_and_found_again(tmp_path: Path) -> None:
    rows = "id,publisher,claim,rating\nk-1,Alpha,Bees paint,False\nk-1,Beta,Owls drive,True\n"
    load_file(tmp_path / "a.csv", rows)
    job = load_file(tmp_path / "b.csv", rows + "\n")
    assert (Claim.objects.count(), job.skipped) == (2, 2)


BARE = "2026-02-01,False,,Neatly,Checker,Bees paint"
PIER, TRAM = ",False,https://a.example/1,,Checker,Bees paint", ",True,https://a.example/2,,Checker,Bees paint"
LATER = "2026-03-01,True,https://a.example/3,,Checker,Bees paint"


def load_rows(path: Path, *rows: str) -> LoadJob:
    return load_file(path, "\n".join(["date,rating,url,summary,publisher,claim", *rows, ""]))


@pytest.mark.parametrize("order", list(permutations((BARE, PIER, TRAM))))
def test_an_entry_without_an_address_is_one_fact_check_with_the_entry_that_has_it(tmp_path: Path, order: tuple[str, ...]) -> None:
    for row in order:
        load_rows(tmp_path / f"{order.index(row)}.csv", row)
    before = list(Claim.objects.order_by("number").values())
    assert sorted(one["publishing_url"] for one in before) == ["https://a.example/1", "https://a.example/2"]
    for row in order:
        job = load_rows(tmp_path / f"again{order.index(row)}.csv", row, "")
        assert (job.created, job.updated, job.skipped) == (0, 0, 1)
    job = load_rows(tmp_path / "together.csv", *order)
    assert (job.created, job.updated, job.skipped) == (0, 0, 3)
    assert list(Claim.objects.order_by("number").values()) == before


@pytest.mark.parametrize("order", list(permutations((BARE, PIER, TRAM))))
def test_in_one_file_too(tmp_path: Path, order: tuple[str, ...]) -> None:
    for name in ("a.csv", "b.csv"):
        job = load_rows(tmp_path / name, *order, *[""] * (name == "b.csv"))
        assert Claim.objects.exclude(publishing_url="").count() == Claim.objects.count() == 2
    assert (job.created, job.updated, job.skipped) == (0, 0, 3)


def test_a_fact_check_that_gets_its_address_keeps_its_id_and_what_only_it_said(tmp_path: Path) -> None:
    load_rows(tmp_path / "a.csv", BARE)
    before = Claim.objects.get()
    job = load_rows(tmp_path / "b.csv", TRAM)
    after = Claim.objects.get()
    assert (job.created, job.updated) == (0, 1)
    assert (after.external_id, after.rating_summary, after.published_at) == (before.external_id, "Neatly", before.published_at)
    assert (after.rating_label, after.publishing_url) == ("True", "https://a.example/2")
    assert ClaimRevision.objects.get().fields["publishing_url"] == ""


def test_an_entry_without_an_address_changes_nothing_of_one_that_has_it_and_says_so(tmp_path: Path) -> None:
    load_rows(tmp_path / "a.csv", TRAM)
    job = load_rows(tmp_path / "b.csv", BARE)
    assert Claim.objects.get().rating_label == "True"
    assert (
        "“Bees paint”: this claim is stored already; to change it, add its web address https://a.example/2 to the entry"
        in job.messages[0]
    )


def test_a_review_of_another_day_or_checker_is_another_fact_check(tmp_path: Path) -> None:
    load_rows(tmp_path / "a.csv", BARE, LATER, PIER.replace("Checker", "Other"), PIER.replace("Checker", ""))
    assert Claim.objects.count() == 4


def test_an_id_of_its_own_finds_the_fact_check_that_lacked_its_address(tmp_path: Path) -> None:
    table = "id,publisher,claim,rating,url\nk-1,Checker,Bees paint,False,"
    load_file(tmp_path / "a.csv", table)
    load_file(tmp_path / "b.csv", table + "https://a.example/1")
    job = load_file(tmp_path / "a.csv", table + "\n")
    assert (Claim.objects.get().publishing_url, job.skipped) == ("https://a.example/1", 1)


def test_one_id_with_another_url_and_another_text_is_refused_by_name(tmp_path: Path) -> None:
    load_file(tmp_path / "a.csv", "id,claim,rating,url\nk-1,Bees paint,False,https://a.example/1\n")
    job = load_file(
        tmp_path / "b.csv", "id,claim,rating,url\nk-1,Owls drive,True,https://a.example/2\nk-2,New,True,https://a.example/3\n"
    )
    assert (job.created, job.updated, job.errors) == (1, 0, 1)
    assert "Owls drive" in job.messages[0]
    assert "k-1" in job.messages[0]
    assert queries.get_claim("k-1").synopsis == "Bees paint"


def test_a_draft_of_the_dump_gets_its_address_and_its_wording(tmp_path: Path) -> None:  # noqa: ARG001
    load(claim(1, "Mond"))
    load(claim(1, "Der Mond ist aus Käse", publishingUrl="https://x.example/1"))
    assert Claim.objects.get().synopsis == "Der Mond ist aus Käse"


def test_anonymous_claims_with_other_headlines_are_not_one(tmp_path: Path) -> None:
    table = "\tvclaim\ttitle\n0\tBees paint\tDo bees paint?\n1\tBees paint\tNo, bees do not paint\n"
    load_file(tmp_path / "a.tsv", table)
    assert Claim.objects.count() == 2


@pytest.mark.django_db(transaction=True)
class TestEarlierVersions:
    def change(self) -> None:
        load(LEAD | {"ratingLabelName": "falsch"})
        load(LEAD | {"ratingLabelName": "wahr", "ratingSummary": "Neu gemessen."})
        load(LEAD | {"ratingLabelName": "wahr", "ratingSummary": "Noch einmal gemessen."})

    @pytest.mark.slow
    def test_they_are_readable_and_the_change_of_the_rating_is_dated(self) -> None:
        self.change()
        answer = request("GET", f"/api/factchecks/revisions/{LEAD['shortId']}.json").json()
        assert [(one["revision"], one["rating_label"], one["summary"]) for one in answer["earlier"]] == [
            (2, "wahr", "Neu gemessen."),
            (1, "falsch", "Die Messwerte liegen unter dem Grenzwert."),
        ]
        (change,) = answer["rating_changes"]
        assert (change["from_label"], change["to_label"]) == ("falsch", "wahr")
        assert change["changed_at"] == answer["earlier"][1]["until"]
        assert answer["earlier"][0]["since"] == answer["earlier"][1]["until"]
        assert queries.get_claim(LEAD["id"]).revision == answer["revision"] == 3

    @pytest.mark.slow
    def test_the_page_and_the_desk_show_them(self) -> None:
        self.change()
        page = request("GET", f"/factcheck/{LEAD['shortId']}").body.decode()
        assert "Earlier versions" in page
        assert 'from <q dir="auto">falsch</q> to <q dir="auto">wahr</q>' in page
        desk = at_desk("editor").get(f"/admin/factchecks/claim/{Claim.objects.get().pk}/change/").content.decode()
        assert "falsch" in desk

    def test_a_version_that_was_never_public_is_not_shown(self) -> None:
        load(LEAD | {"internal": True, "ratingSummary": "Geheim."})
        load(LEAD)
        assert ClaimRevision.objects.count() == 1
        assert request("GET", f"/api/factchecks/revisions/{LEAD['shortId']}.json").json()["earlier"] == []
        assert b"Geheim" not in request("GET", f"/factcheck/{LEAD['shortId']}").body

    @pytest.mark.slow
    def test_all_of_many_are_reachable(self) -> None:
        for number in range(45):
            load(LEAD | {"ratingSummary": f"Fassung {number}"})
        seen, before = list[int](), ""
        while True:
            answer = request("GET", f"/api/factchecks/revisions/{LEAD['shortId']}.json{before}").json()
            seen += [one["revision"] for one in answer["earlier"]]
            if answer["next_before"] is None:
                break
            before = f"?before={answer['next_before']}"
        assert seen == list(range(44, 0, -1))

    def test_a_load_that_changes_nothing_makes_none(self) -> None:
        load(LEAD)
        stored = store.store_claims([claim_parsers.parse_dump(LEAD, "de")], timezone.now())
        assert (stored.updated, stored.skipped, ClaimRevision.objects.count()) == (0, 1, 0)
