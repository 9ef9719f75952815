"""Results at any alpha, against plain loops over trials."""

import math

import numpy as np
import pytest
from scipy import stats

from cpp_core import Experiment, InfiniteEndWarning, conformal_ranks, interval
from cpp_core.method.modulation import LEVELS
from cpp_core.method.ranks import grouped_ranks
from cpp_core.method.sets import Sets
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.readings import at_level
from cpp_core.trials.results import Results, coverage_error
from tests.builders import VARIANTS

TRIALS = 4


@pytest.fixture(scope="session")
def results(trials_of_every_variant):
    return trials_of_every_variant(TRIALS)


def slow_sets(arrays, t, experiment, alpha, side):
    """Ends at every test case of one trial, written as the paper writes them."""
    loss = experiment.criterion
    sign = loss.sign
    low, high = sorted((sign * np.float32(loss.low), sign * np.float32(loss.high)))
    losses = sign * arrays["calibration"][t]
    n_test = arrays["test"].shape[1]
    if "calibration_ends" not in arrays:
        flat = sorted(losses.ravel())
        lo, hi = grouped_ranks(len(losses), losses.size // len(losses), alpha, side)
        ends = (
            low if lo == 0 else max(flat[lo - 1], low),
            high if hi > len(flat) else min(flat[hi - 1], high),
        )
        sets = [ends] * n_test
    else:

        def at(values, level):
            if values.ndim == 1:
                return values.astype(float)
            # Regressed quantiles are rounded like everything that is stored.
            rows = [np.interp(level, LEVELS, row) for row in values]
            return np.array(rows, dtype=np.float32).astype(float)

        losses = losses.astype(float)
        levels = (1 - alpha, 1 - alpha) if side == "upper" else (alpha / 2, 1 - alpha / 2)
        lower, upper = (at(arrays["calibration_ends"][t], level) for level in levels)
        scores = losses - upper if side == "upper" else np.maximum(lower - losses, losses - upper)
        hi = conformal_ranks(len(scores), alpha, "upper")[1]
        s = sorted(scores)[hi - 1] if hi <= len(scores) else math.inf
        lower, upper = (at(arrays["test_ends"][t], level) for level in levels)
        bottom = np.full(n_test, low) if side == "upper" else np.maximum(lower - s, low)
        sets = list(zip(bottom, np.minimum(upper + s, high), strict=True))
    return [(b, a) if sign < 0 else (a, b) for a, b in ((sign * a, sign * b) for a, b in sets)]


@pytest.mark.parametrize("side", ["two-sided", "upper"])
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.25, 0.333])
@pytest.mark.parametrize("name", [v for v in VARIANTS if "symbolic" not in v])
def test_at_against_plain_loops(results, name, alpha, side):
    found = results[name]
    frame = found.at(alpha, side)
    assert list(frame.columns[:9]) == [
        *("trial", "algorithm", "lower", "upper", "width", "mean_test_loss", "test_coverage"),
        *("new_loss", "new_loss_covered"),
    ]
    curve = found.curve([0.4, alpha], side)
    for algorithm in found.algorithms:
        own = frame[frame.algorithm == algorithm].reset_index(drop=True)
        arrays = found.arrays[algorithm]
        for t in range(TRIALS):
            sets = slow_sets(arrays, t, found.experiment, alpha, side)
            tests = arrays["test"][t]
            covered = [a <= loss <= b for (a, b), loss in zip(sets, tests, strict=True)]
            widths = [max(0.0, b - a) for a, b in sets]
            row = own.loc[t]
            approx = lambda value: pytest.approx(value, rel=1e-5, abs=1e-6)  # noqa: E731
            assert row["lower"] == approx(sets[0][0])
            assert row["upper"] == approx(sets[0][1])
            assert row["width"] == approx(widths[0])
            assert row["mean_width"] == approx(np.mean(widths))
            assert row["test_coverage"] == approx(np.mean(covered))
            assert row["new_loss_covered"] == covered[0]
            assert row["new_loss"] == tests[0]
            assert row["mean_test_loss"] == approx(np.mean(tests))
            for column in ("lower", "upper", "test_coverage", "new_loss_covered"):
                assert curve[algorithm][column][1, t] == approx(row[column])
            assert curve[algorithm]["width"][1, t] == approx(row["mean_width"])


