"""The claims of the lesson that breaks the promise, each beside a plain computation."""

import re

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsRegressor

from cpp_core import GradientDescent
from cpp_core.lessons import LESSONS, breaks
from cpp_core.lessons.break_it import THIN
from cpp_core.lessons.break_texts import BREAKS, harmless
from cpp_core.lessons.stored import filled, stored
from cpp_core.verdicts.language import percent, plural

LESSON = LESSONS["break-it"]
FIGURES = {
    "cross-validation": {2: 0.688, 5: 0.617, 10: 0.578, 100: 0.545},
    "training-data": {10: 0.863, 50: 0.591, 90: 0.131, 100: 0.0},
    "duplicates": {1: 0.90, 2: 0.80, 3: 0.61, 4: 0.23, 5: 0.01},
    "refit": {2: 0.913, 20: 0.998, 40: 0.316},
    "swapping": {10: 0.818, 25: 0.599, 40: 0.265, 50: 0.0},
    "seed": {"shared": 0.562, "own": 0.902},
    "failed": {5: 0.605, 10: 0.803, 20: 0.890},
    "lowest": {5: 0.816, 20: 0.748, 100: 0.676},
    "drift": {
        "noise-1.5": 0.727,
        "noise-2": 0.589,
        "shift-1": 0.781,
        "shift-2": 0.456,
        "shift-3": 0.145,
    },
    "clipped": {5: 5 / 6, 1: 0.5},
    "tuned": {19: 0.848},
}


@pytest.mark.parametrize("name", list(BREAKS))
def test_figures(name):
    for value, figure in FIGURES[name].items():
        assert BREAKS[name].covers(value) == pytest.approx(figure, abs=0.008)
        assert LESSON.play(switch=name, **{name: value}).numbers["covers"] == (
            BREAKS[name].covers(value)
        )


@pytest.mark.parametrize("name", list(BREAKS))
def test_the_gauge_settles_at_its_figure(name):
    """From one repetition to all of them; what is known exactly comes last."""
    own = BREAKS[name]
    for value in own.values:
        way = own.way(value)
        assert way.counts[0] == 1
        assert way.counts[-1] >= 2000
        assert all(0 <= mean <= 1 for mean in way.means)
        error = np.sqrt(way.share * (1 - way.share) / way.counts[-1])
        assert abs(way.means[-1] - way.share) <= (4 * error if way.exact else 0)
        played = LESSON.play(switch=name, **{name: value})
        frames = played.panels[0].sketch.frames
        shown = [frame["data"][0]["x"][0] for frame in frames]
        kept = own.promise(value)
        exact = [way.share] if way.exact else []
        assert shown == [max(x, THIN) for x in (way.share, kept, *way.means, *exact)]
        assert played.fell * shown[0] == pytest.approx(kept)  # the bar falls from the promise
        told = [frames[i]["layout"]["annotations"][0]["text"] for i in (1, 6)]
        assert told == [
            f"rule kept: {percent(kept)}",
            f"5 {plural(way.unit)}: {percent(way.means[4])}",
        ]
        assert played.layouts  # who trains and who is judged


def test_every_figure_in_a_text_is_kept():
    for own in BREAKS.values():
        for text in (own.setting, own.why, own.right, own.check.answer):
            assert not re.search(r"[{}]", filled(text)), text
    assert "86.4 %" in BREAKS["lowest"].check.answer
    assert breaks.lowest_of(2) == pytest.approx(0.864, abs=5e-4)
    assert 100 * breaks.dropped(20) == pytest.approx(89, abs=0.05)
    assert pytest.approx(0.012, abs=5e-4) == 0.8**20 + 0.2**20


def test_what_is_right_keeps_the_promise():
    for measure, key, exact in (
        ("break-cv", "cv-right", 9 / 10),
        ("break-refit", "refit-kept-40", 19 / 21),
        ("break-seed", "seed-own", 0.9),
        ("break-seed", "seed-same", 0.9),
        ("break-swap", "swap-saw-25", 46 / 51),
        ("break-feared", "wild", 0.9),
        ("break-feared", "off", 0.9),
        ("break-feared", "interpolates", 46 / 51),
        ("break-feared", "chosen", 46 / 51),
        ("break-copies", "copies-1", 91 / 101),
    ):
        own = stored(measure)[key]
        assert own.mean == pytest.approx(exact, abs=4 * own.error), key
    assert stored("break-feared")["copies"].mean >= 0.9
    assert all(share > 0.88 for share in harmless().values())


