"""How the cost of ``run`` grows: with trials, rows, training subsets and algorithms.

Processor time on one core, so that a slope of 1 on the log-log chart means twice the work for twice
the size. The learner's own growth with its rows stands beside that of a candidate trial.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.plain import loop
from cpp_core import Experiment, Store, load_dataset, make_algorithm, run

CHART = Path(__file__).parents[1] / "docs" / "scale.svg"
REPETITIONS, LEAST = 5, 0.05
TRIALS = (3, 10, 30, 100, 300)
ROWS = (2_000, 6_000, 20_000, 60_000, 200_000)
SETS = (20, 40, 80, 160, 320, 640)
ALGORITHMS = ("dummy", "naive-bayes", "logistic", "knn")
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
    """The four directions, and the learner alone."""
    logistic = Experiment(dataset="breast-cancer", algorithms=("logistic",))
    rows = Experiment(dataset="quadnoise", algorithms=("ridge",), n=200, test_size=100)
    sets = replace(rows, algorithms=("knn",), variant="z-free", n=6_400, n_sets=20)
    draw, ridge = load_dataset("quadnoise").draw, make_algorithm("ridge", "regression")

    def trial(n: int) -> None:
        X, y = draw(n + 100, np.random.default_rng(0))
        fitted = ridge.fit(X[: n // 2], y[: n // 2])
        (y[n // 2 :] - fitted.predict(X[n // 2 :])) ** 2

    many = [
        replace(logistic, algorithms=ALGORITHMS[:count]) for count in range(1, len(ALGORITHMS) + 1)
    ]
    single = [replace(logistic, algorithms=(name,)) for name in ALGORITHMS]
    shares = [
        of_run(own, 20) / sum(of_run(one, 20) for one in single[: i + 1])
        for i, own in enumerate(many)
    ]
    return [
        Growth("trials", "trials of logistic regression, candidate", TRIALS,
               tuple(of_run(logistic, trials) for trials in TRIALS), "1"),
        Growth("rows", "rows of a candidate, ridge", ROWS,
               tuple(of_run(replace(rows, n=n), 3) / 3 for n in ROWS), "the learner's"),
        Growth("learner", "the same rows, drawn, fitted and judged by scikit-learn alone", ROWS,
               tuple(processor_seconds(lambda n=n: trial(n)) for n in ROWS), ""),
        Growth("k", "k of Z-free, nearest neighbours, 6,400 rows", SETS,
               tuple(of_run(replace(sets, n_sets=k), 1) for k in SETS), "at most 1"),
        Growth("algorithms", "algorithms together, over the sum of each alone (1: no more)",
               tuple(range(1, len(many) + 1)),
   tuple(shares), "0"),
    ]  # fmt: skip


# The chart


WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 380, 60, 50, 16
COLORS = ("#0072B2", "#D55E00", "#999999", "#009E73")


def chart(found: list[Growth]) -> str:
    """Cost against size, both relative to the first point; a line for each direction."""
    shown = [own for own in found if own.name != "algorithms"]
    x = [np.log10(np.array(own.sizes) / own.sizes[0]) for own in shown]
    y = [np.log10(np.array(own.seconds) / own.seconds[0]) for own in shown]
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
    for i, (own, color) in enumerate(zip(shown, COLORS, strict=True)):
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
        seconds = own.seconds[-1] if own.name != "algorithms" else None
        told = (
            f"slope {own.slope:.2f} (expected: {own.limit}){beside}"
            if own.name != "algorithms"
            else f"{own.seconds[-1]:.2f} times as long as one after the other"
        )
        size = f"{own.sizes[0]:,} to {own.sizes[-1]:,}"
        lines.append(
            {"work": f"cost on one core against {own.words}: {size}", "reference_seconds": None,
             "ours_seconds": seconds, "ratio": None, "agreement": told}
        )  # fmt: skip
    return lines


def cluster_rows() -> list[dict[str, Any]]:
    """A dask cluster on this machine with 1, 2 and 4 workers, beside joblib with as many."""
    from distributed import LocalCluster

    experiment = Experiment(
        dataset="breast-cancer", algorithms=("logistic",), variant="z-free", n_sets=20
    )
    ours, theirs = {}, {}
    for n in (1, 2, 4):
        cluster = LocalCluster(
            n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster:
            address = cluster.scheduler_address

            def on_cluster(address: str = address) -> None:
                run(experiment, CLUSTER_TRIALS, scheduler=address, store=Store(None))

            def joblib_loop(n: int = n) -> None:
                loop("logistic", "z-free", CLUSTER_TRIALS, n_jobs=n)

            for function, kept in ((on_cluster, ours), (joblib_loop, theirs)):
                function()
                kept[n] = least_wall(function)
    return [
        {
            "work": f"dask on this machine, {n} workers, logistic Z-free, {CLUSTER_TRIALS} trials; "
            f"the reference: a joblib loop with {n}",
            "reference_seconds": theirs[n],
            "ours_seconds": ours[n],
            "ratio": theirs[n] / ours[n],
            "agreement": f"speed-up over 1 worker: dask {ours[1] / ours[n]:.2f}, joblib "
            f"{theirs[1] / theirs[n]:.2f}",
        }
        for n in (1, 2, 4)
    ]


def least_wall(function: Callable[[], Any]) -> float:
    """The least of three calls."""
    found: NDArray = np.empty(3)
    for i in range(3):
        start = time.perf_counter()
        function()
        found[i] = time.perf_counter() - start
    return float(found.min())
