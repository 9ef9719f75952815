"""Figures of coverage: against exact probabilities and laws."""

import numpy as np
import pytest
from scipy import stats

from cpp_core import ALGORITHMS
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.verdicts.coverage import coverage_facts, tied_share
from cpp_core.verdicts.language import number
from tests.builders import drawn, infinite, made, results_of, tenths

pytestmark = pytest.mark.usefixtures("no_warnings")


def test_cover_rates_against_the_exact_probability(two):
    panel = cover_rates(two, 0.1)
    frame = two.at(0.1)
    for row, name in enumerate(two.algorithms):
        hits = int(frame[frame["algorithm"] == name]["new_loss_covered"].sum())
        exact = stats.binomtest(hits, 200).proportion_ci(0.95, "exact")
        dot = next(t for t in panel.figure.data if t.marker.color == ALGORITHMS[name].color)
        assert dot.y == (row,)
        assert dot.x[0] == pytest.approx(hits / 2)
        assert dot.x[0] - dot.error_x.arrayminus[0] == pytest.approx(100 * exact.low)
        assert dot.x[0] + dot.error_x.array[0] == pytest.approx(100 * exact.high)
    assert "36/40 = 90 %" in panel.caption
    assert panel.title == "Both cover rates agree with the exact 90 %"
    # Test losses that lie all outside, then all inside: the law is refuted, and the title says so.
    broken = drawn()
    for arrays in broken.arrays.values():
        arrays["test"][:] = 1e9
    title = cover_rates(broken, 0.1).title
    assert title == (
        "2 of 2 cover rates disagree with the exact 90 %: Ridge's, 0 %, and "
        "Nearest neighbours', 0 %"
    )
    for arrays in broken.arrays.values():
        arrays["test"][:] = np.median(arrays["calibration"])
    assert cover_rates(broken, 0.1).title.startswith("2 of 2 cover rates disagree")


def test_with_ties_the_probability_is_a_lower_bound():
    tied = made(np.ones((1, 40, 39)), np.ones((1, 40, 9)))
    assert tied_share(tied, "ridge", 0.1, "upper") == 1
    panel = cover_rates(tied, 0.1, "upper")
    assert panel.title == "The cover rate agrees with at least 90 %"
    assert "a lower bound where scores tie" in panel.caption
    curve = coverage_histograms(tied, 0.1, "upper")
    assert "expected at least 90 %" in curve.title
    assert curve.figure.data[-1].name == "law without ties, a lower bound"
    scores = np.tile(np.arange(1.0, 40), (1, 4, 1))
    assert tied_share(made(scores, np.ones((1, 4, 9))), "ridge", 0.1, "two-sided") == 0
    facts = coverage_facts(made(scores, np.ones((1, 4, 9))), 0.1, "two-sided")
    assert (facts.exact, facts.p, facts.law, facts.tied_shares) == (True, 0.9, (36, 4), (0.0,))
    assert facts.agrees(0.85, 0.95)
    assert not facts.agrees(0.91, 0.99)  # the exact probability is missed from above, too
    facts = coverage_facts(tied, 0.1, "upper")
    assert (facts.exact, facts.tied_shares) == (False, (1.0,))
    assert facts.agrees(0.91, 0.99)
    assert not facts.agrees(0.7, 0.89)
    scores[0, 0, 37] = scores[0, 0, 38]  # rank 38 is the upper end
    assert tied_share(made(scores, np.ones((1, 4, 9))), "ridge", 0.1, "two-sided") == 0.25


def test_ties_that_calibration_does_not_show():
    """An end that ties with new losses, or could, covers more often than its rank says."""
    scores = np.tile(np.arange(1.0, 40), (1, 4, 1))
    new = np.full((1, 4, 9), 20.0)
    new[0, 0, 3] = 38.0  # the upper end
    met = made(scores, new)
    assert tied_share(met, "ridge", 0.1, "two-sided") == 0.25
    facts = coverage_facts(met, 0.1, "two-sided")
    assert facts.exact is False
    assert "a lower bound where scores tie (the ends tie with other or new scores in 25 %" in (
        facts.words
    )
    many = results_of([np.arange(3999.0)[None] / 1000], [np.full((1, 9), 35.0)])
    assert coverage_facts(many, 0.1, "upper").words == (
        "A new loss is covered with probability 3,600/4,000 = 90 %."
    )
    # Ten accuracies, none like another, nor like a new one: those of batches are tenths.
    shares = results_of([tenths(10) / 10], variant="batch", loss="accuracy", batch_size=20)
    shares.arrays["logistic"]["test"][:] = 0.55
    facts = coverage_facts(shares, 0.1, "upper")
    assert (facts.exact, facts.tied_shares) == (False, (0.0,))
    assert facts.words == (
        "A new loss is covered with probability 10/11 = 90.9 %; a lower bound, because such losses "
        "can tie."
    )
    panel = cover_rates(shares, 0.1, "upper")
    assert panel.title.endswith("at least 90.9 %")
    assert {"at least 90.9 %", "promised: at least 90 %"} <= {t.name for t in panel.figure.data}


