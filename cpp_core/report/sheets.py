"""Pages to print, for a class: the method on one page, exercises, the plan of a lecture."""

from collections.abc import Mapping
from types import MappingProxyType

from markupsafe import Markup

from cpp_core.lessons.drawing import Drawing, layout, rows_of
from cpp_core.lessons.exercises import exercises
from cpp_core.lessons.plan import MINUTES, PLAN
from cpp_core.method.constructions import plain
from cpp_core.method.counts import cases_needed
from cpp_core.method.ranks import scores_needed
from cpp_core.report.document import Section, render_sheet
from cpp_core.verdicts.language import percent
from cpp_core.verdicts.summary import Table

TITLE = "Conformal performance prediction on one page"
STEPS = (
    "Set cases aside that no model was trained on.",
    "Note the loss of the model at each of them, and sort these k losses.",
    "Take the one of rank ceil((k + 1)(1 - alpha)): for 90 % and k = 99 the 90th. If there is no "
    "such rank, there is no finite bound.",
    "For a new case drawn like those, the loss is at most this number with probability at least "
    "1 - alpha, over the calibration draw and the new case together.",
)
NOT_SAID = (
    "Nothing about this one case, digit or group: 90 % counts over all new cases.",
    "Nothing about the average loss, and nothing from two bounds that overlap.",
    "Nothing under drift, after refitting, or for the lowest of several bounds.",
    "Not that this calibration reaches 90 %: up to half fall short, with few losses by much.",
)
CODE = """\
from cpp_core import interval
interval(losses, alpha=0.1, side="upper")  # losses of one model, held-out cases"""


def needed_table() -> Table:
    """How many losses the bounds need, by confidence."""
    rows = []
    for alpha in (0.2, 0.1, 0.05, 0.01):
        needed = scores_needed(alpha, "upper"), scores_needed(alpha), cases_needed(alpha, 0.05)
        rows.append([percent(1 - alpha), *map(str, needed)])
    head = ["confidence", "upper bound", "both sides", "tolerance (5 % of calibrations may fail)"]
    return Table(
        head, rows, "The least number of calibration losses for finite ends.", figures=True
    )


def pictures(dark: bool = False) -> list[Drawing]:
    """Who trains and who is judged, in the two questions of the paper."""
    one = layout(rows_of(plain(24)), 24, dark, "For the model at hand.", "Candidate")
    many = layout(rows_of(plain(24, 4)), 24, dark, "For a model that is retrained.", "Algorithm")
    return [one, many]


def summary_html() -> str:
    """The method on one page."""
    asked = Section(
        "The question",
        text="A model will lose something on its next case. How much at most? The answer is read "
        "off the ranks of earlier losses, and holds for every model and any shape of the losses.",
    )
    sections = {
        "question": asked,
        "recipe": Section("The recipe", bullets=STEPS),
        "layouts": Section("For this model, or for the next one that is trained?"),
        "enough": Section("How many cases?", table=needed_table()),
        "limits": Section("What it does not say", bullets=NOT_SAID),
        "code": Section("In Python", code=CODE),
    }
    return render_sheet(TITLE, "", sections, {"layouts": pictures()})


def exercises_html(solutions: bool) -> str:
    """The exercise sheet, with or without solutions."""
    sections = {}
    for i, own in enumerate(exercises(), 1):
        solved = [Section("Solution", text=own.solution)] if solutions else []
        sections[f"exercise-{i}"] = Section(f"{i}. {own.title}", text=own.task, parts=solved)
    lead = "With solutions." if solutions else "Solutions are on a sheet of their own."
    return render_sheet("Exercises", lead, sections, {})


_OPENED = Markup('<a href="{address}">{title}</a><br><small>{address}</small>')


def plan_html(addresses: Mapping[str, str] = MappingProxyType({})) -> str:
    """The plan of a lecture, for the lecturer's desk.

    The ``addresses`` are where its parts open on some server, by their names.
    """
    rows, at = [], 0
    for step in PLAN:
        title = f"{step.title} ({'lesson' if step.is_lesson else 'run'})"
        if step.name in addresses:
            title = _OPENED.format(address=addresses[step.name], title=title)
        rows.append([f"{at} min", title, step.question, step.answer])
        at += step.minutes
    table = Table(["from", "what to open", "ask", "answer"], rows, figures=False)
    lead = f"{MINUTES} minutes: ten lessons and the paper's four runs."
    return render_sheet("Lecture plan", lead, {"plan": Section("In this order", table=table)}, {})
