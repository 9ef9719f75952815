"""How the cost of ``run`` grows: with trials, rows, training subsets and algorithms.

Processor time on one core, so that a slope of 1 on the log-log chart means twice the work for twice
the size. The learner's own growth with its rows stands beside that of a candidate trial.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.plain import loop
from benchmarks.timing import in_turns, timed
from cpp_core import Experiment, Store, load_dataset, make_algorithm, run
from cpp_core.catalog.own_algorithms import add_algorithm

CHART = Path(__file__).parents[1] / "docs" / "scale.svg"
REPETITIONS, LEAST = 5, 0.05
TRIALS = (3, 10, 30, 100, 300)
COMPILED_TRIALS = (10, 30, 100, 300, 1000)
ROWS = (2_000, 6_000, 20_000, 60_000, 200_000)
SETS = (20, 40, 80, 160, 320, 640)
ALGORITHMS = (1, 2, 3, 4, 6)
CLUSTER_TRIALS = 60


@dataclass(frozen=True)
class Growth:
    """Seconds at several sizes, and the slope that is expected."""

    name: str
    words: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    limit: str

    @property
    def slope(self) -> float:
        """The slope of a line through the upper half of the points, on the log-log chart."""
        x, y = np.log(self.sizes), np.log(self.seconds)
        half = len(x) // 2
        return float(np.polyfit(x[half:], y[half:], 1)[0])


def processor_seconds(function: Callable[[], Any]) -> float:
    """The least of five calls; short ones are repeated until they can be measured."""
    found = []
    for _ in range(REPETITIONS):
        start, calls = time.process_time(), 0
        while time.process_time() - start < LEAST:
            function()
            calls += 1
        found.append((time.process_time() - start) / calls)
    return min(found)


def of_run(experiment: Experiment, trials: int) -> float:
    """Seconds of ``run`` here, without workers."""
    return processor_seconds(lambda: run(experiment, trials, n_jobs=1, store=Store(None)))


def growths() -> list[Growth]:
    """The four directions, compiled trials too, and the learner alone."""
    logistic = Experiment(dataset="breast-cancer", algorithms=("logistic",))
    rows = Experiment(dataset="quadnoise", algorithms=("ridge",), n=200, test_size=100)
    sets = replace(rows, algorithms=("knn",), variant="z-free", n=6_400, n_sets=20)
    quadnoise = Experiment.preset("quadnoise-algorithm")
    draw, ridge = load_dataset("quadnoise").draw, make_algorithm("ridge", "regression")

    def trial(n: int) -> None:
        X, y = draw(n + 100, np.random.default_rng(0))
        fitted = ridge.fit(X[: n // 2], y[: n // 2])
        (y[n // 2 :] - fitted.predict(X[n // 2 :])) ** 2

    lines = [add_algorithm(f"line-{i}", make_algorithm("logistic")).name for i in range(6)]
    rivals = [replace(logistic, algorithms=tuple(lines[:count])) for count in ALGORITHMS]
    return [
        Growth("trials", "trials of logistic regression, candidate", TRIALS,
               tuple(of_run(logistic, trials) for trials in TRIALS), "1"),
        Growth("compiled", "trials of quadnoise, Z-free", COMPILED_TRIALS,
               tuple(of_run(quadnoise, trials) for trials in COMPILED_TRIALS), "1"),
        Growth("rows", "rows of a candidate, ridge", ROWS,
               tuple(of_run(replace(rows, n=n), 3) / 3 for n in ROWS), "the learner's"),
        Growth("learner", "the same rows, drawn, fitted and judged by scikit-learn alone", ROWS,
               tuple(processor_seconds(lambda n=n: trial(n)) for n in ROWS), ""),
        Growth("k", "k of Z-free, nearest neighbours, 6,400 rows", SETS,
               tuple(of_run(replace(sets, n_sets=k), 1) for k in SETS), "at most 1"),
        Growth("algorithms", "algorithms that compete, logistic regressions all", ALGORITHMS,
               tuple(of_run(own, 20) for own in rivals), "at most 1"),
    ]  # fmt: skip


# The chart


WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 380, 60, 50, 16
COLORS = ("#0072B2", "#D55E00", "#999999", "#009E73", "#CC79A7", "#7A5C00")


def chart(found: list[Growth]) -> str:
    """Cost against size, both relative to the first point; a line for each direction."""
    x = [np.log10(np.array(own.sizes) / own.sizes[0]) for own in found]
    y = [np.log10(np.array(own.seconds) / own.seconds[0]) for own in found]
    right, high = max(map(np.max, x)), max(max(map(np.max, y)), 1.0)
    low = min(map(np.min, y))

    def across(value: Any) -> Any:
        return LEFT + value / right * (WIDTH - LEFT - 20)

    def up(value: Any) -> Any:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(int(high) + 1):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{up(power):.1f}" y2="{up(power):.1f}" '
            f'stroke="#ddd"/><text x="{LEFT - 8}" y="{up(power) + 4:.1f}" text-anchor="end">'
            f"{10**power} ×</text>"
        )
    for power in range(int(right) + 1):
        parts.append(
            f'<text x="{across(power):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{10**power} ×</text>"
        )
    for i, (own, color) in enumerate(zip(found, COLORS, strict=True)):
        points = list(zip(across(x[i]), up(y[i]), strict=True))
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        dots = "".join(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points
        )
        words = escape(f"{own.words}: slope {own.slope:.2f}")
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>{dots}'
            f'<text x="{LEFT + 10}" y="{TOP + 14 + 16 * i}" fill="{color}">{words}</text>'
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">size, relative to the '
        "smallest; up: processor time, relative to its own</text></svg>"
    )
    return "\n".join(parts) + "\n"


def rows() -> list[dict[str, Any]]:
    """A line for each direction; draws the chart."""
    found = growths()
    CHART.write_text(chart(found), encoding="utf-8")
    slopes = {own.name: own.slope for own in found}
    lines = []
    for own in found:
        if own.name == "learner":
            continue
        beside = f"; scikit-learn alone {slopes['learner']:.2f}" if own.name == "rows" else ""
        told = f"slope {own.slope:.2f} (expected: {own.limit}){beside}"
        size = f"{own.sizes[0]:,} to {own.sizes[-1]:,}"
        lines.append(
            {"work": f"cost on one core against {own.words}: {size}", "reference_seconds": None,
             "ours_seconds": own.seconds[-1], "ratio": None, "agreement": told}
        )  # fmt: skip
    return lines


def cluster_rows(trials: int = CLUSTER_TRIALS) -> list[dict[str, Any]]:
    """A dask cluster on this machine with 1, 2 and 4 workers, beside joblib with as many."""
    from distributed import LocalCluster

    experiment = Experiment(
        dataset="breast-cancer", algorithms=("logistic",), variant="z-free", n_sets=20
    )
    found: dict[int, dict[str, Any]] = {}
    for n in (1, 2, 4):
        cluster = LocalCluster(
            n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster:
            there = {"scheduler": cluster.scheduler_address, "store": Store(None)}
            ours = partial(run, experiment, trials, **there)
            theirs = partial(loop, "logistic", "z-free", trials, n_jobs=n)
            for first in (ours, theirs):
                first()
            found[n] = in_turns(lambda own=theirs: timed(own)[0], lambda own=ours: timed(own)[0])
    gained = {
        kind: [found[1][f"{kind}_seconds"] / found[n][f"{kind}_seconds"] for n in found]
        for kind in ("ours", "reference")
    }
    return [
        {
            **found[n],
            "work": f"dask on this machine, {n} workers, logistic Z-free, {trials} trials; "
            f"the reference: a joblib loop with {n}",
            "agreement": f"speed-up over 1 worker: dask {dask:.2f}, joblib {joblib:.2f}",
        }
        for n, dask, joblib in zip(found, gained["ours"], gained["reference"], strict=True)
    ]
