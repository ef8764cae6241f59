"""Questions about the wire and their answers, as schemas. REST, MCP, site and feeds ask these functions and nothing else. May
import wire.search, wire.publishing (nothing that publishes), wire.models and below.
"""

from wire.queries.activity import build_activity, get_activity, list_latest_arrivals
from wire.queries.as_of import (
    find_pinned_revision,
    get_category_as_of,
    get_day_as_of,
    get_pinned_citation,
    get_pinned_story,
    get_provenance_as_of,
    get_story_as_of,
    list_mementos,
)
from wire.queries.changes import get_changes, get_last_number
from wire.queries.claim_corroboration import corroborate
from wire.queries.day_changes import get_day_changes, view_day_changes
from wire.queries.documents import EVENT, STORY, fetch_document, list_kind_titles, search_documents
from wire.queries.entities import find_entity, find_query_names, get_entity, list_entities, list_entity_events, list_named_entities
from wire.queries.event_coverage import get_coverage, measure_coverage
from wire.queries.events import (
    EventList,
    find_events_by_id,
    list_category_events,
    list_day_events,
    list_days_down_from,
    list_events,
    list_topic_events,
    view_event,
)
from wire.queries.exports import describe_day_file, get_day_ndjson, get_export_page, get_ninjs_event, get_ninjs_story
from wire.queries.limits import check_limits
from wire.queries.pictures import find_shown_picture, get_picture
from wire.queries.proofs import get_checkpoint, get_proved_day, get_witnessed_logs, list_leaves, prove_consistency, prove_inclusion
from wire.queries.site_pages import (
    Correction,
    count_sitemaps,
    count_usage,
    get_calendar,
    get_feeds_health,
    get_source,
    list_corrections,
    list_not_received,
    list_sitemap_stories,
    list_sources,
    list_story_revisions,
    list_withdrawn_on,
)
from wire.queries.snapshots import (
    get_archived_day,
    get_editor_take,
    get_latest_snapshot,
    get_provenance,
    get_today,
    get_todays_category,
    get_wire_version,
    is_sample_wire,
    list_day_stories,
    list_neighbours,
    list_published_dates,
    list_published_days,
    list_takes_of_newest_days,
    list_todays_stories,
    list_wire_keys,
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
    list_matches,
    list_source_stories,
    list_stories,
    search_wire,
)
from wire.queries.story_consensus import compare_coverage, get_consensus
from wire.queries.storylines import find_storyline_neighbours, get_event, get_storyline, list_possible_duplicates, view_storyline
from wire.queries.verification import verify_citation
from wire.queries.weeks import get_week, list_weeks, view_week
