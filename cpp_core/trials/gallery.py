"""The test cases of a trial in an order, each with the value that it is ordered by."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level, check_side, lookup
from cpp_core.method.sets import Sets
from cpp_core.trials.case_study import CaseStudy, Study, check_classes
from cpp_core.trials.symbol_study import SymbolStudy

DRAWN, HARDEST, WIDEST, SURPRISING = "as drawn", "hardest", "widest", "most surprising"
ORDERS = (DRAWN, HARDEST, WIDEST, SURPRISING)


@dataclass(frozen=True, eq=False)
class Gallery:
    """Test cases in an order.

    Attributes
    ----------
    by : str
        The order.
    cases : array
        Numbers of the test cases, the first one first.
    hardness : array (n_cases,)
        How hard each test case is, whatever the order: the highest upper end of any algorithm's
        set at it; of symbols, how many the largest set holds.
    values : array (n_cases,)
        What the order compares; where that is the draw, the hardness.
    """

    by: str
    cases: NDArray[np.intp]
    hardness: NDArray
    values: NDArray

    @property
    def depth(self) -> NDArray:
        """The hardness between the least and the greatest finite one, 0 to 1; 1 if infinite."""
        finite = self.hardness[np.isfinite(self.hardness)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        share = (self.hardness - low) / (high - low) if high > low else np.zeros(len(self.hardness))
        return np.where(np.isfinite(self.hardness), share, 1.0)


def orders(study: Study, side: str) -> tuple[str, ...]:
    """The orders that tell cases apart.

    Under an upper bound the widest set is the one with the highest end. Of symbols no two
    algorithms differ by a number.
    """
    if isinstance(study, SymbolStudy):
        return DRAWN, HARDEST
    return tuple(by for by in ORDERS if by != WIDEST or check_side(side) == "two-sided")


def gallery(
    study: CaseStudy,
    by: str = DRAWN,
    alpha: Level = 0.1,
    side: str = "two-sided",
    construction: str = "variable",
    label: Any = None,
) -> Gallery:
    """The test cases in one of ``ORDERS``, those of one class where a ``label`` is given.

    ``hardest`` means the highest upper end first, ``widest`` the widest set (of any algorithm);
    ``most surprising`` the upper ends that differ most between algorithms, or with one algorithm
    the predicted median that is farthest from the usual one of its class. Ties are broken by the
    predicted median.
    """
    lookup(by, dict.fromkeys(ORDERS), "order of the gallery")
    names = study.experiment.algorithms
    sets = [Sets(*study.sets(name, construction, alpha, side).T) for name in names]
    medians = np.mean([study.predicted(name, alpha=0.5, side="upper")[:, 1] for name in names], 0)
    uppers = np.array([own.upper for own in sets])
    hardness = values = uppers.max(axis=0)
    if by == WIDEST:
        values = np.max([own.width for own in sets], axis=0)
    elif by == SURPRISING and len(names) > 1:
        values = Sets(uppers.min(axis=0), hardness).width
    elif by == SURPRISING:
        values = _from_usual(study, medians)
    kept = _of_label(study, label)
    if by != DRAWN:
        kept = kept[np.lexsort((kept, -medians[kept], -values[kept]))]
    return Gallery(by, kept, hardness, values)


def symbol_gallery(
    study: SymbolStudy, by: str = DRAWN, alpha: Level = 0.1, label: Any = None
) -> Gallery:
    """The same for sets of symbols: the hardest cases are those where most symbols are left."""
    lookup(by, dict.fromkeys((DRAWN, HARDEST)), "order of the gallery")
    names = study.experiment.algorithms
    left = np.max([study.sets(name, alpha).sum(axis=1) for name in names], axis=0)
    kept = _of_label(study, label)
    if by == HARDEST:
        kept = kept[np.argsort(-left[kept], kind="stable")]
    return Gallery(by, kept, left, left)


def _of_label(study: Study, label: Any) -> NDArray[np.intp]:
    """The cases of a class, in the order of the draw; all of them where there is no label."""
    if label is None:
        return np.arange(len(study.y))
    if label not in check_classes(study.experiment):
        raise ValueError(
            f"{label!r} is not a class of {study.experiment.data.label}; choose one of "
            f"{', '.join(map(repr, study.experiment.data.classes))}."
        )
    return np.flatnonzero(study.y == label)


def _from_usual(study: Study, medians: NDArray) -> NDArray:
    """How far each predicted median is from the median of its class, or of all cases."""
    groups = study.y if study.experiment.data.classes else np.zeros(len(study.y))
    usual = {group: np.median(medians[groups == group]) for group in np.unique(groups)}
    return np.abs(medians - np.array([usual[group] for group in groups]))
