"""A report for people who were not there: one HTML file with the decision first (spec 6).

The answer, what it assumes and what it does not say are always in it; other sections are a choice.
"""

import math
from collections.abc import Sequence
from typing import Any

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.loss_files import LossTable
from cpp_core.checks import Level, check_side, exact_alpha, lookup
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.interval_figures import (
    interval_histograms,
    overview_bars,
    paired_difference,
    width_histograms,
)
from cpp_core.figures.loss_figures import bound_bars, difference_bars, loss_histograms
from cpp_core.figures.panels import Panel
from cpp_core.figures.symbol_figures import symbol_bars
from cpp_core.report.document import (
    AUDIENCES,
    SECTIONS,
    bullets,
    code_block,
    document,
    panel_block,
    paragraph,
    section,
    table_block,
    verdict_block,
)
from cpp_core.report.pdf import report_pdf
from cpp_core.report.reproduce import (
    asked_of,
    command_line,
    losses_command_line,
    losses_digest,
    losses_python_lines,
    python_lines,
    table_digest,
    versions,
)
from cpp_core.trials.results import Results
from cpp_core.verdicts.answers import Answers, answers_from, answers_of
from cpp_core.verdicts.language import confidence, counted, number, percent
from cpp_core.verdicts.texts import RE_SPLITS

__all__ = ["AUDIENCES", "SECTIONS", "losses_report_html", "report_html", "report_pdf"]

SAME_SOURCE = (
    "New cases come from the same source as the cases that were used here, in no particular order "
    "(exchangeable): no drift, no new kind of case, no cases that belong together, such as several "
    "of one customer."
)
INDEPENDENT_CASES = (
    "Shares of wins and averages also need cases that are independent of each other; averages, "
    "marked approximate, lean on a mean that is near Normal."
)
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
    "Picking the lowest of several bounds and quoting it loses confidence; only a choice on other "
    "cases, or alpha divided by the number of models, keeps it."
)
NOT_UNDER_DRIFT = "It says nothing about data that drift, or about another population."
BY_GROUP = "Within each group"
GROUPS_BEFORE = (
    "Each bound holds separately, for a new case of its group, if the groups were fixed before "
    "looking at the losses."
)
NOT_TYPICAL = "Typical values over trials describe; they promise nothing."


