"""Pages that say they do not exist though their status is 200 ("soft 404"), known by a title or heading that says no more."""

import re
import unicodedata
from typing import Final

_LONGEST: Final = 150  # characters; what is longer says more than that a page is missing
_PARTS: Final = re.compile(r"\s[|\\\-–—·•:»]\s")  # between a title and the name of its site
_NO_WORD: Final = re.compile(r"[\W_]+")
# They stand around the phrase and say nothing more.
_FILLER: Final = re.compile(
    "404|http|status|code|error|oops|whoops|ups|uups|sorry|we|re|the|this|that|a|fehler|erreur|erro|errore|fout|ошибка|エラー|오류"
    "|diese|die|cette|la|esta|questa|deze|эта"
)
_PAGE: Final = r"(?:page|article|story|file|content|post|document)(?: you (?:requested|(?:are |were )?looking for))?"
_PHRASE: Final = re.compile(
    rf"(?:{_PAGE} )?(?:(?:is|was|can|could) )?not (?:be )?found"
    rf"|{_PAGE} (?:(?:cannot|can t|couldn t) be found|(?:does not|doesn t) exist(?: anymore)?|no longer exists)"
    rf"|{_PAGE} (?:is (?:not|no longer) available|isn t available|not available|has been removed|is missing)"
    r"|(?:can t|cannot|couldn t|could not) find page"
    r"|(?:seite|artikel|beitrag) (?:wurde )?(?:leider )?nicht gefunden|seite existiert (?:leider )?nicht(?: mehr)?"
    r"|(?:page|article) (?:introuvable|non trouvée?)|page n existe (?:pas|plus)"
    r"|página no (?:encontrada|existe)|no se (?:ha encontrado|encontró|encuentra) página"
    r"|página não (?:encontrada|existe)"
    r"|pagina (?:non (?:trovata|esiste)|niet gevonden|bestaat niet(?: meer)?)"
    r"|(?:sidan|siden) (?:kunde inte hittas|hittades inte|finns inte|blev ikke fundet|findes ikke|ble ikke funnet|finnes ikke)"
    r"|nie znaleziono strony|strona nie (?:została znaleziona|istnieje)"
    r"|страница не (?:найдена|существует)"
    r"|(?:お探しの|この)?ページ[はが](?:見つかりません(?:でした)?|存在しません)"
    r"|(?:页面|网页|頁面|網頁)(?:不存在|未找到|找不到)|(?:找不到|未找到)(?:该|該|此)?(?:页面|网页|頁面|網頁)"
    r"|페이지를 찾을 수 없습니다"
)


def is_not_found(heading: str) -> bool:
    """Return whether a title or heading, plain text, says only that there is no such page; the site's name may stand by it."""
    if len(heading) > _LONGEST:
        return False
    for part in _PARTS.split(heading):
        words = _NO_WORD.sub(" ", unicodedata.normalize("NFC", part.casefold())).split()
        rest = " ".join(word for word in words if not _FILLER.fullmatch(word))
        if _PHRASE.fullmatch(rest) or (not rest and "404" in words):
            return True
    return False