def test_it_says_more_or_less_than_promised():
    assert "instead of 90 %" in LESSON.play().said
    assert "more than promised" in LESSON.play(switch="refit", refit=20).said
    kept = LESSON.play(switch="seed", seed="own").said
    assert "as promised" in kept
    assert "each time from a new start" in kept
    once = LESSON.play(switch="duplicates", duplicates=1).said
    assert once.endswith("as promised. Every row stands once in the table.")
    assert "whatever the model" in LESSON.play(switch="clipped").caveat
    assert "nothing is promised" in LESSON.play(switch="harmless").panels[0].caption
    assert "instead of 87.5 %" in LESSON.play(switch="tuned").said
    assert "What would be right" in LESSON.play(switch="drift").words


def test_folds_are_those_of_a_plain_loop():
    rows = breaks.prices((3, 20), np.random.default_rng(0))
    for median in (False, True):
        found = breaks.fold_losses(rows, 5, median)
        center = np.median if median else np.mean
        for i, row in enumerate(rows):
            parts = np.split(row, 5)
            plain = [
                np.abs(part - center(np.concatenate([p for j, p in enumerate(parts) if j != f])))
                for f, part in enumerate(parts)
            ]
            assert found[i] == pytest.approx(np.concatenate(plain))


def test_what_a_bound_covers_at_a_mean_of_fresh_prices():
    rng, m = np.random.default_rng(1), 90
    losses = np.abs(breaks.prices((30_000,), rng) - breaks.prices((30_000, m), rng).mean(axis=1))
    for bound in (2.0, 15.0, 60.0):
        share = float(breaks.below_fresh(np.array([bound]), m)[0])
        assert stats.binomtest(int((losses <= bound).sum()), len(losses), share).pvalue > 0.001


@pytest.mark.parametrize(("n", "d"), [(6, 3), (5, 5), (4, 7)])
def test_least_squares_is_numpys(n, d):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((2, n, d)), rng.standard_normal((2, n))
    for i in range(2):
        plain = np.linalg.lstsq(X[i], y[i], rcond=None)[0]
        assert breaks.least_squares(X, y)[i] == pytest.approx(plain)


def test_the_nearest_is_scikit_learns():
    rng = np.random.default_rng(3)
    x, y, at = rng.random(30), rng.random(30), rng.random(50)
    model = KNeighborsRegressor(1).fit(x[:, None], y)
    assert y[breaks.nearest(x, at)] == pytest.approx(model.predict(at[:, None]))


def test_gradient_descent_forgets_its_start_as_computed():
    y = np.random.default_rng(4).normal(1, 0.1, 20)
    model = GradientDescent(step=0.1, updates=5, random_state=5).fit(np.ones((20, 1)), y)
    start = np.random.default_rng(5).uniform(-5, 5, 1)[0]
    assert model.coef_[0] == pytest.approx(y.mean() + breaks.LEFT * (start - y.mean()))


def test_with_as_many_inputs_as_rows_nothing_is_covered():
    """The model that saw the new case leaves residuals of rank one; the other errs more."""
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((51, 50)), rng.standard_normal(51)
    saw = np.abs(y - X @ breaks.least_squares(X, y))
    used = abs(y[0] - X[0] @ breaks.least_squares(X[1:], y[1:]))
    assert used > saw.max()


def test_ties_cover_more():
    rng = np.random.default_rng(7)
    errors = rng.random((20_000, 100)) < 0.05
    bounds = np.sort(errors[:, :99], axis=1)[:, 89]
    hits = int((errors[:, 99] <= bounds).sum())
    assert stats.binomtest(hits, 20_000, breaks.errors_only()).pvalue > 0.001
    with pytest.raises(ValueError, match="finite bound"):
        breaks.clipped(9)


def test_a_failed_run_is_not_covered():
    rng = np.random.default_rng(8)
    for m in (5, 10):
        ones = (rng.random((40_000, m)) < 0.2).sum(axis=1)
        works = (ones > 0) & (ones < m)
        covered = works & (rng.random(40_000) < 0.9)
        assert stats.binomtest(int(covered.sum()), 40_000, breaks.dropped(m)).pvalue > 0.001
