"""Plain text to LaTeX and back, for BibTeX values that TeX, BibTeX and reference managers all read alike."""

import re
from typing import Final

# ASCII alone: .bib files are UTF-8 (LaTeX's default since 2018), and what is not rewritten cannot be altered.
_ESCAPES: Final = {
    **{char: f"\\{char}" for char in "#$%&_"},
    "\\": r"{\textbackslash}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
}
# BibTeX counts every brace, escaped or not, so the escapes that most readers know stand for pairs alone.
_LONE_BRACES: Final = {"{": r"\ensuremath{\lbrace}", "}": r"\ensuremath{\rbrace}"}
# As earlier releases wrote them: a citation that somebody pastes may hold these.
_EARLIER: Final = {"<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "^": r"{\string^}", "`": r"{\textasciigrave}"}
_SPECIAL: Final = re.compile(rf"[{re.escape(''.join(_ESCAPES))}{{}}]|([-',`])(?=\1)|[!?](?=`)")
_CHARACTERS: Final = {
    **{latex: char for escapes in (_ESCAPES, _LONE_BRACES, _EARLIER) for char, latex in escapes.items()},
    **{r"\{": "{", r"\}": "}", "{}": ""},
}
_ESCAPED: Final = re.compile("|".join(map(re.escape, _CHARACTERS)))


def escape_latex(text: str) -> str:
    """Return one line of plain text as LaTeX whose braces balance, for the inside of a braced BibTeX value."""
    paired = _find_paired_braces(text)

    def replace(match: re.Match[str]) -> str:
        char = match[0]
        if char in _LONE_BRACES:
            return f"\\{char}" if match.start() in paired else _LONE_BRACES[char]
        return _ESCAPES.get(char, f"{char}{{}}")  # an empty group parts what would become a dash or a quotation mark

    return _SPECIAL.sub(replace, text)


def _find_paired_braces(text: str) -> set[int]:
    paired, open_ones = set[int](), list[int]()
    for place, char in enumerate(text):
        if char == "{":
            open_ones.append(place)
        elif char == "}" and open_ones:
            paired |= {open_ones.pop(), place}
    return paired


def unescape_latex(latex: str) -> str:
    """Return the text that `escape_latex` was given. Other LaTeX is left as it stands."""
    return _ESCAPED.sub(lambda match: _CHARACTERS[match[0]], latex)
