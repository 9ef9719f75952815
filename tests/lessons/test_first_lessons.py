"""The claims of the first three lessons, by simulation beside the exact figures."""

import math

import numpy as np
import pytest
from scipy import stats

from cpp_core.lessons import LESSONS
from cpp_core.lessons.coverage_is_random import SIZES, coverages, law
from cpp_core.lessons.guess_the_bound import covered, deals
from cpp_core.lessons.quantile_lemma import redraws


def test_guess_the_bound_nine_of_ten_is_not_90_percent():
    facts = LESSONS["guess-the-bound"].play(stage="deals").numbers
    drawn = np.sort(np.random.default_rng(5).standard_normal((40_000, 11))[:, :10], axis=1)
    new = np.random.default_rng(6).standard_normal(40_000)
    for rank, exact in ((9, facts["nine"]), (10, facts["conformal"])):
        hits = int((new <= drawn[:, rank - 1]).sum())
        assert stats.binomtest(hits, 40_000, exact).pvalue > 0.001
        assert stats.binomtest(hits, 40_000, 0.9).pvalue < 1e-4  # neither is 90 %
    assert facts["nine"] == 9 / 11
    assert facts["conformal"] == 10 / 11


def test_guess_the_bound_deals_follow_their_law():
    found = deals(2000)
    assert stats.kstest(found[:, 0], stats.beta(9, 2).cdf).pvalue > 0.001
    assert stats.kstest(found[:, 1], stats.beta(10, 1).cdf).pvalue > 0.001
    low, high = stats.beta(10, 1).ppf([0.05, 0.95])
    text = LESSONS["guess-the-bound"].caveat
    assert f"{100 * low:.1f} %" in text
    assert f"{100 * high:.1f} %" in text


def test_guess_the_bound_counts_one_case_and_several():
    (panel,) = LESSONS["guess-the-bound"].play(line=8.0).panels
    said = [frame["layout"]["annotations"][-1]["text"] for frame in panel.sketch.frames]
    assert said[0] == "no new case yet"
    assert said[1] == "1 of 1 new case below: 100 %"
    assert said[2].startswith("2 of 2 new cases below")


@pytest.mark.parametrize("line", [0.5, 2.0, 3.6])
def test_guess_the_bound_knows_what_a_line_covers(line):
    losses = np.exp(np.random.default_rng(7).standard_normal(50_000))
    assert stats.binomtest(int((losses <= line).sum()), 50_000, covered(line)).pvalue > 0.001
    assert covered(math.e) == pytest.approx(stats.norm.cdf(1))


@pytest.mark.parametrize("k", [1, 5, 8, 9, 30])
def test_quantile_lemma_buckets_fill_evenly(k):
    losses, new, caught = redraws(k, 20_000)
    assert stats.chisquare(np.bincount(caught, minlength=k + 1)).pvalue > 0.001
    beyond = int((new > losses[:, -1]).sum())
    facts = LESSONS["quantile-lemma"].play(k=k).numbers
    assert stats.binomtest(beyond, 20_000, facts["beyond_largest"]).pvalue > 0.001


def test_quantile_lemma_says_when_there_is_no_bound():
    lesson = LESSONS["quantile-lemma"]
    assert "1 more loss would give a finite 90 % bound" in lesson.play(k=8).said
    assert lesson.play(k=9).finding == "9th of 9"
    assert "4 more losses" in lesson.play(k=5).said
    assert lesson.play(k=5).finding == "1 in 6"
    assert lesson.play(k=4, alpha=0.2).finding == "4th of 4"


def test_quantile_lemma_gaps_differ_about_70_times():
    assert "about 70 times" in LESSONS["quantile-lemma"].caveat
    drawn = np.sort(np.exp(np.random.default_rng(22).standard_normal((20_000, 9))), axis=1)
    gaps = np.diff(drawn, axis=1)
    assert 65 < np.median(gaps.max(axis=1) / gaps.min(axis=1)) < 80


@pytest.mark.parametrize("k", SIZES)
def test_coverage_follows_its_law(k):
    facts = law(k)
    found = coverages(k)
    assert stats.binomtest(int((found < 0.8).sum()), len(found), facts["under"]).pvalue > 0.001
    outside = int(((found < facts["low"]) | (found > facts["high"])).sum())
    assert stats.binomtest(outside, len(found), 0.1).pvalue > 0.001


def test_coverage_figures():
    facts = {k: law(k) for k in (19, 79, 99, 999)}
    assert LESSONS["coverage-is-random"].play(k=19).finding == "77.4 % to 98.1 %"
    assert 1 / facts[19]["under"] == pytest.approx(12, abs=0.1)
    assert LESSONS["coverage-is-random"].play(k=999).finding == "88.4 % to 91.5 %"
    assert facts[19]["sd"] / facts[79]["sd"] == pytest.approx(2, abs=0.04)
    assert f"{100 * facts[19]['sd']:.1f} to {100 * facts[79]['sd']:.1f}" in (
        LESSONS["coverage-is-random"].check.answer
    )
