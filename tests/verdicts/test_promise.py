"""Whether the promise was kept: every branch of every title, with coverage that a test chooses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.coverage import CoverageFacts
from cpp_core.verdicts.promise import (
    CoverRate,
    CoverRates,
    MeanCoverage,
    cover_rates_of,
    coverage_title,
    curve_title,
    kept_line,
    mean_coverage,
    promise_kept,
    rates_title,
    shortfall,
)
from tests.builders import drawn, infinite, made

EXACT = CoverageFacts(0.9, 0.9, True, False, (36, 4), (0.0,), "")
TIED = replace(EXACT, exact=False)
ONLY_PROMISED = replace(TIED, p=None, law=None, promised=0.8)
CERTAIN = replace(EXACT, p=1.0, certain=True, law=None)
AROUND, BELOW, ABOVE = (CoverRate(mid, mid - 0.02, mid + 0.02) for mid in (0.91, 0.8, 0.97))


def rates(known, *own, n=100):
    return CoverRates(n, dict(zip("ABC", own, strict=False)), known)


def test_rates_are_exact_intervals_of_what_was_counted(two):
    found, frame = cover_rates_of(two, 0.1, "two-sided"), two.at(0.1)
    for name, own in zip(two.algorithms, found.rates.values(), strict=True):
        hits = int(frame[frame["algorithm"] == name]["new_loss_covered"].sum())
        exact = stats.binomtest(hits, 200).proportion_ci(0.95, "exact")
        assert (own.rate, own.low, own.high) == pytest.approx((hits / 200, *exact))


@pytest.mark.parametrize(
    ("known", "own", "title"),
    [
        (EXACT, [AROUND], "The cover rate agrees with the exact 90 %"),
        (EXACT, [AROUND, AROUND], "Both cover rates agree with the exact 90 %"),
        (EXACT, [AROUND] * 3, "All 3 cover rates agree with the exact 90 %"),
        (TIED, [ABOVE], "The cover rate agrees with at least 90 %"),
        (ONLY_PROMISED, [AROUND], "The cover rate agrees with at least 80 %"),
        (EXACT, [ABOVE], "The cover rate disagrees with the exact 90 %: A's, 97 %"),
        (EXACT, [AROUND, BELOW], "1 of 2 cover rates disagree with the exact 90 %: B's, 80 %"),
        (TIED, [ABOVE, BELOW], "1 of 2 cover rates disagree with at least 90 %: B's, 80 %"),
        (EXACT, [BELOW, ABOVE], "2 of 2 cover rates disagree with the exact 90 %: A's, 80 %, and "
         "B's, 97 %"),
    ],
)  # fmt: skip
def test_whether_rates_agree(known, own, title):
    assert rates_title(rates(known, *own)) == title


def test_a_rate_that_disagrees_is_never_rounded_onto_the_target():
    near = CoverRate(0.89996, 0.8999, 0.89999)
    assert rates_title(rates(EXACT, near)).endswith("A's, 89.996 %")


def test_the_line_on_the_promise():
    start = "Promise kept?"
    assert kept_line(rates(CERTAIN, AROUND)) == (
        f"{start} Trivially: without a bound, the sets hold every loss."
    )
    assert kept_line(rates(EXACT, AROUND, BELOW)) == (
        f"{start} Not seen for B 80 %, where the exact 90 % is expected of 100 trials; one in 20 "
        "differs by chance."
    )
    assert kept_line(rates(EXACT, AROUND)) == (
        f"{start} Consistent with the exact 90 %: new losses were covered in 91 % of 100 trials."
    )
    assert kept_line(rates(TIED, ABOVE, AROUND, n=20)) == (
        f"{start} Consistent with at least 90 %: new losses were covered in 91 % to 97 % of 20 "
        "trials, by algorithm."
    )
    same = kept_line(rates(EXACT, AROUND, AROUND))
    assert same.endswith("covered in 91 % of 100 trials.")
    close = (CoverRate(rate, 0.88, 0.92) for rate in (0.9001, 0.8999))  # the same in words
    assert kept_line(rates(EXACT, *close)).endswith("covered in 90 % of 100 trials.")
    assert promise_kept(drawn(trials=LEAST_TRIALS - 1), 0.1, "upper") == ""
    enough = drawn(trials=LEAST_TRIALS)
    assert promise_kept(enough, 0.1, "upper") == kept_line(cover_rates_of(enough, 0.1, "upper"))


def test_how_many_are_covered_on_average():
    def title(known, *means):
        told = MeanCoverage(dict(zip("ABCD", means, strict=False)), known, "90 %", "no bound yet")
        return coverage_title(told)

    assert title(EXACT, 0.9) == "Covered on average: A 90 %; expected 90 %"
    assert title(TIED, 0.95, 0.9) == "Covered on average: A 95 % and B 90 %; expected at least 90 %"
    assert title(ONLY_PROMISED, 0.9) == "Covered on average: A 90 %; promised 90 %"
    many = title(EXACT, 0.9, 0.91, 0.8999, 0.92)
    assert many == "Covered on average: 89.9 % or more; expected 90 %"  # never above the least
    assert title(CERTAIN, 1.0) == "Every test loss is covered, because there is no bound yet"


def test_means_are_those_of_the_test_losses():
    test = np.tile(np.array([0.5, 0.5, 0.5, 2.0]), (1, 3, 1))
    found = mean_coverage(made(np.tile(np.linspace(0, 1, 39), (1, 3, 1)), test), 0.1, "upper")
    assert found.means == {"Ridge": 0.75}
    few = coverage_title(mean_coverage(infinite(), 0.05, "upper"))
    assert few.endswith("because there is no finite bound: 9 more calibration cases would give one")


def test_where_the_curve_falls_short():
    promised = np.array([0.5, 0.75, 0.99])
    curves = {"ridge": np.array([0.5, 0.74, 0.99]), "knn": np.array([0.5, 0.71659, 0.99])}
    assert curve_title(shortfall(promised, curves)) == (
        "The mean coverage is at most 3.35 percentage points below the promise (Nearest neighbours "
        "at 75 %)"
    )
    curves["knn"] = curves["ridge"] = promised
    assert curve_title(shortfall(promised, curves)) == (
        "At every confidence from 50 % to 99 %, the mean coverage is at least the promise"
    )


@pytest.mark.parametrize(
    ("promised", "coverage", "told"),
    [
        (0.5, 0.49, "at most 1 percentage point below the promise (Ridge at 50 %)"),
        (0.9, 0.83, "at most 7 percentage points below the promise (Ridge at 90 %)"),
        (1 - 0.7, 0.3 - 1e-16, "at least the promise"),
        (0.9, 0.9 - 1e-9, "at most 1e-7 percentage points below the promise (Ridge at 90 %)"),
    ],
)
def test_a_shortfall_is_read_as_decimals(promised, coverage, told):
    """What binary fractions add to .5 - .49 is no part of it."""
    found = shortfall(np.array([promised]), {"ridge": np.array([coverage])})
    assert curve_title(found).endswith(told)
