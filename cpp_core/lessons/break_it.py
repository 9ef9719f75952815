"""Lesson 8: one gauge, one switch at a time: how far the promise falls when a rule is broken."""

from dataclasses import replace

import pandas as pd

from cpp_core.figures.panels import Panel, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.break_form import Break
from cpp_core.lessons.break_texts import BREAKS, N, harmless
from cpp_core.lessons.break_ways import Way
from cpp_core.lessons.charts import PROMISE, count_line, grown, shares, words
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, layout, mark
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Values
from cpp_core.lessons.stored import filled
from cpp_core.verdicts.language import counted, percent

BOARD = "harmless"
KEPT = "rule kept"
"""What the gauge says before the switch is thrown."""
NEAR = 0.002
"""A share that is as near to the promise counts as kept."""
THIN = 0.002
"""A bar is drawn at least so long, that one sees where it fell to."""


def _gauge(own: Break, value: object, dark: bool) -> Panel:
    """One bar for what is covered, the promise, and marks for the other settings."""
    covers, promise = own.covers(value), own.promise(value)
    chart = Sketch()
    more: Settings = {"orientation": "h", "width": [0.8]}
    chart.bar([1], [0], {"color": faded(known_ink(dark), 0.08)}, "", **more)
    chart.bar([max(covers, THIN)], [0], {"color": mark(dark)}, percent(covers), **more)
    others = [other for other in own.values if other != value]
    tick = {"symbol": "line-ns", "size": 56, "line": {"width": 2, "color": faded(BLUE, 0.8)}}
    places = [own.covers(other) for other in others]
    chart.marks(places, [0] * len(places), tick, "%{customdata}", cliponaxis=False)
    chart.data[-1]["customdata"] = [
        f"{own.control} {own.values[o]}: {percent(own.covers(o))}" for o in others
    ]
    chart.vline(promise, stroke(dark, "dash") | {"width": 3})
    said = "promised" if promise == PROMISE else "claimed"
    chart.frame(200, xaxis=shares("", 0, 1), margin={"l": 20})
    chart.axis("y", {"visible": False, "range": [-0.6, 0.6]})
    _played(chart, own.way(value), promise, f"{said} {percent(promise)}")
    title = f"{percent(covers)} instead of {percent(promise)}"
    caption = f"{filled(own.setting)} Thin marks: the other settings of the control."
    table = pd.DataFrame({"value": list(own.values), "covers": [*map(own.covers, own.values)]})
    return Panel("gauge", title, chart, caption, f"A gauge at {title}.", table)


def _played(chart: Sketch, way: Way, promise: float, promised: str) -> None:
    """Buttons that throw the switch once more: the bar falls from the promise to what it shows."""
    told = [(KEPT, promise)]
    told += [(counted(n, way.unit), mean) for n, mean in zip(way.counts, way.means, strict=True)]
    if way.exact:
        told.append(("exactly", way.share))
    notes_above = words(promised, promise, 1, xref="x", yanchor="bottom")
    steps = []
    for after, mean in told:
        notes = [count_line(f"{after}: {percent(mean)}"), notes_above]
        bar = [max(mean, THIN)]
        data: list[Settings] = [{"x": bar, "hovertemplate": f"{percent(mean)}<extra></extra>"}]
        steps.append({"data": data, "traces": [1], "layout": {"annotations": notes}})
    grown(
        chart, steps, (f"One {way.unit}", f"▶ Play {counted(way.counts[-1], way.unit)}", "↺ Again")
    )


def _board(dark: bool) -> Panel:
    """What is harmless, a bar each."""
    found = harmless()
    chart = Sketch()
    rows = list(range(len(found)))
    more: Settings = {"orientation": "h", "width": [0.7] * len(found), "textposition": "inside"}
    more |= {"insidetextanchor": "start", "textfont": {"color": "#FFFFFF", "size": 14}}
    more |= {"text": [f"{percent(share)}: {name}" for name, share in found.items()]}
    colors = [BLUE] * (len(found) - 1) + [MAGENTA]
    chart.bar(list(found.values()), rows, {"color": colors}, "", **more)
    chart.vline(PROMISE, stroke(dark, "dash"))
    chart.frame(330, xaxis=shares("", 0, 1), margin={"t": 10})
    chart.axis("y", {"visible": False, "range": [len(found) - 0.5, -0.5]})
    title = "Feared, and harmless"
    caption = (
        "Averages over simulated calibrations, exact for ties. Dashed: the promise. Magenta: moved "
        "inputs, where nothing is promised; they cost a right model little."
    )
    table = pd.DataFrame({"what": list(found), "covers": list(found.values())})
    return Panel("harmless", title, chart, caption, f"A bar for each fear. {title}.", table)


