"""The losses of all trials of an experiment, and what is read from them. Nothing here trains."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.evaluation import difference
from cpp_core.method.ranks import Ranked, coverage_law, scores_needed
from cpp_core.trials.block_files import Arrays, without_cells
from cpp_core.trials.experiment import Experiment, check_algorithm, pair_name
from cpp_core.trials.readings import NumericLosses, Readings, SymbolicLosses

INTERVAL_CONFIDENCE = 0.95
"""Confidence of the exact interval around a cover rate."""


def median(values: NDArray) -> float:
    """The lower median, which is one of the values even where some are infinite."""
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


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
        For each algorithm, what ``one_trial.run_block`` gives for these trials.
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
    def shareable(self) -> "Results":
        """The same for others' eyes: what failures said of a user's own table may quote cells."""
        if not self.experiment.data.own:
            return self
        kinds = {
            name: without_cells(own) if "failure" in own else own
            for name, own in self.arrays.items()
        }
        return replace(self, arrays=kinds)

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
