"""Questions about the wire and their answers, as schemas. REST, MCP, site and feeds ask these functions and nothing else. May
import wire.search, wire.publishing (nothing that publishes), wire.models and below.
"""

from wire.queries.activity import count_days, get_activity, list_arrivals
from wire.queries.as_of import (
    get_category_as_of,
    get_day_as_of,
    get_pinned_citation,
    get_pinned_story,
    get_provenance_as_of,
    get_story_as_of,
    list_mementos,
    resolve_pin,
)
from wire.queries.changes import get_changes, last_number
from wire.queries.claim_corroboration import corroborate
from wire.queries.coverage import compare_coverage, get_consensus
from wire.queries.day_changes import get_day_changes, view_day_changes
from wire.queries.documents import EVENT, STORY, fetch_document, list_kinds, search_documents
from wire.queries.entities import entity_events, find_entity, get_entity, list_entities, list_named, list_named_in_query
from wire.queries.event_coverage import get_coverage, measure_coverage
from wire.queries.events import (
    EventList,
    category_events,
    days_down_from,
    events_by_id,
    list_day_events,
    list_events,
    topic_events,
    view_event,
)
from wire.queries.exports import describe_day_file, get_day_ndjson, get_list, get_ninjs_event, get_ninjs_story
from wire.queries.limits import check_limits
from wire.queries.pictures import find_shown_picture, get_picture
from wire.queries.proofs import get_checkpoint, get_consistency, get_inclusion, get_log, get_proved, get_witnessed
from wire.queries.site_pages import (
    Correction,
    calendar,
    corrections,
    feeds_health,
    get_source,
    list_not_received,
    list_sources,
    sitemap_count,
    sitemap_stories,
    story_history,
    usage,
    withdrawn_on,
)
from wire.queries.snapshots import (
    get_archive,
    get_editor_take,
    get_provenance,
    get_today,
    get_todays_category,
    is_sample,
    latest_snapshot,
    latest_takes,
    list_day,
    list_days,
    list_neighbours,
    published_dates,
    todays_stories,
    wire_keys,
    wire_version,
)
from wire.queries.stories import (
    get_category,
    get_citation,
    get_standing_story,
    get_story,
    get_story_json,
    get_topic_coverage,
    list_filtered_stories,
    list_heads,
    list_source_stories,
    list_stories,
    newest_matches,
    search_wire,
)
from wire.queries.storylines import find_neighbours, get_event, get_storyline, list_possibly_same, view_storyline
from wire.queries.verification import verify_citation
from wire.queries.weeks import get_week, list_weeks, view_week