def scene(values: Values, dark: bool) -> Shown:
    """One way to break it, or the board of what is harmless."""
    if values["switch"] == BOARD:
        return _harmless(dark)
    own = BREAKS[values["switch"]]
    value = values[own.name]
    covers, promise = own.covers(value), own.promise(value)
    facts = {"covers": covers, "promise": promise}
    lead = own.kept.get(value, own.lead)
    if value in own.kept or abs(covers - promise) <= NEAR:
        said = f"of new cases stay inside, as promised. {lead}"
    elif covers < promise:
        said = f"of new cases stay inside, instead of {percent(promise)}. {lead}"
    else:
        said = f"of new cases stay inside: more than promised here, but not by a promise. {lead}"
    drawings = []
    if own.rows:
        n = 1 + max(case for training, judged in own.rows for case in (*training, *judged))
        drawings.append(layout(own.rows, n, dark, own.rows_say))
    if own.right_rows:
        drawings.append(layout(own.right_rows, N, dark, filled(own.right), "What would be right"))
    words_ = filled(f"{own.why} **What would be right:** {own.right}")
    check = Check(own.check.question, filled(own.check.answer))
    panel, code = _gauge(own, value, dark), own.code.format(value=value)
    told = Shown(percent(covers), said, (panel,), code, facts, tuple(drawings), words_, check)
    return replace(told, fell=promise / max(covers, THIN), caveat=own.caveat)


def _harmless(dark: bool) -> Shown:
    found = harmless()
    least, most = min(found.values()), max(found.values())
    said = (
        "is what these leave of the promise: people fear them, and they do no harm, or hardly any."
    )
    finding = f"{percent(least)} to {percent(most)}"
    caveat = "Sizes belong to these settings; that the first seven keep the promise does not."
    return Shown(finding, said, (_board(dark),), _CODE, found, caveat=caveat)


_CODE = """\
from cpp_core.lessons.break_texts import harmless

for covered in harmless().values():
    print(covered)
"""


def _cover(dark: bool) -> Drawing:
    """A gauge at what is left of naive cross-validation."""
    sheet = cover(dark)
    own = BREAKS["cross-validation"]
    covers = own.covers(own.start)
    sheet.rect(10, 36, 180, 30, sheet.ink, opacity=0.12)
    sheet.rect(10, 36, 180 * covers, 30, sheet.mark)
    sheet.line(
        [(10 + 180 * PROMISE, 24), (10 + 180 * PROMISE, 78)], sheet.ink, stroke_dasharray="5 4"
    )
    sheet.text(18, 57, percent(covers), 18, font_weight="bold", fill="#FFFFFF")
    return sheet.drawing("A gauge far below its mark")


def _controls() -> tuple[Pick, ...]:
    options = {own.name: own.label for own in BREAKS.values()} | {BOARD: "What is harmless"}
    first = Pick("switch", "Break one rule", options, "cross-validation", "list")
    own_ones = (
        Pick(own.name, own.control, own.values, own.start, "steps", ("switch", (own.name,)))
        for own in BREAKS.values()
    )
    return first, *own_ones


LESSON = Lesson(
    name="break-it",
    title="Break it",
    question="How far will it fall?",
    opening="Break one rule at a time. The bound promises 90 %: how much of that is left?",
    controls=_controls(),
    scene=scene,
    cover=_cover,
    words=(
        "The first seven have one thing in common: the cases in calibration are drawn like the new "
        "one, whatever the model and the losses are like. That, and a rank that was fixed before "
        "looking, is all that the promise needs. The last one is the exception: inputs that move "
        "are drift, and nothing is promised. A model that is right everywhere loses little by it."
    ),
    formula=(
        r"$P(\text{new} \le s_{(r)}) \ge 1-\alpha$ needs two things: that the $k$ scores and the "
        r"new loss are *exchangeable*, which means that any order of the $k+1$ is equally "
        r"likely, and the rank $r = \lceil (k+1)(1-\alpha) \rceil$, fixed before looking. Each "
        r"switch breaks one of them, or changes what the new loss is."
    ),
    check=Check(
        "A colleague says: our losses are not Normal, so the bound is wrong. Is it?",
        "No. Ranks do not ask for any shape of the losses, only that the new case is drawn like "
        "the others.",
    ),
    caveat=(
        "Sizes belong to these settings, which were chosen to show a large effect; in others the "
        "same mistake may cost nothing that can be seen."
    ),
)
