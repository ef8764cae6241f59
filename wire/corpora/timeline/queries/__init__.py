"""The questions that corpora answer. REST, MCP and pages ask these functions and nothing else; they return schemas.

Each takes the corpus by its slug and, as `as_of`, the release; without one it is the newest. `scope`: which release, and cursors ·
`reports`: search, one report · `lists`: events, threads, the catalogue · `motifs`: the map · `compare`, `deepen` ·
`phrase_lint`: a draft against the rules · `corpora`: all of them, statistics, the manifest.
"""

from wire.corpora.timeline.queries.compare import compare_sources
from wire.corpora.timeline.queries.corpora import FILES, LISTED, agent_manifest, get_corpus, list_corpora, list_members, stats
from wire.corpora.timeline.queries.follow_up_queries import deepen_story
from wire.corpora.timeline.queries.lists import count_events, events, mandela_catalog, story_threads
from wire.corpora.timeline.queries.motifs import motif_map
from wire.corpora.timeline.queries.phrase_lint import MAX_DRAFT, check_wording
from wire.corpora.timeline.queries.reports import get_report, search_reports
