"""The plugin of timeline corpora: what they add to the installation."""

from config.plugins import MenuItem, Plugin
from wire.corpora.timeline import api, documents, pages, verify

PLUGIN = Plugin(
    label="timeline",
    title="Timelines",
    urlpatterns=pages.urlpatterns,
    router=api.router,
    tag="timeline corpora",
    navigation=[("Timelines", "/timeline/")],
    sitemaps=["/sitemap-timeline.xml"],
    directives="timeline/directives.txt",
    mcp_servers={"/mcp/timeline": "mcpserver.servers.timeline", "/mcp/timeline/": "mcpserver.servers.timeline"},
    list_server_cards=pages.list_cards,
    get_page_parameters=pages.parameters_of,
    document_kind=documents.KIND,
    menu=[
        MenuItem(title="Corpora", icon="timeline", model="timeline.corpus"),
        MenuItem(title="Reports", icon="summarize", model="timeline.report"),
        MenuItem(title="Threads", icon="linked_services", model="timeline.thread"),
        MenuItem(title="Timeline events", icon="event", model="timeline.timelineevent"),
        MenuItem(title="Motifs", icon="tag", model="timeline.motif"),
        MenuItem(title="Catalogue", icon="book", model="timeline.catalogitem"),
        MenuItem(title="Source families", icon="source", model="timeline.sourcefamily"),
        MenuItem(title="Releases", icon="verified", model="timeline.corpusrelease"),
    ],
    edit_permissions=[
        *("add_corpus", "change_corpus", "add_corpusrelease"),
        *(
            f"{action}_{row}"
            for action in ("add", "change", "delete")
            for row in ("report", "thread", "timelineevent", "motif", "catalogitem", "sourcefamily")
        ),
    ],
    checks={"left-out names": verify.find_lost_keys},
    list_faults=verify.list_faults,
    after_publish="timeline sync",
    sample_command="timeline sync --sample",
)
