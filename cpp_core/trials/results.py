"""Losses of many trials, read at any alpha: intervals, widths, coverage. Nothing here trains.

Ends and the losses compared with them have the type in which losses are stored: float32, or float64
where that would overflow. Where a metric is better when it is greater, sets are computed on its
negative and shown as they are.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.evaluation import difference
from cpp_core.method.modulation import LEVELS
from cpp_core.method.ranks import Ranked, coverage_law, grouped_ranks, scores_needed
from cpp_core.method.sets import Sets, moved_scores, moved_sets
from cpp_core.method.symbols import CORRECT, symbol_sets, symbols_for
from cpp_core.trials.experiment import Experiment, check_algorithm, pair_name
from cpp_core.trials.store import Arrays

INTERVAL_CONFIDENCE = 0.95
"""Confidence of the exact interval around a cover rate."""


@dataclass(frozen=True)
class Readings:
    """What one algorithm's trials give at one alpha: columns of ``Results.at``, as arrays."""

    lower: NDArray
    upper: NDArray
    width: NDArray
    mean_test_loss: NDArray
    test_coverage: NDArray
    new_loss: NDArray
    new_loss_covered: NDArray
    mean_width: NDArray
    empty: NDArray


def median(values: NDArray) -> float:
    """The lower median, which is one of the values even where some are infinite."""
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def stacked(read: Sequence[Readings]) -> dict[str, NDArray]:
    """Readings at many alphas as a curve, (alphas, trials) each; its width is the mean width."""
    columns = {name: name for name in ("lower", "upper", "test_coverage", "new_loss_covered")}
    columns["width"] = "mean_width"
    return {name: np.stack([getattr(r, own) for r in read]) for name, own in columns.items()}


class NumericLosses:
    """One algorithm's losses (or a difference of two) over trials, read at any alpha."""

    def __init__(self, arrays: Arrays, experiment: Experiment, paired: bool = False) -> None:
        loss = experiment.measure.paired() if paired else experiment.measure
        self.sign = loss.sign
        ends = sorted((loss.sign * loss.low, loss.sign * loss.high))
        # Rounded like the losses, which may lie exactly on an end of the range.
        self.low, self.high = (float(arrays["calibration"].dtype.type(end)) for end in ends)
        self.shown_test = arrays["test"]
        self.calibration = self.sign * arrays["calibration"]
        self.test = self.sign * arrays["test"]
        self.modulated = "calibration_ends" in arrays
        self.arrays = arrays
        self._last: tuple[Any, Readings] | None = None
        self.k = self.calibration.shape[1]
        self.n_evaluations = self.calibration.shape[2] if self.calibration.ndim == 3 else 1

    @cached_property
    def mean_test(self) -> NDArray:
        """Average of the test losses of each trial."""
        return self.shown_test.mean(axis=1, dtype=np.float64)

    @cached_property
    def ranked(self) -> Ranked:
        """The scores of every trial, sorted once: an alpha is then two rows."""
        flat = self.calibration.reshape(len(self.calibration), -1)
        return Ranked.of(flat, self.low, self.high, self.n_evaluations)

    @cached_property
    def counts(self) -> tuple[NDArray, NDArray]:
        """Test losses below, and at or below, the score of each rank: (k b + 2, trials) each."""
        scores, tests = self.ranked.by_rank.T, np.sort(self.test, axis=1)
        below = np.empty(scores.shape, dtype=np.int32)
        up_to = np.empty(scores.shape, dtype=np.int32)
        for row in range(len(tests)):
            below[row] = np.searchsorted(tests[row], scores[row], side="left")
            up_to[row] = np.searchsorted(tests[row], scores[row], side="right")
        return np.ascontiguousarray(below.T), np.ascontiguousarray(up_to.T)

    def ranks(self, alpha: Level, side: str) -> tuple[int, int]:
        """The ranks at one alpha; modulated sets use the upper one for both sides."""
        rank_side = "upper" if self.modulated else side
        return grouped_ranks(self.k, self.n_evaluations, alpha, rank_side)

    def scores(self, alpha: Level, side: str) -> Ranked:
        """The ranked scores of every trial; those of modulated sets depend on alpha."""
        if not self.modulated:
            return self.ranked
        predicted = self._predicted("calibration_ends", alpha, side)
        return moved_scores(self.calibration.astype(np.float64), predicted, side)

    def sets(self, alpha: Level, side: str, regressed_at: Level | None = None) -> Sets:
        """The sets at one alpha, in shown units.

        ``regressed_at`` is an alpha, fixed beforehand, whose predicted ends all sets are moved
        from: they are then nested over alpha.
        """
        if not self.modulated:
            found = Sets(*self.ranked.ends(alpha, side))
        else:
            start = alpha if regressed_at is None else regressed_at
            found = moved_sets(
                self.calibration.astype(np.float64),
                self._predicted("calibration_ends", start, side),
                self._predicted("test_ends", start, side),
                *(alpha, side, self.low, self.high),
            )
        return found if self.sign > 0 else found.negative

    def _predicted(self, name: str, alpha: Level, side: str) -> tuple[NDArray, NDArray]:
        lower, upper = ends_at(self.arrays, name, float(exact_alpha(alpha)), side)
        return lower.astype(np.float64), upper.astype(np.float64)

    def read(self, alpha: Level, side: str) -> Readings:
        """Everything at one alpha; the last answer is kept, since many questions follow it."""
        asked, last = (exact_alpha(alpha), side), self._last
        if last is None or last[0] != asked:
            self._last = last = asked, self._read(alpha, side)
        return last[1]  # not self._last, which another thread may have replaced

    def _read(self, alpha: Level, side: str) -> Readings:
        sets = self.sets(alpha, side)
        if not self.modulated:  # one set for all cases of a trial
            sets = Sets(sets.lower[:, None], sets.upper[:, None])
        covered, widths = sets.holds(self.shown_test), sets.width
        return Readings(
            lower=sets.lower[:, 0],
            upper=sets.upper[:, 0],
            width=widths[:, 0],
            mean_width=widths.mean(axis=1),
            empty=(sets.lower > sets.upper).mean(axis=1),
            mean_test_loss=self.mean_test,
            test_coverage=covered.mean(axis=1),
            new_loss=self.shown_test[:, 0],
            new_loss_covered=covered[:, 0],
        )

    def curve(self, alphas: Sequence[Level], side: str) -> dict[str, NDArray]:
        """Ends, widths and coverage for many alphas, (alphas, trials) each.

        Where sets do not move with the case, each alpha is a look-up of two ranks.
        """
        if self.modulated:
            return stacked([self.read(alpha, side) for alpha in alphas])
        below, up_to = self.counts
        ranks = np.array([self.ranks(alpha, side) for alpha in alphas])
        lower, upper = (self.ranked.by_rank[own] for own in ranks.T)
        new = self.test[:, 0]
        covered = up_to[ranks[:, 1]] - below[ranks[:, 0]]
        hit = (lower <= new) & (new <= upper)
        sets = Sets(lower, upper) if self.sign > 0 else Sets(lower, upper).negative
        return {
            "lower": sets.lower,
            "upper": sets.upper,
            "width": sets.width,
            "test_coverage": covered / self.test.shape[1],
            "new_loss_covered": hit,
        }


