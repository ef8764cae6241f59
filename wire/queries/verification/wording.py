"""Headlines and statements of citations beside those of the record: word for word, cut, reworded or other."""

import re
from typing import Final

from citations.folding import is_cut, is_cut_within, pieces, stands_in, words_of
from citations.sentences import sentences
from wire.queries.verification.record import Checked, Known
from wire.stories import agreement
from wire.trust import CheckOut

MOST: Final = 8  # sentences of a statement that may be the record's, before those of the writer's own
LEAST: Final = 4  # words of a headline, from which they are a part of it
_GOES_ON: Final = re.compile(r"[ ,;:–—-]{1,4}[^\W\d_A-Z]")


def check_headline(said: str, known: Known, result: Checked) -> None:
    words = words_of(said)
    for row in known.meant(result.pinned):
        right = words_of(row.headline)
        if words == right or (is_cut(said) and stands_in(said, row.headline) and pieces(said)[0] == right[: len(pieces(said)[0])]):
            result.revision = result.revision or row.revision
            result.add("headline", said, row.headline, ok=True)
            return
    if not _left_out(said, known, result):
        result.add(
            "headline", said, known.current.headline, ok=False, problem=_difference("headline", said, known.current.headline)
        )


def _left_out(said: str, known: Known, result: Checked) -> bool:
    """Whether a headline has words of the record's one after the other, but does not say that it leaves out others."""
    rows = known.meant(result.pinned) if len(words_of(said)) >= LEAST else []
    row = next((row for row in rows if stands_in(said, row.headline)), None)
    if row is not None:
        result.revision = result.revision or row.revision
        result.checks.append(CheckOut(field="headline", said=said[:500], record=row.headline, ok=True))
        result.note("Its words stand in the headline, but without saying so it leaves out others beside them.")
    return row is not None


def check_beginning(rest: str, known: Known, result: Checked) -> None:
    """Of an inline citation: what follows the date is the headline, and perhaps sentences of the writer's own."""
    words, sentence = words_of(rest), re.split(r"(?<=…)\s+(?=[#@])", next(sentences(rest), rest))[0]
    for row in known.meant(result.pinned):
        right = words_of(row.headline)
        begun = pieces(sentence)[0] if is_cut_within(sentence) and pieces(sentence) else ()
        is_prefix = len(begun) > 2 and right[: len(begun)] == begun and stands_in(sentence, row.headline)
        if words[: len(right)] == right or is_prefix:
            result.revision = result.revision or row.revision
            result.add("headline", rest[: len(row.headline) + 10], row.headline, ok=True)
            if is_prefix and (left := _behind_cut(rest)) and not stands_in(left, row.headline):
                result.note(f"Behind what it leaves out the headline has no words {left!r}.")
            elif not is_prefix and goes_on(rest, row.headline):
                result.note("The record does not go on like this behind the headline.")
            return
    if len(words) - len(words_of(sentence)) < LEAST and _left_out(sentence, known, result):
        return
    said = rest[: len(known.current.headline) + 20]
    result.add("headline", said, known.current.headline, ok=False, problem=_difference("headline", said, known.current.headline))


def _behind_cut(rest: str) -> str:
    """How a headline goes on behind an ellipsis, up to the end of its sentence; nothing where a sentence begins there."""
    cut = re.match(r"[^…]*?(?:\[?…\]?|\[?\.\.\.\]?)", rest)
    if not cut or (not cut[0].endswith("]") and re.match(r"\W*(?:[A-Z]|$)", rest[cut.end() :])):
        return ""
    return re.split(r"[.!?](?:\s|$)| -- | - ", rest[cut.end() :], maxsplit=1)[0].strip()


