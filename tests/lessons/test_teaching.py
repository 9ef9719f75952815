"""Glossary, lecture plan, exercises and pages to print."""

import re

import numpy as np
import pytest
from scipy import stats

from cpp_core.catalog.presets import PRESETS
from cpp_core.lessons import LESSONS
from cpp_core.lessons.exercises import exercises
from cpp_core.lessons.glossary import glossary, texts_of
from cpp_core.lessons.plan import MINUTES, PLAN
from cpp_core.lessons.two_numbers import found as splits_of
from cpp_core.report.sheets import exercises_html, needed_table, plan_html, summary_html
from cpp_core.trials.experiment import Experiment
from cpp_core.verdicts.terms import TERMS, terms_in

JARGON = (
    *("alpha", "absolute error", "algorithm", "bound", "calibration", "candidate", "coverage"),
    *("conditional", "correlation", "cross-validation", "drift", "exchangeable", "marginal"),
    *("gradient descent", "held-out", "least squares", "log loss", "loss", "median", "rank"),
    *("nearest neighbour", "quantile", "regularised", "re-split", "retrained", "seed", "split"),
    *("squared error", "standard deviation", "tolerance", "wins", "width", "exchangeability"),
    *("iid", "non-conformity", "score", "scores", "hyperparameter", "covariate", "estimator"),
    *("percentile", "confidence interval", "p-value", "martingale", "heteroscedastic"),
)
"""Words that nobody knows who has not learnt them; not all of them are used."""


@pytest.mark.parametrize("name", list(LESSONS))
def test_every_term_of_a_lesson_is_explained_where_it_stands(name):
    """What a lesson says is shown with its terms marked; so every hard word must be a term."""
    text = texts_of(LESSONS[name]).lower()
    marked = {found for found, _, _ in terms_in(text)}
    for word in JARGON:
        if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
            continue
        owners = {term.name for term in TERMS.values() if word in term.spellings}
        assert owners & marked or any(word in name for name in marked), (name, word)


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("guess-the-bound", {"stage": "answer"}),
        ("guess-the-bound", {"stage": "deals"}),
        ("marginal-is-not-conditional", {"data": "simulated"}),
        ("marginal-is-not-conditional", {"kind": "each"}),
        ("overlap-trap", {"data": "real"}),
        ("break-it", {"switch": "drift"}),
    ],
)
def test_terms_are_looked_for_in_every_view(name, view):
    text, shown = texts_of(LESSONS[name]), LESSONS[name].play(**view)
    for said in (shown.said, *(panel.caption for panel in shown.panels)):
        assert said in text


def test_the_glossary_has_every_term_once_and_knows_its_lessons():
    entries = glossary()
    assert [own.name for own in entries] == sorted(TERMS)
    known = {own.name: own for own in entries}
    assert "marginal-is-not-conditional" in known["marginal"].lessons
    assert set(known["loss"].lessons) == set(LESSONS)
    assert not known["nats"].lessons
    for name in ("drift", "cross-validation", "exchangeable"):
        assert "break-it" in known[name].lessons


def test_the_plan_fills_the_lecture():
    assert sum(step.minutes for step in PLAN) == MINUTES == 45
    assert [step.name for step in PLAN if step.is_lesson] == list(LESSONS)
    assert {step.name for step in PLAN if not step.is_lesson} == PRESETS.keys()
    for step in PLAN:
        assert step.question.endswith("?")
        assert len(step.answer) > 20
        if step.is_lesson:
            LESSONS[step.name].play(**step.settings)


def test_what_the_plan_says_of_the_run_is_true():
    (step,) = (own for own in PLAN if own.name == "quadnoise-algorithm")
    experiment = Experiment.preset(step.name)
    assert experiment.n_sets == 1000
    assert experiment.n // experiment.n_sets - 1 == 74
    assert "1,000 losses" in step.answer
    assert "74 fresh cases" in step.answer


def test_the_answers_of_the_plan_answer():
    answers = {step.name: step.answer for step in PLAN}
    assert answers["quantile-lemma"].startswith("No. 1 in 6")
    assert answers["how-many-are-enough"].startswith(
        "No: 38.7 % of calibrations with 9 losses, 48.5"
    )
    assert "tenth dot" in answers["guess-the-bound"]
    assert "naive cross-validation 54.8 %" in answers["break-it"]
    bounds, _ = splits_of(LESSONS["why-two-numbers"].controls[1].default)
    assert f"is {bounds.max() / bounds.min():.1f} times the lowest" in answers["why-two-numbers"]


def solution(title):
    (found,) = (own.solution for own in exercises() if own.title == title)
    return found


def test_solutions_are_true():
    assert "The 23rd" in solution("Which loss is the bound?")
    assert "92 %" in solution("Which loss is the bound?")
    assert solution("How many for 95 %?").startswith("19 and 39.")
    low, high = stats.beta(54, 6).ppf([0.05, 0.95])
    covers = np.sort(np.random.default_rng(0).random((20_000, 59)), axis=1)[:, 53]
    assert np.quantile(covers, [0.05, 0.95]) == pytest.approx([low, high], abs=0.003)
    assert f"{100 * low:.3g} % and {100 * high:.3g} %" in solution(
        "How far may one calibration be off?"
    )
    assert 0.95**59 <= 0.05 < 0.95**58
    assert "From 59 on" in solution("Nearly every calibration")
    assert "96th of 100 instead of the 91st" in solution("Nearly every calibration")
    assert "50 %" in solution("A group of one in five")
    assert "under 0.1 %" in solution("Twelve of twelve")
    assert stats.binomtest(12, 12).pvalue == pytest.approx(2 * 0.5**12)
    assert "Between 1 and 10" in solution("Errors to come")
    assert "81.6 %" in solution("Five models, one bound")
    assert "49" in solution("Five models, one bound")


def test_selecting_columns_with_all_rows_breaks_the_promise():
    """The mistake of the last exercise, simulated: pure noise, the ten best of 500 columns."""
    rng, covered, honest = np.random.default_rng(1), [], []
    for _ in range(60):
        X, y = rng.standard_normal((100, 500)), rng.standard_normal(100)
        for rows, found in ((slice(None), covered), (slice(50), honest)):
            best = np.argsort(-np.abs(X[rows].T @ y[rows]))[:10]
            w = np.linalg.lstsq(X[:50, best], y[:50], rcond=None)[0]
            bound = np.sort(np.abs(y[50:] - X[50:, best] @ w))[45]  # rank 46 of 50
            found.append(2 * stats.norm.cdf(bound / np.sqrt(1 + w @ w)) - 1)
    error = np.std(honest) / np.sqrt(60)
    assert np.mean(honest) == pytest.approx(46 / 51, abs=4 * error)
    assert np.mean(covered) < 0.87


def test_sheets_stand_alone():
    for page in (summary_html(), exercises_html(True), exercises_html(False), plan_html()):
        assert "http" not in re.sub(r'http-equiv|xmlns="[^"]*"', "", page)
        assert "<script" not in page
        assert "None" not in page
        assert len(page) < 60_000
    assert "The 23rd" in exercises_html(True)
    assert "The 23rd" not in exercises_html(False)
    assert summary_html().count("<img") == 2
    assert [row[1] for row in needed_table().rows] == ["4", "9", "19", "99"]
