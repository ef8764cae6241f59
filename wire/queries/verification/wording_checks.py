"""Headlines and statements of citations beside those of the record: word for word, cut, reworded or other."""

import re
from typing import Final

from citations.find.normalize import ELLIPSIS, ELLIPSIS_AT_END, fold_words, is_quoted_from, split_at_ellipses
from citations.sentence_boundaries import split_sentences
from wire.queries.verification.paraphrase_checks import check_own_words, is_changed_copy, shares_words
from wire.queries.verification.record import CheckResult, StoryRecord, parse_revision
from wire.text import claim_match

MOST: Final = 8  # sentences of a statement that may be the record's, before those of the writer's own
LEAST: Final = 4  # words of a headline, from which they are a part of it
_GOES_ON: Final = re.compile(r"[ ,;:–—-]{1,4}[^\W\d_A-Z]")


def check_headline(said: str, known: StoryRecord, result: CheckResult) -> None:
    words, pieces, is_marked = fold_words(said), split_at_ellipses(said), ELLIPSIS_AT_END.search(said)
    for row in known.candidate_revisions(result.pinned):
        right = fold_words(row.headline)
        is_cut = is_marked and is_quoted_from(said, row.headline) and pieces[0] == right[: len(pieces[0])]
        if words == right or is_cut:
            return result.accept("headline", said, row.headline, row.revision)
    if not _is_part_of_headline(said, known, result):
        _reject_wording("headline", said, known.current.headline, result)


def _is_part_of_headline(said: str, known: StoryRecord, result: CheckResult) -> bool:
    """Note it if these words stand in a headline one after the other, but do not say that they leave out others."""
    rows = known.candidate_revisions(result.pinned) if len(fold_words(said)) >= LEAST else []
    row = next((row for row in rows if is_quoted_from(said, row.headline)), None)
    if row is not None:
        result.accept("headline", said, row.headline, row.revision)
        result.note("Its words are in the headline, but it leaves out words between them without saying so.")
    return row is not None


def _reject_wording(name: str, said: str, record: str, result: CheckResult) -> None:
    theirs, ours = fold_words(said), fold_words(record)
    added, lost = [word for word in theirs if word not in ours], [word for word in ours if word not in theirs]
    parts = [f"not in the record: {', '.join(added[:8])}"] if added else []
    parts += [f"left out: {', '.join(lost[:8])}"] if lost else []
    problem = f"{name}: the record says {record!r}" + (f" ({'; '.join(parts)})." if parts else " (in another order).")
    result.add(name, said, record, ok=False, problem=problem)


def check_start(rest: str, known: StoryRecord, result: CheckResult, *, is_named: bool) -> None:
    """Check what follows the date of an inline citation: the headline, and perhaps sentences of the writer's own. `is_named`: an id
    tells which story is meant, so that the headline may be told in other words.
    """
    words, sentence = fold_words(rest), re.split(r"(?<=…)\s+(?=[#@])", next(split_sentences(rest), rest))[0]
    begun = (split_at_ellipses(sentence) or [()])[0] if ELLIPSIS.search(sentence) else ()
    for row in known.candidate_revisions(result.pinned):
        right = fold_words(row.headline)
        is_cut = len(begun) > 2 and right[: len(begun)] == begun and is_quoted_from(sentence, row.headline)
        if not is_cut and words[: len(right)] != right:
            continue
        result.accept("headline", rest[: len(row.headline) + 10], row.headline, row.revision)
        if is_cut and (left := _read_behind_cut(rest)) and not is_quoted_from(left, row.headline):
            result.note(f"The words after the omission, {left!r}, are not in the headline.")
        elif not is_cut and is_extended(rest, row.headline):
            result.note("The record does not continue like this after the headline.")
        return
    if is_named and not is_changed_copy(sentence, known) and not ELLIPSIS.search(sentence) and shares_words(sentence, known):
        result.note("It does not give the headline.")
        return check_own_words(sentence, known, result)
    if len(words) - len(fold_words(sentence)) >= LEAST or not _is_part_of_headline(sentence, known, result):
        _reject_wording("headline", rest[: len(known.current.headline) + 20], known.current.headline, result)


def _read_behind_cut(rest: str) -> str:
    """Return how a headline goes on behind an ellipsis, up to the end of its sentence; "" where a sentence begins there."""
    cut = re.match(r"[^…]*?(?:\[?…\]?|\[?\.\.\.\]?)", rest)
    if not cut or (not cut[0].endswith("]") and re.match(r"\W*(?:[A-Z]|$)", rest[cut.end() :])):
        return ""
    return re.split(r"[.!?](?:\s|$)| -- | - ", rest[cut.end() :], maxsplit=1)[0].strip()


