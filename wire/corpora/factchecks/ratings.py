"""The meaning of fact-checkers' own labels on a common scale. The table ships with the project; editors change it. Pure."""

from collections.abc import Mapping
from typing import Final

from django.db.models import TextChoices

from wire.text.tokens import fold_text


class Rating(TextChoices):
    """One scale for all fact-checkers' labels."""

    TRUE = "true", "true"
    MOSTLY_TRUE = "mostly_true", "mostly true"
    MIXED = "mixed", "mixed"
    MISLEADING = "misleading", "misleading"
    MOSTLY_FALSE = "mostly_false", "mostly false"
    FALSE = "false", "false"
    UNPROVEN = "unproven", "unproven"
    SATIRE = "satire", "satire"
    UNKNOWN = "unknown", "unknown"


_LABELS: Final[Mapping[Rating, str]] = {
    Rating.TRUE: """true; correct; accurate; verified; confirmed; correct attribution; accurate attribution; geppetto checkmark;
        wahr; richtig; korrekt; stimmt; zutreffend; bestätigt; vrai; exact; verdadero; cierto; vero; verdadeiro; waar; sant;
        sandt""",
    Rating.MOSTLY_TRUE: """mostly true; mostly correct; mostly accurate; partly true; größtenteils richtig; überwiegend richtig;
        überwiegend wahr; größtenteils wahr; weitgehend richtig; eher wahr; teilweise richtig; plutôt vrai; mayormente verdadero""",
    Rating.MIXED: """mixed; mixture; half true; half-true; partly false; partially false; two pinocchios; halb wahr;
    halbwahr; teils teils;
        teils falsch; teilweise falsch; gemischt; mi-vrai; verdad a medias; in between; half right""",
    Rating.MISLEADING: """misleading; missing context; lacks context; out of context; miscaptioned; misattributed; cherry
    picks; spins the
        facts; exaggerated; distorts the facts; irreführend; fehlender kontext; falscher kontext; ohne kontext; verzerrt; trompeur;
        engañoso; fuorviante; enganoso; misleidend""",
    Rating.MOSTLY_FALSE: """mostly false; mostly incorrect; mostly wrong; three pinocchios; barely true; größtenteils falsch;
    überwiegend
        falsch; weitgehend falsch; eher falsch; plutôt faux""",
    Rating.FALSE: """false; incorrect; wrong; inaccurate; fake; hoax; pants on fire; pants on fire!; four pinocchios; scam;
    debunked; altered;
        manipulated; fabricated; not true; no evidence of truth; falsch; unwahr; frei erfunden; fälschung; gefälscht; manipuliert;
        erfunden; lüge; stimmt nicht; faux; falso; bufala; onwaar; falskt; usant""",
    Rating.UNPROVEN: """unproven; unverified; unsupported; unsubstantiated; no evidence; research in progress; undetermined;
    inconclusive; not
        enough evidence; legend; unbelegt; nicht belegt; unbewiesen; unklar; nicht überprüfbar; keine belege; non prouvé;
        sin pruebas; onbewezen; outdated; veraltet""",
    Rating.SATIRE: "satire; labeled satire; originated as satire; parody; parodie; humour",
}
SHIPPED: Final[Mapping[str, Rating]] = {
    fold_text(" ".join(label.split())): rating for rating, labels in _LABELS.items() for label in labels.split(";")
}  # by folded label


def key_of(label: str) -> str:
    """Return the form of a label that it is looked up by."""
    return fold_text(" ".join(label.split()))[:200]


def of_number(value: float, worst: float, best: float) -> Rating:
    """Return the rating of a number between the worst and the best, as ClaimReview has it."""
    if not worst < best or not worst <= value <= best:
        return Rating.UNKNOWN
    scale = (Rating.FALSE, Rating.MOSTLY_FALSE, Rating.MIXED, Rating.MOSTLY_TRUE, Rating.TRUE)
    return scale[min(4, int((value - worst) / (best - worst) * 4 + 0.5))]
