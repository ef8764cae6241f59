"""Evidence for and against an item and a story being one article: address, guid, headline, date and text. Pure."""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

from wire.ingest.draft_comparison import Known
from wire.ingest.normalise import Rejected, StoryDraft, is_google_news
from wire.text.identity import MAX_URL_LENGTH, chatbotnews_id, escape_url_part, headline_key

SAME_MOMENT: Final = dt.timedelta(minutes=1)
NEAR: Final = dt.timedelta(hours=72)  # how far apart two addresses of one article may be dated
# From here on an address that is used again with another headline is another article, such as a yearly list of gifts.
OTHER_YEAR: Final = dt.timedelta(days=180)
MOST_WORDS: Final = 0.6  # of the shorter headline, for the other to be an edit of it


def separate_items(drafts: Sequence[StoryDraft | Rejected]) -> list[StoryDraft | Rejected]:
    """Return the drafts of one document, those that share an address with an address of their own each.

    A guid that items with different headlines or dates share identifies none of them and is dropped. Items with the same address
    and headline are one item that stands there twice, unless both their guids and their dates differ.
    """
    items = {
        (draft.guid, headline_key(draft.headline), None if draft.published_at_estimated else draft.published_at)
        for draft in drafts
        if isinstance(draft, StoryDraft)
    }
    guids = {guid for guid, number in Counter(guid for guid, _, _ in items).items() if guid and number > 1}
    drafts = [replace(draft, guid="") if isinstance(draft, StoryDraft) and draft.guid in guids else draft for draft in drafts]
    at: dict[str, list[StoryDraft]] = defaultdict(list)
    for draft in drafts:
        if isinstance(draft, StoryDraft):
            at[draft.original_url].append(draft)
    shared = {url for url, items in at.items() if _are_several_items(items)}
    items_at: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for draft in (draft for url in shared for draft in at[url]):
        items_at[draft.original_url, draft.fragment].add((headline_key(draft.headline), draft.guid))
    separated = list(drafts)
    for number, draft in enumerate(separated):
        if isinstance(draft, StoryDraft) and draft.original_url in shared:
            fragment = draft.fragment if len(items_at[draft.original_url, draft.fragment]) == 1 else ""
            separated[number] = list_address_forms(replace(draft, fragment=fragment, page_url=draft.original_url))[0]
    return separated


def list_address_forms(draft: StoryDraft) -> list[StoryDraft]:
    """Return the draft under each address that it may be known by: the page's, unless others share it, then that with a fragment,
    which no server sees: the publisher's own, the guid, the headline, the UTC day.
    """
    page = draft.page_url or draft.original_url
    guid = "" if draft.guid.endswith(page.partition(":")[2]) else draft.guid
    headline = headline_key(draft.headline).replace(" ", "-") or draft.headline
    marks = dict.fromkeys(filter(None, (draft.fragment, guid, headline, draft.published_at.date().isoformat())))
    return [*([] if draft.page_url else [draft]), *(_add_fragment(draft, page, mark) for mark in marks)]


def find_known_story(
    draft: StoryDraft, known_forms: Sequence[tuple[StoryDraft, Known]], feed_id: int | None
) -> tuple[StoryDraft, Known] | None:
    """Return the draft's story among those known by one of its forms: by headline and guid, headline, guid, or given address."""
    fitting = [(form, known) for form, known in known_forms if not is_other_item(draft, known, feed_id)]
    if draft.page_url:
        fitting = [(form, known) for form, known in fitting if not _is_other_article(draft, known)]
    given = list_address_forms(draft)[: 2 if draft.fragment and not draft.page_url else 1]
    by_guid = [pair for pair in fitting if draft.guid == pair[1].story.guid != ""]
    by_headline = [pair for pair in fitting if headline_key(draft.headline) in pair[1].headline_keys]
    by_both = (pair for pair in by_guid if pair in by_headline)
    by_address = (pair for form in reversed(given) for pair in fitting if pair[0].original_url == form.original_url)
    return next(chain(by_both, by_headline, by_guid, by_address), None)


def is_other_item(draft: StoryDraft, known: Known, feed_id: int | None) -> bool:
    """Return whether a draft is another item than the story at its address: headline and guid (of one feed) differ, or year."""
    if headline_key(draft.headline) in known.headline_keys:
        return False
    comparable = feed_id is None or known.story.guid_feed_id in (None, feed_id)
    if comparable and _has_other_guid(draft, known):
        return True
    return not _has_estimated_date(draft, known) and _measure_time_apart(draft, known) > OTHER_YEAR