def ends_at(arrays: Arrays, name: str, alpha: float, side: str) -> tuple[NDArray, NDArray]:
    """Predicted ends at one alpha, from f or from the grid of quantiles (interpolated in level)."""
    values = arrays[name]
    if values.ndim == 2:
        return values, values
    if side == "upper":
        q = at_level(values, 1 - alpha)
        return q, q
    return at_level(values, alpha / 2), at_level(values, 1 - alpha / 2)


def at_level(grid: NDArray, level: float) -> NDArray:
    """Quantiles at any level from the stored grid (trials, n, levels), linear between levels."""
    position = float(np.clip(level * (len(LEVELS) + 1) - 1, 0, len(LEVELS) - 1))
    left = min(int(round(position, 9)), len(LEVELS) - 2)
    share = np.float32(round(position - left, 9))
    return grid[..., left] * (1 - share) + grid[..., left + 1] * share


class SymbolicLosses:
    """One algorithm's symbolic sets over trials, read at any alpha."""

    def __init__(self, arrays: Arrays, experiment: Experiment) -> None:
        self.arrays = arrays
        self.k = arrays["calibration"].shape[1]
        self.symbols = symbols_for(np.array(experiment.data.classes))

    def sets(self, alpha: Level) -> NDArray[np.bool_]:
        """Which symbols are in the set of each test case: (trials, T, S)."""
        level, arrays = float(exact_alpha(alpha)), self.arrays
        q, q_new = (at_level(arrays[name], level) for name in ("calibration_ends", "test_ends"))
        return symbol_sets(arrays["calibration"], q, arrays["test"], q_new, alpha)

    def read(self, alpha: Level, side: str) -> Readings:
        """Everything at one alpha: widths are set sizes, losses are errors (0 or 1)."""
        sets = self.sets(alpha)
        happened = self.arrays["test_symbol"].astype(int)
        covered = np.take_along_axis(sets, happened[..., None], axis=2)[..., 0]
        size = sets.sum(axis=2)
        error = (happened != self.symbols.index(CORRECT)).astype(float)
        nothing = np.full(len(sets), np.nan)
        return Readings(
            lower=nothing,
            upper=nothing,
            width=size[:, 0].astype(float),
            mean_width=size.mean(axis=1),
            empty=np.zeros(len(sets)),
            mean_test_loss=error.mean(axis=1),
            test_coverage=covered.mean(axis=1),
            new_loss=error[:, 0],
            new_loss_covered=covered[:, 0],
        )

    def curve(self, alphas: Sequence[Level], side: str) -> dict[str, NDArray]:
        """Set sizes and coverage for many alphas, (alphas, trials) each."""
        return stacked([self.read(alpha, side) for alpha in alphas])


