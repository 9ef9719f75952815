"""Sentences on one model from losses of a known law: bounds, decisions, thresholds, error rates."""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.truth.rows import ALPHAS, EDGES, Job, Row, errs, find
from cpp_core import Experiment, Results

DELTA = 0.05
BELOW = (0.001, 0.02)
"""How far below 1 - alpha the truth lies where nothing may be shown."""

Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray]


@dataclass(frozen=True)
class Law:
    """Losses with a known law: ``quantile(p)`` is a threshold that a loss keeps with chance p.

    ``ties`` says that the threshold is kept with chance p only by the law at that p.
    """

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...], float], NDArray]
    threshold: Callable[[float], float]
    low: float = 0.0
    high: float = math.inf
    greater_is_better: bool = False

    @property
    def about(self) -> dict[str, Any]:
        """What the package is told."""
        errors = self.name == "zero-one"
        told = {"low": self.low, "high": self.high, "errors": errors}
        return told | {"greater_is_better": self.greater_is_better}

    def beyond(self, losses: NDArray, bound: float) -> NDArray:
        """Where losses are worse than a bound."""
        return losses < bound if self.greater_is_better else losses > bound


def _scaled(distribution: Any, factor: float = 1.0) -> tuple[Any, Any]:
    def draw(rng: np.random.Generator, size: tuple[int, ...], p: float) -> NDArray:
        return factor * distribution.rvs(size=size, random_state=rng)

    return draw, lambda p: factor * float(distribution.ppf(p))


def _two_values(
    value: float, other: float
) -> Callable[[np.random.Generator, tuple[int, ...], float], NDArray]:
    """``value`` with chance p, the other one else."""
    return lambda rng, size, p: np.where(rng.random(size) < p, value, other)


def _rare(rng: np.random.Generator, size: tuple[int, ...], p: float) -> NDArray:
    return np.where(rng.random(size) < 0.001, 36.0, rng.exponential(size=size))


LAWS = {
    law.name: law
    for law in (
        Law("continuous", *_scaled(stats.expon())),
        Law("zero-one", _two_values(0.0, 1.0), lambda p: 0.0, high=1.0),
        Law("two values", _two_values(0.1, 0.7), lambda p: 0.1),
        Law("constant", lambda rng, size, p: np.full(size, 0.1), lambda p: 0.1),
        Law("rare large", _rare, lambda p: -math.log(1 - p / 0.999), high=36.05),
        Law("pareto", *_scaled(stats.pareto(2.1))),
        Law("cauchy", *_scaled(stats.halfcauchy())),
        Law("beyond float32", *_scaled(stats.expon(), 1e39)),
        Law("failing fits", _two_values(0.5, math.inf), lambda p: 0.5),
        Law(
            *("greater is better", lambda rng, size, p: rng.random(size), lambda p: 1 - p),
            high=1.0,
            greater_is_better=True,
        ),
    )
}


def _about(law: Law) -> Any:
    return find("cpp_core.verdicts.about", "About")(**law.about)


