"""How people word a question: what in it asks rather than tells, and which words stand for which others in news."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from wire.stories.tokens import STOP_WORDS, token

_FILLERS: Final = """
about after all also am any anybody anyone anything article articles been before being both can could coverage did didn done
during each else ever every everything exactly explain find former gave get gets getting give given go goes going gone got had
happen happened happening happens he her here him his hear heard i if instead just know known latest let like list look looking
lot made make makes many may me mean means might more most much must my need new newest news no not now nowadays of off ok
once one only or other our out over own please put read recent recently related report reported reports said say saying says
search see seen she should show since so some somebody someone something still story stories such summarize summary take tell
than them then there these they thing things those through too under until up update updates upon us use used very via want
wanted wants was way we well went were while whom whose within without would yes yet you your
doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn don ll ve re
"""
FILLERS: Final = STOP_WORDS | frozenset(_FILLERS.split())
"""Words of a question that a story need not hold."""

NEWEST: Final = frozenset(
    ["latest", "newest", "new", "news", "recent", "recently", "now", "update", "updates", "today", "current", "currently"]
)
"""Fillers that ask for what is new."""

# Words that newsrooms use for each other, by their beginnings as a dictionary has them. A question may find a story that uses
# another word of its line only where not every word has to occur.
_SYNONYMS: Final = """
acquire acquires acquisition buy buys bought purchase purchases takeover takes over snaps merger merge
fire fires layoff layoffs sack sacked dismiss dismissed cuts jobs redundant
sue sues suing lawsuit lawsuits court legal complaint litigation
settle settles settlement
launch launches release released unveil unveils introduce introduces introducing debut debuts announce announces rollout ships
ban bans banned prohibit prohibits outlaw block blocks bar barred forbid
allow allows permit permits permission let lets approve
teen teens teenager teenagers kid kids child children minor minors youth underage
student students pupil pupils school schools classroom education
teacher teachers schoolteacher educator educators
university universities college colleges campus academic
doctor doctors physician physicians clinician clinicians medical medicine
hospital clinic health healthcare patient patients
therapy therapist therapists psychotherapist psychotherapy counselling
movie movies film films hollywood cinema
song songs music musician musicians track tracks singer artist artists
phone phones smartphone smartphones handset mobile iphone android
glasses spectacles eyewear
chip chips processor processors gpu gpus semiconductor semiconductors silicon
car cars vehicle vehicles automotive driving driver robotaxi
electricity power energy grid watt megawatt gigawatt
water drought
job jobs work worker workers employee employees employment staff workforce
boss bosses ceo chief executive executives head
police cop cops constable officer officers sheriff
arrest arrested detain detained handcuffed charged
government federal state administration authorities authority regulator regulators watchdog
prison jail inmate inmates convict convicts
china chinese beijing
uk britain british london
eu europe european brussels
us america american washington
india indian
japan japanese
korea korean
fake deepfake deepfakes bogus fabricated hallucinated hallucination invented invent
hack hacked hacker hackers breach breached breaches attack attacks exploit malware vulnerability
stop stops halt halts pause pauses end ends discontinue shut shuts shutting kill kills scrap
withdraw withdraws withdrew pull pulls recall retract cancel cancels
price prices cost costs expensive fee fees pricing pay
free
hire hires hired recruit recruits poach poaches joins join
quit quits leave leaves leaving depart departs resign resigns exit exits step
replace replaces successor succeed
partner partners partnership deal deals agreement collaborate collaboration team
raise raises raised funding round fundraise investment invest invests
valuation valued worth
study studies research researchers paper finding findings survey
warn warns warning caution
criticize criticizes slam slams condemn backlash protest protests
delay delays postpone
die dies death dead suicide
farm farmer farmers agriculture crop crops
book books novel novels author authors writer publisher
newspaper newspapers journalist journalists reporter newsroom media publisher
picture pictures photo photos image images photograph
video videos clip clips
naked nude nudes undress nudify explicit porn erotica sexual intimate
browser browsers
assistant assistants chatbot chatbots bot bots
robot robots humanoid robotics
weather rain storm hurricane forecast forecasts
army military pentagon defense defence war weapon weapons
model models llm llms
open opensource
privacy private confidential
ads ad advertising advertisement advertisements commercials
shop shops shopping store stores retail retailer buy
bank banks finance financial
earnings quarterly results revenue
boom bubble
voice speech speak spoken audio
translate translation language languages
scientist scientists science scientific
disease illness cancer
satellite space orbit
datacenter datacentre facility facilities
land landowner farmland
computer pc laptop laptops desktop
local device offline
crawler crawlers scraper scrapers scraping scrape
copyright infringement pirated piracy
rule rules law laws regulation regulate bill legislation act
vote votes voters election elections
lonely loneliness companion companions
toy toys
dream hope
secret secretly confidential leaked leak
big large huge giant
"""


@cache
def _lines() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _SYNONYMS.strip().splitlines():
        stems = frozenset(token(word) for word in line.split())
        for stem in stems:
            found[stem] = found.get(stem, frozenset()) | stems
    return found


def synonyms(stem: str) -> tuple[str, ...]:
    """Stems of other words that newsrooms use for a word, in alphabetical order."""
    return tuple(sorted(_lines().get(stem, frozenset()) - {stem}))
