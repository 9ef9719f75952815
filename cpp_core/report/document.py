"""What a report consists of, and how that becomes one HTML file that opens without a network.

The markup is in ``templates``. Jinja2 escapes every text that is put into it, also the JSON of the
charts; a policy in the document forbids it any request.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from cpp_core.figures.panels import Panel
from cpp_core.verdicts.strip import Strip
from cpp_core.verdicts.strip_cards import STRENGTHS
from cpp_core.verdicts.summary import Table
from cpp_core.verdicts.terms import STYLE, TERMS, Term, terms_in
from cpp_core.verdicts.verdict import Verdict

if TYPE_CHECKING:  # a report needs no lesson, and would wait for all of them
    from cpp_core.lessons.drawing import Drawing


@dataclass(frozen=True)
class Section:
    """What stands under a title, told in the order of these fields; texts are never markup."""

    title: str
    strip: Strip | None = None
    bullets: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()
    panels: Sequence[Panel] = ()
    behind: Sequence[Verdict] = ()  # sentences in full alone, for whoever asks why
    table: Table | None = None
    code: str = ""
    text: str = ""
    parts: Sequence["Section"] = ()


def prose(value: str) -> Markup:
    """A sentence as HTML; a number stays beside its percent sign."""
    return escape(value).replace(" %", Markup("&nbsp;%"))


def strength(verdict: Verdict) -> str:
    """How strong a verdict's claim is, as the name of a style; "none" where nothing is claimed."""
    return STRENGTHS[verdict.badge] if verdict.claim == "yes" else "none"


def used_terms(told: str) -> list[Term]:
    """The terms that stand in the sentences of a document, in the order of the alphabet."""
    sentences = re.sub(r"<(script|pre|table)\b.*?</\1>", " ", told, flags=re.DOTALL)
    found = {name for name, _, _ in terms_in(Markup(sentences).striptags())}
    return [TERMS[name] for name in sorted(found)]


def _styled(panel: Panel) -> go.Figure:
    return go.Figure(panel.figure).update_layout(template="plotly_white", font={"size": 12})


def _spec(figure: go.Figure) -> Markup:
    return htmlsafe_json_dumps(figure, dumps=go.Figure.to_json)


def _inlined(name: str) -> Markup:
    """A file of ours as it is: braces in it are its own, not Jinja2's."""
    return Markup(_LOADER.get_source(_TEMPLATES, name)[0])


_LOADER = PackageLoader("cpp_core.report")
_TEMPLATES = Environment(
    loader=_LOADER,
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters |= {"prose": prose, "strength": strength, "styled": _styled, "spec": _spec}
_TEMPLATES.filters |= {"terms": used_terms}
_TEMPLATES.globals |= {
    "term_style": Markup(STYLE),
    "inlined": _inlined,
    "plotlyjs": lambda: Markup(get_plotlyjs()),
}


def render(
    title: str, note: str, facts: str, day: str, sections: Mapping[str, Section], analyst: bool
) -> str:
    """The whole file: day, title, note and a line of facts, then the sections by name.

    An analyst sees every computation, others find them folded away.
    """
    return _TEMPLATES.get_template("report.html").render(
        title=title, note=note, facts=facts, day=day, sections=sections, analyst=analyst
    )


def render_sheet(
    title: str,
    lead: str,
    sections: Mapping[str, Section],
    pictures: Mapping[str, Sequence["Drawing"]],
) -> str:
    """A page to print, without charts: a title, a line, and sections with pictures by name."""
    known = {name: pictures.get(name, ()) for name in sections}
    return _TEMPLATES.get_template("sheet.html").render(
        title=title, lead=lead, sections=sections, pictures=known
    )
