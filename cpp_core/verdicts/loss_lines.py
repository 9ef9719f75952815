"""A file of losses in few words: a row for each model, a line for each pair, what is assumed.

Page, report and command line show the same rows and lines; the full sentences are in ``answers``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.loss_files import LossTable
from cpp_core.checks import Level, exact_alpha, probability
from cpp_core.method.counts import batch_errors
from cpp_core.verdicts.about import EXCHANGEABLE, About, Verdict, about_numbers
from cpp_core.verdicts.answers import Answers
from cpp_core.verdicts.decisions import Decision
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    percent,
    plural,
    sentence,
    with_unit,
)
from cpp_core.verdicts.pairs import condition_of, decided
from cpp_core.verdicts.summary import Table

Facts = dict[str, Any]
NEXT_CASES = 100
"""The batch for which errors are told where nobody says another."""

GROUPS_BEFORE = (
    "Each bound holds separately, for a new case of its group, if the groups were fixed before "
    "looking at the losses."
)
SAME_SOURCE = "Assumes that new cases come from the same source, in no particular order, and that "
NOT_USED = "no model was trained or chosen with these."
EACH_CASE = "Assumes new cases like these, independent of each other, and that "


def zero_one(columns: Mapping[str, NDArray]) -> bool:
    """Whether every number is 0 or 1: then errors are counted.

    >>> zero_one({"a": np.array([0.0, 1.0])}), zero_one({"a": np.array([0.0, 0.5])})
    (True, False)
    """
    return all(bool(np.isin(own, (0, 1)).all()) for own in columns.values())


def errors_in(losses: NDArray, greater_is_better: bool) -> int:
    """How many of the numbers 0 and 1 are errors."""
    return int((losses != greater_is_better).sum())


def next_errors(
    losses: NDArray, greater_is_better: bool, alpha: Level, batch_size: int = NEXT_CASES
) -> int:
    """The most errors among the next cases, by the exact batch rule: guaranteed."""
    errors = errors_in(losses, greater_is_better)
    return batch_errors(len(losses), errors, batch_size, alpha, "upper")[1]


def one_in(alpha: Level) -> str:
    """The share of cases that a bound leaves out, as people say it.

    >>> one_in(0.1), one_in(0.05), one_in(0.15)
    ('1 in 10', '1 in 20', '15 in 100')
    """
    exact = exact_alpha(alpha)
    if exact.numerator == 1:
        return f"1 in {exact.denominator:,}"
    return f"{number(float(100 * exact), digits=12)} in 100"


def losses_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    """A row for each model: cases, average, bound and outcome.

    Where errors are counted, the error rate and the errors of the next cases stand instead of a
    bound, which could only be 0 or 1.
    """
    greater, level = table.greater_is_better, confidence(alpha)
    if zero_one(table.columns):
        return _errors_table(table, answers, alpha)
    told = zip(table.columns.items(), answers.answer, answers.bounds, strict=False)
    rows = [
        (
            name,
            f"{len(own):,}",
            number(float(own.mean())),
            bound_words(bound.facts, greater),
            outcome_words(answer.facts) + far_worse(own, bound.facts, alpha, greater),
        )
        for (name, own), answer, bound in told
    ]
    head = ("model", "cases", "average", f"bound ({level})", "outcome")
    noun = "score" if greater else "loss"
    caption = f"Average: of the cases in the file. Bound: on the next {noun}, with {level} "
    return Table(head, rows, caption + "confidence.")


def _errors_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    greater, size = table.greater_is_better, answers.answer[0].facts.get("batch_size", NEXT_CASES)
    rows = []
    for (name, own), answer in zip(table.columns.items(), answers.answer, strict=True):
        wrong, most = errors_in(own, greater), next_errors(own, greater, alpha, size)
        figures = f"{len(own):,}", f"{wrong:,}", percent(wrong / len(own))
        words = f"at most {counted(most, 'error')}", outcome_words(answer.facts)
        rows.append((name, *figures, *words))
    cases = counted(size, "case")
    head = ("model", "cases", "errors", "error rate", f"next {cases}", "outcome")
    caption = f"Errors on the next {cases}: an exact guarantee, with {confidence(alpha)} "
    return Table(head, rows, caption + "confidence.")


def bound_words(facts: Facts, greater_is_better: bool) -> str:
    """A bound in a cell; where there is none, how many cases would give one."""
    if facts["outcome"] == "too little data":
        return f"none: {counted(facts['k_needed'] - facts['k'], 'more case')} needed"
    return f"{'at least' if greater_is_better else 'at most'} {facts['quoted']}"


def outcome_words(facts: Facts) -> str:
    """How it ended for a model: shown, not shown, too little data, bound, or none of use.

    Where a limit is not shown, how many cases are beyond it and how many may be; where there is too
    little data for it, how many would do.
    """
    outcome, asked = facts["outcome"], "threshold" in facts or "rate" in facts
    if outcome == "top":
        return f"no bound inside the range, which ends at {facts['quoted']}"
    if outcome == "too little data" and asked:
        return f"{outcome}: {counted(facts['k_needed'], 'case')} needed"
    if outcome == "not shown" and "threshold" in facts:
        return f"{outcome}: {counted(facts['beyond'], 'case')} beyond it, {facts['allowed']} may be"
    return str(outcome)


def far_worse(losses: NDArray, facts: Facts, alpha: Level, greater_is_better: bool) -> str:
    """A word where the average is worse than the bound: a few cases must be far beyond it."""
    sign = -1 if greater_is_better else 1
    if facts["outcome"] != "bound" or sign * losses.mean() <= sign * facts["bound"]:
        return ""
    return f"; {one_in(alpha)} cases can be far worse"


def group_table(table: LossTable, answers: Answers, alpha: Level) -> Table:
    """A row for each group and model: cases, average and the group's own bound."""
    assert table.groups is not None
    greater, rows = table.greater_is_better, []
    for facts in (verdict.facts for verdict in answers.groups):
        own = table.columns[facts["column"]][table.groups == facts["group"]]
        cells = f"{len(own):,}", number(float(own.mean())), bound_words(facts, greater)
        worse = far_worse(own, facts, alpha, greater)
        rows.append((facts["group"], facts["column"], *cells[:2], cells[2] + worse))
    head = ("group", "model", "cases", "average", f"bound ({confidence(alpha)})")
    return Table(head, rows, GROUPS_BEFORE)


