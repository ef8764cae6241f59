"""Sentences that publishers print around an article and that tell no news: newsletters' greetings, navigation, picture credits."""

import re
from typing import Final

_FORM: Final = r"(?:blog |guest )?(?:story|article|post|piece|essay|column|excerpt|interview|newsletter)"
_NOTE: Final = r"(?:Editor[’']s [Nn]ote: )?"
_NAME: Final = r"[A-Z][\w.’'&-]*"
_WHOSE: Final = (
    r"(?:Getty(?: Images)?+|AFP|AP(?: Photo)?+|Reuters|Bloomberg|Shutterstock|iStock(?:photo)?|Adobe Stock|Alamy|Unsplash"
    r"|Pexels|NurPhoto"
    r"|The Verge|Axios|TechCrunch|WIRED(?: Staff)?|ZDNET|ZDNet|MIT Technology Review|MITTR|Semafor|Fortune|Engadget|VentureBeat)"
)
_PICTURE: Final = r"(?:Photo|Image|Picture|Illustration|Graphic|Screenshot|Video|Photo illustration|Photo-illustration)s?"
# A sentence is boilerplate if it is one of these from beginning to end, but for its final stop.
_SENTENCES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Which newsletter or series it is, and where it was printed first
        r"(?:Hello and )?(?:[Tt]his is|[Ww]elcome to|[Hh]ere[’']s) (?:today|this week)[’']s (?:edition|issue|instal+ment) of .+",
        rf"This is (?:an? (?:excerpt|edition|issue) (?:of|from) )?{_NAME}(?: [\w.’'&-]+){{0,5}},"
        r" (?:an?|our|the) [^,]{0,40}?\bnewsletter\b.*",
        rf"(?:This|The) {_FORM} (?:(?:was )?(?:originally|first) (?:appeared|published|posted|ran)|was (?:published|sent))"
        r" (?:in|on|at|by|as|to) .+",
        rf"{_NOTE}This {_FORM} is (?:a )?part of .*\b(?:series|package|collection|project|program|campaign|initiative)\b.*",
        rf"{_NOTE}This {_FORM} (?:is|was) (?:co-?)?(?:written|authored) (?:with|by|in collaboration with) .+",
        rf"{_NOTE}This is a guest (?:blog )?post .*\b(?:by|from|with)\b .+",
        r".{2,40} Explains: Let our writers .+",
        r".{2,60} series looks across .+",
        # Greetings
        r"(?:Hello|Hi|Hey|Good (?:morning|afternoon|evening)|Happy [A-Z]\w+day)(?:,? (?:there|everyone|all|readers))?",
        rf"(?:(?:Hello|Hi|Hey)(?: there)?,? and )?[Ww]elcome (?:back )?to (?:the )?{_NAME}(?: {_NAME})?",
        rf"(?:(?:Hello|Hi|Hey)(?: there)?,? and )?[Ww]elcome (?:back )?to (?:the )?{_NAME}.*,"
        r" (?:an?|our|the|your) .*\b(?:newsletter|podcast|series|collaboration|show|column)\b.*",
        rf"(?:This is|I[’']m) {_NAME} {_NAME}(?:,| —) .*\b(?:host|editor|reporter|repoter|founder|cofounder|journalist|cohost)\b.*",
        r"(?:I[’'](?:m|ll)|This is the (?:first|last)) .*\b(?:on parental leave|episodes?)\b.*",
        r"We[’'](?:re taking an? (?:\w+ )?break|ll be (?:off|back) .+)|The [A-Z]\w+ will be back on [A-Z].+",
        # What to subscribe to
        r"(?:To|If you[’']d like to|If you want to|Want to) (?:get|receive|read) .*\bin your inbox\b.*",
        r"(?:.* )?[Ww]as this newsletter forwarded to you",
        r"(?:Sign up|Sign up now|Subscribe|Subscribe now|Opt in|Register|Click|Tap|Go)(?: (?:to|for) .{1,120})? here.{0,60}",
        r"(?:Sign up|Subscribe) (?:to|for) .*\b(?:newsletters?|inbox|alerts?|briefing|next edition|mailing list|updates)\b.*",
        r"Subscribe to read .+",
        r".{2,60} (?:arrives|lands) in (?:your|our subscribers[’']) inbox(?:es)?.*",
        r"(?:If you enjoy this|If you[’']re not a subscriber|Not a subscriber).*",
        r"For (?:more|all) .{2,120}(?:,| -) follow .{2,60}",
        # Navigation
        r"Skip to (?:the )?(?:main )?content|Skip to main|Jump to content|Back to top|Table of contents|Advertisement",
        r"(?:Read|Learn|See|View|Find out) [Mm]ore(?: (?:here|now|below|at|in our|on our) ?.{0,80})?",
        r"You can (?:also )?read (?:more|the rest|the full|the whole|all) .{0,60}\bhere",
        r"(?:Continue|Keep) [Rr]eading(?: .{1,120})?",
        r"Click (?:here|below|through)(?: .{1,120})?",
        r"Listen to (?:this article|the full episode|this story)(?: .{1,80})?",
        r"(?:The post .+ (?:appeared first|first appeared) on .+)",
        r"(?:Share|Tweet|Print|Email) this (?:article|story|post|page)(?: .{1,80})?",
        # Whose picture it is
        rf"{_PICTURE} (?:[Cc]redits?|[Cc]ourtesy|[Ss]ource) ?(?::|of|by).{{1,120}}",
        rf"{_PICTURE} ?: {_NAME}(?:,? (?:{_NAME}|/|\||via|for|and|by))*(?:/{_NAME})*",
        rf"{_PICTURE} by {_NAME}(?:,? (?:{_NAME}|/|\||via|and|for))*",
        rf"(?:{_PICTURE} (?:by|from) )?[^.!?,]{{2,80}} ?[/|] ?{_WHOSE}(?: .{{0,40}})?",
        rf"{_WHOSE}",
    )
)
_STOP: Final = " .!?…:"
# Navigation, headings and credits that stand before the first sentence without a stop of their own.
_GLUED: Final = re.compile(
    r"(?:Skip to (?:the )?(?:main )?content|How it started"
    rf"|{_PICTURE}(?: by| [Cc]redits?:|:) (?:{_NAME} ){{0,4}}?{_NAME} ?/ ?{_WHOSE})[.:|]?\s+(?=[A-Z“\"])"
)


def is_boilerplate(sentence: str) -> bool:
    """Whether one plain sentence is nothing but what pages print around an article."""
    bare = sentence.strip().rstrip(_STOP)
    return any(pattern.fullmatch(bare) for pattern in _SENTENCES)


def without_glued(text: str) -> str:
    """The text without navigation and credits that run into its first sentence."""
    glued = _GLUED.match(text)
    return text[glued.end() :] if glued else text
