"""One algorithm's losses over many trials, read at any alpha: ends, widths, coverage.

Ends and the losses compared with them have the type in which losses are stored: float32, or float64
where that would overflow. Where a metric is better when it is greater, sets are computed on its
negative and shown as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level, exact_alpha
from cpp_core.method.modulation import LEVELS, modulated_scores
from cpp_core.method.ranks import Ranked
from cpp_core.method.sets import Sets, moved_scores, moved_sets
from cpp_core.method.symbols import CORRECT, symbol_sets, symbols_for
from cpp_core.trials.block_files import Arrays
from cpp_core.trials.experiment import Experiment


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


def stacked(read: Sequence[Readings]) -> dict[str, NDArray]:
    """Readings at many alphas as a curve, (alphas, trials) each; its width is the mean width."""
    columns = {name: name for name in ("lower", "upper", "test_coverage", "new_loss_covered")}
    columns["width"] = "mean_width"
    return {name: np.stack([getattr(r, own) for r in read]) for name, own in columns.items()}


class NumericLosses:
    """One algorithm's losses (or a difference of two) over trials, read at any alpha."""

    def __init__(self, arrays: Arrays, experiment: Experiment, paired: bool = False) -> None:
        loss = experiment.criterion.paired() if paired else experiment.criterion
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
        return self.ranked.ranks(alpha, "upper" if self.modulated else side)

    def scores(self, alpha: Level, side: str) -> Ranked:
        """The ranked scores of every trial; those of modulated sets depend on alpha."""
        if not self.modulated:
            return self.ranked
        predicted = self._predicted("calibration_ends", alpha, side)
        return moved_scores(self.calibration.astype(np.float64), predicted, side)

    def new_scores(self, alpha: Level, side: str) -> NDArray:
        """The scores of the test losses (trials, T), as those of calibration."""
        if not self.modulated:
            return self.test
        predicted = self._predicted("test_ends", alpha, side)
        return modulated_scores(self.test.astype(np.float64), *predicted, side)

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