@pytest.mark.filterwarnings("ignore::cpp_core.method.ranks.InfiniteEndWarning")
def test_at_is_the_plain_interval(results):
    found = results["candidate"]
    for alpha in (0.05, 0.1):
        frame = found.at(alpha)
        for algorithm in found.algorithms:
            own = frame[frame.algorithm == algorithm]
            for t in range(TRIALS):
                losses = found.arrays[algorithm]["calibration"][t]
                low, high = interval(losses, alpha, low=0)
                assert own.lower.iloc[t] == low
                assert own.upper.iloc[t] == high


def test_symbolic_readings(results):
    for name in ("symbolic", "symbolic-algorithm"):
        found = results[name]
        frame = found.at(0.1)
        assert frame["mean_width"].between(1, 3).all()
        assert frame["lower"].isna().all()
        wide = found.at(0.01) if found.experiment.sizes.k < 99 else found.at(0.001)
        assert (wide["test_coverage"] == 1).all()
        assert found.curve([0.1, 0.2])["knn"]["test_coverage"].shape == (2, TRIALS)
        with pytest.raises(ValueError, match="Symbols have no difference"):
            found.paired("knn", "naive-bayes")


def test_symbolic_sets_by_hand(results):
    found = results["symbolic"]
    reader = found.reader("knn")
    arrays = found.arrays["knn"]
    sets = reader.sets(0.1)
    k = arrays["calibration"].shape[1]
    level = 19  # the grid's position of 0.1
    for t in range(TRIALS):
        scores = sorted(arrays["calibration_ends"][t, :, level] - arrays["calibration"][t])
        s = scores[conformal_ranks(k, 0.1, "upper")[1] - 1]
        for case in range(arrays["test"].shape[1]):
            likely = arrays["test"][t, case]
            own = np.isfinite(likely) & (likely >= arrays["test_ends"][t, case, level] - s)
            if not own.any():
                own[likely.argmax()] = True
            assert (sets[t, case] == own).all()


@pytest.mark.parametrize("name", [v for v in VARIANTS if "symbolic" not in v])
def test_paired(results, name):
    found = results[name]
    first, second = found.algorithms
    frame = found.paired(first, second, 0.2)
    flipped = found.paired(second, first, 0.2)
    d = found.arrays[first]["test"] - found.arrays[second]["test"]
    better = d < 0 if found.experiment.criterion.sign > 0 else d > 0
    np.testing.assert_allclose(frame["wins"], better.mean(axis=1))
    np.testing.assert_allclose(frame["wins"] + frame["ties"] + frame["losses"], 1)
    np.testing.assert_allclose(frame["wins"], flipped["losses"])
    np.testing.assert_allclose(frame["mean_difference"], -flipped["mean_difference"], atol=1e-6)
    if "calibration_ends" not in found.arrays[first]:
        np.testing.assert_allclose(frame["lower"], -flipped["upper"], atol=1e-6)
    assert frame["test_coverage"].between(0, 1).all()


def test_failed_pairs_tie():
    experiment = Experiment(dataset="diabetes", algorithms=("ridge", "dummy"))
    block, _ = run_block(experiment, 0, [0])
    for arrays in block.values():
        arrays["test"][0, 0] = arrays["calibration"][0, 0] = np.inf
    pair = Results(experiment, 0, np.arange(1), block, 1).paired("ridge", "dummy")
    assert pair["new_difference"].tolist() == [0]