def goes_on(rest: str, headline: str) -> bool:
    """Whether a sentence that is a headline so far goes on behind it: "…, which was denied"."""
    right = words_of(headline)
    ends = (word.end() for word in re.finditer(r"\w+", rest) if word.end() >= len(headline) // 2)
    end = next((end for end in ends if words_of(rest[:end]) == right), None)
    return end is not None and bool(_GOES_ON.match(rest, end))


def check_ending(heading: str, known: Known, result: Checked) -> None:
    """Of a citation whose headline ends a text that begins anywhere."""
    words, current = words_of(heading), known.current.headline
    for row in known.meant(result.pinned):
        right = words_of(row.headline)
        if words[-len(right) :] == right:
            result.revision = result.revision or row.revision
            result.add("headline", row.headline, row.headline, ok=True)
            return
    said = heading[-len(current) - 20 :]
    result.add("headline", said, current, ok=False, problem=_difference("headline", said, current))


def check_statement(said: str, known: Known, result: Checked, *, may_go_on: bool = False) -> None:
    """The words after "as summarized by": those of the record, whole sentences of it, or a beginning that says that it was cut.
    `may_go_on`: nothing shows where they end, and the writer's own sentences may follow.
    """
    words = words_of(said)
    for row in known.meant(result.pinned):
        story = known.citable(row)
        crediting = f"{story.credited_source} reported " if story.credited_source else ""
        bare = words_of(said.removeprefix(crediting))
        for text in dict.fromkeys(
            (story.statement.text, row.summary_medium, row.headline, f"{row.headline}. {row.summary_medium}")
        ):
            if bare and _is_part(said.removeprefix(crediting), bare, text):
                result.revision = result.revision or row.revision
                result.add("statement", said, story.statement.text, ok=True)
                return
    current = known.citable(known.current).statement.text
    whole = list(sentences(said))
    for end in range(min(len(whole) - 1, MOST), 0, -1) if may_go_on else ():
        began = Checked(pinned=result.pinned)
        check_statement(" ".join(whole[:end]), known, began)
        if not began.is_wrong and not began.is_reworded:
            result.revision = result.revision or began.revision
            result.checks += began.checks
            result.note(f"The record does not go on like this: {' '.join(whole[end:])[:200]!r}.")
            return
    if result.pinned is not None and (places := known.places_of(said)):
        problem = f"statement: revision {places[0][1]} has these words, revision {result.pinned} has not."
        result.add("statement", said, current, ok=False, problem=problem)
    elif known.words.issuperset(words) and (contrary := _contrary(said, known)):
        result.add("statement", said, current, ok=False, problem=contrary)
    elif known.places_of(said):
        result.checks.append(CheckOut(field="statement", said=said[:500], record=current, ok=True))
        result.note("Its words stand in the record, but without saying so it leaves out others beside them.")
    elif words and all(word in known.words for word in words):
        result.checks.append(CheckOut(field="statement", said=said[:500], record=current, ok=True))
        result.note("Its words are the record's, but not in their order: it is no quotation.")
    else:
        result.add("statement", said, current, ok=False, problem=_difference("statement", said, current))


def _contrary(said: str, known: Known) -> str:
    """What every revision denies of these words."""
    read = agreement.read(said)
    denied = [agreement.contradiction(read, agreement.read(f"{row.headline}. {row.summary_medium}")) for row in known.revisions]
    return denied[0] if all(denied) else ""


def _is_part(said: str, words: tuple[str, ...], text: str) -> bool:
    whole = list(sentences(text))
    for begin in range(len(whole)):
        run: tuple[str, ...] = ()
        for sentence in whole[begin:]:
            run += words_of(sentence)
            if "".join(run) == "".join(words):  # lines may break inside of words
                return True
    if not is_cut_within(said):
        return False
    parts = pieces(said)
    first = parts[0] if parts else ()
    starts = (words_of(" ".join(whole[begin:])) for begin in range(len(whole)))
    begins = any(start[: len(first)] == first or _cut_in_word(first, start) for start in starts)
    if not is_cut(said):  # something was left out in between, and it ends where a sentence does
        ends = (words_of(" ".join(whole[: end + 1])) for end in range(len(whole)))
        begins = begins and any(end[-len(parts[-1]) :] == parts[-1] for end in ends)
    return begins and stands_in(said, text)


def _cut_in_word(first: tuple[str, ...], start: tuple[str, ...]) -> bool:
    last = len(first) - 1
    return last > 1 and start[:last] == first[:last] and len(start) > last and start[last].startswith(first[last])


def _difference(name: str, said: str, record: str) -> str:
    """Which words differ, where that can be said shortly."""
    theirs, ours = words_of(said), words_of(record)
    added, lost = [w for w in theirs if w not in ours], [w for w in ours if w not in theirs]
    parts = [f"not in the record: {', '.join(added[:8])}"] if added else []
    parts += [f"left out: {', '.join(lost[:8])}"] if lost else []
    return f"{name}: the record says {record!r}" + (f" ({'; '.join(parts)})." if parts else " (other order).")