def run_bound(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The bound on the next loss, jointly over data and case."""
    bound_of, law, rows = find("cpp_core.verdicts.bounds", "bound_of"), LAWS[name], []
    about = _about(law)
    for k in EDGES:
        for alpha in ALPHAS:
            losses = law.draw(rng, (repetitions, k + 1), 1 - alpha)
            facts = (bound_of(own[:k], alpha, about, "A").facts for own in losses)
            ends = np.array([f.get("bound", law.high) for f in facts], dtype=float)
            false = law.beyond(losses[:, k], ends)  # type: ignore[arg-type]
            setting = f"k = {k}, alpha = {alpha}"
            rows.append(errs(f"sentence: bound_of: {name}", setting, false, alpha))
    return rows


def run_shown(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Whether "at most t" is shown where less than 1 - alpha of new cases keep t."""
    law, rows = LAWS[name], []
    about, decide = _about(law), find("cpp_core.verdicts.decisions", "decision_of")
    more = {"delta": DELTA} if "delta" in inspect.signature(decide).parameters else {}
    for k in (9, 19, 50, 100):
        for alpha in ALPHAS:
            for below in BELOW:
                p = 1 - alpha - below
                t = law.threshold(p)
                losses = law.draw(rng, (repetitions, k), p)
                false = [
                    decide(own, t, alpha, about, "A", **more).outcome == "shown" for own in losses
                ]
                setting = f"k = {k}, alpha = {alpha}, truth {p:.3f}"
                what = f"sentence: shown, loss at most t: {name}"
                rows.append(errs(what, setting, false, DELTA))
    return rows


def run_plain_shown(repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The same by the function that takes losses alone."""
    at_most, rows = find("cpp_core.verdicts.decisions", "loss_at_most"), []
    more = {"delta": DELTA} if "delta" in inspect.signature(at_most).parameters else {}
    for k in (9, 19, 50, 100):
        losses, t = rng.exponential(size=(repetitions, k)), -math.log(0.12)
        false = [at_most(own, t, 0.1, **more).outcome == "shown" for own in losses]
        setting = f"k = {k}, alpha = 0.1, truth 0.880"
        rows.append(errs("sentence: loss_at_most: continuous", setting, false, DELTA))
    return rows


def run_threshold(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The upper bound on the probability to exceed a threshold."""
    exceedance, law, rows = find("cpp_core.verdicts.thresholds", "exceedance_of"), LAWS[name], []
    about = _about(law)
    for k in (*EDGES, 100):
        for alpha in ALPHAS:
            for p in (0.5, 0.9, 0.99):
                t = law.threshold(p)
                losses = law.draw(rng, (repetitions, k), p)
                ends = [exceedance(own, t, alpha, about, "A").facts["upper"] for own in losses]
                setting = f"k = {k}, alpha = {alpha}, exceeded by {1 - p:.2f}"
                false = np.array(ends) < 1 - p - 1e-12
                rows.append(errs(f"sentence: exceedance_of: {name}", setting, false, alpha))
    return rows


def run_error_rate(repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Shown, and more errors than that among the next b: jointly at most alpha."""
    at_most, rows = find("cpp_core.verdicts.decisions", "error_rate_at_most"), []
    for k, b, rate in ((19, 5, 0.2), (60, 20, 0.1), (60, 20, 0.2), (100, 1, 0.0), (200, 100, 0.1)):
        for alpha in ALPHAS:
            outcomes: dict[int, bool] = {}
            for truth in (rate, 0.6 * rate + 0.01, rate + 0.03):
                seen = rng.binomial(k, truth, repetitions)
                following = rng.binomial(b, truth, repetitions)
                for e in map(int, np.unique(seen)):
                    if e not in outcomes:
                        outcomes[e] = at_most(k, e, b, rate, alpha).outcome == "shown"
                shown = np.array([outcomes[int(e)] for e in seen])
                setting = f"k = {k}, b = {b}, rate {rate}, truth {truth:.2f}, alpha = {alpha}"
                false = shown & (following > rate * b + 1e-9)
                what = "sentence: error_rate_at_most, shown and missed"
                rows.append(errs(what, setting, false, alpha))
    return rows


# Through results


def results_with(losses: NDArray, loss: str, n_evaluations: int = 1) -> Results:
    """Results of one algorithm whose trial 0 has these losses, (k,) or (k, b)."""
    k = len(losses)
    settings: dict[str, Any] = {"variant": "candidate", "n": 2 * k}
    if n_evaluations > 1:
        sizes = {"n": k * (2 + n_evaluations), "n_sets": k, "n_evaluations": n_evaluations}
        settings = {"variant": "z-free", **sizes}
    experiment = Experiment(
        dataset="two-classes", algorithms=("dummy",), loss=loss, test_size=1, **settings
    )
    arrays = {
        "calibration": losses[None].astype(np.float32),
        "test": np.zeros((1, 1), dtype=np.float32),
        "failed": np.zeros(1, dtype=np.int32),
        "failure": np.zeros(1, dtype="S200"),
    }
    return Results(experiment, 0, np.arange(1), {"dummy": arrays}, 1)


def run_results(repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Decisions and thresholds read from results: log loss and zero-one loss."""
    decide = find("cpp_core.verdicts.decisions", "decide")
    under = find("cpp_core.verdicts.thresholds", "under_threshold")
    rows = []
    for k in (19, 100):
        for loss, t in (("log_loss", -math.log(0.12)), ("zero_one", 0.0)):
            draws = rng.exponential(size=(repetitions, k))
            draws = draws if loss == "log_loss" else (draws > -math.log(0.12)) * 1.0
            made = [results_with(np.minimum(own, 36), loss) for own in draws]
            setting = f"{loss}, k = {k}, alpha = 0.1, truth 0.880"
            false = [decide(one, "dummy", t, 0.1).outcome == "shown" for one in made]
            rows.append(errs("sentence: decide, from results", setting, false, DELTA))
            ends = (under(one, "dummy", t, 0.1).facts["upper"] for one in made)
            low = [end < 0.12 - 1e-12 for end in ends]
            rows.append(errs("sentence: under_threshold, from results", setting, low, 0.1))
    return sorted(rows, key=lambda row: row.what)


def run_two_bounds(repetitions: int, rng: np.random.Generator) -> list[Row]:
    """With several evaluations of a group, the decision and the headline have one bound."""
    decide = find("cpp_core.verdicts.decisions", "decide")
    expected = find("cpp_core.verdicts.bounds", "expected_loss")
    differ = []
    for draws in rng.exponential(size=(min(repetitions, 200), 19, 3)):
        one = results_with(np.minimum(draws, 36), "log_loss", 3)
        ends = [decide(one, "dummy", 1.0, 0.1).facts.get("bound")]
        ends.append(expected(one, "dummy", 0.1).facts.get("bound"))
        differ.append(None not in ends and ends[0] != ends[1])
    what = "sentence: decide and expected_loss quote two bounds, n_evaluations = 3"
    return [errs(what, "k = 19, alpha = 0.1", differ, 0.0)]


def jobs() -> Iterator[Job]:
    """Every kind of sentence on one model."""
    for name in LAWS:
        yield Job(f"sentence: bound_of: {name}", partial(run_bound, name))
    for name in LAWS:
        if name != "constant":  # kept with chance 1
            yield Job(f"sentence: shown: {name}", partial(run_shown, name))
            yield Job(f"sentence: exceedance_of: {name}", partial(run_threshold, name), 0.5)
    yield Job("sentence: loss_at_most", run_plain_shown)
    yield Job("sentence: error_rate_at_most", run_error_rate, 10.0)
    yield Job("sentence: from results", run_results, 0.5)
    yield Job("sentence: two bounds", run_two_bounds)