def is_same_guid_item(draft: StoryDraft, known: Known) -> bool:
    """Return whether a story with the draft's guid and another address is the draft's. Feeds use guids again: more must agree."""
    if headline_key(draft.headline) in known.headline_keys:
        return _is_same_moment(draft, known) or _has_same_text(draft, known) or _has_same_tail(draft, known)
    if not _is_same_moment(draft, known):
        return False
    words = set(headline_key(draft.headline).split())
    others = [set(key.split()) for key in known.headline_keys]
    return any(len(words & other) >= MOST_WORDS * min(len(words), len(other)) > 0 for other in others)


def is_twin(draft: StoryDraft, known: Known) -> bool:
    """Return whether a story under another address is the draft's article: www, AMP, a moved section, a redirector.

    The headlines are the same and so is one thing more: the last part of the path, or the moment, which is enough unless it is only
    a day; then the summaries must be the same too. Other guids at another moment, or the same page, refute it.
    """
    is_same_page = bool(draft.page_url) and known.story.original_url.partition("#")[0] == draft.page_url
    if _measure_time_apart(draft, known) > NEAR or _is_other_article(draft, known) or is_same_page:
        return False
    if _has_same_tail(draft, known):
        return True
    return _is_same_moment(draft, known) and (draft.published_at.time() != dt.time(0) or _has_same_text(draft, known))


def _are_several_items(items: Sequence[StoryDraft]) -> bool:
    if len({headline_key(item.headline) for item in items}) > 1:
        return True
    moments = {item.guid: item.published_at for item in items if item.guid and not item.published_at_estimated}
    return len(moments) > 1 and max(moments.values()) - min(moments.values()) > SAME_MOMENT


def _add_fragment(draft: StoryDraft, page: str, mark: str) -> StoryDraft:
    room, fragment = min(200, MAX_URL_LENGTH - len(page) - 1), escape_url_part(mark)
    if len(fragment) > room:  # two long ones may begin alike
        ending = chatbotnews_id(fragment).removeprefix("cbn")
        fragment = re.sub(r"%.?$", "", fragment[: max(0, room - len(ending))]) + ending
    url = f"{page}#{fragment}"
    return replace(draft, original_url=url, chatbotnews_id=chatbotnews_id(url), page_url=page)


def _is_other_article(draft: StoryDraft, known: Known) -> bool:
    """Return whether both the guids and the moments of a draft and a story with the same headline differ."""
    return _has_other_guid(draft, known) and not _has_estimated_date(draft, known) and not _is_same_moment(draft, known)


def _has_other_guid(draft: StoryDraft, known: Known) -> bool:
    """Return whether both have a guid, and these differ; Google News' own and the publisher's say nothing about each other."""
    is_comparable = draft.is_by_google_news == is_google_news(known.story.original_url)
    return is_comparable and "" != draft.guid != known.story.guid != ""


def _is_same_moment(draft: StoryDraft, known: Known) -> bool:
    return not _has_estimated_date(draft, known) and _measure_time_apart(draft, known) <= SAME_MOMENT


def _measure_time_apart(draft: StoryDraft, known: Known) -> dt.timedelta:
    return abs(draft.published_at - known.latest.published_at)


def _has_estimated_date(draft: StoryDraft, known: Known) -> bool:
    return draft.published_at_estimated or known.latest.published_at_estimated


def _has_same_text(draft: StoryDraft, known: Known) -> bool:
    return bool(draft.summary_medium) and any(draft.summary_medium == texts["summary_medium"] for texts in known.published_texts)


def _has_same_tail(draft: StoryDraft, known: Known) -> bool:
    """Return whether addresses end in the same name of an article, below dates and numbers that do not differ."""
    if draft.page_url or not (tail := get_path_tail(draft.original_url)):
        return False
    for url in (known.story.original_url, *known.aliases):
        numbers = [re.findall(r"/(\d+)(?=/)", urlsplit(address).path) for address in (draft.original_url, url)]
        if get_path_tail(url) == tail and (numbers[0] == numbers[1] or not all(numbers)):
            return True
    return False


def get_path_tail(url: str) -> str:
    """Return the last part of an address' path that names an article, without its ending; empty if none does."""
    for part in reversed(urlsplit(url).path.split("/")):
        name = re.sub(r"\.(?:s?html?|php|aspx?|amp)$", "", part).removesuffix("-amp").lower()
        if name not in {"", "amp", "index", "default", "home", "article", "story", "news"}:
            return name if len(name) >= 8 and re.search(r"[-_]|\d{5}", name) else ""
    return ""
