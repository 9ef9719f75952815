"""Every figure that stands in a text of a lesson is computed here; a new one must be added."""

import re
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from cpp_core import conformal_ranks, scores_needed
from cpp_core.lessons import LESSONS, breaks
from cpp_core.lessons.break_texts import BREAKS
from cpp_core.lessons.candidate_or_algorithm import MULTIPLE, NOISE, covered, spreads
from cpp_core.lessons.coverage_is_random import law
from cpp_core.lessons.enough_cases import facts_at
from cpp_core.lessons.fixed_or_variable import tenths
from cpp_core.lessons.overlap_trap import FACTOR, HALF, wins

GIVEN = {"90 %", "10 %"}
"""The promise of every lesson, and the misses that it accepts."""
NUMBER = r"(?<![\w.{/-])\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?![\w])"


def papers_gap():
    known = spreads("gd", 5, 3000, 8, 2.2)
    return float(covered(known[:1500], known[1500:]).mean())


def deals(share):
    return stats.beta(10, 1).ppf(share)


@lru_cache(maxsize=1)
def claims():
    """By lesson: the shares that its texts state, and the other numbers of them."""
    misses = [1 - tenths(1.0, name)[-1] for name in ("fixed", "constant")]
    return {
        "guess-the-bound": (
            {"81.8 %": 9 / 11, "90.9 %": 10 / 11, "90.5 %": 19 / 21}
            | {"74.1 %": deals(0.05), "99.5 %": deals(0.95)},
            {"20": 20, "19": conformal_ranks(20, 0.1, "upper")[1], "21": 20 + 1}
            | {"0.9": 0.9, "18.9": 21 * 0.9},
        ),
        "quantile-lemma": (
            {"99 %": 99 / 100},
            {"9": scores_needed(0.1, "upper"), "8": scores_needed(0.1, "upper") - 1, "10": 10}
            | {"99": scores_needed(0.01, "upper"), "199": scores_needed(0.01)}
            | {"1": 1, "70": 70},  # the gaps have a test of their own
        ),
        "coverage-is-random": (
            # Two shares that one calibration with 19 losses may well have: within nine of ten.
            {"84 %": 0.84, "97 %": 0.97},
            {"19": 19, "79": 79, "6.5": 100 * law(19)["sd"], "3.3": 100 * law(79)["sd"]}
            | {"0": 0, "1": 1},
        ),
        "candidate-or-algorithm": ({"89 %": papers_gap()}, {"0.5": NOISE, "2.2": 2.2}),
        "fixed-or-variable-width": (
            {"86 %": tenths(1.0, "variable")[0], "89 %": tenths(1.0, "variable")[-1]}
            | {"30 %": misses[1]},
            {"22": 100 * misses[0]},
        ),
        "marginal-is-not-conditional": (
            {"5 %": 0.05},
            {"9": scores_needed(0.1, "upper"), "0": max(0.0, 1 - 0.1 / 0.05)}
            | {"1": 1, "0.1": 0.1},
        ),
        "overlap-trap": (
            {"61 %": wins(0.0), "100 %": wins(1.0)},
            {"0.06": 0.06, "360": 2 * HALF},  # the differences have a test of their own
        ),
        "break-it": ({}, {}),
        "why-two-numbers": (
            {"12 %": 0.12, "94.9 %": 0.949, "88 %": 1 - 0.12},  # simulated in a test of its own
            {"1": 1, "0": 0, "0.2": 0.2, "20": 20, "40": 40, "4,000": 4000},
        ),
        "how-many-are-enough": (
            {"5 %": 0.05, "5.2 %": 0.9**28, "21.5 %": facts_at(28, 0.1, 0.05)["short"]}
            | {"43.5 %": facts_at(29, 0.1, 0.05)["short"]},
            {"29": facts_at(9, 0.1, 0.05)["needed"], "9": scores_needed(0.1, "upper")}
            | {"28": facts_at(9, 0.1, 0.05)["needed"] - 1, "0.9": 0.9},
        ),
    }


def written(value, said):
    """The value as a text writes it, with as many decimals."""
    return f"{value:,.{len(said.partition('.')[2])}f}"


def numbers_in(*texts):
    return {
        found.strip().replace("\u00a0", " ") for text in texts for found in re.findall(NUMBER, text)
    }


@pytest.mark.parametrize("name", list(LESSONS))
def test_every_figure_in_a_text_is_computed(name):
    lesson = LESSONS[name]
    said = numbers_in(lesson.words, lesson.caveat, lesson.check.question, lesson.check.answer)
    shares, others = claims()[name]
    assert said - GIVEN == shares.keys() | others.keys()
    for text, value in shares.items():
        assert written(100 * value, text.removesuffix(" %")) == text.removesuffix(" %")
    for text, value in others.items():
        assert written(value, text) == text


def test_figures_of_formulas():
    formula = LESSONS["candidate-or-algorithm"].formula
    assert f"{MULTIPLE:.3f}" == "2.706"
    assert "2.706" in formula
    assert f"{stats.norm.ppf(0.95):.3f}" == "1.645"
    assert "1.645" in formula
    assert f"{NOISE**2:g}" == "0.25"
    assert f"\\ln {FACTOR:g} " in LESSONS["overlap-trap"].formula
    assert law(19)["low"] < 0.84 < 0.97 < law(19)["high"]
    assert np.ceil(11 * 0.9) == 10


SETTINGS = {
    "cross-validation": {
        "10": 10,
        "2 %": breaks.TYPOS,
        "100": breaks.ROWS,
        "9": breaks.GROUPS,
        "91": 91,
    }
    | {"819": breaks.GROUPS * 91},
    "training-data": {"100": breaks.TRAINED_ON, "0": 0},
    "duplicates": {"200": breaks.ORIGINALS, "0": 0},
    "refit": {"20": breaks.REFIT_ROWS, "40": 2 * breaks.REFIT_ROWS},
    "swapping": {"50": breaks.SWAP_ROWS, "25": BREAKS["swapping"].start},
    "seed": {"20": breaks.SEED_M, "99": breaks.SEED_K, "1": 1, "0.1": 0.1},
    "failed": {"20 %": breaks.MINORITY, "49": breaks.FAILED_K, "20": 20}
    | {"1.2 %": 1 - breaks.succeeding(20), "98.8 %": breaks.succeeding(20)}
    | {"89 %": breaks.dropped(20)},
    "lowest": {"19": breaks.LOWEST_K, "86.4 %": breaks.lowest_of(2)},
    "drift": {"100": 100, "99": 99, "3": max(breaks.SHIFTS)},
    "clipped": {"9": scores_needed(0.1, "upper"), "1": 1},
    "tuned": {"80 %": 0.8},
}
"""What the texts of each way to break it state, beside the averages that are filled in."""


@pytest.mark.parametrize("name", list(BREAKS))
def test_every_figure_of_a_break_is_computed(name):
    own = BREAKS[name]
    texts = own.lead, own.setting, own.why, own.right, own.check.question, own.check.answer
    said = numbers_in(*texts)
    assert said - GIVEN == SETTINGS[name].keys()
    for text, value in SETTINGS[name].items():
        number = text.removesuffix(" %")
        assert written(100 * value if number != text else value, number) == number
