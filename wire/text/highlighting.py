"""Places of a text that answer a search, by the same tokens that found it: what is highlighted is what matched."""

from wire.text import tokens
from wire.text.search_query import Query


def mark_matches(text: str, question: Query) -> list[tuple[str, bool]]:
    """Return `text` in pieces, each with whether the search asked for it: a word, a name such as GPT-5, or a whole phrase."""
    # Each folded character comes from a place in `text`; so does the end.
    parts = [char.lower() if char.isascii() else tokens.fold_text(char) for char in text]
    places = [*(place for place, part in enumerate(parts) for _ in part), len(text)]
    pieces: list[tuple[str, bool]] = []
    shown = 0
    for start, end in sorted(_find_spans("".join(parts), question)):
        begin, stop = places[start], max(places[end], places[end - 1] + 1)  # one character may fold to several words: ½
        if stop <= shown:
            continue
        if begin > shown:
            pieces.append((text[shown:begin], False))
        if begin < shown:  # pairs of characters overlap
            pieces[-1] = (pieces[-1][0] + text[shown:stop], True)
        else:
            pieces.append((text[begin:stop], True))
        shown = stop
    return [*pieces, (text[shown:], False)] if shown < len(text) else pieces


def _find_spans(folded: str, question: Query) -> list[tuple[int, int]]:
    """Return beginning and end of each word, name and phrase asked for. The words of a phrase count together only."""
    placed = tokens.locate_tokens(folded)
    words = [one for one in placed if tokens.is_word(one[0])]
    placed += [(tokens.stem_word(one), start, end) for one, start, end in tokens.locate_characters(folded)]
    in_phrases = {word for phrase in question.phrases for word in phrase}
    alone = [term for term in question.terms if term.prefixes or not in_phrases.issuperset(term.exact)]
    spans = [
        (start, end)
        for token, start, end in placed
        if any(token in (*term.exact, *term.synonyms) or token.startswith(term.prefixes) for term in alone)
    ]
    for phrase in question.phrases:
        for at in range(len(words) - len(phrase) + 1):
            run = words[at : at + len(phrase)]
            if tuple(word for word, _, _ in run) == phrase:
                spans.append((run[0][1], run[-1][2]))
    return spans
