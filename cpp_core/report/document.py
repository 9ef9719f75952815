"""A self-contained HTML document: text, verdicts, charts and tables that open without a network.

Every text is escaped here, also inside the JSON of the charts; a policy in the document forbids it
any request.
"""

import html
from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from cpp_core.figures.panels import Panel
from cpp_core.verdicts.about import Verdict

SECTIONS = {
    "picture": "In one picture",
    "comparison": "Who is better",
    "details": "Details",
    "numbers": "The numbers",
    "appendix": "How to reproduce it",
}
"""Sections that may be left out, in their order."""

AUDIENCES = {
    "decision-maker": "the answer in words, computations folded away",
    "analyst": "every computation and every chart",
}

BADGES = {"guaranteed": "✔ guaranteed", "approximate": "≈ approximate"}


POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
# As wide on the screen as on A4 with these margins: what is printed looks like what was seen.
STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1c2230; font: 16px/1.55 system-ui, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 680px; margin: 0 auto; padding: 32px 0 64px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .2rem 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-top: .5rem; border-top: 1px solid #d6dae3; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
h1, p, li, td, th, figcaption { overflow-wrap: anywhere; }
p { margin: .4rem 0; }
.kicker, .facts, figcaption, .why { color: #545c6e; font-size: .86rem; }
.note { white-space: pre-line; border-left: 3px solid #b9c2d3; padding-left: .8rem; }
.answer .text { font-size: 1.22rem; line-height: 1.42; font-weight: 600; }
.answer:has(.verdict + .verdict) .text { font-size: 1.05rem; }
.verdict { margin: .8rem 0 1rem; }
.badge { display: inline-block; border: 1px solid; border-radius: 1rem; padding: 0 .6rem;
  font-size: .8rem; }
.guaranteed { color: #0b4f9e; background: #eaf2fc; }
.approximate { color: #8a4b00; background: #fdf3e4; }
summary { cursor: pointer; }
figure { margin: 1rem 0 1.4rem; }
figure h3 { margin: 0; }
.chart { width: 100%; }
table { border-collapse: collapse; font-size: .86rem; width: 100%; }
th, td { text-align: left; padding: .25rem .5rem .25rem 0; border-bottom: 1px solid #e4e7ee;
  vertical-align: top; }
.wide { overflow-x: auto; }
.numbers td:not(:first-child), .numbers th:not(:first-child) { text-align: right; }
pre { background: #f5f6f9; padding: .7rem .9rem; font-size: .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
@media screen and (max-width: 720px) { main { padding: 16px; } }
@page { size: A4; margin: 15mm; }
@media print {
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  .verdict, figure, tr, li { break-inside: avoid; }
  .appendix { break-before: page; }
  th, td { padding: .12rem .4rem .12rem 0; }
  summary { display: none; }
  pre { font-size: 8pt; break-inside: avoid; }
  details:not([open]) { display: none; }
}
"""
DRAW = """
for (const place of document.querySelectorAll("[data-figure]")) {
  const spec = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, spec.data, spec.layout, {displayModeBar: false, responsive: true});
}
window.addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll("[data-figure]")) Plotly.Plots.resize(place);
});
"""


def text(value: object) -> str:
    """Any text as HTML that shows it."""
    return html.escape(str(value))


def prose(value: str) -> str:
    """A sentence as HTML; a number stays beside its percent sign."""
    return text(value).replace(" %", "&nbsp;%")


def paragraph(value: str, kind: str = "") -> str:
    """A paragraph."""
    return f'<p class="{kind}">{prose(value)}</p>' if kind else f"<p>{prose(value)}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{prose(item)}</li>' for item in items)}</ul>"


def verdict_block(verdict: Verdict, why: bool) -> str:
    """A sentence with its badge; the computation behind it open or folded."""
    return (
        f'<div class="verdict"><p class="text">{prose(verdict.text)}</p>'
        f'<span class="badge {verdict.badge}">{BADGES[verdict.badge]}</span>'
        f'<details class="why"{" open" if why else ""}><summary>Why?</summary>'
        f"<p>{prose(verdict.why)} Assumes {prose(verdict.assumptions)}.</p></details></div>"
    )


def panel_block(panel: Panel, place: str) -> str:
    """A chart with its finding above and how to read it below; ``place`` is unique on the page."""
    figure = go.Figure(panel.figure).update_layout(template="plotly_white", font={"size": 12})
    spec = (figure.to_json() or "").replace("<", "\\u003c")
    key = f"figure-{place}-{panel.key}"
    return (
        f"<figure><h3>{prose(panel.title)}</h3>"
        f'<div class="chart" data-figure="{text(key)}" role="img" aria-label="{text(panel.alt)}" '
        f'style="height: {figure.layout.height or 400}px"></div>'
        f'<script type="application/json" id="{text(key)}">{spec}</script>'
        f"<figcaption>{prose(panel.caption)}</figcaption></figure>"
    )


def table_block(head: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> str:
    """A table; without a head its first column names the rows."""
    top = f"<tr>{''.join(f'<th>{text(cell)}</th>' for cell in head)}</tr>" if head else ""
    lines = [f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return f'<div class="wide"><table class="{kind}">{top}{"".join(lines)}</table></div>'


def code_block(lines: str) -> str:
    """Code as it is typed."""
    return f"<pre>{text(lines)}</pre>"


def section(title: str, *blocks: str, kind: str = "") -> str:
    """A part of the document under its title."""
    return f'<section class="{kind}"><h2>{text(title)}</h2>{"".join(blocks)}</section>'


def document(title: str, note: str, facts: str, sections: Iterable[str]) -> str:
    """The whole file: title, note and a line of facts, then the sections."""
    noted = f'<p class="note">{text(note)}</p>' if note else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{text(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>'
        '<body><main><header><p class="kicker">Conformal performance prediction</p>'
        f'<h1>{text(title)}</h1>{noted}<p class="facts">{prose(facts)}</p></header>'
        f"{''.join(sections)}<noscript><p>The charts need JavaScript, which is in this file; "
        "everything else does not.</p></noscript></main>"
        f"<script>{get_plotlyjs()}</script><script>{DRAW}</script></body></html>\n"
    )
