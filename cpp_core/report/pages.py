"""A report for people who were not there: one HTML file with the decision first.

The answer, what it assumes and what it does not say are always in it; other sections are a choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from cpp_core.catalog.loss_files import LossTable
from cpp_core.catalog.roles import Source
from cpp_core.checks import Level, check_side, lookup
from cpp_core.figures.compare import first_picture
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_histograms,
)
from cpp_core.figures.loss_figures import difference_bars, loss_histograms, loss_picture
from cpp_core.figures.panels import Panel
from cpp_core.report import AUDIENCES, SECTIONS
from cpp_core.report.appendix import losses_appendix, results_appendix
from cpp_core.report.document import Section, render
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.answers import Answers, answers_from, answers_of
from cpp_core.verdicts.file_lines import (
    group_table,
    losses_table,
    own_group_table,
    pair_lines,
)
from cpp_core.verdicts.groups import no_group_bounds
from cpp_core.verdicts.language import confidence, counted
from cpp_core.verdicts.loss_words import in_unit
from cpp_core.verdicts.summary import Table, figures_table
from cpp_core.verdicts.table_words import check_lines
from cpp_core.verdicts.texts import RE_SPLITS
from cpp_core.verdicts.verdict import INDEPENDENT, Verdict

SAME_SOURCE = (
    "New cases come from the same source as the cases that were used here, in no particular order "
    "(exchangeable): no drift, no new kind of case, no cases that belong together, such as several "
    "of one customer."
)
INDEPENDENT_CASES = (
    "Shares of wins and averages also need cases that are independent of each other; averages "
    "that are marked approximate lean on a mean that is near Normal."
)
INDEPENDENT_LIMIT = "That a limit is shown also needs cases that are independent of each other."
NOT_REFITTED = (
    "The model stays as it is. The promise ends when it is trained again, also on all the data."
)
CHOSEN_BEFORE = (
    "The confidence of {level}, the loss and any threshold were chosen before looking at the "
    "results."
)
NOT_ONE_CASE = (
    "It is no promise for one particular case, class or group: {level} counts over the calibration "
    "draw and the new case together."
)
NOT_THE_MEAN = "It bounds the loss on the next case, not the average loss."
NOT_BY_OVERLAP = (
    "Two bounds side by side do not say who is better, and a narrower interval is not a better "
    "model: only the comparison on the same cases does."
)
NOT_THE_WINNER = (
    "Picking the {best} of several bounds and quoting it loses confidence; only a choice on other "
    "cases, or alpha divided by the number of models, keeps it."
)
NOT_UNDER_DRIFT = "It says nothing about data that drift, or about another population."
SIMULATED = "The data are simulated: each trial draws fresh cases from a known source."
NOT_TUNED = "No model was trained, tuned or chosen with these cases."
BY_GROUP = "Within each group"
FAILED = "Training runs that raised an error count with the worst loss"
NOT_TYPICAL = "Typical values over trials describe; they promise nothing."


class Look(NamedTuple):
    """What a user chooses about any report."""

    title: str
    note: str
    sections: tuple[str, ...]
    audience: str

    @property
    def analyst(self) -> bool:
        """Whether every computation and every chart is shown."""
        return self.audience == "analyst"


@dataclass(frozen=True)
class Story:
    """What one kind of report tells in its own way; charts and tables are made where asked for.

    ``trained`` and ``data`` are what it assumes about the models and about the cases, ``checks``
    what was found about the cases that may mislead.
    """

    facts: str
    greater: bool  # whether greater is better
    trained: Sequence[str]
    data: Sequence[str]
    picture: Callable[[], Panel]
    pairs: Callable[[], list[Panel]]
    details: Callable[[], Section]
    numbers: Callable[[], Section]
    appendix: Callable[[], Section]
    checks: Sequence[str] = ()


def report_html(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    title: str = "",
    note: str = "",
    sections: Sequence[str] = tuple(SECTIONS),
    audience: str = "decision-maker",
    day: date | None = None,
    source: Source | None = None,
    **question: Any,
) -> str:
    """Results as one HTML file that needs no network.

    Parameters
    ----------
    results : Results
        With trial 0, which every guaranteed sentence quotes.
    alpha, side : float, str
        As in ``Results.at``.
    title, note : str
        Shown as they are typed, never as HTML; without a title the decision is the title.
    sections : sequence of str
        Keys of ``SECTIONS``. The answer, what it assumes and what it does not say are always there.
    audience : "decision-maker" or "analyst"
    day : date or None
        The day of the report, by default today; nothing else of it depends on the day.
    source : Source or None
        The file of a user's own table, which the report names unless columns are left out.
    question : numbers
        ``at_most``, ``error_rate_at_most``, ``batch_size``, ``margin`` and ``delta`` as in
        ``answers_from``.
    """
    look = _look(title, note, sections, audience)
    check_side(side)
    source = source if "columns" in look.sections else None  # it names some
    results = results.shareable
    answers = answers_from(results, alpha, side, **question)
    experiment, kind = results.experiment, results.experiment.kind
    names = results.algorithms
    story = Story(
        facts=f"{_about_data(experiment, source)} {kind.label} ({kind.technical}). "
        f"{confidence(alpha)} confidence, {counted(len(results.trials), 'randomized trial')}.",
        greater=not kind.symbolic and experiment.criterion.greater_is_better,
        trained=[_about_training(experiment)],
        data=[SIMULATED if experiment.data.size is None else RE_SPLITS],
        checks=check_lines(source),
        picture=lambda: first_picture(results, alpha, side, draws=False),
        pairs=lambda: [paired_difference(results, *names, alpha)] if len(names) == 2 else [],
        details=lambda: _details(results, answers, alpha, side, look),
        numbers=lambda: _numbers(results, alpha, side),
        appendix=lambda: results_appendix(results, alpha, side, look._asdict(), question, source),
    )
    return _written(look, day, alpha, answers, story)


def losses_report_html(
    table: LossTable,
    alpha: Level = 0.1,
    title: str = "",
    note: str = "",
    sections: Sequence[str] = tuple(SECTIONS),
    audience: str = "decision-maker",
    day: date | None = None,
    **question: Any,
) -> str:
    """A file of losses as one HTML file that needs no network.

    ``question`` may hold ``at_most`` (of scores ``at_least``), ``error_rate_at_most``,
    ``batch_size``, ``low``, ``high``, ``margin`` and ``delta`` as in ``answers_of``; the rest is as
    in ``report_html``.
    """
    look = _look(title, note, sections, audience)
    columns, level = table.columns, confidence(alpha)
    answers = answers_of(columns, alpha, **table.told, **question)
    rate = question.get("error_rate_at_most"), question.get("batch_size")
    ends = {"low": 0.0, "high": 1.0} if rate[0] is not None else question
    numbers: dict[str, Any] = {name: ends[name] for name in ("low", "high") if name in ends}
    numbers |= {"greater_is_better": table.greater_is_better, "unit": table.unit}
    limit = question.get("at_least" if table.greater_is_better else "at_most")
    counts = f"{counted(table.size, 'case')}, {counted(len(columns), 'model')}"
    groups = [Section(BY_GROUP, table=group_table(table, answers, alpha))] if answers.groups else []
    story = Story(
        facts=f"{table.name}: {counts}. {level} confidence.",
        greater=table.greater_is_better,
        trained=[NOT_TUNED, NOT_REFITTED],
        data=[*table.notes[:-1], table.taken],
        picture=lambda: loss_picture(columns, alpha, limit, *rate, **numbers),
        pairs=lambda: [difference_bars(columns, alpha, **numbers)],
        details=lambda: Section(
            SECTIONS["details"],
            verdicts=answers.bounds,
            # The bars of errors say where they lie.
            panels=[] if answers.errors else [loss_histograms(columns, alpha, **numbers)],
            parts=groups,
        ),
        numbers=lambda: Section(SECTIONS["numbers"], table=losses_table(table, answers, alpha)),
        appendix=lambda: losses_appendix(table, alpha, look._asdict(), question),
    )
    return _written(look, day, alpha, answers, story)


def _look(title: str, note: str, sections: Sequence[str], audience: str) -> Look:
    for name in sections:
        lookup(name, SECTIONS, "section")
    lookup(audience, AUDIENCES, "audience")
    return Look(title, note, tuple(name for name in SECTIONS if name in sections), audience)


def _written(look: Look, day: date | None, alpha: Level, answers: Answers, story: Story) -> str:
    """Every report in the same order; what may be left out is made only where it was chosen."""
    compared, level = bool(answers.comparison), confidence(alpha)
    assumed = [SAME_SOURCE, *story.trained, CHOSEN_BEFORE.format(level=level)]
    assumed += [INDEPENDENT_CASES] * compared
    assumed += [INDEPENDENT_LIMIT] * any(v.assumptions == INDEPENDENT for v in answers.answer)
    limits = [NOT_ONE_CASE.format(level=level), NOT_THE_MEAN, NOT_UNDER_DRIFT]
    best = "highest" if story.greater else "lowest"
    limits += [NOT_BY_OVERLAP, NOT_THE_WINNER.format(best=best)] * compared
    limits += [NOT_TYPICAL] if answers.typical else []

    def answer() -> Section:
        panels = [story.picture()] if "picture" in look.sections else []
        behind = _behind(answers, look)
        return Section("The answer", answers.strip, story.checks, panels=panels, behind=behind)

    makers: dict[str, Callable[[], Section]] = {
        "answer": answer,
        "comparison": lambda: _comparison(answers, story.pairs(), look.analyst),
        "assumptions": lambda: Section("What this assumes", bullets=[*assumed, *story.data]),
        "limits": lambda: Section("What this does not say", bullets=limits),
        "details": story.details,
        "numbers": story.numbers,
        "appendix": story.appendix,
    }
    left_out = set(SECTIONS) - set(look.sections) | (set() if compared else {"comparison"})
    made = {name: make() for name, make in makers.items() if name not in left_out}
    title = look.title.strip() or answers.strip.title.removesuffix(".")
    written = (day or date.today()).isoformat()
    return render(title, look.note.strip(), story.facts, written, made, look.analyst)


def _behind(answers: Answers, look: Look) -> list[Verdict]:
    """The sentences behind the strip, each once, but for those that another section tells."""
    strip, elsewhere = answers.strip, list[Verdict]()
    if "comparison" in look.sections:
        elsewhere += [*answers.comparison, *(answers.pairs if look.analyst else ())]
    if "details" in look.sections and len(answers.bounds) > 1:
        elsewhere += answers.bounds
    told = {verdict.text for verdict in elsewhere}
    every = [*strip.behind, *sum((c.verdicts for c in strip.cards), ())]
    return [own for own in {own.text: own for own in every}.values() if own.text not in told]


def _comparison(answers: Answers, panels: Sequence[Panel], analyst: bool) -> Section:
    """Who is better by each aspect; of more than two also pair by pair."""
    lines = pair_lines(answers.strip) if answers.pairs else []
    pairs = [Section("Every pair", verdicts=answers.pairs)] if answers.pairs and analyst else []
    title = SECTIONS["comparison"]
    return Section(title, None, lines, answers.comparison, panels, parts=pairs)


def _details(results: Results, answers: Answers, alpha: Level, side: str, look: Look) -> Section:
    """The bounds one by one, and how they spread and keep their promise over enough trials."""
    enough, panels = len(results.trials) >= LEAST_TRIALS, list[Panel]()
    if enough and not results.experiment.kind.symbolic:
        panels.append(interval_histograms(results, alpha, side))
    if enough and look.analyst:
        panels.append(width_histograms(results, alpha, side))
    panels += [cover_rates(results, alpha, side)] if enough else []
    if enough and look.analyst:
        panels.append(coverage_histograms(results, alpha, side))
        panels.append(calibration_curve(results, alpha, side))
    bounds = answers.bounds if len(answers.bounds) > 1 else ()
    told = [*bounds, *answers.typical]
    groups = _groups(results, alpha) if "columns" in look.sections else []  # their names are cells
    return Section(SECTIONS["details"], verdicts=told, panels=panels, parts=groups)


def _groups(results: Results, alpha: Level) -> list[Section]:
    """Bounds within the groups that were named, or why there are none."""
    why_not = no_group_bounds(results)
    if why_not:
        return [Section(BY_GROUP, text=why_not)]
    if results.experiment.data.groups is None:
        return []
    return [Section(BY_GROUP, table=own_group_table(results, alpha))]


def _numbers(results: Results, alpha: Level, side: str) -> Section:
    failed = []
    if len(results.failures):
        head = ("trial", "algorithm", "failed", "first message")
        first = list(results.failures.head(20).itertuples(index=False))
        failed.append(Section(FAILED, table=Table(head, first, figures=False)))
    return Section(SECTIONS["numbers"], table=figures_table(results, alpha, side), parts=failed)


def _about_training(experiment: Experiment) -> str:
    """What the promise assumes about training."""
    if not experiment.algorithmic:
        return NOT_REFITTED
    m = counted(experiment.sizes.m, "fresh case")
    return (
        f"The algorithm is trained anew on {m} (not {experiment.n:,}) from the same source, in the "
        "same way."
    )


def _about_data(experiment: Experiment, source: Source | None) -> str:
    """Which data; of a user's own table what is predicted, and what a loss is."""
    data = experiment.data
    if not data.own:
        return f"{data.label}."
    told = data.label if source is None else f"{source.file}, predicting “{source.roles.target}”"
    if experiment.kind.symbolic:
        return f"{told}."
    loss = experiment.criterion
    return f"{told}. Loss: {loss.words}{in_unit(loss.unit)}."
