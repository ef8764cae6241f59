"""Seals of rows: each change by SQL is named, and rows that the program writes keep a seal that fits."""

import datetime as dt
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from config.database import row_seal
from tests import claims, publishers
from tests.wire.archives import verifywire
from wire.corpora.articles import store as articles
from wire.corpora.articles.models import Article, ArticleAlias, Publisher
from wire.corpora.factchecks import store as factchecks
from wire.corpora.factchecks.models import Claim, FactcheckState, RatingName

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2026, 3, 20, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def stored() -> None:
    claims.load(claims.LEAD, claims.claim(3, "Robots swim in lakes", ratingLabelName="true"))
    publishers.store(publishers.publisher(), publishers.cake(), publishers.draft("Plum pie", "https://yoursite.com/pie"))


def execute(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        assert cursor.rowcount > 0


DAMAGES = {
    "all ratings": ("UPDATE factchecks_claim SET rating_label = 'true'", "factchecks_claim "),
    "all summaries": ("UPDATE factchecks_claim SET rating_summary = 'So it is.'", "factchecks_claim "),
    "what a label means": ("UPDATE factchecks_ratingname SET rating = 'true' WHERE key = 'false'", "factchecks_ratingname false"),
    "a claim that is gone": ("DELETE FROM factchecks_claim WHERE short_id = '2026/01/01-3'", "factchecks_claim: 2 claims"),
    "all texts": ("UPDATE articles_article SET markdown = 'Nothing.'", "articles_article "),
    "all licences": ("UPDATE articles_publisher SET licence = 'CC0', may_train = true", "articles_publisher "),
    "a seal taken away": ("UPDATE articles_article SET seal = NULL", "articles_article .*no seal"),
    "a seal of another row": (
        "UPDATE articles_article SET seal = (SELECT seal FROM articles_article ORDER BY id LIMIT 1)",
        "articles_article ",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_verifywire_names_the_row(damage: str) -> None:
    verifywire()
    sql, name = DAMAGES[damage]
    execute("DELETE FROM factchecks_claimcategory")
    execute(sql)
    with pytest.raises(CommandError, match=f"First break: {name}"):
        verifywire()


def test_what_the_program_writes_keeps_its_seal() -> None:
    chef, (first, second) = Publisher.objects.get(slug="chef"), Claim.objects.order_by("number")
    factchecks.withdraw_claim(first, "A mistake.", NOW)
    factchecks.restore_claim(first, NOW)
    factchecks.supersede_claim(second, first.external_id)
    claims.load(claims.LEAD | {"ratingLabelName": "true"}, claims.claim(5, "Robots fly"))
    publishers.store(chef, publishers.cake(markdown="Without cocoa."))
    pie = Article.objects.get(title="Plum pie")
    articles.add_alias(chef, pie, "yoursite.com/plums")
    articles.mark_failed(pie, "500", NOW)
    articles.mark_missing(pie, NOW)
    Publisher.objects.filter(pk=chef.pk).update(licence="CC BY 4.0")
    chef.refresh_from_db()
    chef.may_train = True
    chef.save()
    assert ArticleAlias.objects.exists()
    verifywire()


def test_a_row_that_was_changed_by_sql_is_not_sealed_by_a_later_write() -> None:
    execute("UPDATE articles_article SET markdown = 'Nothing.' WHERE title = 'Plum pie'")
    execute("UPDATE factchecks_claim SET rating_summary = 'So it is.'")
    Article.objects.filter(title="Plum pie").update(language="en")
    for claim in Claim.objects.all():
        factchecks.supersede_claim(claim, "another")
    assert len(list(row_seal.list_seal_faults(Article))) == 1
    assert len(list(row_seal.list_seal_faults(Claim))) == 2
    out = io.StringIO()
    call_command("sealrows", "articles_article", stdout=out)
    assert "articles_article: 1 rows sealed" in out.getvalue()
    assert not list(row_seal.list_seal_faults(Article))
    assert len(list(row_seal.list_seal_faults(Claim))) == 2


def test_after_another_secret_rows_are_still_compared_and_can_be_sealed_anew(settings: Any) -> None:
    settings.SECRET_KEY = "made anew"
    assert "rows bear the seal of another SECRET_KEY" in verifywire()
    execute("UPDATE articles_article SET markdown = 'Nothing.' WHERE title = 'Plum pie'")
    with pytest.raises(CommandError, match="articles_article"):
        verifywire()
    call_command("sealrows", stdout=io.StringIO())
    assert "another SECRET_KEY" not in verifywire()


def test_a_seal_that_was_made_without_the_secret_fits_no_row(settings: Any) -> None:
    ours = settings.SECRET_KEY
    edition = bytes(RatingName.objects.values_list("seal", flat=True)[0] or b"")[:4]
    execute("UPDATE articles_article SET markdown = 'Nothing.'")
    settings.SECRET_KEY = "a guess"
    row_seal.renew_all_seals(Article)
    settings.SECRET_KEY = ours
    assert "another SECRET_KEY" in verifywire(), "it is said that somebody else sealed it"
    for pk, seal in Article.objects.values_list("pk", "seal"):
        execute("UPDATE articles_article SET seal = %s WHERE id = %s", edition + bytes(seal or b"")[4:], pk)
    with pytest.raises(CommandError, match="articles_article"):
        verifywire()


def test_labels_that_are_there_already_are_not_sealed_again() -> None:
    execute("UPDATE factchecks_ratingname SET rating = 'true' WHERE key = 'false'")
    factchecks.create_defaults()
    claims.load(claims.claim(9, "Another one", ratingLabelName="Quite so"))
    assert [fault.split(":")[0] for fault in row_seal.list_seal_faults(RatingName)] == ["factchecks_ratingname false"]
    assert FactcheckState.objects.get().next_number == 3
