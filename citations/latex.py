"""Plain text to LaTeX and back, for BibTeX values that TeX, BibTeX and its parsers all read alike."""

import re
from typing import Final

from pylatexenc.latexencode import RULE_DICT, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

# Only where the library's own choice would not survive the trip there and back.
_OVERRIDES: Final = {
    "{": r"\ensuremath{\lbrace}",  # BibTeX counts every brace, so `\{` would unbalance the entry
    "}": r"\ensuremath{\rbrace}",
    "^": r"{\string^}",  # \textasciicircum is read back as a modifier letter
    "`": r"{\textasciigrave}",  # bare, it forms the ligatures ``, !` and ?`
    '"': '"',  # the library closes every quotation; inside braces the character itself is safe
}
_ENCODER: Final = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_DICT, {ord(char): latex for char, latex in _OVERRIDES.items()}),
        "defaults",
    ]
)
# ASCII alone: .bib files are UTF-8 (LaTeX's default since 2018), and what is not rewritten cannot be altered.
_ESCAPES: Final[dict[str, str]] = {
    char: latex for char in map(chr, range(0x20, 0x7F)) if (latex := _ENCODER.unicode_to_latex(char)) != char
}
_LIGATURES: Final = {char: char + "{}" for char in "-',"}  # doubled, they become dashes and quotation marks
_SPECIAL: Final = re.compile(rf"[{re.escape(''.join(_ESCAPES))}]|([{''.join(_LIGATURES)}])(?=\1)")
_REPLACEMENTS: Final = _ESCAPES | _LIGATURES

_CHARACTERS: Final = {latex: char for char, latex in _ESCAPES.items()} | {"{}": ""}
_ESCAPED: Final = re.compile("|".join(map(re.escape, _CHARACTERS)))


def escape(text: str) -> str:
    """One line of plain text as LaTeX whose braces balance, for the inside of a braced BibTeX value."""
    return _SPECIAL.sub(lambda match: _REPLACEMENTS[match[0]], text)


def unescape(latex: str) -> str:
    """The text that `escape` was given. Other LaTeX is left as it stands."""
    return _ESCAPED.sub(lambda match: _CHARACTERS[match[0]], latex)
