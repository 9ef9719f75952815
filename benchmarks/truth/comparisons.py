"""Sentences that compare: next case, wins, average, all pairs jointly, the safe winner."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.rows import ALPHAS, Job, Row, errs, find

UNDECIDED = ("not decided", "too little data", "practically equal", "empty", "either")
APPROXIMATE = 1.2
"""How much more often than alpha an approximate sentence may be false."""

SIZES = (100, 450, 1123)
Draw = Callable[[np.random.Generator, int], NDArray]


@dataclass(frozen=True)
class Differences:
    """Differences l(A) - l(B) with a known law.

    ``win`` and ``lose`` are the chances that A is better, worse; ``mean`` is their mean, None where
    it has none; ``tail(size)`` the chance of a difference beyond a size, on either side.
    """

    name: str
    draw: Draw
    win: float
    lose: float
    mean: float | None = 0.0
    tail: Callable[[float], float] = lambda size: 0.0
    low: float = -math.inf
    high: float = math.inf
    errors: bool = False
    greater_is_better: bool = False

    def pair(self, margin: float | None = None) -> Any:
        """A against B, as the package takes it."""
        about = find("cpp_core.verdicts.about", "About")
        told = {"errors": self.errors, "greater_is_better": self.greater_is_better}
        about = about(low=self.low, high=self.high, n_algorithms=2, **told)
        return find("cpp_core.verdicts.comparisons", "Pair")("A", "B", about, margin)


def _rare(rng: np.random.Generator, n: int) -> NDArray:
    """The mean is 0: 36 once in a thousand, else a little below."""
    return np.where(rng.random(n) < 0.001, 36.0, -0.036 / 0.999 + 0.35 * rng.uniform(-1.7, 1.7, n))


def _rare_bounded(rng: np.random.Generator, n: int) -> NDArray:
    """The same in a range of 1: the whole range once in two hundred."""
    return np.where(rng.random(n) < 0.005, 1.0, -0.005 / 0.995 + 0.03 * rng.uniform(-1, 1, n))


def _errors(share: float) -> Draw:
    return lambda rng, n: rng.choice([-1.0, 0.0, 1.0], size=n, p=[share, 1 - 2 * share, share])


def _pareto(rng: np.random.Generator, n: int) -> NDArray:
    return rng.pareto(2.1, n) - 1 / 1.1


PARETO_WIN = 1 - (1 + 1 / 1.1) ** -2.1
DIFFERENCES = {
    law.name: law
    for law in (
        Differences("normal", lambda rng, n: rng.standard_normal(n), 0.5, 0.5),
        Differences(
            "skew", lambda rng, n: np.exp(rng.standard_normal(n)) - math.exp(0.5), 0.6915, 0.3085
        ),
        Differences("errors that tie", _errors(0.04), 0.04, 0.04, low=0.0, high=1.0, errors=True),
        Differences(
            *("rare large, log loss", _rare, 0.999 * (0.5 + 0.036036 / 1.19)),
            0.001 + 0.999 * (0.5 - 0.036036 / 1.19),
            tail=lambda size: 0.001 if size <= 36 else 0.0,
            low=0.0,
            high=36.0437,
        ),
        Differences(
            *("rare large, range 1", _rare_bounded, 0.995 * (0.5 + 0.0050251 / 0.06)),
            0.005 + 0.995 * (0.5 - 0.0050251 / 0.06),
            tail=lambda size: 0.005 if size <= 1 else 0.0,
            low=0.0,
            high=1.0,
        ),
        Differences(
            *("pareto", _pareto, PARETO_WIN, 1 - PARETO_WIN),
            tail=lambda size: (1 + max(size, 0) + 1 / 1.1) ** -2.1,
        ),
        Differences(
            *("cauchy", lambda rng, n: rng.standard_cauchy(n), 0.5, 0.5),
            mean=None,
            tail=lambda size: 1.0,
        ),
        Differences(
            *("greater is better", lambda rng, n: rng.standard_normal(n), 0.5, 0.5),
            greater_is_better=True,
        ),
        Differences("beyond float32", lambda rng, n: 1e39 * rng.standard_normal(n), 0.5, 0.5),
    )
}


def _turned(law: Differences, d: NDArray) -> NDArray:
    return -d if law.greater_is_better else d


def run_next(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The set of the next difference, and who it says is better."""
    judge = find("cpp_core.verdicts.comparisons", "next_difference_of")
    law, rows = DIFFERENCES[name], []
    for k in (9, 19, 99):
        for alpha in ALPHAS:
            false = []
            for _ in range(repetitions):
                d = law.draw(rng, k + 1)
                facts, new = judge(d[:k], alpha, law.pair()).facts, float(_turned(law, d)[k])
                wrong = {
                    "first better": new >= 0,
                    "second better": new <= 0,
                    "first not worse": new > 0,
                    "second not worse": new < 0,
                    "equal": new != 0,
                }.get(facts["outcome"], False)
                false.append(wrong or not facts["lower"] <= d[k] <= facts["upper"])
            setting = f"k = {k}, alpha = {alpha}"
            rows.append(errs(f"sentence: next case: {name}", setting, false, alpha))
    return rows


