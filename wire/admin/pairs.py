"""Pairs of stories that probably report one happening, the likeliest first; an editor decides each with one click."""

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from wire.admin.base import ReadOnly, remember
from wire.admin.queues import PAIRS
from wire.admin.stories import because, list_published, show_refusal
from wire.ingest import corrections
from wire.models import StoryPair
from wire.text.vocabulary import PairLabel

PER_PAGE: Final = 20
BUTTONS: Final = ((PairLabel.SAME, "One event"), (PairLabel.FOLLOW_UP, "Follow-up"), (PairLabel.DIFFERENT, "Different"))
DECIDED: Final = {
    PairLabel.SAME: "Decided: one event",
    PairLabel.FOLLOW_UP: "Decided: a follow-up, another event of the same storyline",
    PairLabel.DIFFERENT: "Decided: different events",
}


@admin.register(StoryPair)
class PairAdmin(ReadOnly):
    """The queue of undecided pairs instead of a list. Decided pairs are in the history, and in `exportlabels`."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            _decide(request)
            return HttpResponseRedirect(request.get_full_path())
        stories = [f"{side}__{row}" for side in ("story", "other") for row in ("current", "publication")]
        waiting = StoryPair.objects.waiting().select_related(*stories).order_by("-probability", "pk")
        page = Paginator(waiting, PER_PAGE).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request),
            "title": PAIRS.title,
            "opts": self.opts,
            "queue": PAIRS,
            "page": page,
            "rows": [(pair, (pair.story, pair.other)) for pair in page],
            "buttons": BUTTONS if request.user.has_perm("wire.change_story") else (),
            "reason": corrections.ONE_EVENT,
        }
        return render(request, "admin/pairs.html", context)


def _decide(request: HttpRequest) -> None:
    """Apply one of the three buttons of a pair; show what was published, or why nothing was changed."""
    if not request.user.has_perm("wire.change_story"):
        raise PermissionDenied
    pair_id, label = request.POST.get("pair", ""), request.POST.get("label", "")
    if label not in PairLabel.values or not (pair_id.isascii() and pair_id.isdigit() and len(pair_id) < 19):
        messages.error(request, "Nothing was changed: the form named no pair or no decision. Load the page again.")
        return
    decision, reason = PairLabel(label), request.POST.get("reason", "")
    with show_refusal(request):
        published = corrections.decide_pair(int(pair_id), decision, by=request.user.get_username(), reason=reason)
        pair = StoryPair.objects.select_related("story", "other").get(pk=pair_id)
        remember(request, [pair.story, pair.other], because(DECIDED[decision], reason))
        at_once = "Their pages show it at once; no day had to be published."
        shown = list_published(published) if decision == PairLabel.SAME else at_once
        messages.success(request, f"{DECIDED[decision]}. {shown} Automatic grouping leaves these stories where they are now.")