@pytest.mark.parametrize(("new", "share"), [(1.75, 0), (1.8, 1)])
def test_new_losses_tie_by_their_scores_where_sets_move(new, share):
    """Predicted is 1 everywhere: of scores -0.9 to 0.9 the 18th, 0.8, moves the sets."""
    moved = results_of([tenths(19)], [np.full((1, 4), new)], variant="z-fixed")
    assert tied_share(moved, "logistic", 0.1, "upper") == share


def test_coverage_bins_hold_whole_counts_and_their_law(two):
    panel = coverage_histograms(two, 0.1)
    law = stats.betabinom(30, *two.coverage_law(0.1))
    frame = two.at(0.1)
    for name in two.algorithms:
        hits = (frame[frame["algorithm"] == name]["test_coverage"] * 30).round()
        for row in panel.data[panel.data["algorithm"] == name].itertuples():
            inside = range(row.fewest, row.most + 1)
            assert row.trials == hits.isin(list(inside)).sum()
            assert row.expected == pytest.approx(200 * sum(law.pmf(j) for j in inside))
    band = [shape for shape in panel.figure.layout.shapes if shape.type == "rect"]
    assert {(shape.x0, shape.x1) for shape in band} == {(90, 95)}  # 2/(k+1) of k = 39
    upper = coverage_histograms(two, 0.1, "upper").figure.layout.shapes
    assert {(s.x0, s.x1) for s in upper if s.type == "rect"} == {(90, 92.5)}
    # Many test losses: neighbouring counts share a bin, the same number in each.
    many = coverage_histograms(drawn(n_test=300, trials=50), 0.1)
    sizes = many.data["most"] - many.data["fewest"] + 1
    assert sizes.nunique() == 1
    assert sizes.iloc[0] > 1
    assert many.data.groupby("algorithm")["trials"].sum().tolist() == [50, 50]


def test_no_law_no_curve(every_variant):
    grouped = every_variant["z-free-grouped"]
    panel = coverage_histograms(grouped, 0.2)
    assert not [trace for trace in panel.figure.data if trace.type == "scatter"]
    assert "No curve is drawn. The law is not known" in panel.caption
    assert "promised 80 %" in panel.title
    assert "at least 80 %" in cover_rates(grouped, 0.2).title
    symbolic = coverage_histograms(every_variant["symbolic"], 0.1)
    assert not [trace for trace in symbolic.figure.data if trace.type == "scatter"]
    assert "an empty set gets its most likely symbol" in symbolic.caption
    facts = coverage_facts(grouped, 0.2, "upper")
    assert (facts.p, facts.exact, facts.law, facts.target) == (None, False, None, 0.8)
    facts = coverage_facts(every_variant["symbolic"], 0.1, "upper")
    assert (facts.exact, facts.law) == (False, None)
    few = coverage_facts(infinite(), 0.05, "upper")
    assert (few.p, few.certain, few.law) == (1.0, True, None)


def test_calibration_curve(two):
    panel = calibration_curve(two, 0.123)
    assert len(panel.data) == 2 * 51  # 50 levels and the chosen one
    for alpha in (0.01, 0.123, 0.5):
        row = panel.data.query("algorithm == 'knn'")
        row = row.iloc[int((row["promised"] - (1 - alpha)).abs().argmin())]
        own = two.at(alpha).query("algorithm == 'knn'")
        assert row["mean_coverage"] == pytest.approx(own["test_coverage"].mean())
    gap = (panel.data["promised"] - panel.data["mean_coverage"]).max()
    assert f"at most {number(100 * gap, 'up')} percentage points below" in panel.title
    sure = calibration_curve(made(np.ones((1, 5, 39)), np.ones((1, 5, 9))), 0.1)
    assert sure.title.endswith("the mean coverage is at least the promise")
