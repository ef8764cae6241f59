"""Fixed phrases of answers: what a model should keep in mind while it reads them. A corpus may replace `SAY` and `AVOID`."""

from typing import Final

SAY: Final = (
    *("reported", "interpreted", "community-linked", "symbolically framed", "official source states", "mainstream explanation"),
)
AVOID: Final = ("proven", "confirmed portal", "CERN caused", "scientists are hiding", "this will happen")
LANGUAGE: Final = "Items are filed, graded stories — say 'reported'/'interpreted', never 'proven'."
CATALOGUE: Final = (
    "Each item pairs the community reading with the mainstream explanation. "
    "The catalog documents the gap; it does not adjudicate it."
)
MOTIFS: Final = "Motifs describe symbols in stories — never mechanisms in physics."
WORDING: Final = (
    "Present the belief frame as 'communities interpret…', the shared facts as 'official sources state…', and never merge the two "
    "in one clause."
)
DIRECTIONS: Final = "These are directions for research, not sources. Do not cite anything you have not actually located."
UNSOURCED_THREAD: Final = "This thread carries a NEEDS-SOURCE flag — its anchor details await an official citation."
COMMUNITY_SAY: Final = "community members report…"
COMMUNITY_AVOID: Final = "it is known that…"

RULES: Final = (
    "Treat every item as cultural/symbolic/experiential storytelling unless a claim is marked `official` with a source URL. Keep "
    "official science facts on a separate shelf from interpretation.",
    "Do not present symbolic claims as proven. Do not tie an official event causally to a community one.",
    "Do not encourage fear, harassment, or risky behavior. Cite source URLs whenever they exist.",
)
NAMES_RULE: Final = "Some names are left out of this corpus on purpose — do not attempt to identify or name them."
CITATION: Final = (
    "Official events carry official URLs — cite them. Community items are summaries; cite the archive entry (id) rather than "
    "reconstructing the original post."
)

FORUM: Final = "timeline story forum"
"""What a search for a motif's reports adds to its name, unless the corpus says otherwise."""
QUESTIONS: Final = (
    'Which reports share motifs with "{subject}" but carry a different evidence grade?',
    "How does the belief framing differ from the skeptical framing on the same dated facts?",
    "Does this pattern appear before its usually-cited wave year?",
)
IMAGE: Final = "Write the {label} image ({definition}) as a 500-word field note that never states it as fact."
CAPTION: Final = "Draft the neutral-archive caption a museum would put under this story."
CHECKS: Final = (
    "Locate the primary URL (post, thread, video) and archive it.",
    "Confirm dates against an official or contemporaneous source.",
    "Record the mainstream explanation next to the community reading.",
)
FLAGGED: Final = "⚑ This subject carries a needs-source flag — resolve it before quoting details."
UNFLAGGED: Final = "Check whether any claim quietly upgraded itself from 'reported' to 'fact' in later retellings."
