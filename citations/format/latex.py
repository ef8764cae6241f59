"""Plain text to LaTeX and back, for BibTeX values that TeX, BibTeX and its parsers all read alike."""

import re
from typing import Final

# ASCII alone: .bib files are UTF-8 (LaTeX's default since 2018), and what is not rewritten cannot be altered.
_ESCAPES: Final = {
    **{char: f"\\{char}" for char in "#$%&_"},
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "{": r"\ensuremath{\lbrace}",  # BibTeX counts every brace, so `\{` would unbalance the entry
    "}": r"\ensuremath{\rbrace}",
    "\\": r"{\textbackslash}",
    "~": r"{\textasciitilde}",
    "^": r"{\string^}",  # \textasciicircum is read back as a modifier letter
    "`": r"{\textasciigrave}",  # bare, it forms the ligatures ``, !` and ?`
}
_REPLACEMENTS: Final = _ESCAPES | {char: char + "{}" for char in "-',"}  # doubled, these become dashes and quotation marks
_SPECIAL: Final = re.compile(rf"[{re.escape(''.join(_ESCAPES))}]|([-',])(?=\1)")
_CHARACTERS: Final = {latex: char for char, latex in _ESCAPES.items()} | {"{}": ""}
_ESCAPED: Final = re.compile("|".join(map(re.escape, _CHARACTERS)))


def escape(text: str) -> str:
    """Return one line of plain text as LaTeX whose braces balance, for the inside of a braced BibTeX value."""
    return _SPECIAL.sub(lambda match: _REPLACEMENTS[match[0]], text)


def unescape(latex: str) -> str:
    """Return the text that `escape` was given. Other LaTeX is left as it stands."""
    return _ESCAPED.sub(lambda match: _CHARACTERS[match[0]], latex)
