"""Events and pairs of stories that probably are of one; every change goes through `wire.ingest.corrections`."""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from wire import queries
from wire.admin.base import ModelAdmin, ReadOnly, column, deny, link, link_public, log_change, marks, plural, see_public, utc_time
from wire.admin.review_queues import PAIRS, PARAMETER, QueuedAdmin, QueueFilter
from wire.admin.stories import (
    NAMED,
    WHY,
    add_reason,
    get_event_headline,
    get_event_url,
    get_headline,
    link_event,
    list_labels,
    list_published,
    pin_stories,
    regroup,
    show_refusal,
)
from wire.ingest import corrections
from wire.models import Event, Story, StoryPair
from wire.models.snapshot import is_sealed
from wire.publishing.event_view import EventView
from wire.publishing.grouping import headline_lookup
from wire.publishing.grouping.candidates import WINDOW, Item
from wire.text.choices import PairLabel, Status
from wire.text.identity import STORY_ID_PATTERN

SIMILAR: Final = 8  # events that are offered for a merge
CANDIDATES: Final = 3000  # stories around an event that are compared with it, the newest first
SEEN_SOON: Final = "Readers see it within a minute; no day is published again."
_ID: Final = re.compile(STORY_ID_PATTERN.strip("^$"))


@admin.register(Event)
class EventAdmin(QueuedAdmin[Event], ModelAdmin[Event]):
    """A list of events of several reports; on an event's page they are merged, split, pinned, given a lead and a storyline."""

    list_display = ("headline", "reports", "sources", "consensus", "newest", "marks", "public")
    list_filter = (QueueFilter,)
    list_per_page = 50
    search_fields = ("event_id",)  # and what `get_search_results` adds
    search_help_text = (
        "Words of a headline, or the id of a story or an event. For an event with one report, open its story, then “Its event”."
    )
    show_full_result_count = False
    empty = "No event has several reports yet. Stories that may report the same event wait in “Probably one event”."
    has_add_permission = has_delete_permission = deny

    def has_view_permission(self, request: HttpRequest, obj: Event | None = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("wire.view_story") or request.user.has_perm("wire.change_story")

    def has_change_permission(self, request: HttpRequest, obj: Event | None = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("wire.change_story")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        fewest = 1 if PARAMETER in request.GET else 2  # a queue may have events of one report
        reports = Story.objects.live().filter(event__isnull=False).order_by().values("event").annotate(number=Count("pk"))
        shown = Story.objects.live().filter(event=OuterRef("pk"))
        return Event.objects.filter(pk__in=reports.filter(number__gte=fewest).values("event")).annotate(
            newest_at=Subquery(shown.order_by("-published_at").values("published_at")[:1]),
            number=Subquery(shown.order_by().values("event").annotate(number=Count("pk")).values("number")),
            pinned=Subquery(shown.filter(event_pinned=True).order_by("pk").values("pk")[:1]),
        )

    def get_ordering(self, request: HttpRequest) -> Any:  # noqa: ARG002
        return ["-newest_at", "event_id"]

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Event], search_term: str) -> tuple[QuerySet[Event], bool]:  # noqa: ARG002
        """Search the words of any report's headline, or the id of any of its stories."""
        stories = _search_stories(search_term)
        return (queryset.filter(pk__in=stories.order_by().values("event")) if search_term.strip() else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list; a search that finds nothing but stories without another report leads to these."""
        text = request.GET.get("q", "").strip()
        if text and request.method == "GET" and self.has_view_permission(request):
            stories = _search_stories(text)
            found = list(stories.values_list("pk", flat=True)[:2])
            if found and not self.get_search_results(request, self.get_queryset(request), text)[0].exists():
                messages.info(request, "The list shows only events with several reports. What you searched for has only one.")
                only = reverse("admin:wire_story_change", args=[found[0]])
                many = f"{reverse('admin:wire_story_changelist')}?{urlencode({'q': text})}"
                return HttpResponseRedirect(only if len(found) == 1 else many)
        return super().changelist_view(request, extra_context)

    headline = column("Headline of the lead report", lambda event: _view_event(event).lead.headline[:140])
    reports = column("Reports", lambda event: int(event.number), "number")
    sources = column("Independent sources", lambda event: _view_event(event).count)
    consensus = column("Consensus", lambda event: f"{_view_event(event).score:.2f}")
    newest = column("Newest report", lambda event: utc_time(event.newest_at), "newest_at")
    public = column("Public page", lambda event: link_public(reverse("event", args=[event.pk]), _view_event(event).lead.headline))

    @admin.display(description="Status")
    def marks(self, event: Event) -> str:
        chosen = ["lead chosen"] if event.stories.filter(leads_event=True).exists() else []
        return marks(*chosen, *(["pinned"] if event.pinned else []))  # type: ignore[attr-defined]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        """Show the event with its reports, or change it (POST). A merged event leads to the one it became."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        event = Event.objects.filter(pk=object_id).first()
        if event is None:
            raise Http404
        if event.merged_into_id and not event.stories.exists():
            messages.info(request, "That event was merged into this one.")
            return HttpResponseRedirect(get_event_url(event.merged_into_id))
        if request.method == "POST":
            return self._change_event(request, event)
        return render(request, "admin/event.html", self._build_context(request, event))

    def _change_event(self, request: HttpRequest, event: Event) -> HttpResponse:
        """Do what one of the page's forms asks, and show the resulting event."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        stories = _list_reports(event)
        chosen = [story for story in stories if story.chatbotnews_id in request.POST.getlist("story")]
        match request.POST.get("do"):
            case "merge":
                return self._merge_event(request, event, stories)
            case "split" if len(chosen) in (0, len(stories)):
                messages.error(request, "Nothing was split: tick at least one report, and leave at least one unticked.")
                return self._show_again(request, event)
            case "split":
                ids, done = [story.chatbotnews_id for story in chosen], "Split off into an event of their own"
                if not regroup(request, chosen, done, lambda why: corrections.split_event(ids, reason=why)):
                    return self._show_again(request, event)
                stays = next(story for story in stories if story not in chosen)
                return HttpResponseRedirect(get_event_url(Story.objects.values_list("event", flat=True).get(pk=stays.pk)))
            case "lead" if chosen:
                story = chosen[0]
                with show_refusal(request):
                    before = get_event_headline(event.pk)
                    corrections.choose_event_lead(story.chatbotnews_id)
                    done = add_reason("Chosen to lead its event", request.POST.get("reason", ""))
                    log_change(request, [story], f"{done} (lead: “{before}” → “{get_headline(story)}”)")
                    done = "“{}” ({}) leads this event now. {} {}"
                    see = see_public(reverse("event", args=[event.pk]))
                    messages.success(
                        request, format_html(done, link(story, get_headline(story)), story.publication, SEEN_SOON, see)
                    )
            case "lead" if "rules" in request.POST:
                former = [story for story in stories if story.leads_event]
                if not former:
                    messages.warning(request, "Nothing was changed: the rules choose the lead already.")
                    return HttpResponseRedirect(get_event_url(event.pk))
                with show_refusal(request):
                    corrections.choose_event_lead(former[0].chatbotnews_id, chosen=False)
                    log_change(request, former, add_reason("No longer chosen to lead its event", request.POST.get("reason", "")))
                    now = format_html("The rules chose the lead: “{}”. {}", get_event_headline(event.pk), SEEN_SOON)
                    messages.success(request, now)
            case "pin" | "unpin" as do:
                pin_stories(request, stories, pinned=do == "pin")
            case "join":
                other = _read_choice(request, event, "joined")
                if not (other and _change_storyline(request, event, stories, other)):
                    return self._show_again(request, event)
            case "confirm":
                with show_refusal(request):
                    corrections.confirm_storyline(event.pk)
                    log_change(request, stories, "Confirmed that it belongs to its storyline")
                    messages.success(request, "Confirmed: automatic linking leaves this event in its storyline.")
            case "part":
                _change_storyline(request, event, stories)
            case _:
                messages.error(request, "Nothing was changed: the form named no report of this event. Choose one and try again.")
        return HttpResponseRedirect(get_event_url(event.pk))

    def _merge_event(self, request: HttpRequest, event: Event, stories: Sequence[Story]) -> HttpResponse:
        if not (other := _read_choice(request, event, "merged")):
            return self._show_again(request, event)
        both = [*stories, *Story.objects.filter(event=other)]
        named = " and ".join(f"“{get_event_headline(one)}”" for one in (event.pk, other))
        if not regroup(request, both, "Events merged", lambda why: corrections.merge_events({event.pk, other}, reason=why), named):
            return self._show_again(request, event)
        now = Story.objects.filter(pk=stories[0].pk).values_list("event", flat=True).get() if stories else event.pk
        return HttpResponseRedirect(get_event_url(now or event.pk))

    def _show_again(self, request: HttpRequest, event: Event) -> HttpResponse:
        """Show the page after a refusal, with what was typed into the form that was sent."""
        typed = {"typed": {request.POST["do"]: request.POST.dict()}, "ticked": request.POST.getlist("story")}
        return render(request, "admin/event.html", self._build_context(request, event) | typed)

    def _build_context(self, request: HttpRequest, event: Event) -> dict[str, Any]:
        stories = _list_reports(event)
        shown = [story for story in stories if story.current_id and story.status != Status.WITHDRAWN]
        leading = queries.view_event(event.pk).lead.chatbotnews_id if shown else ""
        lead = next((story for story in shown if story.chatbotnews_id == leading), None)
        may = self.has_change_permission(request)
        chapters = queries.view_storyline(event.pk)[1] if shown else []
        similar = _list_similar(event, shown) if may else []
        return {
            **self.admin_site.each_context(request),
            "title": "Event",
            "opts": self.opts,
            "event": event,
            "lead": lead,
            "headline": get_headline(lead) if lead else event.pk,
            "is_chosen": lead is not None and lead.leads_event,
            "rows": [(one, get_headline(one), utc_time(one.published_at), list_labels(one), one in shown) for one in stories],
            "final_days": sorted({one.wire_date for one in stories if one.current_id and is_sealed(one.wire_date, timezone.now())}),
            "reports": plural(len(shown), "report", "reports"),
            "publications": plural(len({story.publication_id for story in shown}), "publication", "publications"),
            "may_change": may,
            "may_split": may and len(stories) > 1,
            "similar": similar,
            "joinable": [row for row in similar if row[0].event_id not in {one.event_id for one in chapters}],
            "chapters": chapters,
            "why": WHY,
        }


def _search_stories(text: str) -> QuerySet[Story]:
    """Select live stories with all of these words in their headline, or with this id, or of the event with this id."""
    stories = Story.objects.live()
    if _ID.fullmatch(text):
        return stories.filter(Q(chatbotnews_id=text) | Q(event=text))
    for word in text.split():
        stories = stories.filter(current__headline__icontains=word)
    return stories


def _list_reports(event: Event) -> list[Story]:
    """Return all of its stories, oldest first, with those withdrawn or waiting for their first publication."""
    rows = Story.objects.filter(event=event).select_related("current", "publication")
    return list(rows.order_by("published_at", "chatbotnews_id"))


def _view_event(event: Event) -> EventView:
    """Return the event as readers see it, read once for its row."""
    found: EventView | None = getattr(event, "view", None)
    if found is None:
        found = event.view = queries.view_event(event.pk)  # type: ignore[attr-defined]
    return found


def _change_storyline(request: HttpRequest, event: Event, stories: Sequence[Story], other: str = "") -> bool:
    """Join the storyline of the event `other`, or else start a new storyline with this event; name the events on both sides.
    Return whether anything was changed.
    """
    with show_refusal(request):
        moved = before = queries.view_storyline(event.pk)[1]
        if other:
            corrections.join_storylines(event.pk, other)
        else:
            corrections.split_storyline(event.pk)
            moved = queries.view_storyline(event.pk)[1]
        first = get_event_headline(other or before[0].event_id)
        done = f"Joined the storyline of “{first}”" if other else f"Started a new storyline, apart from “{first}”"
        log_change(request, stories, add_reason(done, request.POST.get("reason", "")))
        if other:
            said = format_html("Joined the storyline of “{}”: {}.", link_event(other), _list_events(moved))
        else:
            left = [one for one in before if one.event_id not in {one.event_id for one in moved}]
            said = format_html("A new storyline: {}. In the former one: {}.", _list_events(moved), _list_events(left))
        keeps = "Automatic linking leaves these events where they are now."
        see = see_public(reverse("storyline", args=[event.pk]))
        messages.success(request, format_html("{} {} {} {}", said, SEEN_SOON, keeps, see))
        return True
    return False


def _list_events(events: Sequence[EventView]) -> str:
    """Name the first events, with links."""
    named = format_html_join("; ", "“{}”", ((link_event(one.event_id),) for one in events[:NAMED]))
    return format_html("{}{}", named, f"; {len(events) - NAMED} more" if len(events) > NAMED else "")


def _read_choice(request: HttpRequest, event: Event, done: str) -> str:
    """Return the other event that a form names by id or address, or else that was picked; "" after saying why there is none."""
    typed = request.POST.get("other_id", "").strip()
    other = (_find_event(typed) or "") if typed else request.POST.get("other", "")
    if other and other != event.pk:
        return other
    why = f"no event was found for “{typed}”" if typed else "no other event was chosen"
    why = f"“{typed or other}” leads to this event" if other else why
    messages.error(request, f"Nothing was {done}: {why}. Pick one from the list, or give the id or address of a story or event.")
    return ""


def _find_event(text: str) -> str | None:
    """Return the event that an id, or an address with one in it, leads to: of an event, or of a story."""
    if (found := _ID.search(text)) is None:
        return None
    story = Story.objects.filter(chatbotnews_id=found[0]).values_list("event", flat=True).first()
    return story or Event.objects.filter(pk=found[0]).values_list("merged_into", flat=True).first()


def _list_similar(event: Event, stories: Sequence[Story]) -> list[tuple[Item, str, str, float]]:
    """Return other events within ten days, most similar first, by their most similar story, with publication, time, likeness."""
    if not stories:
        return []
    window = (stories[0].published_at - WINDOW, stories[-1].published_at + WINDOW)
    near = Story.objects.live().filter(published_at__range=window, event__isnull=False).exclude(event=event).newest_first()
    rows = near.values_list("chatbotnews_id", "current__headline", "published_at", "event_id", "publication__name")[:CANDIDATES]
    publications = {row[0]: row[4] for row in rows}
    items = [Item(*row[:4]) for row in rows]
    best: dict[str, tuple[Item, float]] = {}
    for headline in dict.fromkeys(get_headline(story) for story in stories[:SIMILAR]):
        for item, likeness in headline_lookup.score_stories(headline, items):
            # Less likeness is noise.
            if likeness >= 0.12 and (item.event_id not in best or likeness > best[item.event_id][1]):
                best[str(item.event_id)] = item, likeness
    ranked = sorted(best.values(), key=lambda found: (-found[1], found[0].chatbotnews_id))[:SIMILAR]
    return [(item, publications[item.chatbotnews_id], utc_time(item.published_at), likeness) for item, likeness in ranked]


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
            _decide_pair(request)
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


def _decide_pair(request: HttpRequest) -> None:
    """Apply one of the three buttons of a pair; show what was published, or why nothing was changed."""
    if not request.user.has_perm("wire.change_story"):
        raise PermissionDenied
    pair_id, label = request.POST.get("pair", ""), request.POST.get("label", "")
    if label not in PairLabel.values or not (pair_id.isascii() and pair_id.isdigit() and len(pair_id) < 19):
        messages.error(request, "Nothing was changed: the form named no pair or no decision. Reload the page.")
        return
    decision, reason = PairLabel(label), request.POST.get("reason", "")
    with show_refusal(request):
        published = corrections.decide_pair(int(pair_id), decision, by=request.user.get_username(), reason=reason)
        pair = StoryPair.objects.select_related("story__current", "other__current").get(pk=pair_id)
        log_change(request, [pair.story, pair.other], add_reason(DECIDED[decision], reason))
        shown = list_published(published) if decision == PairLabel.SAME else SEEN_SOON
        one, other = (link(story, get_headline(story)) for story in (pair.story, pair.other))
        stays = "Automatic grouping leaves these stories where they are now."
        messages.success(request, format_html("{}: “{}” and “{}”. {} {}", DECIDED[decision], one, other, shown, stays))
