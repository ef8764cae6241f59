"""Reports of timeline corpora in the search over all systems. The wire's own corpus repeats its stories, and is left out."""

from typing import Any
from urllib.parse import quote

from django.conf import settings

from citations.format.corpus_citations import cite_article
from config.plugins import DocumentKind
from wire.corpora.timeline import queries, wire_sync
from wire.corpora.timeline.queries.scope import get_scope
from wire.schemas.documents import DocumentHit, DocumentOut, DocumentsOut, build_document
from wire.schemas.params import read_date
from wire.text.plain_text import addresses_model
from wire.text.untrusted_text import quote_structure

NAME = "timeline"


def search_documents(query: str, limit: int) -> DocumentsOut:
    """Return the newest reports of all corpora that hold all the words. Raises: InvalidArgument."""
    found = list[DocumentHit]()
    for corpus in queries.list_members().values():
        if corpus.slug != wire_sync.SLUG:
            answer = queries.search_reports(corpus.slug, query, limit=limit)
            found += [] if answer.matched else [_to_hit(corpus.slug, corpus.name, report) for report in answer.reports]
    found.sort(key=lambda hit: hit.published_at or "", reverse=True)
    return DocumentsOut(results=found[:limit])


def fetch_document(own_id: str) -> DocumentOut:
    """Raises: NotFound; ReportRemoved for a report that left with a later release."""
    slug, _, report_id = own_id.partition("/")
    report = queries.get_report(slug, report_id)
    phrasing = report.recommended_phrasing
    text = "\n".join([report.long_summary or report.summary, *(f"{one.text} ({one.status})" for one in report.claims)])
    language = get_scope(slug).settings.phrases.language
    says = f"Evidence grade: {report.evidence_grade}. {language} Say: {phrasing.say} Avoid: {phrasing.avoid}"
    flags = ", ".join(report.safety_flags or [])
    body = "\n\n".join(filter(None, (report.display_flag, quote_structure(f"\n{text}", labelled=True).strip(), says)))
    hit = _to_hit(slug, queries.get_corpus(slug).name, report)
    hit.untrusted_instructions |= addresses_model(text)
    return build_document(hit, body, evidence_grade=report.evidence_grade, flags=flags)


def _to_hit(slug: str, corpus: str, report: Any) -> DocumentHit:
    url = f"{settings.WIRE_SITE_URL}/timeline/{slug}/report/{quote(report.id, safe='')}"
    day = read_date(report.date_observed) if report.date_observed else None
    return DocumentHit(
        kind=NAME,
        id=f"{NAME}:{slug}/{report.id}",
        title=report.title,
        url=url,
        source=corpus,
        published_at=report.date_observed,
        citation=cite_article(report.title, f"{corpus}, report {report.id}", url, None, day),
        untrusted_instructions=addresses_model(f"{report.title}\n{report.summary}"),
    )


KIND = DocumentKind(name=NAME, title="Timeline reports", id_form="{corpus}/{report}", search=search_documents, fetch=fetch_document)