def share_of_wins(law: Differences, facts: dict[str, Any]) -> float:
    """The true share that the interval is about: of the cases that differ, or of all."""
    return law.win / (law.win + law.lose) if "differing" in facts else law.win


def run_wins(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The interval of the share of wins, and how often it decides."""
    judge = find("cpp_core.verdicts.comparisons", "wins_of")
    law, rows = DIFFERENCES[name], []
    for n in (9, 19, 450):
        for alpha in ALPHAS:
            false = []
            for _ in range(repetitions):
                facts = judge(_turned(law, law.draw(rng, n)), alpha, law.pair()).facts
                true = share_of_wins(law, facts)
                false.append(not facts["lower"] - 1e-9 <= true <= facts["upper"] + 1e-9)
            setting = f"n = {n}, alpha = {alpha}"
            rows.append(errs(f"sentence: wins: {name}", setting, false, alpha))
    return rows


def condition_fails(law: Differences, facts: dict[str, Any]) -> bool:
    """Whether the truth has the rare large loss that the sentence excepts.

    ``break_even`` is how frequent a loss at the top of the range must be to turn the sign; with no
    top, ``break_even_loss`` is the size of one that is seen once in n.
    """
    frequency, size = facts.get("break_even"), facts.get("break_even_loss")
    if frequency is None:
        return False
    if size is None:
        size = 0.9 * (law.high - law.low)
    return law.tail(size) > frequency


def run_mean(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Better on average where the averages are equal, with the condition that it is said under."""
    judge = find("cpp_core.verdicts.averages", "mean_of")
    law, told, exact, alpha = DIFFERENCES[name], [], [], 0.1
    for n in SIZES:
        false, sure = [], []
        for _ in range(repetitions):
            facts = judge(law.draw(rng, n), alpha, law.pair()).facts
            wrong = facts["outcome"] not in UNDECIDED
            false.append(wrong and not condition_fails(law, facts))
            sure.append(wrong and facts.get("strength") == "exact")
        what, setting = f"sentence: average: {name}", f"n = {n}, alpha = {alpha}"
        told.append(errs(what, setting, false, APPROXIMATE * alpha))
        exact.append(errs(f"{what}, said as exact", setting, sure, alpha))
    return [*told, *exact]


def run_equal(repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Practically equal, where the averages differ by just the margin."""
    judge, law = find("cpp_core.verdicts.averages", "mean_of"), DIFFERENCES["normal"]
    rows = []
    for n in SIZES:
        draws = rng.standard_normal((repetitions, n)) + 0.2
        found = (judge(d, 0.1, law.pair(margin=0.2)).facts["outcome"] for d in draws)
        false = [outcome == "practically equal" for outcome in found]
        what = "sentence: average, practically equal at the margin"
        rows.append(errs(what, f"n = {n}, alpha = 0.1", false, 0.1 * APPROXIMATE))
    return rows


# More than two


def _normal_losses(rng: np.random.Generator, K: int, n: int) -> NDArray:
    return rng.standard_normal((K, n))


def _zero_one_losses(rng: np.random.Generator, K: int, n: int) -> NDArray:
    return (rng.random((K, n)) < 0.1) * 1.0


def _pareto_losses(rng: np.random.Generator, K: int, n: int) -> NDArray:
    return rng.pareto(2.1, (K, n))


JOINT = {"normal": _normal_losses, "zero-one": _zero_one_losses, "pareto": _pareto_losses}


def run_pairs(aspect: str, name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """All pairs of K equal models jointly: whoever is called better is not."""
    judge, rows = find("cpp_core.verdicts.pairs", "all_pairs_of"), []
    about, alpha, n = find("cpp_core.verdicts.about", "About"), 0.1, 400
    told = {"low": 0.0, "high": 1.0, "errors": True} if name == "zero-one" else {}
    for K in (2, 3, 6):
        false = []
        for _ in range(repetitions):
            losses = JOINT[name](rng, K, n + 1)
            columns = {str(i): own[:n] for i, own in enumerate(losses)}
            own = about(n_algorithms=K, **told)
            found = judge(columns, alpha, own, aspect, None)
            better = [(a, b) for a, bs in found.summary.facts["better"].items() for b in bs]
            if aspect != "next case":
                false.append(bool(better))
                continue
            pairs = zip(combinations(range(K), 2), found.pairs, strict=True)
            outside = [
                not v.facts["lower"] <= losses[i, n] - losses[j, n] <= v.facts["upper"]
                for (i, j), v in pairs
            ]
            wrong = [losses[int(a), n] >= losses[int(b), n] for a, b in better]
            false.append(any(outside) or any(wrong))
        what, setting = f"sentence: all pairs, {aspect}: {name}", f"K = {K}, n = {n}, alpha = 0.1"
        rate = alpha * (APPROXIMATE if aspect == "average" else 1)
        rows.append(errs(what, setting, false, rate))
    return rows


def run_winner(name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """The bound of the one that was chosen among K equal ones."""
    judge = find("cpp_core.verdicts.selection", "winner_of")
    about, rows = find("cpp_core.verdicts.about", "About"), []
    for K in (2, 3, 6):
        for k in (19, 40):
            false = []
            for _ in range(repetitions):
                losses = JOINT[name](rng, K, k + 1)
                columns = {str(i): own[:k] for i, own in enumerate(losses)}
                facts = judge(columns, 0.1, about(n_algorithms=K)).facts
                chosen, bound = facts.get("chosen"), facts.get("bound")
                false.append(chosen is not None and bool(losses[int(chosen), k] > bound))
            setting = f"K = {K}, k = {k}, alpha = 0.1"
            rows.append(errs(f"sentence: selection-safe winner: {name}", setting, false, 0.1))
    return rows


def jobs() -> Iterator[Job]:
    """Every kind of sentence on two or more."""
    for name in DIFFERENCES:
        yield Job(f"sentence: next case: {name}", partial(run_next, name), 0.5)
        yield Job(f"sentence: wins: {name}", partial(run_wins, name), 0.5)
        yield Job(f"sentence: average: {name}", partial(run_mean, name), 0.5)
    yield Job("sentence: average, practically equal", run_equal, 0.5)
    for name in JOINT:
        for aspect in ("next case", "wins", "average"):
            run = partial(run_pairs, aspect, name)
            yield Job(f"sentence: all pairs, {aspect}: {name}", run, 0.2)
        yield Job(f"sentence: winner: {name}", partial(run_winner, name), 0.5)
