"""The panels of a comparison, in the order in which they are shown.

A new panel is a function and a line in ``PANELS``; the page and what is drawn beforehand follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cpp_core.checks import Level
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.figures.panels import Panel
from cpp_core.figures.symbol_figures import symbol_bars
from cpp_core.trials.results import Results


@dataclass(frozen=True)
class PanelKind:
    """A panel of a comparison and what it needs.

    ``draw(results, alpha, side, dark=False)``, of a pair ``draw(results, first, second, alpha,
    side, dark=False)``, gives panels with this ``key``. It can show losses that are numbers where
    it is ``numeric``, kinds of error where it is ``symbolic``; ``of_pair`` says that it is about
    two algorithms, ``follows_side`` that it depends on the side, ``wide`` that it takes a row of
    its own.
    """

    key: str
    draw: Callable[..., Panel]
    numeric: bool = True
    symbolic: bool = True
    of_pair: bool = False
    follows_side: bool = True
    wide: bool = False

    def fits(self, results: Results) -> bool:
        """Whether it can be drawn of these results."""
        shown = self.symbolic if results.experiment.kind.symbolic else self.numeric
        return shown and not (self.of_pair and len(results.algorithms) < 2)

    def arguments(self, pair: Sequence[str], alpha: Level, side: str) -> tuple[Any, ...]:
        """What ``draw`` takes after the results; the same where the side makes no difference."""
        two = tuple(pair) if self.of_pair else ()
        return (*two, alpha, side if self.follows_side else "two-sided")


PANELS: tuple[PanelKind, ...] = (
    PanelKind("intervals", interval_histograms, symbolic=False, wide=True),
    PanelKind("symbols", symbol_bars, numeric=False, follows_side=False, wide=True),
    PanelKind("widths", width_histograms),
    PanelKind("width-differences", width_differences, symbolic=False, of_pair=True),
    PanelKind("cover-rates", cover_rates),
    PanelKind("coverage", coverage_histograms),
    PanelKind("calibration", calibration_curve),
    PanelKind("paired", paired_difference, symbolic=False, of_pair=True, follows_side=False),
)


def panels_of(results: Results) -> list[PanelKind]:
    """The panels that can be drawn of these results."""
    return [kind for kind in PANELS if kind.fits(results)]
