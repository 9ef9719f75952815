"""The claims of the lessons on widths and on overlapping ranges."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import stats

from cpp_core import CandidateCPP, interval
from cpp_core.lessons import LESSONS
from cpp_core.lessons.fixed_or_variable import (
    END,
    GRID,
    LABELS,
    N,
    bounds_of,
    noise,
    table,
    tenths,
)
from cpp_core.lessons.overlap_trap import CORRELATIONS, FACTOR, ranges, real, simulated, wins
from cpp_core.lessons.stored import stored

WIDTHS, OVERLAP = LESSONS["fixed-or-variable-width"], LESSONS["overlap-trap"]


def test_widths_cover_as_computed():
    """At a few x, the share of simulated new cases within each bound."""
    own, growth = table(1.0, 3), 1.0
    rng = np.random.default_rng([5, 3])
    x = rng.uniform(0, END, (3, N))
    y = np.sin(2 * x) + noise(x, growth) * rng.standard_normal((3, N))
    model = Polynomial.fit(x[0], y[0], 5)
    new = np.random.default_rng(1).standard_normal(50_000)
    for i in (0, 100, 199):
        losses = np.abs(np.sin(2 * GRID[i]) + noise(GRID[i], growth) * new - model(GRID[i]))
        for name in LABELS:
            hits = int((losses <= own.bounds[name][i]).sum())
            assert stats.binomtest(hits, 50_000, own.covers[name][i]).pvalue > 0.001


def test_a_constant_bound_is_the_candidates():
    rng = np.random.default_rng(2)
    x, own, cases, losses = rng.random((4, N))
    found = bounds_of(x, own, cases, losses)
    assert found["constant"][0] == interval(losses, 0.1, side="upper")[1]
    assert np.allclose(np.diff(found["fixed"], 2), 0)  # lines
    assert np.allclose(np.diff(found["variable"], 2), 0)


def test_widths_figures():
    kept = stored("fixed-or-variable")
    for name in LABELS:
        for growth in (0.0, 1.0):
            own = kept[f"{growth}-{name}"]
            assert own.mean == pytest.approx(181 / 201, abs=4 * own.error)  # rank 181 of 200
    at_right = {"constant": 0.694, "fixed": 0.783, "variable": 0.892}
    for name, figure in at_right.items():
        assert tenths(1.0, name)[-1] == pytest.approx(figure, abs=0.006)
    assert tenths(1.0, "constant")[0] > 0.999
    assert tenths(1.0, "variable")[0] == pytest.approx(0.86, abs=0.015)
    assert "about 86 %" in WIDTHS.caveat
    assert "about 89 %" in WIDTHS.check.answer
    misses = [round(100 * (1 - tenths(1.0, name)[-1])) for name in ("fixed", "constant")]
    assert f"{misses[0]} to {misses[1]} %" in WIDTHS.check.answer
    assert all(tenths(0.0, name)[-1] == pytest.approx(0.895, abs=0.006) for name in LABELS)


def test_the_lines_in_the_code_run():
    """What the comment of the code shows for data of one's own."""
    from sklearn.linear_model import LinearRegression, QuantileRegressor

    rng = np.random.default_rng(0)
    X = rng.random((90, 1))
    y = X[:, 0] + X[:, 0] * rng.standard_normal(90)
    regressor = QuantileRegressor(alpha=0)
    cpp = CandidateCPP(
        LinearRegression(),
        loss="absolute_error",
        modulation="quantile",
        regressor=regressor,
        random_state=0,
    )
    cpp.fit(X[:30], y[:30]).conformalize(X[30:], y[30:])
    found = cpp.predict_interval(X[:5], confidence_level=0.9, side="upper")
    assert found.shape == (5, 2)


@pytest.mark.parametrize("rho", CORRELATIONS)
def test_overlap_wins_are_exact(rho):
    z, e = np.random.default_rng(3).standard_normal((2, 100_000))
    a, b = np.exp(z), FACTOR * np.exp(rho * z + np.sqrt(1 - rho**2) * e)
    assert stats.binomtest(int((a < b).sum()), len(a), wins(rho)).pvalue > 0.001
    for losses, (low, high) in zip((a, b), ranges(), strict=True):
        inside = int(((losses >= low) & (losses <= high)).sum())
        assert stats.binomtest(inside, len(a), 0.9).pvalue > 0.001


def test_overlap_figures():
    shares = [round(wins(rho), 3) for rho in (0, 0.9, 0.99, 1)]
    assert shares == [0.613, 0.818, 0.998, 1]
    assert [round(end, 2) for span in ranges() for end in span] == [0.19, 5.18, 0.29, 7.77]
    assert "61 %" in OVERLAP.words
    below = [interval(np.subtract(*simulated(0.99, seed)), 0.1)[1] < 0 for seed in range(300)]
    assert all(below)
    assert "below zero" in OVERLAP.play(rho=0.99).said
    assert "below zero" not in OVERLAP.play(rho=0.9).said


@pytest.mark.parametrize("values", [{"rho": 0.0}, {"rho": 0.99}, {"data": "real"}])
def test_the_overlap_that_is_told_is_the_one_that_is_seen(values):
    """The share of the upper bar that the other one covers, measured along the drawn axis."""
    shown = OVERLAP.play(**values)
    sketch = shown.panels[0].sketch
    place = np.log if sketch.layout["xaxis"]["type"] == "log" else np.asarray
    (low, high), (other_low, other_high) = (place(own["x"]) for own in sketch.data[:2])
    seen = (min(high, other_high) - max(low, other_low)) / (high - low)
    assert shown.numbers["overlap"] == pytest.approx(seen)
    assert f"overlaps {round(100 * seen, 1):g} % of" in shown.said
    if "data" not in values:  # both are as wide, and ln 1.5 apart
        z = stats.norm.ppf(0.95)
        assert seen == pytest.approx(1 - np.log(FACTOR) / (2 * z))


def test_what_stands_still_does_not_move():
    """Bars and axes are the same at every correlation, and so is where the losses of A begin."""
    sketches = [OVERLAP.play(rho=rho).panels[0].sketch for rho in CORRELATIONS]
    for key in ("xaxis", "xaxis2", "yaxis"):
        assert all(own.layout[key] == sketches[0].layout[key] for own in sketches)
    assert all(own.data[:2] == sketches[0].data[:2] for own in sketches)
    assert all(own.data[2]["x"][::3] == sketches[0].data[2]["x"][::3] for own in sketches)


def test_the_film_goes_on_from_the_slider():
    for rho in CORRELATIONS[:-1]:
        frames = OVERLAP.play(rho=rho).panels[0].sketch.frames
        told = [frame["layout"]["annotations"][0]["text"].split(":")[0] for frame in frames]
        onwards = [other for other in CORRELATIONS if other >= rho]
        assert told == [f"correlation {other:g}" for other in onwards]
    assert not OVERLAP.play(rho=1.0).panels[0].sketch.frames


def test_on_real_images_one_model_wins_everywhere():
    for seed in range(3):
        first, second = real(seed)
        assert (first < second).all()
    facts = OVERLAP.play(data="real").numbers
    assert facts["wins"] == facts["cases"] == 180
    assert facts["a_high"] > facts["b_low"]  # the ranges overlap
    assert facts["high"] < 0
    first, second = real()
    assert (np.abs(first - second) < 0.06).mean() >= 0.9
    assert "nine of ten differences are smaller than 0.06" in OVERLAP.caveat