def report_html(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    title: str = "",
    note: str = "",
    sections: Sequence[str] = tuple(SECTIONS),
    audience: str = "decision-maker",
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
        Shown as they are typed, never as HTML.
    sections : sequence of str
        Keys of ``SECTIONS``. The answer, what it assumes and what it does not say are always there.
    audience : "decision-maker" or "analyst"
    question : numbers
        ``at_most``, ``error_rate_at_most``, ``batch_size`` and ``margin`` as in ``answers_from``.
    """
    chosen, analyst = _check(sections, audience)
    check_side(side)
    answers = answers_from(results, alpha, side, **question)
    experiment, level = results.experiment, confidence(alpha)
    parts = [_answer(answers, analyst)]
    if "picture" in chosen:
        symbolic = experiment.kind.symbolic
        panel = symbol_bars(results, alpha) if symbolic else overview_bars(results, alpha, "upper")
        parts.append(section(SECTIONS["picture"], panel_block(panel, "picture")))
    parts.append(section("What this assumes", bullets(_assumptions(results, answers, level))))
    parts.append(section("What this does not say", bullets(_limits(answers, level, True))))
    if "comparison" in chosen and answers.comparison:
        panels = []
        if len(results.algorithms) == 2:
            first, second = results.algorithms
            panels = [paired_difference(results, first, second, alpha)]
        parts.append(_comparison(answers, panels, analyst))
    if "details" in chosen:
        parts.append(_details(results, answers, alpha, side, analyst))
    if "numbers" in chosen:
        parts.append(_numbers(results, alpha, side))
    if "appendix" in chosen:
        settings = {"title": title, "note": note, "sections": chosen, "audience": audience}
        parts.append(_appendix(results, alpha, side, settings, question))
    variant = experiment.kind
    facts = (
        f"{experiment.data.label}. {variant.label} ({variant.technical}). {level} confidence, "
        f"{counted(len(results.trials), 'randomized trial')}."
    )
    return document(title.strip() or "What will the next loss be?", note.strip(), facts, parts)


def losses_report_html(
    table: LossTable,
    alpha: Level = 0.1,
    title: str = "",
    note: str = "",
    sections: Sequence[str] = tuple(SECTIONS),
    audience: str = "decision-maker",
    **question: Any,
) -> str:
    """A file of losses as one HTML file that needs no network.

    ``question`` may hold ``at_most``, ``error_rate_at_most``, ``batch_size``, ``low``, ``high`` and
    ``margin`` as in ``answers_of``; the rest is as in ``report_html``.
    """
    chosen, analyst = _check(sections, audience)
    columns, level = table.columns, confidence(alpha)
    answers = answers_of(columns, alpha, source=table.name, groups=table.groups, **question)
    errors = question.get("error_rate_at_most") is not None
    low = 0.0 if errors else question.get("low", -math.inf)
    high = 1.0 if errors else question.get("high", math.inf)
    parts = [_answer(answers, analyst)]
    if "picture" in chosen:
        panel = bound_bars(columns, alpha, low, high, question.get("at_most"))
        parts.append(section(SECTIONS["picture"], panel_block(panel, "picture")))
    assumed = [SAME_SOURCE, "No model was trained, tuned or chosen with these cases.", NOT_REFITTED]
    assumed += [CHOSEN_BEFORE.format(level=level)]
    assumed += [INDEPENDENT_CASES] if answers.comparison else []
    parts.append(section("What this assumes", bullets([*assumed, *table.notes])))
    parts.append(section("What this does not say", bullets(_limits(answers, level, False))))
    if "comparison" in chosen and answers.comparison:
        panels = [difference_bars(columns, alpha, low, high)]
        parts.append(_comparison(answers, panels, analyst))
    if "details" in chosen:
        blocks = [verdict_block(verdict, analyst) for verdict in answers.bounds]
        blocks.append(panel_block(loss_histograms(columns, alpha, low, high), "details"))
        if answers.groups:
            blocks.append(f"<h3>{BY_GROUP}</h3>")
            blocks.append(table_block(*group_rows(table, answers, level), "numbers"))
            blocks.append(paragraph(GROUPS_BEFORE, "facts"))
        parts.append(section(SECTIONS["details"], *blocks))
    if "numbers" in chosen:
        rows = [
            (name, len(own), *(number(float(v)) for v in (own.mean(), own.min(), own.max())), bound)
            for (name, own), verdict in zip(columns.items(), answers.bounds, strict=True)
            for bound in [number(verdict.facts["bound"], "up")]
        ]
        head = ("model", "cases", "mean", "least", "greatest", f"bound ({level})")
        parts.append(section(SECTIONS["numbers"], table_block(head, rows, "numbers")))
    if "appendix" in chosen:
        settings = {"title": title, "note": note, "sections": chosen, "audience": audience}
        parts.append(_losses_appendix(table, alpha, question, settings))
    facts = f"{table.name}: {counted(table.size, 'case')}, {counted(len(columns), 'model')}. "
    facts += f"{level} confidence."
    return document(title.strip() or "What will the next loss be?", note.strip(), facts, parts)


def group_rows(
    table: LossTable, answers: Answers, level: str
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A head and a row for each group and model: cases, mean loss and the group's own bound."""
    assert table.groups is not None
    rows: list[tuple[str, ...]] = []
    for facts in (verdict.facts for verdict in answers.groups):
        own = table.columns[facts["column"]][table.groups == facts["group"]]
        bound = facts["bound"]
        if facts["outcome"] == "too little data":
            bound_words = f"none: {facts['k_needed'] - len(own)} more cases needed"
        else:
            bound_words = number(bound, "up")
        words = (facts["group"], facts["column"], f"{len(own):,}", number(float(own.mean())))
        rows.append((*words, bound_words))
    return ("group", "model", "cases", "mean", f"bound ({level})"), rows


def _check(sections: Sequence[str], audience: str) -> tuple[tuple[str, ...], bool]:
    for name in sections:
        lookup(name, SECTIONS, "section")
    lookup(audience, AUDIENCES, "audience")
    return tuple(name for name in SECTIONS if name in sections), audience == "analyst"


def _answer(answers: Answers, analyst: bool) -> str:
    blocks = [verdict_block(verdict, analyst) for verdict in answers.answer]
    if len(blocks) > 1:
        blocks.append(paragraph("Each of these statements holds separately."))
    return section("The answer", *blocks, kind="answer")


def _assumptions(results: Results, answers: Answers, level: str) -> list[str]:
    experiment = results.experiment
    retrained = (
        f"The algorithm is trained anew on {counted(experiment.sizes.m, 'fresh case')} (not "
        f"{experiment.n}) from the same source, in the same way."
    )
    lines = [SAME_SOURCE, retrained if experiment.algorithmic else NOT_REFITTED]
    lines.append(CHOSEN_BEFORE.format(level=level))
    if answers.comparison:
        lines.append(INDEPENDENT_CASES)
    simulated = "The data are simulated: each trial draws fresh cases from a known source."
    return [*lines, simulated if experiment.data.table is None else RE_SPLITS]


def _limits(answers: Answers, level: str, trials: bool) -> list[str]:
    lines = [NOT_ONE_CASE.format(level=level), NOT_THE_MEAN, NOT_UNDER_DRIFT]
    if answers.comparison:
        lines += [NOT_BY_OVERLAP, NOT_THE_WINNER]
    return [*lines, NOT_TYPICAL] if trials else lines


def _comparison(answers: Answers, panels: Sequence[Panel], analyst: bool) -> str:
    blocks = [verdict_block(verdict, analyst) for verdict in answers.comparison]
    blocks += [panel_block(panel, "comparison") for panel in panels]
    if answers.pairs and analyst:
        blocks.append("<h3>Every pair</h3>")
        blocks += [verdict_block(verdict, analyst) for verdict in answers.pairs]
    return section(SECTIONS["comparison"], *blocks)


def _details(results: Results, answers: Answers, alpha: Level, side: str, analyst: bool) -> str:
    panels = [cover_rates(results, alpha, side)]
    if not results.experiment.kind.symbolic:
        panels.insert(0, interval_histograms(results, alpha, side))
    if analyst:
        panels.insert(-1, width_histograms(results, alpha, side))
        panels.append(coverage_histograms(results, alpha, side))
        panels.append(calibration_curve(results, alpha, side))
    told = [*answers.bounds, *answers.typical] if len(answers.bounds) > 1 else [*answers.typical]
    blocks = [verdict_block(verdict, analyst) for verdict in told]
    return section(
        SECTIONS["details"], *blocks, *(panel_block(panel, "details") for panel in panels)
    )


def _numbers(results: Results, alpha: Level, side: str) -> str:
    head = ("algorithm", "lower end", "upper end", "width", "test coverage", "new loss covered")
    rows = [
        (
            ALGORITHMS[name].label,
            *(
                "" if math.isnan(found[key]) else number(found[key])
                for key in ("lower_median", "upper_median", "width_mean")
            ),
            percent(found["test_coverage_mean"]),
            f"{percent(found['new_loss_cover_rate'])} ({percent(found['new_loss_cover_low'])} to "
            f"{percent(found['new_loss_cover_high'])})",
        )
        for name, found in results.summary(alpha, side).items()
    ]
    caption = (
        f"Over {counted(len(results.trials), 'trial')}: medians of the ends, means of widths and "
        "coverage; in parentheses the exact 95 % interval of the cover rate."
    )
    blocks = [table_block(head, rows, "numbers"), paragraph(caption, "facts")]
    if len(results.failures):
        rows_ = results.failures.head(20).itertuples(index=False)
        blocks.append("<h3>Training runs that raised an error count with the worst loss</h3>")
        blocks.append(table_block(("trial", "algorithm", "failed", "first message"), rows_))
    return section(SECTIONS["numbers"], *blocks)


def _appendix(
    results: Results, alpha: Level, side: str, settings: dict[str, Any], question: dict[str, Any]
) -> str:
    experiment, sizes = results.experiment, results.experiment.sizes
    rows: list[tuple[str, object]] = [
        (name.replace("_", " "), value)
        for name, value in experiment.to_dict().items()
        if value not in (None, {}, []) and (name, value) != ("n_evaluations", 1)
    ]
    rows += [
        ("alpha", number(float(exact_alpha(alpha)), digits=12)),
        ("side", side),
        ("seed", results.seed),
        ("trials", f"{len(results.trials)} of {results.asked}"),
        ("calibration scores (k), training cases (m)", f"{sizes.k}, {sizes.m}"),
        ("test losses in a trial", sizes.n_test),
        ("versions", versions()),
        ("SHA-256 of the losses", losses_digest(results)),
    ]
    if experiment.data.table is not None:
        rows.append(("SHA-256 of the table", table_digest(experiment)))
    rows += [(name.replace("_", " "), value) for name, value in question.items()]
    command = command_line(experiment, len(results.trials), results.seed, alpha, side, question)
    return section(
        SECTIONS["appendix"],
        table_block((), rows),
        "<h3>In Python</h3>",
        code_block(python_lines(results, alpha, side, settings | question)),
        "<h3>On the command line</h3>",
        code_block(command)
        if command
        else paragraph("The command line cannot say all of these settings; use Python."),
        kind="appendix",
    )


def _losses_appendix(
    table: LossTable, alpha: Level, question: dict[str, Any], settings: dict[str, Any]
) -> str:
    asked = asked_of(alpha, question)
    rows = [(name.replace("_", " "), value) for name, value in asked.items()]
    rows += [("columns", ", ".join(table.columns)), ("cases", table.size), ("versions", versions())]
    rows += [("SHA-256 of the file", table.sha256)]
    return section(
        SECTIONS["appendix"],
        table_block((), rows),
        "<h3>In Python</h3>",
        code_block(losses_python_lines(table, asked, settings)),
        "<h3>On the command line</h3>",
        code_block(losses_command_line(table, asked)),
        kind="appendix",
    )
