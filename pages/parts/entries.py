"""What a link may say: by its key there, how a text becomes a value, and a value texts."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cpp_core import ALGORITHMS, DATASETS, LOSSES, load_dataset
from cpp_core.catalog.costs import GRID, UNIT
from cpp_core.catalog.datasets import SETTINGS
from cpp_core.catalog.losses import CLIPS
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.roles import FORM
from cpp_core.catalog.settings import ALGORITHM_SETTINGS, LOSS_SETTINGS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.trials.experiment_checks import MAX_ALGORITHMS, SHARES
from cpp_core.verdicts.language import typed
from pages.parts.own import NAME

Texts = tuple[str, ...]

TRIALS = (20, 100, 300, 1000)
FEW_TRIALS = (1, 5)
"""Of a table that is too large for more."""

SIDES = {"upper": "upper only", "two-sided": "both sides"}
NUMBER = re.compile(r"-?\d{1,30}(\.\d{0,30})?(e[-+]?\d{1,4})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class OneOf:
    """One of several ids, or several of them up to ``most``; a link may name labels instead."""

    labels: Mapping[str, str]
    most: int = 0

    def read(self, texts: Texts) -> Any:
        """The id, or the ids that exist; an error where there is none."""
        ids = {label.casefold(): name for name, label in self.labels.items()}
        found = [text if text in self.labels else ids.get(text.casefold()) for text in texts]
        if self.most and texts == ("",):
            return []
        known = list(dict.fromkeys(name for name in found if name is not None))
        if not known or (len(texts) > 1 and not self.most):
            raise ValueError
        return known[: self.most] if self.most else known[0]


@dataclass(frozen=True)
class Data(OneOf):
    """A dataset, or the hash that names a user's table; who may open it is not decided here."""

    def read(self, texts: Texts) -> Any:
        """The id, also of a table that nobody here holds."""
        return texts[0] if len(texts) == 1 and NAME.fullmatch(texts[0]) else super().read(texts)


@dataclass(frozen=True)
class Number:
    """A number from ``low`` to ``high``, a whole one if ``low`` is."""

    low: float
    high: float = math.inf

    def read(self, texts: Texts) -> float:
        """The number; an error where it is none, or outside."""
        (text,) = texts
        if not NUMBER.fullmatch(text):
            raise ValueError
        value = int(text) if isinstance(self.low, int) else float(text)
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueError
        return value

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Where a control starts and ends, None where it does not."""
        low, high = (end if math.isfinite(end) else None for end in (self.low, self.high))
        return low, high


@dataclass(frozen=True)
class Plain:
    """A text that is checked where it is used, or a value that has few texts."""

    values: Mapping[str, Any] | None = None

    def read(self, texts: Texts) -> Any:
        """The value of the text; an error where it has none."""
        (text,) = texts
        return text if self.values is None else self.values[text.lower()]


@dataclass(frozen=True)
class Word:
    """A text of a certain form."""

    form: re.Pattern[str]

    def read(self, texts: Texts) -> str:
        """The text; an error where it has another form."""
        (text,) = texts
        if not text or not self.form.fullmatch(text):
            raise ValueError
        return text


def _simulations() -> dict[str, OneOf | Number]:
    """What can be set in simulations."""
    every = [setting for settings in SETTINGS.values() for setting in settings]
    return {s.key: OneOf(s.options) if s.options else Number(s.low, s.high) for s in every}


def _algorithm_settings() -> dict[str, Number]:
    """What can be set in algorithms."""
    every = [setting for settings in ALGORITHM_SETTINGS.values() for setting in settings]
    return {setting.key: Number(setting.low, setting.high) for setting in every}


def _numbers_of_losses() -> dict[str, Number]:
    """What can be set in losses as a number."""
    numbers = [own for own in LOSS_SETTINGS.values() if own.low is not None]
    return {own.name: Number(own.low or 0.0, own.high or math.inf) for own in numbers}


ENTRIES: dict[str, OneOf | Number | Plain | Word] = {
    "alpha": Number(0.01, 0.5),
    "dataset": Data({name: load_dataset(name).label for name in DATASETS}),
    **_simulations(),
    "algorithms": OneOf({n: a.label for n, a in ALGORITHMS.items()}, most=MAX_ALGORITHMS),
    **_algorithm_settings(),
    "roles": Word(FORM),
    "loss": OneOf({name: loss.label for name, loss in LOSSES.items()}),
    "variant": OneOf({name: kind.label for name, kind in VARIANTS.items()}),
    "side": OneOf(SIDES),
    "n": Number(2, 10_000_000),
    "k": Number(1, 100_000),
    "share": Number(*SHARES),
    "b": Number(1, 10_000),
    "retrained": Plain({"true": True, "false": False}),
    "regressor": OneOf({name: regressor.label for name, regressor in REGRESSORS.items()}),
    "positive": Plain(),
    **_numbers_of_losses(),
    "clip": OneOf({name: name for name in CLIPS}),
    "costs": Word(GRID),
    "unit": Word(UNIT),
    "limit": Number(-math.inf),
    "sure": Number(0.8, 0.99),
    "rate": Number(0.0, 1.0),
    "next": Number(1, 100_000),
    "margin": Number(0.0),
    "trials": Plain({str(trials): trials for trials in (*FEW_TRIALS, *TRIALS)}),
    "seed": Number(0, 2**31 - 1),
}
"""What a link may say, by its key there."""

NUMBERS = {key: entry for key, entry in ENTRIES.items() if isinstance(entry, Number)}


def written(value: Any) -> Texts:
    """A value as texts of a link; none at all for None."""
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(value) or ("",)
    if isinstance(value, bool):
        return (str(value).lower(),)
    return (typed(value) if isinstance(value, float) else str(value),)
