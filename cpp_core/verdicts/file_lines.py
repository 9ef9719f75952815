"""A file of losses in few words: a row for each model, a line for each pair, what is assumed.

Page, report and command line show the same rows and lines; the full sentences are in ``answers``.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cpp_core.catalog.loss_files import LossTable
from cpp_core.checks import Level, exact_alpha, probability
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_numbers, about_results
from cpp_core.verdicts.answers import Answers
from cpp_core.verdicts.choice import Asked
from cpp_core.verdicts.decisions import Decision
from cpp_core.verdicts.groups import GROUPS_BEFORE, group_bounds
from cpp_core.verdicts.held_out import average_words
from cpp_core.verdicts.language import (
    confidence,
    counted,
    in_full,
    listed,
    next_of,
    number,
    percent,
    plural,
    sentence,
    with_unit,
)
from cpp_core.verdicts.next_errors import NEXT_CASES, errors_ahead_of, errors_words
from cpp_core.verdicts.pairs import condition_of
from cpp_core.verdicts.strip import Strip
from cpp_core.verdicts.strip_cards import (
    AVERAGE_BEYOND,
    STRENGTHS,
    Entrant,
    far_worse,
)
from cpp_core.verdicts.summary import Table
from cpp_core.verdicts.verdict import EXCHANGEABLE, Verdict

CALIBRATING = "Cases and averages: those that calibrate in the split that carries the promise."
NO_OTHER_GROUP = "A new case of any other group has no bound here."
SAME_SOURCE = "Assumes that new cases come from the same source, in no particular order, and that "
EACH_CASE = "Assumes new cases like these, independent of each other, and that "
NOT_USED = "no model was trained or chosen with these."


# Rows


def losses_table(table: LossTable, answers: Answers, alpha: Level, cases: bool = True) -> Table:
    """A row for each model: cases, average, bound and outcome.

    Where errors are counted, the error rate and the errors of the next cases stand instead of a
    bound, which could only be 0 or 1. The number of ``cases``, the same for all, may be left out;
    there is no outcome where nothing was asked and each has a bound.
    """
    found = (_errors_table if answers.errors else _bounds_table)(table, answers, alpha)
    said = any(row[-1] != "bound" for row in found.rows)  # else the bounds say it
    keep = slice(0 if cases else 1, None if said else -1)
    rows = [(row[0], *row[1:][keep]) for row in found.rows]
    return replace(found, head=(found.head[0], *found.head[1:][keep]), rows=rows)


def _bounds_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    about, level = about_numbers(table.greater_is_better), confidence(alpha)
    rows = []
    for i, (name, own) in enumerate(table.columns.items()):
        figures = f"{len(own):,}", number(float(own.mean())), bound_words(answers.bounds[i], about)
        outcome = outcome_words(answers.answer[i])
        average = float(own.mean())
        rows.append((name, *figures, outcome + _worse(average, answers.bounds[i], alpha, about)))
    head = ("model", "cases", "average", f"bound ({level})", "outcome")
    caption = f"Average: of the cases in the file. Bound: on the next {about.loss}, with {level} "
    return Table(head, rows, caption + "confidence.", figures=False)


def _errors_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    about, rows = about_numbers(table.greater_is_better), []
    size = answers.answer[0].facts.get("batch_size", NEXT_CASES)
    for (name, own), answer in zip(table.columns.items(), answers.answer, strict=True):
        facts = errors_ahead_of(own, alpha, about, name).facts
        most = answer.facts.get("most", facts["most"])
        words = errors_words(0, most, size)
        figures = f"{len(own):,}", f"{facts['errors']:,}", percent(facts["errors"] / len(own))
        asked = isinstance(answer, Decision)
        outcome = outcome_words(answer) if asked else _next_answer(answer, alpha)
        rows.append((name, *figures, words, outcome))
    ahead, last = next_of(size, "case"), "outcome" if asked else "next case"
    head = ("model", "cases", "errors", "error rate", ahead.removeprefix("the "), last)
    caption = f"Errors on {ahead}: an exact guarantee, with {confidence(alpha)} "
    return Table(head, rows, caption + "confidence.", figures=False)


def _next_answer(bound: Verdict, alpha: Level) -> str:
    """What a bound of 0 or 1 says of the next answer."""
    outcome = bound.facts["outcome"]
    if outcome == "too little data":
        return outcome
    return "may be wrong" if outcome == "top" else f"right ({confidence(alpha)})"


def bound_words(bound: Verdict, about: About) -> str:
    """A bound in a cell; where there is none, how many cases would give one."""
    facts = bound.facts
    if facts["outcome"] == "too little data":
        return f"none: {counted(facts['k_needed'] - facts['k'], 'more case')} needed"
    if facts["outcome"] == "failed":
        return "none: training failed or diverged too often"
    return f"{about.at_most} {facts['quoted']}"


def outcome_words(answer: Verdict) -> str:
    """How it ended for a model: shown, not shown, too little data, bound, or none of use.

    Where a limit is not shown, how many cases are beyond it and how many may be; where there is too
    little data for it, how many would do.
    """
    facts, outcome = answer.facts, answer.facts["outcome"]
    if outcome == "top":
        return f"no bound inside the range, which ends at {facts['quoted']}"
    if outcome == "too little data" and isinstance(answer, Decision):
        return f"{outcome}: {counted(facts['k_needed'], 'case')} needed"
    if outcome == "not shown" and "threshold" in facts:
        beyond = counted(facts["beyond"], "case")
        return f"{outcome}: {beyond} beyond it, {facts['allowed']:,} may be"
    return str(outcome)


def _worse(average: float | None, bound: Verdict, alpha: Level, about: About) -> str:
    """A word where the average is beyond the bound."""
    if average is None:
        return ""
    own = Entrant("", "", bound, average, bound.facts["k"])
    return f"; {AVERAGE_BEYOND}" if far_worse(own, about) else ""


def group_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    """A row for each group and model: cases, average and the group's own bound."""
    about = about_numbers(table.greater_is_better)
    return _group_rows(answers.groups, about, alpha, "model", GROUPS_BEFORE)