@dataclass(frozen=True, eq=False)
class Results:
    """The losses of an experiment's trials, with everything that can be read from them.

    Parameters
    ----------
    experiment : Experiment
    seed : int
    trials : array of int
        Numbers of the trials that are there, ascending.
    arrays : mapping of str to arrays
        For each algorithm, what ``trials.run_block`` gives for these trials.
    asked : int
        How many trials were asked for; more than are there while a run goes on.
    """

    experiment: Experiment
    seed: int
    trials: NDArray[np.int64]
    arrays: Mapping[str, Arrays]
    asked: int
    problem: str | None = None
    _readers: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The competing algorithms."""
        return self.experiment.algorithms

    def reader(self, algorithm: str) -> NumericLosses | SymbolicLosses:
        """One algorithm's losses over the trials."""
        if check_algorithm(self.experiment, algorithm) not in self._readers:
            kind = SymbolicLosses if self.experiment.kind.symbolic else NumericLosses
            self._readers[algorithm] = kind(self.arrays[algorithm], self.experiment)
        return self._readers[algorithm]

    @property
    def nbytes(self) -> int:
        """Bytes of the losses, and of all that was sorted and counted to read them."""
        readers = [vars(reader) for reader in list(self._readers.values())]
        return sum({id(own): own.nbytes for own in arrays_in([self.arrays, readers])}.values())

    def at(self, alpha: Level = 0.1, side: str = "two-sided") -> pd.DataFrame:
        """One row per trial and algorithm, at one alpha.

        Columns: trial, algorithm, lower, upper, width, mean_test_loss, test_coverage, new_loss,
        new_loss_covered; then mean_width and empty. For sets that move with the case the ends and
        the width are those at the trial's one random test case, while coverage, mean width and the
        share of empty sets are over its disjoint test groups. For symbolic sets a width is a number
        of symbols.
        """
        check_side(side)
        exact_alpha(alpha)
        frames = []
        for name in self.algorithms:
            values = vars(self.reader(name).read(alpha, side))
            frames.append(pd.DataFrame({"trial": self.trials, "algorithm": name, **values}))
        return pd.concat(frames, ignore_index=True)

    def curve(
        self, alphas: Sequence[Level], side: str = "two-sided"
    ) -> dict[str, dict[str, NDArray]]:
        """Ends, widths and coverage for many alphas: by algorithm, arrays (alphas, trials)."""
        check_side(side)
        return {name: self.reader(name).curve(alphas, side) for name in self.algorithms}

    def coverage_law(self, alpha: Level, side: str = "two-sided") -> tuple[int, int] | None:
        """Beta parameters (a, b) of the coverage without ties; None for grouped evaluations."""
        if self.experiment.n_evaluations > 1:
            return None
        return coverage_law(self.experiment.sizes.k, alpha, self._ranked_by(side))

    def _ranked_by(self, side: str) -> str:
        return "upper" if self.experiment.kind.moves else side

    def summary(self, alpha: Level = 0.1, side: str = "two-sided") -> dict[str, dict[str, Any]]:
        """Typical numbers over the trials, by algorithm.

        A mean over ends of which some are infinite is infinite; ``upper_infinite`` counts them and
        ``upper_median`` stays readable. The cover rate of the one new loss per trial comes with its
        exact (Clopper-Pearson) interval, the mean test coverage with its standard error.
        """
        sizes = self.experiment.sizes
        law = self.coverage_law(alpha, side)
        summaries = {}
        for name in self.algorithms:
            read = self.reader(name).read(alpha, side)
            hits, trials = int(read.new_loss_covered.sum()), len(read.new_loss_covered)
            low, high = share_interval(hits, trials, 1 - INTERVAL_CONFIDENCE)
            upper_infinite = int(np.isinf(read.upper).sum())
            summaries[name] = {
                "lower_mean": float(np.mean(read.lower)),
                "upper_mean": float(np.mean(read.upper)),
                "lower_median": median(read.lower),
                "upper_median": median(read.upper),
                "lower_infinite": int(np.isinf(read.lower).sum()),
                "upper_infinite": upper_infinite,
                "upper_finite": upper_infinite == 0,
                "width_mean": float(np.mean(read.mean_width)),
                "empty_share": float(np.mean(read.empty)),
                "mean_test_loss": float(np.mean(read.mean_test_loss)),
                "test_coverage_mean": float(np.mean(read.test_coverage)),
                "test_coverage_se": coverage_error(law, sizes.n_test, trials),
                "new_loss_cover_rate": hits / trials,
                "new_loss_cover_low": low,
                "new_loss_cover_high": high,
                "k": sizes.k,
                "m": sizes.m,
                "k_needed": self.k_needed(alpha, side),
                "failed": int(self.arrays[name]["failed"].sum()),
                "undefined": int(self.arrays[name].get("undefined", np.zeros(1)).sum()),
            }
        return summaries

    def k_needed(self, alpha: Level, side: str = "two-sided") -> int:
        """How many calibration scores would give finite ends."""
        return scores_needed(alpha, self._ranked_by(side))

    def paired(
        self, first: str, second: str, alpha: Level = 0.1, side: str = "two-sided"
    ) -> pd.DataFrame:
        """The difference l(first) - l(second) on the same case: one row per trial.

        Columns as in ``at`` without algorithm, then ``wins``, ``ties`` and ``losses``: shares of
        the test cases at which the first is better, equal, worse.
        """
        reader = self.paired_reader(first, second)
        read = reader.read(alpha, check_side(side))
        d = reader.test  # smaller is better
        return pd.DataFrame(
            {
                "trial": self.trials,
                "lower": read.lower,
                "upper": read.upper,
                "width": read.width,
                "mean_difference": read.mean_test_loss,
                "test_coverage": read.test_coverage,
                "new_difference": read.new_loss,
                "new_difference_covered": read.new_loss_covered,
                "wins": (d < 0).mean(axis=1),
                "ties": (d == 0).mean(axis=1),
                "losses": (d > 0).mean(axis=1),
            }
        )

    def paired_reader(self, first: str, second: str) -> NumericLosses:
        """The difference of two algorithms' losses, as losses like any other."""
        if self.experiment.kind.symbolic:
            raise ValueError("Symbols have no difference: pairs are for numeric losses.")
        if first == second:
            raise ValueError(f"{first!r} was paired with itself; name two algorithms.")
        a, b = self.reader(first), self.reader(second)
        if (first, second) not in self._readers:
            if self.experiment.modulation is None:
                kinds = ("calibration", "test")
                pair = {kind: difference(a.arrays[kind], b.arrays[kind]) for kind in kinds}
            else:  # the difference has a regression of its own
                pair = self.arrays[pair_name(first, second)]
                pair = pair if first < second else reversed_arrays(pair)
            self._readers[first, second] = NumericLosses(pair, self.experiment, paired=True)
        return self._readers[first, second]

    @property
    def failures(self) -> pd.DataFrame:
        """Trials in which training runs raised: trial, algorithm, how many, the first message."""
        rows = []
        for name in self.algorithms:
            failed, messages = self.arrays[name]["failed"], self.arrays[name]["failure"]
            for i in np.flatnonzero(failed):
                message = messages[i].decode(errors="replace")
                rows.append((int(self.trials[i]), name, int(failed[i]), message))
        return pd.DataFrame(rows, columns=["trial", "algorithm", "failed", "message"])


def arrays_in(value: Any) -> Iterator[NDArray]:
    """All arrays inside mappings, sequences and readings."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Ranked | Readings):
        yield from arrays_in(vars(value))
    elif isinstance(value, Mapping):
        yield from arrays_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for own in value:
            yield from arrays_in(own)


def reversed_arrays(pair: Arrays) -> Arrays:
    """The same pair the other way round: what was the quantile at level l is now that at 1 - l."""
    return {
        name: -values[..., ::-1] if values.ndim == 3 else -values
        for name, values in pair.items()
        if name not in ("failed", "failure")
    }


def coverage_error(law: tuple[int, int] | None, n_test: int, trials: int) -> float | None:
    """Standard error of the mean test coverage over trials that re-split one table.

    sqrt(p (1-p) / T (k + 1 + T) / (k + 2) / trials), the Beta-binomial's; None without a law.
    """
    if law is None:
        return None
    a, b = law
    p, k = Fraction(a, a + b), a + b - 1
    return math.sqrt(float(p * (1 - p) * (k + 1 + n_test) / (n_test * (k + 2))) / trials)
