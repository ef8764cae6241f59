"""Errors of corpora, by meaning; their texts are for the model that reads them."""

from http import HTTPStatus

from config.errors import InvalidArgument, NotFound, WireError


class UnknownCorpus(NotFound):
    code = "unknown_corpus"


class UnknownRelease(NotFound):
    code = "unknown_release"


class UnknownMotif(InvalidArgument):
    code = "unknown_motif"


class UnknownReport(NotFound):
    code = "unknown_report"


class ReportRemoved(WireError):
    """It was here, and left with a later release."""

    code = "report_removed"
    status = HTTPStatus.GONE


class UnknownThread(NotFound):
    code = "unknown_thread"


class NoMatchingTopic(NotFound):
    code = "no_matching_topic"


class BadInput(InvalidArgument):
    code = "bad_input"
