"""A line of the table: what is claimed, what was found, and whether the two agree."""

import importlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEAST = 1e-5
"""The p-value below which a claim is called false: hundreds of lines are read at once."""

ALPHAS = (0.1, 0.3)
SIDES = ("two-sided", "upper")
EDGES = (9, 19)
"""The least k with a finite upper bound, and with two finite ends, at alpha = .1."""


class NotAvailableError(Exception):
    """What is to be tried does not exist under any of its names."""


@dataclass(frozen=True)
class Row:
    """One claim under one truth in one setting."""

    what: str
    setting: str
    claimed: str
    found: float | None
    repetitions: int
    p_value: float
    evidence: str
    verdict: str

    def line(self) -> str:
        """The row in Markdown."""
        found = "" if self.found is None else f"{self.found:.4f}"
        cells = (self.what, self.setting, self.claimed, found, f"{self.repetitions:,}")
        cells = (*cells, self.evidence, self.verdict)
        return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


@dataclass(frozen=True)
class Job:
    """Rows that are made together; ``run(repetitions, rng)`` makes them."""

    name: str
    run: Callable[[int, np.random.Generator], list[Row]]
    share: float = 1.0  # of the repetitions asked for

    def rows(self, repetitions: int) -> list[Row]:
        """The rows, from a seed that the name alone decides; what stops it becomes a row."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        times = max(2, round(self.share * repetitions))
        try:
            return self.run(times, rng)
        except NotAvailableError as error:
            return [Row(self.name, str(error), "", None, 0, 1.0, "", "not available")]
        except Exception as error:
            said = f"{type(error).__name__}: {error}"[:300]
            return [Row(self.name, said, "", None, 0, 0.0, "", "RAISES")]


def find(module: str, *names: str) -> Any:
    """The first of these that the module has."""
    try:
        home = importlib.import_module(module)
    except ImportError as error:
        raise NotAvailableError(f"no module {module}") from error
    for name in names:
        if hasattr(home, name):
            return getattr(home, name)
    raise NotAvailableError(f"no {' or '.join(names)} in {module}")


def ranks(k: int, alpha: float, side: str) -> Fraction:
    """(hi - lo) / (k + 1), worked out here once more so that an error there is seen here."""
    exact = Fraction(str(alpha))
    if side == "upper":
        return Fraction(min(ceil((k + 1) * (1 - exact)), k + 1), k + 1)
    low = floor((k + 1) * exact / 2)
    return Fraction(k + 1 - 2 * low, k + 1)


def _evidence(hits: int, n: int, p_value: float) -> str:
    low, high = stats.binomtest(hits, n).proportion_ci(0.95)
    return f"p = {p_value:.2g}; 95 %: {low:.4f} to {high:.4f}"


def covers(what: str, setting: str, hits: NDArray, p: Fraction | float, exact: bool) -> Row:
    """Coverage against its law: exactly p without ties, at least p with them."""
    n, found = len(hits), int(np.sum(hits))
    alternative = "two-sided" if exact else "less"
    p_value = float(stats.binomtest(found, n, min(float(p), 1.0), alternative).pvalue)
    verdict = "holds" if p_value >= LEAST else "FALSE"
    claimed = f"{'exactly' if exact else 'at least'} {float(p):.4f}"
    evidence = _evidence(found, n, p_value)
    return Row(what, setting, claimed, found / n, n, p_value, evidence, verdict)


def errs(what: str, setting: str, false: Iterable[bool], rate: float) -> Row:
    """How often a sentence is false, against what it claims at most."""
    wrong = np.fromiter(false, dtype=bool)
    n, found = len(wrong), int(wrong.sum())
    p_value = float(stats.binomtest(found, n, rate, "greater").pvalue) if rate else float(not found)
    verdict = "holds" if p_value >= LEAST else "FALSE"
    claimed = f"false at most {rate:.3g}" if rate else "never"
    evidence = _evidence(found, n, p_value)
    return Row(what, setting, claimed, found / n, n, p_value, evidence, verdict)


def worst(rows: Iterable[Row]) -> list[Row]:
    """Of the settings of one claim under one truth, that in which it fares worst."""
    found = []
    for _, group in groupby(rows, key=lambda row: row.what):
        own = list(group)
        least = min(own, key=lambda row: row.p_value)
        wrong = sum(row.verdict not in ("holds", "not available") for row in own)
        if len(own) > 1:
            setting = f"{least.setting}; the worst of {len(own)}"
            verdict = f"{least.verdict} in {wrong}" if wrong else least.verdict
            least = replace(least, setting=setting, verdict=verdict)
        found.append(least)
    return found
