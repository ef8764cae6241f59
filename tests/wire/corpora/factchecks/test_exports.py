"""Exports as they come: tables of any separator and charset, ClaimReview as sites write it, the API's answers, many labels."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.corpora.factchecks.test_parsers import REVIEW, read
from tests.wire.desk import at_desk
from wire.corpora.factchecks import file_formats, load_jobs, store
from wire.corpora.factchecks.claim_parsers import ClaimDraft
from wire.corpora.factchecks.models import Claim, LoadJob, RatingName
from wire.corpora.factchecks.ratings import Rating, rate_label

CLAIM = "The moon is made of cheese"


def read_one(tmp_path: Path, name: str, content: str | bytes) -> ClaimDraft:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (found,) = file_formats.read_entries(file, "")
    assert isinstance(found, ClaimDraft), found
    return found


@pytest.mark.parametrize(
    "table",
    [
        "claim,rating,url\n{},False,https://a.example/1\n",
        "claim;rating;url\n{};False;https://a.example/1\n",
        "claim\trating\turl\n{}\tFalse\thttps://a.example/1\n",
        "claim|rating|url\n{}|False|https://a.example/1\n",
        "sep=;\nclaim;rating;url\n{};False;https://a.example/1\n",
        "Claim;Rating;URL;Note, if any\n{};False;https://a.example/1;a, b\n",
        '"claim","rating","url"\r\n"{}","False","https://a.example/1"\r\n',
        "Claim Reviewed,Review Rating,Fact-check URL\n{},False,https://a.example/1\n",
        "claimReview_claimReviewed,rating_alternateName,claimReview_url\n{},False,https://a.example/1\n",
        "text,ratingName,link\n{},False,https://a.example/1\n",
        "statement,verdict,factcheck_analysis_link\n{},False,https://a.example/1\n",
        "title,class,article_url,content_text\n{},False,https://a.example/1,It is rock.\n",
        "Behauptung;Bewertung;Link\n{};False;https://a.example/1\n",
        "id,claim,textualRating,reviewUrl\nx-1,{},False,https://a.example/1\n",
        "quote_text,status,link\n{},False,https://a.example/1\n",
        "claim,judge,link\n{},False,https://a.example/1\n",
        "URL\tclaimReviewed\tratingValue\tbestRating\talternativeName\nhttps://a.example/1\t{}\t1\t5\tFalse\n",
    ],
)
@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_with_any_separator_and_usual_names_of_columns(tmp_path: Path, table: str, charset: str) -> None:
    draft = read_one(tmp_path, "a.csv", table.format(CLAIM).encode(charset))
    assert (draft.synopsis, draft.rating_label, draft.publishing_url) == (CLAIM, "False", "https://a.example/1")


def test_a_verdict_in_a_column_of_states_is_a_rating_and_the_claim_is_public(tmp_path: Path) -> None:
    draft = read_one(tmp_path, "a.csv", f"claim,status,url\n{CLAIM},pants-fire,https://a.example/1\n")
    assert (draft.status, draft.rating_label, draft.rating_hint) == ("published", "pants-fire", Rating.FALSE)
    assert read_one(tmp_path, "b.csv", f"claim,status,url\n{CLAIM},draft,https://a.example/1\n").status == "draft"


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Die Prüfung der Häuser übernahm schließlich die Behörde für Äpfel und Öl", "cp1252"),
        ("Los niños españoles comían más jamón según la televisión pública", "cp1252"),
        ("Правительство запретило яблоки и груши во всех школах страны", "cp1251"),
        ("東京都でワクチンの接種が中止されたという投稿が広がった", "cp932"),
    ],
)
def test_a_table_in_another_charset_is_read_as_what_its_letters_are(tmp_path: Path, text: str, charset: str) -> None:
    assert read_one(tmp_path, "a.csv", f"claim;rating\n{text};x\n".encode(charset)).synopsis == text


def test_a_table_says_which_columns_would_help_and_one_without_claims_is_refused_by_name(tmp_path: Path) -> None:
    lacking = read_one(tmp_path, "a.csv", f"claim,date\n{CLAIM},2024-01-01\n")
    columns = "ratings (rating_label), addresses (publishing_url), names of the checkers (publisher)"
    assert lacking.remarks == (f"the table has no column of {columns}",)
    with pytest.raises(file_formats.Unreadable, match=r"no column of claims.*its columns are foo, bar"):
        read(tmp_path, "b.csv", "foo,bar\n1,2\n")


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-05-01", "2024-05-01"),
        ("May 1, 2024", "2024-05-01"),
        ("1. Mai 2024", "2024-05-01"),
        ("1 de mayo de 2024", "2024-05-01"),
        ("1 maja 2024", "2024-05-01"),
        ("24/11/2023", "2023-11-24"),
        ("01.05.2024", "2024-05-01"),
        ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01"),
        ("2024-05-01T10:00:00+0200", "2024-05-01"),
        # the time of day is not understood, the day is
        ("March 3, 2019 3:51 PM IST", "2019-03-03"),
        ("28 March 2025 3:51 PM IST", "2025-03-28"),
        ("22 de outubro de 2018, 22h35", "2018-10-22"),
        ("22 de outubro de 2018 às 22h35", "2018-10-22"),
    ],
)
def test_dates_are_read_also_with_months_in_words(tmp_path: Path, written: str, day: str) -> None:
    draft = read_one(tmp_path, "a.csv", f'claim,date\n{CLAIM},"{written}"\n')
    assert draft.published_at is not None
    assert draft.published_at.date().isoformat() == day


WRITTEN = json.dumps(REVIEW)
PAGES = {
    "plain": f'<script type="application/ld+json">{WRITTEN}</script>',
    "CDATA": f'<script type="application/ld+json">//<![CDATA[\n{WRITTEN}\n//]]></script>',
    "CDATA in comments": f'<script type="application/ld+json">/*<![CDATA[*/{WRITTEN}/*]]>*/</script>',
    "a comment": f'<script type="application/ld+json"><!-- {WRITTEN} --></script>',
    "a semicolon": f'<script type="application/ld+json">{WRITTEN};</script>',
    "a comma too many": f'<script type="application/ld+json">{WRITTEN[:-1]},\n}}</script>',
    "a list with a comma too many": f'<script type="application/ld+json">[{WRITTEN},]</script>',
    "escaped": f'<script type="application/ld+json">{WRITTEN.replace(chr(34), "&quot;")}</script>',
    "a line break in a text": '<script type="application/ld+json">' + WRITTEN.replace("No, it", "No,\n it") + "</script>",
    "microdata": """<div itemscope itemtype="https://schema.org/ClaimReview"><a itemprop="url" href="https://checker.example/moon">x</a>
        <span itemprop="claimReviewed">The moon is <b>made</b> of cheese</span>
        <meta itemprop="datePublished" content="2024-05-01">
        <div itemprop="author" itemscope itemtype="https://schema.org/Organization"><span itemprop="name">Checker</span></div>
        <div itemprop="reviewRating" itemscope itemtype="https://schema.org/Rating">
        <span itemprop="alternateName">Pants on Fire</span>
        <meta itemprop="ratingValue" content="1"></div></div>""",
    "RDFa": """<div vocab="https://schema.org/" typeof="ClaimReview"><a property="url" href="https://checker.example/moon">x</a>
        <span property="claimReviewed">The moon is made of cheese</span>
        <time property="datePublished" datetime="2024-05-01">May</time>
        <p property="author" typeof="Organization"><b property="name">Checker</b></p>
        <p property="reviewRating" typeof="Rating"><b property="alternateName">Pants on Fire</b></p></div>""",
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_s_review_is_read_however_its_site_writes_it(tmp_path: Path, page: str) -> None:
    draft = read_one(tmp_path, "page.html", f"<!doctype html><html><body>{PAGES[page]}<p>text</p></body></html>")
    assert (draft.synopsis, draft.rating_label, draft.publisher) == (CLAIM, "Pants on Fire", "Checker")
    assert (draft.publishing_url, f"{draft.published_at:%F}") == ("https://checker.example/moon", "2024-05-01")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"@type": ["ClaimReview", "Review"]}, {}),
        ({"@type": "https://schema.org/ClaimReview"}, {}),
        ({"@type": "schema:ClaimReview"}, {}),
        ({"claimReviewed": [CLAIM]}, {}),
        ({"claimReviewed": {"@value": CLAIM, "@language": "en"}}, {}),
        ({"claimReviewed": {"@type": "Claim", "text": CLAIM}}, {}),
        ({"claimReviewed": None, "itemReviewed": {"@type": "Claim", "name": CLAIM}}, {"claimant": ""}),
        ({"claimReviewed": "The <em>moon</em> is made of&nbsp;cheese"}, {}),
        ({"reviewRating": "Falsch"}, {"rating_label": "Falsch", "rating_hint": Rating.FALSE}),
        ({"reviewRating": [{"alternateName": ["Falsch"]}]}, {"rating_label": "Falsch"}),
        ({"reviewRating": {"ratingValue": 1, "bestRating": 5}}, {"rating_label": "1"}),
        ({"reviewRating": {"ratingValue": "True", "name": None}}, {"rating_label": "True", "rating_hint": Rating.TRUE}),
        ({"reviewRating": {"alternateName": "Keine Ahnung", "ratingValue": "5", "worstRating": 1, "bestRating": "5"}},
         {"rating_label": "Keine Ahnung", "rating_hint": Rating.TRUE}),
        ({"identifier": {"@type": "PropertyValue", "propertyID": "our-id", "value": "check-7"}}, {"external_id": "check-7"}),
        ({"identifier": [{"@type": "PropertyValue", "value": 77_000}]}, {"external_id": "77000"}),
        ({"author": "Checker"}, {}),
        ({"author": [{"name": "Checker"}, {"name": "Other"}]}, {"publisher": "Checker"}),
        ({"author": {"url": "https://checker.example"}, "publisher": {"name": "Checker"}}, {}),
        ({"url": ["https://checker.example/moon"]}, {}),
        ({"url": None, "mainEntityOfPage": {"@type": "WebPage", "@id": "https://checker.example/moon"}}, {}),
        ({"datePublished": ["1. Mai 2024"]}, {}),
        ({"inLanguage": ["de-AT"]}, {"language": "de"}),
        ({"keywords": "moon; cheese | food"}, {"categories": [{"name": "moon"}, {"name": "cheese"}, {"name": "food"}]}),
        ({"keywords": [{"@type": "DefinedTerm", "name": "moon"}]}, {"categories": [{"name": "moon"}]}),
        ({"itemReviewed": {"@type": "Claim", "author": [{"@type": "Person", "name": "A"}, "B"]}}, {"claimant": "A, B"}),
        ({"itemReviewed": [{"@type": "Claim", "appearance": "https://social.example/9"}]}, {"origins": [{"url": "https://social.example/9"}]}),
    ],
)  # fmt: skip
def test_a_review_is_read_in_all_shapes_that_schema_org_allows(
    tmp_path: Path, change: dict[str, Any], expected: dict[str, Any]
) -> None:
    draft = read_one(tmp_path, "a.json", json.dumps([REVIEW | change]))
    assert {"synopsis": draft.synopsis} | {name: getattr(draft, name) for name in expected} == {"synopsis": CLAIM} | expected
    assert (draft.publishing_url, draft.publisher) == ("https://checker.example/moon", "Checker")


def test_references_to_nodes_of_the_graph_are_followed(tmp_path: Path) -> None:
    graph = {
        "@graph": [
            {"@type": "WebPage", "@id": "#page", "review": {"@id": "#review"}},
            {
                "@id": "#review",
                **REVIEW,
                "author": {"@id": "#org"},
                "itemReviewed": {"@id": "#item"},
                "reviewRating": {"@id": "#rating"},
            },
            {"@id": "#org", "@type": "Organization", "name": "Checker"},
            {"@id": "#item", "@type": "Claim", "author": {"@id": "#person"}},
            {"@id": "#person", "@type": "Person", "name": "A. Nonymous", "knows": {"@id": "#person"}},
            {"@id": "#rating", "@type": "Rating", "alternateName": "Pants on Fire"},
        ]
    }
    draft = read_one(tmp_path, "page.html", f'<script type="application/ld+json">{json.dumps(graph)}</script>')
    assert (draft.publisher, draft.claimant, draft.rating_label) == ("Checker", "A. Nonymous", "Pants on Fire")


API = {
    "text": CLAIM,
    "claimant": "A. Nonymous",
    "claimReview": [
        {
            "publisher": {"name": name, "site": f"{name.lower()}.example"},
            "url": f"https://{name.lower()}.example/moon",
            "title": "No, it is rock",
            "reviewDate": "2024-05-01T00:00:00Z",
            "textualRating": rating,
            "languageCode": "en",
        }
        for name, rating in (("Checker", "False. It is rock."), ("Other", "Needs Context"))
    ],
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"claims": [API], "nextPageToken": "x"})),
        ("a.json", json.dumps({"claims": [API]}, indent=2)),
        ("a.json", json.dumps([API])),
        ("a.ndjson", json.dumps(API) + "\n" + json.dumps({"claims": []}) + "\n"),
        ("a.ndjson", json.dumps({"claims": [API]}) + "\n"),
    ],
)
def test_answers_of_the_fact_check_tools_api_are_read(tmp_path: Path, name: str, text: str) -> None:
    first, second = read(tmp_path, name, text)
    assert isinstance(first, ClaimDraft)
    assert isinstance(second, ClaimDraft)
    assert (first.synopsis, first.claimant, first.publisher, first.rating_hint) == (CLAIM, "A. Nonymous", "Checker", Rating.FALSE)
    assert (second.publisher, second.rating_hint, second.language) == ("Other", Rating.MISLEADING, "en")


def test_a_feed_s_categories_are_the_claim_s(tmp_path: Path) -> None:
    draft = read_one(
        tmp_path,
        "feed.xml",
        '<rss version="2.0"><channel><title>Checks</title><item><title>Did it rain?</title><category>Weather</category>'
        "<category><![CDATA[Fake &amp; Co]]></category><link>https://checker.example/rain</link></item></channel></rss>",
    )
    assert [one["name"] for one in draft.categories] == ["Weather", "Fake & Co"]


@pytest.mark.parametrize(
    ("label", "rating"),
    [
        ("False.", "false"), ("FALSE!", "false"), ("“False”", "false"), ("False: the photo is old", "false"),
        ("AI-generated", "false"), ("Altered photo", "false"), ("KI-generiert", "false"), ("Mit KI erstellt", "false"),
        ("Größtenteils falsch", "mostly_false"), ("Falscher Kontext", "misleading"), ("Fałsz", "false"), ("Prawda", "true"),
        ("Manipulacja", "misleading"), ("Nepravda", "false"), ("Zavádějící", "misleading"), ("Yanlış", "false"), ("Doğru", "true"),
        ("Falso", "false"), ("Bulo", "false"), ("Engañoso", "misleading"), ("Verdadero", "true"), ("Verdade", "true"),
        ("Enganoso", "misleading"), ("É falso", "false"), ("झूठ", "false"), ("भ्रामक", "misleading"), ("सच", "true"),
        ("Ложь", "false"),
        ("زائف", "false"), ("虚假", "false"), ("Faux – c’est un montage", "false"), ("Satira", "satire"),
        ("Sin pruebas", "unproven"),
        ("Needs Context. There are laws.", "misleading"), ("Vals alarm", None), ("It depends", None), ("", None), ("—", None),
    ],
)  # fmt: skip
def test_labels_of_many_languages_have_a_meaning(label: str, rating: str | None) -> None:
    assert rate_label(label) == rating


@given(st.text(max_size=60))
def test_any_label_is_one_of_the_scale_or_none(label: str) -> None:
    assert rate_label(label) in {None, *Rating}


def load_file(path: Path, text: str) -> LoadJob:
    path.write_text(text, encoding="utf-8")
    job = load_jobs.get_or_create_job(path, "en")
    load_jobs.run_job(job, path)
    return job


@pytest.mark.django_db
def test_a_known_label_is_stored_with_its_meaning_and_an_unknown_one_waits_for_an_editor_or_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = load_file(tmp_path / "a.csv", f"claim,rating\n{CLAIM},Fałsz.\nThe sun is cold,Quatsch\n")
    assert job.messages == [
        "Row 2: the table has no column of addresses (publishing_url), names of the checkers (publisher), dates (published_at)"
    ]
    assert dict(RatingName.objects.filter(label__in=("Fałsz.", "Quatsch")).values_list("label", "rating")) == {
        "Fałsz.": "false",
        "Quatsch": "unknown",
    }
    monkeypatch.setattr(store, "rate_label", {"Quatsch": Rating.FALSE}.get)
    store.create_defaults()
    assert RatingName.objects.get(label="Quatsch").rating == "false"


@pytest.mark.django_db
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_loaded(tmp_path: Path) -> None:
    from django.core.management import CommandError, call_command

    (tmp_path / "a.csv").write_text("foo,bar\n1,2\n")
    (tmp_path / "b.csv").write_text(f"claim,rating\n{CLAIM},False\n")
    with pytest.raises(CommandError, match=r"no column of claims.*What was loaded stays"):
        call_command("loadfactchecks", str(tmp_path), "--no-vectors")
    assert Claim.objects.count() == 1


@pytest.mark.django_db
def test_the_desk_lists_unknown_labels_with_the_number_of_their_claims_the_most_frequent_first(tmp_path: Path) -> None:
    rows = "".join(f"Bees paint pier {number},{label}\n" for number, label in enumerate(("Quatsch", "Murks", "Quatsch")))
    load_file(tmp_path / "a.csv", f"claim,rating\n{rows}")
    page = at_desk("editor").get("/admin/factchecks/ratingname/?rating__exact=unknown").content.decode()
    assert page.index("Quatsch") < page.index("Murks")
    assert len(RatingName.objects.filter(rating="unknown")) == 2


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("tweet,autor,rating\n{},Ana,Falso\n", (CLAIM, "Ana", "Falso", "")),
        ("content,author,label\n{},Ana,Fałsz\n", (CLAIM, "Ana", "Fałsz", "")),
        ("News,Rating\n{},false\n", (CLAIM, "", "false", "")),
        ("claim,veracity\n{},false\n", (CLAIM, "", "false", "")),
        ("titulo,clasificacion,descripcion\n{},Falso,Es roca.\n", (CLAIM, "", "Falso", "Es roca.")),
        ("title,content,verdict\n{},It is rock.,False\n", (CLAIM, "", "False", "It is rock.")),
        ("url,texto,rotulo\nhttps://a.example/1,{},falso\n", (CLAIM, "", "falso", "")),
        ("vyrok,autor,hodnoceni,oduvodneni\n{},Ana,Nepravda,Je z kamene.\n", (CLAIM, "Ana", "Nepravda", "Je z kamene.")),
    ],
)
def test_claims_verdicts_and_reasons_are_read_from_columns_of_other_collections(
    tmp_path: Path, table: str, expected: tuple[str, str, str, str]
) -> None:
    draft = read_one(tmp_path, "a.csv", table.format(CLAIM))
    assert (draft.synopsis, draft.claimant, draft.rating_label, draft.rating_statement) == expected


def test_the_author_of_a_row_with_the_address_of_its_review_did_not_make_the_claim(tmp_path: Path) -> None:
    assert read_one(tmp_path, "a.csv", f"claim,author\n{CLAIM},Ana\n").claimant == "Ana"
    assert read_one(tmp_path, "b.csv", f"claim,author,url\n{CLAIM},Ana,https://a.example/1\n").claimant == ""
    assert read_one(tmp_path, "c.csv", f"claim,author,speaker,url\n{CLAIM},Ana,Ben,https://a.example/1\n").claimant == "Ben"


@pytest.mark.parametrize(
    "written",
    ["['moon', 'cheese']", "\"['moon', 'cheese']\"", "[['moon', 'https://a.example/t/moon'], ['cheese', 'https://a.example/t/1']]"],
)
def test_categories_are_read_out_of_lists_in_quotes_and_of_pairs_with_addresses(tmp_path: Path, written: str) -> None:
    escaped = written.replace('"', '""')
    draft = read_one(tmp_path, "a.csv", f'claim,tags,speaker\n{CLAIM},"{escaped}","""Ana"""\n')
    assert [one["name"] for one in draft.categories] == ["moon", "cheese"]
    assert draft.claimant == "Ana"


def test_each_date_that_is_missing_or_not_read_is_named(tmp_path: Path) -> None:
    header, url = "claim,label,url,publisher,date", "False,https://a.example"
    table = f"{header}\nOne,{url}/1,A,2024-05-01\nTwo,{url}/2,A,lately\nThree,{url}/3,A,soon\nFour,{url}/4,A,\n"
    remarks = [one.remarks for one in read(tmp_path, "a.csv", table) if isinstance(one, ClaimDraft)]
    unread = [(f"stored without a date: none could be read from “{word}”",) for word in ("lately", "soon")]
    assert remarks == [(), *unread, ("stored without a date",)]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([{"title": CLAIM, "content": "It is rock.", "verdict": "False", "url": "https://a.example/1"}]),
        json.dumps({"items": [{"claim": CLAIM, "label": "False", "link": "https://a.example/1", "body": "It is rock.", "n": 1}]}),
        json.dumps({"id": 7, "claim": CLAIM, "label": "False", "url": "https://a.example/1", "body": "It is rock."}) + "\n",
    ],
)
def test_objects_with_a_claim_and_a_verdict_are_read_as_rows(tmp_path: Path, content: str) -> None:
    draft = read_one(tmp_path, "a.jsonl" if content.endswith("\n") else "a.json", content)
    assert (draft.synopsis, draft.rating_label, draft.publishing_url) == (CLAIM, "False", "https://a.example/1")
    assert draft.rating_statement == "It is rock."


def test_lists_in_an_object_that_is_a_row_are_its_categories(tmp_path: Path) -> None:
    draft = read_one(tmp_path, "a.json", json.dumps([{"claim": CLAIM, "verdict": "False", "tags": ["moon", "cheese"], "x": {}}]))
    assert [one["name"] for one in draft.categories] == ["moon", "cheese"]


@pytest.mark.parametrize("entry", [{"title": CLAIM}, {"title": CLAIM, "rating": 8.5}, {"verdict": "False"}])
def test_objects_without_a_claim_or_a_verdict_in_words_are_no_rows(tmp_path: Path, entry: dict[str, Any]) -> None:
    (found,) = read(tmp_path, "a.json", json.dumps([entry]))
    assert not isinstance(found, ClaimDraft)


def test_a_page_without_a_review_is_named(tmp_path: Path) -> None:
    (found,) = read(tmp_path, "a.html", "<html><body><h1>No review</h1></body></html>")
    assert "no ClaimReview" in str(found)


def test_the_address_of_a_review_in_a_saved_page_is_relative_to_the_page_s_own(tmp_path: Path) -> None:
    script = json.dumps(REVIEW | {"url": "/moon?from=mail"})
    page = f'<link rel="canonical" href="https://checker.example/x"><script type="application/ld+json">{script}</script>'
    assert read_one(tmp_path, "a.html", page).publishing_url == "https://checker.example/moon?from=mail"


@pytest.mark.parametrize(
    ("label", "rating"),
    [
        ("YANLIŞ", Rating.FALSE),
        ("KISMEN YANLIŞ", Rating.MIXED),
        ("YANILTICI", Rating.MISLEADING),
        ("Errado", Rating.FALSE),
        ("Insostenible", Rating.UNPROVEN),
        ("Decontextualized", Rating.MISLEADING),
        ("대체로 사실 아님", Rating.MOSTLY_FALSE),
        ("전혀 사실 아님", Rating.FALSE),
    ],
)
def test_labels_of_real_exports_have_a_meaning(label: str, rating: Rating) -> None:
    assert rate_label(label) is rating


def test_a_row_of_separators_alone_is_refused(tmp_path: Path) -> None:
    first, second = read(tmp_path, "a.csv", f"claim,rating\n{CLAIM},False\n;;;;\n")
    assert isinstance(first, ClaimDraft)
    assert "it has no claim" in str(second)


def test_an_address_that_cannot_be_read_ends_no_load(tmp_path: Path) -> None:
    script = json.dumps(REVIEW | {"url": "http://["})
    page = f'<link rel="canonical" href="https://checker.example/x"><script type="application/ld+json">{script}</script>'
    assert read_one(tmp_path, "a.html", page).publishing_url == ""