def test_infinite_ends_are_counted_not_averaged_away():
    experiment = Experiment(dataset="diabetes", algorithms=("ridge",), n=20, test_size=50)
    block, _ = run_block(experiment, 0, range(4))
    found = Results(experiment, 0, np.arange(4), block, 4)
    summary = found.summary(0.05, "upper")["ridge"]
    assert summary["upper_infinite"] == 4
    assert not summary["upper_finite"]
    assert summary["upper_mean"] == math.inf
    assert summary["k_needed"] == 19
    assert found.coverage_law(0.05, "upper") == (11, 0)
    with pytest.warns(InfiniteEndWarning):
        interval(block["ridge"]["calibration"][0], 0.05, "upper")


def test_summary(results):
    for name, found in results.items():
        for summary in found.summary(0.1).values():
            assert summary["new_loss_cover_low"] <= summary["new_loss_cover_rate"]
            assert summary["new_loss_cover_rate"] <= summary["new_loss_cover_high"]
            assert summary["k"] == found.experiment.sizes.k
            error = summary["test_coverage_se"]
            assert (error is None) == (name == "z-free-grouped")
    rate = results["candidate"].summary(0.1)["knn"]
    hits = round(rate["new_loss_cover_rate"] * TRIALS)
    exact = stats.binomtest(hits, TRIALS).proportion_ci(0.95, "exact")
    found = rate["new_loss_cover_low"], rate["new_loss_cover_high"]
    assert found == pytest.approx((exact.low, exact.high), rel=1e-9)


def test_coverage_error_is_the_beta_binomials():
    a, b, n_test = 18, 2, 30
    assert coverage_error((a, b), n_test, 7) == pytest.approx(
        stats.betabinom(n_test, a, b).std() / n_test / math.sqrt(7)
    )
    assert coverage_error((20, 0), n_test, 7) == 0
    assert coverage_error(None, n_test, 7) is None


def test_levels_between_the_grid():
    grid = np.tile(LEVELS.astype(np.float32), (2, 3, 1))
    for level in (0.005, 0.0075, 0.05, 0.123, 0.5, 0.995, 0.999, 0.001):
        expected = min(max(level, 0.005), 0.995)
        assert at_level(grid, level) == pytest.approx(expected, abs=1e-6)


def test_widths_of_odd_sets():
    sets = Sets(np.array([0.0, 2.0, math.inf, 0.0]), np.array([1.0, 1.0, math.inf, math.inf]))
    assert sets.width.tolist() == [1, 0, 0, math.inf]


def test_bad_questions(results):
    found = results["candidate"]
    with pytest.raises(ValueError, match="alpha must"):
        found.at(10)
    with pytest.raises(ValueError, match="side must"):
        found.at(0.1, "lower")
    with pytest.raises(ValueError, match="not among the algorithms"):
        found.paired("knn", "dummy")
    with pytest.raises(ValueError, match="paired with itself"):
        found.paired("knn", "knn")


def test_the_law_holds_over_re_splits():
    """Given the table, covered counts are Beta-binomial, whatever the table."""
    experiment = Experiment(dataset="diabetes", algorithms=("dummy",), n=40, test_size=100)
    block, _ = run_block(experiment, 0, range(1500))
    found = Results(experiment, 0, np.arange(1500), block, 1500)
    rng = np.random.default_rng(0)
    for alpha, side in ((0.1, "upper"), (0.2, "two-sided")):
        a, b = found.coverage_law(alpha, side)
        covered = found.at(alpha, side)
        hits = int(covered["new_loss_covered"].sum())
        counts = (covered["test_coverage"] * 100).round().astype(int).to_numpy()
        # Labels of the table tie a little: a tie can only add to the coverage.
        assert stats.binomtest(hits, 1500, a / (a + b), alternative="less").pvalue > 1e-3
        law = stats.betabinom(100, a, b)
        ranks = law.cdf(counts - 1) + rng.random(1500) * law.pmf(counts)
        assert stats.kstest(ranks, "uniform", alternative="greater").pvalue > 1e-3
