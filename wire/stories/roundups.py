"""Round-ups, newsletters and live pages: items that tell of many events at once, and so belong to none."""

import re
from typing import Final

_COUNT: Final = r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)"
_OFTEN: Final = (
    r"(?:daily|weekly|monthly|morning|evening|afternoon|weekend|sunday|saturday|friday|thursday|wednesday|tuesday|monday)"
)
_DIGEST: Final = r"(?:round-?up|wrap(?:-?up)?|recap|digest|brief(?:ing)?|newsletter|bulletin|rundown)"
_ABOUT: Final = r"(?:(?:ai|tech|news|startup|funding|business) ){0,2}"
# Series by name, before a colon, a dash or a number: what follows is what this issue holds.
_SERIES: Final = (
    r"The Download|TechCrunch (?:Mobility|Space|Fintech|Weekly|Week|Minute|Daily|AM|PM)|StrictlyVC(?: Download)?|Startups Weekly"
    r"|TC Daily|Equity Live|Week in Review|(?:This|Last|The) Week in [A-Z]\w*|LWiAI Podcast|AI Weekly|The AI Beat|Import AI"
    r"|The Batch|Axios (?:AI\+?|AM|PM|Pro Rata|Login|Finish Line|Sneak Peek|Generate|Markets|Macro|Codebook)|Data Sheet|Eye on AI"
    r"|Fortune Tech|Term Sheet|CEO Daily|Semafor (?:Flagship|Technology|Principals|Tech|Business)|Tech Daily|The Briefing"
    r"|Tech In Depth|Power On|FirstFT|FT (?:Tech|News) Briefing|The Morning After|(?:The )?(?:Daily|Morning|Evening) Brief"
    r"|Newsletter"
)
_NAMED: Final = re.compile(rf"(?:{_SERIES})(?:,? (?:#|no\. ?)?\d+)?(?: ?[:|–—].*| - .*)?")
_PATTERNS: Final = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"live(?: ?-?blog)?(?: updates?| coverage)? ?[:|–—-] .+",
        r".+ live ?-?blog\b(?: ?[:|–—-].*)?",
        r".+ ?[:|–—-] (?:live updates|live coverage)",
        rf"(?:the |your |our |this week[’']s |today[’']s )?{_OFTEN} {_ABOUT}{_DIGEST}(?: ?[:|–—#-].*)?",
        rf".+ ?[:|–—-] (?:the |your |our )?{_OFTEN} {_ABOUT}{_DIGEST}",
        rf"(?:the )?(?:(?:ai|tech|news|startup|funding) ){{1,2}}{_DIGEST}(?: ?[:|–—#].*)?",
        r"(?:the |our |this )?(?:week|month|year|day)(?:[’']s)? in (?:review|ai|tech|brief)(?: ?[:|–—-].*)?",
        rf"(?:the )?(?:top|biggest|(?:top |biggest )?{_COUNT}(?: top| biggest| best| most important)?) {_ABOUT}"
        r"(?:stories|news|headlines|announcements|rounds|reads) (?:of|from|this) (?:the |this |last )?(?:day|week|month)\b.*",
        rf"{_COUNT} things (?:you need |you should )?to know(?: today| this (?:week|morning|afternoon)| (?:before|for|on) .+)?",
        r"(?:all (?:of )?the (?:biggest )?|the biggest )(?:news|announcements|updates) from .+",
        r"(?:.+ ?[:|–—-] )?everything (?:[\w’']+ ){0,3}(?:announced|unveiled|revealed)\b.*",
        rf".*\bthese {_COUNT} announcements\b.*",
        r".+: (?:follow live|what to expect)\b.*",
        r"the latest ai news we announced in \w+",
        r"what (?:you missed|happened) (?:in (?:ai|tech) )?(?:this|last) week\b.*",
    )
)


def is_roundup(headline: str) -> bool:
    """Whether a headline is that of a round-up, of a newsletter's issue or of a live page. News about a newsletter is none."""
    return bool(_NAMED.fullmatch(headline)) or any(pattern.fullmatch(headline) for pattern in _PATTERNS)