def is_extended(rest: str, headline: str) -> bool:
    """Return true if a sentence that is a headline so far goes on behind it: "…, which was denied"."""
    right = fold_words(headline)
    ends = (word.end() for word in re.finditer(r"\w+", rest) if word.end() >= len(headline) // 2)
    end = next((end for end in ends if fold_words(rest[:end]) == right), None)
    return end is not None and bool(_GOES_ON.match(rest, end))


def check_end(heading: str, known: StoryRecord, result: CheckResult) -> None:
    """Check the headline that ends a text which begins anywhere."""
    words = fold_words(heading)
    for row in known.candidate_revisions(result.pinned):
        right = fold_words(row.headline)
        if words[-len(right) :] == right:
            return result.accept("headline", row.headline, row.headline, row.revision)
    _reject_wording("headline", heading[-len(known.current.headline) - 20 :], known.current.headline, result)


def check_statement(said: str, known: StoryRecord, result: CheckResult, *, is_named: bool, may_go_on: bool = False) -> None:
    """Check the words after "as summarized by": those of the record, whole sentences of it, or a beginning that says that it was
    cut. `is_named`: an id tells which story is meant, so that it may be told in other words. `may_go_on`: nothing shows where they
    end, and the writer's own sentences may follow.
    """
    for row in known.candidate_revisions(result.pinned):
        story = known.citable(row)
        bare = said.removeprefix(f"{story.credited_source} reported " if story.credited_source else "")
        texts = (story.statement.text, row.summary_medium, row.headline, f"{row.headline}. {row.summary_medium}")
        if fold_words(bare) and any(_is_excerpt(bare, text) for text in dict.fromkeys(texts)):
            return result.accept("statement", said, story.statement.text, row.revision)
    whole = list(split_sentences(said))
    for end in range(min(len(whole) - 1, MOST), 0, -1) if may_go_on else ():
        began = CheckResult(pinned=result.pinned)
        check_statement(" ".join(whole[:end]), known, began, is_named=is_named)
        if not began.is_wrong and not began.is_reworded:
            result.revision = result.revision or began.revision
            result.checks += began.checks
            return result.note(f"The record does not continue like this: {' '.join(whole[end:])[:200]!r}.")
    words, places, current = fold_words(said), known.find_quote(said), known.statements[known.current.revision]
    is_own = is_named and not places and not ELLIPSIS.search(said) and not is_changed_copy(said, known)
    if is_own and shares_words(said, known):
        return check_own_words(said, known, result)
    is_recorded = bool(words) and known.words.issuperset(words)
    problem = _find_contradiction(said, known) if known.words.issuperset(words) else ""
    if result.pinned is not None and places:
        problem = f"statement: revision {places[0][1]} has these words, but revision {result.pinned} does not."
    if not problem and not places and not is_recorded:
        return _reject_wording("statement", said, current, result)
    result.add("statement", said, current, ok=not problem, problem=problem)
    if not problem and places:
        result.note("Its words are in the record, but it leaves out words between them without saying so.")
    elif not problem:
        result.note("Its words are the record's, but in another order: it is not a quotation.")


def _find_contradiction(said: str, known: StoryRecord) -> str:
    """Return what every revision denies of these words."""
    claim = claim_match.parse_statement(said)
    denied = [claim_match.find_contradiction(claim, parse_revision(row)) for row in known.revisions]
    return denied[0] if all(denied) else ""


def _is_excerpt(said: str, text: str) -> bool:
    whole = list(split_sentences(text))
    joined = "".join(fold_words(said))  # lines may break inside of words
    for begin in range(len(whole)):
        run = ""
        for sentence in whole[begin:]:
            run += "".join(fold_words(sentence))
            if run == joined:
                return True
    pieces = split_at_ellipses(said)
    if not ELLIPSIS.search(said) or not is_quoted_from(said, text):
        return False
    starts = (fold_words(" ".join(whole[begin:])) for begin in range(len(whole)))
    if not any(start[: len(pieces[0])] == pieces[0] for start in starts):
        return False
    # Something was left out in between only: it ends where a sentence does.
    ends = (fold_words(" ".join(whole[: end + 1])) for end in range(len(whole)))
    return bool(ELLIPSIS_AT_END.search(said)) or any(end[-len(pieces[-1]) :] == pieces[-1] for end in ends)