# Lines


def decision_line(table: LossTable, answers: Answers, alpha: Level) -> str:
    """Which model to use; of one alone whether what was asked is shown, or what to expect."""
    if answers.choice is not None:
        return answers.choice.text
    asked = asked_line(answers.answer, about_numbers(table.greater_is_better))
    return asked or _expected(table, answers, alpha)


def _expected(table: LossTable, answers: Answers, alpha: Level) -> str:
    """What to expect of one model, the average beside the bound."""
    greater, level = table.greater_is_better, f"with {confidence(alpha)} confidence"
    (own,), facts = table.columns.values(), answers.bounds[0].facts
    if zero_one(table.columns):
        wrong, most = errors_in(own, greater), next_errors(own, greater, alpha)
        return (
            f"{wrong:,} of {counted(len(own), 'answer')} are wrong "
            f"({percent(wrong / len(own))}): at most {counted(most, 'error')} among the next "
            f"{NEXT_CASES} cases, {level}."
        )
    noun, average = "score" if greater else "loss", f"the average is {number(float(own.mean()))}"
    if facts["outcome"] == "bound":
        worse = far_worse(own, facts, alpha, greater)
        return f"The next {noun} is {bound_words(facts, greater)} {level}; {average}{worse}."
    reason = " inside its range"
    if facts["outcome"] == "too little data":
        reason = f": {counted(facts['k_needed'] - facts['k'], 'more case')} would give one"
    return f"No bound on the next {noun} {level}{reason}; {average}."


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


def _claim(facts: Facts, about: About) -> str:
    """What was asked, as the end of a sentence."""
    if "rate" in facts:
        rate = number(100 * facts["rate"], digits=17)
        return f"at most {rate} % errors on the next {counted(facts['batch_size'], 'case')}"
    limit = with_unit(number(facts["threshold"], digits=17), about.unit)
    share, level = confidence(facts["alpha"]), confidence(facts["delta"])
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


def assumed_line(answers: Answers) -> str:
    """What all of it rests on."""
    independent = any(v.assumptions != EXCHANGEABLE for v in answers.all)
    return (EACH_CASE if independent else SAME_SOURCE) + NOT_USED


def pair_lines(answers: Answers) -> list[str]:
    """A line for each pair, from what the decision was read from."""
    return [pair_line(*facts) for facts in (answers.choice.pairs if answers.choice else ())]


def pair_line(wins: Facts, mean: Facts) -> str:
    """Who is better of two, on average and how often, in at most 25 words."""
    first, second, outcome = wins["first"], wins["second"], mean["outcome"]
    average, often = decided(mean), decided(wins)
    lead = f"{first} and {second}: "
    if outcome == "practically equal":
        margin = number(mean["margin"], digits=17)
        return f"{lead}practically equal, averages differ by less than {margin} ({_level(mean)})."
    if not wins["differing"]:
        return f"{lead}equal on all {counted(wins['k'], 'case')}."
    if average is None and often is None:
        return f"{lead}not decided; {_open(wins, mean)}."
    said = []
    if average is not None:
        said.append(f"{average[0]} is better on average{_by(mean)} ({_level(mean)})")
    if often is not None:
        who = often[0]
        won = wins["wins"] if who == first else wins["losses"]
        said.append(f"{who} wins {won:,} of {wins['differing']:,} that differ (exact)")
    return f"{lead}{'; '.join(said)}."


def _level(mean: Facts) -> str:
    return str(mean["strength"])


def _by(mean: Facts) -> str:
    """By how much one is better, where an interval on one side of zero says it."""
    low, high = sorted((mean["lower"], mean["upper"]))
    if low <= 0 <= high:  # wins settle it where errors are counted
        return ""
    small, large = sorted(map(abs, (low, high)))
    return f" by {number(small, 'down', 0.0)} to {number(large, 'up')}"


def _open(wins: Facts, mean: Facts) -> str:
    """What is known of a pair that neither answer decides, and how many cases would do."""
    ends = ""
    if mean["lower"] is not None:
        low, high = number(mean["lower"], "down", 0.0), number(mean["upper"], "up", 0.0)
        ends = f"average difference {low} to {high}, "
    known = f"{ends}{wins['first']} wins {wins['wins']:,} of {wins['differing']:,} that differ"
    needed = [own["n_needed"] for own in (wins, mean) if "n_needed" in own]
    return f"{known}; about {min(needed):,} cases would tell" if needed else known


def approximate_line(answers: Answers) -> str:
    """When the averages that are marked approximate hold; empty where there are none."""
    means = [mean for _, mean in answers.choice.pairs] if answers.choice else []
    condition = condition_of(means)
    return f"What is approximate holds{condition.removeprefix(',')}." if condition else ""
