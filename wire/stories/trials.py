"""Items that are no stories: what developers and editors publish to see whether publishing works."""

import re
from typing import Final

_KIND: Final = (
    r"(?:posts?|articles?|story|stories|pages?|items?|headlines?|entry|titles?|blogs?|news|content|rss|feeds?|drafts?|video)"
)
_ORDER: Final = r"(?:please )?(?:ignore|delete|do not publish|don[’']t publish|do not use)"
_LABEL: Final = (
    rf"(?:dev|development|testing|test|draft|staging|stage|qa|uat|wip|sandbox|preprod|internal|placeholder|dummy|{_ORDER})[ \d]*"
)
# A headline is a test item's if it is one of these from beginning to end, but for signs and numbers around it.
_WHOLE: Final = re.compile(
    rf"(?:this is )?(?:just |only )?(?:an? |my |our |another |new )?(?:test(?:ing)?|dummy|sample|placeholder|draft)(?:[ -]{_KIND})?"
    rf"(?:[ ,.:–—-]+{_ORDER})?"
    rf"|test(?:ing)?(?:[ ,.:_–—-]+(?:test(?:ing)?|one|two|three|\d+|{_KIND}|{_ORDER}))*"
    rf"|(?:your )?(?:headline|title) (?:goes )?here|{_ORDER}(?: (?:this|me)(?: {_KIND})?)?"
    r"|hello world|auto draft|(?:untitled|no title)(?: (?:post|draft|document))?|new post|sample page"
    r"|lorem ipsum(?: dolor\b.*)?|asdf(?:gh\w*)?|tbd|tk ?tk\w*",
    re.I,
)
_LABELLED: Final = re.compile(rf"[\[{{(]{{1,2}}{_LABEL}[)\]}}]{{1,2}}.*|.*[\[{{]{{1,2}}{_LABEL}[\]}}]{{1,2}}", re.I | re.S)
_SHOUTED: Final = re.compile(  # in capitals, at either end, as editors do at each other
    r"(?:DO NOT PUBLISH|DO NOT USE|DON[’']T PUBLISH|PLEASE IGNORE) ?[-–—:|*]+ .*|TEST ?[-–—|*]+ .*"
    r"|.* [-–—:|*]+ ?(?:DO NOT PUBLISH|DO NOT USE|DON[’']T PUBLISH|PLEASE IGNORE)",
    re.S,
)
_FILLER: Final = re.compile(r"lorem ipsum dolor sit\b", re.I)
_AROUND: Final = " \t.!?…,;:*#_~-–—|\"'“”‘’0123456789()[]{}<>/\\"


def is_trial(headline: str, summary: str = "") -> bool:
    """Whether an item, given as plain text, only tries out whether publishing works. News that tells of tests does not."""
    whole = headline.strip(_AROUND)
    return bool(_LABELLED.fullmatch(headline) or _SHOUTED.fullmatch(headline) or _WHOLE.fullmatch(whole) or _FILLER.match(summary))