def own_group_table(results: Results, alpha: Level) -> Table:
    """The same for the groups of a user's table, of the split that carries the promise."""
    found = group_bounds(results, alpha)
    caption = f"{GROUPS_BEFORE} {CALIBRATING} {NO_OTHER_GROUP}"
    return _group_rows(found, about_results(results), alpha, "algorithm", caption)


def _group_rows(
    bounds: Iterable[Verdict], about: About, alpha: Level, who: str, caption: str
) -> Table:
    rows = []
    for bound in bounds:
        facts = bound.facts
        average = "none" if facts["average"] is None else average_words(facts["average"])
        words = bound_words(bound, about) + _worse(facts["average"], bound, alpha, about)
        if facts["outcome"] == "top":
            words = f"none {'above' if about.greater_is_better else 'below'} {facts['quoted']}"
        rows.append((facts["group"], facts["column"], f"{facts['k']:,}", average, words))
    head = ("group", who, "cases", "average", f"bound ({confidence(alpha)})")
    return Table(head, rows, caption, figures=False)


# Lines


def decision_line(strip: Strip, alpha: Level) -> str:
    """The decision; of one model alone its bound, beside the average.

    Its strength is that of the weaker part that it rests on; that of each part stands in the lines
    of the pairs.
    """
    text = strip.text.removesuffix(".")
    if strip.choice is None:
        told = [f"; {card.line}" for card in strip.cards[:1] if card.line]
        return f"{strip.title} {text}{''.join(told)}."
    own = strip.choice
    level = "" if own.claim == "open" else f" ({own.strength}, {confidence(alpha)} confidence)"
    return f"{strip.title} {text}{level}."


def asked_line(answer: Iterable[Verdict], about: About) -> str:
    """What was asked and for which models it is shown; empty where nothing was asked."""
    facts = [verdict.facts for verdict in answer if isinstance(verdict, Decision)]
    if not facts:
        return ""
    claim, by_outcome = _claim(facts[0], about), dict[str, list[str]]()
    for own in facts:
        by_outcome.setdefault(own["outcome"], []).append(own["algorithm"])
    if len(facts) == 1:
        return f"{sentence(facts[0]['outcome'])}: {claim}."
    said = [f"{outcome} for {listed(names)}" for outcome, names in by_outcome.items()]
    return f"{sentence(claim)}: {'; '.join(said)}."


def _claim(facts: dict[str, Any], about: About) -> str:
    """What was asked, as the end of a sentence."""
    if "rate" in facts:
        ahead = next_of(facts["batch_size"], "case")
        return f"at most {in_full(facts['rate'])} errors on {ahead}"
    limit = with_unit(number(facts["threshold"], digits=17), about.unit)
    share, level = (in_full(1 - exact_alpha(facts[name])) for name in ("alpha", "delta"))
    return (
        f"at least {share} of new {plural(about.loss)} are {about.at_most} {limit} "
        f"({level} confidence)"
    )


def separately_line(answers: Answers, alpha: Level) -> str:
    """That several statements hold one by one, and what to ask for all at once."""
    n = len(answers.answer)
    if n == 1:
        return ""
    facts = answers.answer[0].facts  # a limit is shown with a confidence of its own
    name, level = ("delta", facts["delta"]) if "delta" in facts else ("alpha", alpha)
    joint = number(float(probability(level, name) / n), "down")
    return f"Each of these {n} holds separately; for all at once use --{name} {joint}."


def pair_lines(strip: Strip) -> list[str]:
    """A line for each pair, from what the decision was read from."""
    return [pair_line(asked) for asked in (strip.choice.asked if strip.choice else ())]


def pair_line(asked: Asked) -> str:
    """Who is better of two, on average and how often, in at most 25 words."""
    first, second = asked.wins.facts["first"], asked.wins.facts["second"]
    alike = ""
    if not asked.wins.facts["differing"]:
        alike = "both failed" if asked.wins.facts["outcome"] == "both failed" else "equal"
        alike += f" {asked.wins.brief.rest}"
    if asked.mean.claim == asked.wins.claim == "open":
        if alike:
            return f"{first} and {second}: {alike}."
        sooner = min(asked.verdicts, key=lambda own: own.facts.get("n_needed", math.inf))
        return sooner.brief.line
    average, often = _said(asked.mean), _said(asked.wins)
    open_ = alike or "who wins more often is not decided"
    often = often if asked.wins.claim == "yes" else open_
    return f"{first} and {second}: on average {average}; {often}."


def _said(verdict: Verdict) -> str:
    """What a verdict finds in a few words, with its strength."""
    words = f"{verdict.brief.subject} {verdict.brief.lead}".lstrip()
    return f"{words} ({STRENGTHS[verdict.badge]})" if verdict.claim == "yes" else words


def assumed_line(answers: Answers) -> str:
    """What all of it rests on."""
    independent = any(verdict.assumptions != EXCHANGEABLE for verdict in answers.all)
    return (EACH_CASE if independent else SAME_SOURCE) + NOT_USED


def approximate_line(strip: Strip) -> str:
    """When the averages that are marked approximate hold; empty where there are none."""
    means = [asked.mean.facts for asked in strip.choice.asked] if strip.choice else []
    condition = condition_of(means)
    return f"What is approximate holds{condition.removeprefix(',')}." if condition else ""
