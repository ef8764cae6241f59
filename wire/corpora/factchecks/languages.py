"""The languages of claims and questions: their stems, their stop words, and detection of a text's language. Pure."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, get_args

import snowballstemmer

from wire.text.tokens import words

Code = Literal["de", "en", "fr", "es", "it", "pt", "nl", "da", "fi", "no", "nb", "nn", "ru", "sv", "tr", "ro", "hu", "id"]
CODES: Final[tuple[str, ...]] = get_args(Code)

_STEMMERS: Final[Mapping[str, str]] = {
    **{"de": "german", "en": "english", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese", "nl": "dutch"},
    **{"da": "danish", "fi": "finnish", "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "ru": "russian"},
    **{"sv": "swedish", "tr": "turkish", "ro": "romanian", "hu": "hungarian", "id": "indonesian"},
}
COMPOUNDING: Final = frozenset(("de", "nl", "da", "fi", "no", "nb", "nn", "sv", "hu"))  # they write compounds as one word

_SPOKEN: Final[Mapping[str, str]] = {
    "en": """a about after all also am an and any are as at be because been before being but by can could did do does doing for
        from had has have having he her here him his how i if in into is it its just me more most my no not now of off on
        only or other our out over own said same say says she should so some such than that the their them then there these
        they this those through to too under until up us very was we were what when where which while who whom why will with
        would you your""",
    "de": """aber alle als also am an auch auf aus bei beim bin bis bist da dann das dass dem den denn der des dessen die dies
        diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch fur gegen
        gibt habe haben hat hatte hier ich ihm ihn ihr ihre im in ins ist ja jede jeder kann kein keine konnen man mehr mein
        mit muss nach nicht noch nun nur ob oder ohne sehr sei sein seine sich sie sind so soll sollen uber um und uns unter
        vom von vor war waren warum was weil wenn wer werden wie wieder will wir wird wo wurde wurden zu zum zur zwischen""",
    "fr": """au aux avec ce ces cette dans de des du elle en est et etait ete il ils je la le les leur lui mais meme ne nous on
        ont ou par pas plus pour quand que qui sa se selon ses son sont sur un une vous""",
    "es": """al como con cuando de del donde el ella en entre era es esta este esto fue ha hay la las le lo los mas mi muy no o
        para pero por porque que se segun si sin sobre son su sus un una y ya""",
    "it": """ai al alla anche che chi ci come con da dal dalla dei del della delle di e gli ha hanno i il in la le lo ma nel
        nella non o per perche piu quando se si sono stato su sul un una uno""",
    "pt": """ao aos as com como da das de do dos e ela ele em entre era essa esta foi ha isso mais mas na nao nas no nos o os ou
        para pela pelo por quando que se sem seu sua sao um uma""",
    "nl": """aan als bij dan dat de den der deze die dit door een en er had heeft het hij hoe hun ik in is je kan maar met mijn
        naar niet nog of om ook op over te tegen tot uit van voor was wat wel werd wordt worden zal ze zich zijn zo""",
    "da": """af at blev blive da de den der deres det dig din du efter eller en er et for fra ham han har hendes her hvad hvor i
        ikke jeg kan man med men mig og om op over pa sig som til ud under var ved vi vil""",
    "no": """av at ble bli da de den der deres det dette du eller en er et etter for fra ha han har hun hva hvor i ikke jeg kan
        man med men noe og om opp over pa seg som til under var ved vi vil ut""",
    "sv": """alla att av blev bli da de den deras det dig din du efter ej eller en er ett for fran ha han har hon hur i inte jag
        kan med men mig mot nar nu och om pa sa sig sin ska som till under upp ut vad var vi vid""",
    "fi": """ei eivat ett etta han hanen he ja joka jos kanssa kuin kun me mika mina mukaan mutta myos ne niin nyt oli olla on
        ovat se sen sina siis tai tama te vain voi""",
    "ru": """а без бы был была были было в вам вас во вот все вы для до его ее если же за и из или им их к как когда кто ли мы на
        не нет но о об он она они от по при с со так то только у уже чем что это я""",
    "tr": """ama ancak bir biz bu bunu cok da daha de degil diye en gibi hem icin ile ise kadar ki mi mu ne o olan olarak oldu
        olduğu sen siz su ve veya ya yok""",
    "ro": """acest aceasta al ale am ar are au ca care cat ce cel cu cum da de despre din dupa ea ei el este eu fi fost in la lui
        mai nu o pe pentru prin sa sau se si sunt un una""",
    "hu": """a az azt csak de egy el es ez ezt fel hogy is itt ha ki le lesz meg mert mi mint mit most nagyon ne nem o ok olyan
        ott s sem van volt vagy vannak""",
    "id": """ada adalah akan atau bahwa bagi bisa dalam dan dari dengan di dia harus ini itu jadi juga karena ke kepada kita
        lebih mereka oleh pada para saat sebagai sudah tidak untuk yang""",
}
STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    code: frozenset(words(_SPOKEN["no" if code in ("nb", "nn") else code])) for code in CODES
}
_DETECTED: Final = tuple(code for code in CODES if code not in ("nb", "nn"))

_SPEAKING: Final = {
    word: tuple(code for code in _DETECTED if word in STOP_WORDS[code]) for code in _DETECTED for word in STOP_WORDS[code]
}
LONGEST_WORD: Final = 100  # letters
ENOUGH: Final = 0.8  # stop words of its own that tell a language
CLEARLY: Final = 1.5  # times those of any other

_lock: Final = threading.Lock()  # a stemmer has one state: of two threads at once, one would get the other's word
_made: Final[dict[str, snowballstemmer.stemmer]] = {}


def stem(word: str, language: str) -> str:
    """Stem a folded word as that language does. A language without stems, or none, leaves it as it is; so do all with what is too
    long for a word.
    """
    return _stem(word, language) if len(word) <= LONGEST_WORD else word


@lru_cache(maxsize=200_000)
def _stem(word: str, language: str) -> str:
    name = _STEMMERS.get(language)
    if name is None or len(word) < 3 or word.isdigit():
        return word
    with _lock:
        if name not in _made:
            _made[name] = snowballstemmer.stemmer(name)
        return str(_made[name].stemWord(word))


def content_stems(text: str, language: str) -> set[str]:
    stop = STOP_WORDS.get(language, frozenset())
    return {stem(word, language) for word in words(text) if word not in stop}


def detect(text: str) -> str | None:
    """Return the language of a text by its stop words, each shared among the languages that have it; None where they do not tell it
    from the others, as in a question of two nouns.
    """
    scores = dict.fromkeys(_DETECTED, 0.0)
    for word in words(text):
        spoken = _SPEAKING.get(word, ())
        for code in spoken:
            scores[code] += 1 / len(spoken)
    (best, most), (_, second) = sorted(scores.items(), key=lambda one: -one[1])[:2]
    return best if most >= ENOUGH and most >= CLEARLY * second else None
