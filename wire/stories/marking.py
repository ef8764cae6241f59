"""Where a text holds what a search asked for. By the same tokens that found it, so that what is marked is what matched."""

from collections.abc import Iterator

from wire.stories import tokens
from wire.stories.question import Query


def marked(text: str, question: Query) -> list[tuple[str, bool]]:
    """`text` in pieces, each with whether it is what was asked for: a word, a name such as GPT-5, or a whole phrase."""
    folded, places = _folded(text)
    pieces: list[tuple[str, bool]] = []
    shown = 0
    for start, end in sorted(_spans(folded, question)):
        begin, stop = places[start], max(places[end], places[end - 1] + 1)  # one character may fold to several words: ½
        if stop <= shown:
            continue
        if begin > shown:
            pieces.append((text[shown:begin], False))
        pieces.append((text[max(shown, begin) : stop], True))
        shown = stop
    return [*pieces, (text[shown:], False)] if shown < len(text) else pieces


def _spans(folded: str, question: Query) -> Iterator[tuple[int, int]]:
    """Beginning and end of each word, name and phrase asked for. The words of a phrase count together only."""
    placed = tokens.placed(folded)
    words = [one for one in placed if tokens.is_word(one[0])]
    for phrase in question.phrases:
        for number in range(len(words) - len(phrase) + 1):
            run = words[number : number + len(phrase)]
            if tuple(word for word, _, _ in run) == phrase:
                yield run[0][1], run[-1][2]
    in_phrases = {word for phrase in question.phrases for word in phrase}
    alone = [term for term in question.terms if term.prefixes or not in_phrases.issuperset(term.exact)]
    for token, start, end in placed:
        if any(token in (*term.exact, *term.synonyms) or token.startswith(term.prefixes) for term in alone):
            yield start, end


def _folded(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters, and for its end, the place in `text` that it comes from."""
    if text.isascii():
        return tokens.folded(text), list(range(len(text) + 1))
    parts = [character.lower() if character.isascii() else tokens.folded(character) for character in text]
    places = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), [*places, len(text)]
