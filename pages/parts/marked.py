"""Texts in which terms are marked, and drawings, as HTML."""

import re
from html import escape

from cpp_core.lessons.drawing import Drawing
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.terms import with_terms


def marked(text: str, seen: set[str] | None = None) -> str:
    """A text as HTML: each term explained where it stands first, stars for emphasis.

    Terms that were ``seen`` before are not marked again.

    >>> marked("as *always*, **never** < 1")
    'as <em>always</em>, <strong>never</strong> &lt; 1'
    """
    html = with_terms(unbroken(text), seen)
    html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", html)


def image(drawing: Drawing) -> str:
    """A drawing as HTML."""
    return f'<img class="drawing" src="{drawing.uri}" alt="{escape(drawing.alt)}">'
