"""The panels of a comparison, in the order in which they are shown.

A new panel is a function and a line in ``PANELS``; the page and what is drawn beforehand follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cpp_core.checks import Level
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.error_figures import errors_bars
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.figures.next_loss import next_loss
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
    its own, ``of_width`` that it shows a width, which is the upper end itself where there is no
    other end. ``tab`` names what it answers.
    """

    key: str
    draw: Callable[..., Panel]
    tab: str
    numeric: bool = True
    symbolic: bool = True
    of_pair: bool = False
    follows_side: bool = True
    wide: bool = False
    of_width: bool = False

    def fits(self, results: Results, side: str) -> bool:
        """Whether it can be drawn of these results, and shows what no other panel does."""
        kind = results.experiment.kind
        shown = self.symbolic if kind.symbolic else self.numeric
        repeats = self.of_width and side == "upper" and not kind.symbolic
        return shown and not repeats and not (self.of_pair and len(results.algorithms) < 2)

    def arguments(self, pair: Sequence[str], alpha: Level, side: str) -> tuple[Any, ...]:
        """What ``draw`` takes after the results; the same where the side makes no difference."""
        two = tuple(pair) if self.of_pair else ()
        return (*two, alpha, side if self.follows_side else "two-sided")


WHO_WINS, WHERE, HOW_WIDE = "Who wins", "Where the bounds are", "How wide"
PROMISE, EVERY = "Is the promise kept", "At every confidence"

PANELS: tuple[PanelKind, ...] = (
    PanelKind(
        "paired", paired_difference, WHO_WINS, symbolic=False, of_pair=True, follows_side=False
    ),
    PanelKind("intervals", interval_histograms, WHERE, symbolic=False, wide=True),
    PanelKind("symbols", symbol_bars, WHERE, numeric=False, follows_side=False, wide=True),
    PanelKind("widths", width_histograms, HOW_WIDE, of_width=True),
    PanelKind(
        "width-differences",
        width_differences,
        HOW_WIDE,
        symbolic=False,
        of_pair=True,
        of_width=True,
    ),
    PanelKind("cover-rates", cover_rates, PROMISE),
    PanelKind("coverage", coverage_histograms, PROMISE),
    PanelKind("calibration", calibration_curve, EVERY, wide=True),
)


def panels_of(results: Results, side: str = "two-sided") -> dict[str, list[PanelKind]]:
    """The panels that can be drawn of these results on this side, by what they answer."""
    found: dict[str, list[PanelKind]] = {}
    for kind in PANELS:
        if kind.fits(results, side):
            found.setdefault(kind.tab, []).append(kind)
    return found


def first_picture(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False, **more: Any
) -> Panel:
    """The one picture that explains the answer; ``more`` says whether new cases can be drawn."""
    if results.experiment.kind.symbolic:
        return symbol_bars(results, alpha, side, dark)
    if results.experiment.criterion.errors:
        return errors_bars(results, alpha, side, dark, **more)
    return next_loss(results, alpha, side, dark, **more)
