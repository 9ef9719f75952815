"""Settings of losses and algorithms, as a command says them."""

import argparse
import ast
from collections.abc import Mapping, Sequence
from typing import Any

from cpp_core.catalog.losses import settings_of
from cpp_core.catalog.settings import LOSS_SETTINGS


def loss_chosen(given: argparse.Namespace) -> dict[str, Any]:
    """The loss and its settings, as far as the arguments say them."""
    said = {own: getattr(given, own.option) for own in LOSS_SETTINGS.values() if own.help}
    said = {own: value for own, value in said.items() if value is not None}
    found = {own.name: value for own, value in said.items()}
    if given.cost:
        costs: dict[str, dict[str, float]] = {}
        for true, predicted, cost in given.cost:
            if predicted in costs.get(true, {}):
                raise ValueError(f"--cost {true} {predicted} is said twice; say it once.")
            try:
                costs.setdefault(true, {})[predicted] = float(cost)
            except ValueError:
                raise ValueError(
                    f"--cost {true} {predicted} {cost}: the last is no number."
                ) from None
        found["costs"] = costs
    implied = [own.implies for own in said if own.implies]
    loss = given.loss or (implied[0] if implied else None)
    chosen: dict[str, Any] = {} if loss is None else {"loss": loss}
    if found and loss is not None:
        unknown = set(found) - set(settings_of(loss))
        if unknown:
            raise ValueError(f"The loss {loss!r} does not take {', '.join(sorted(unknown))}.")
    elif found:
        raise ValueError(f"--{next(iter(found))} is about a loss: say --loss NAME too.")
    return chosen | ({"loss_settings": found} if found else {})


def algorithm_settings(texts: list[str] | None) -> dict[str, dict[str, Any]]:
    """Settings by algorithm.

    >>> algorithm_settings(["knn.n_neighbors=9", "ridge.alpha=0.5"])
    {'knn': {'n_neighbors': 9}, 'ridge': {'alpha': 0.5}}
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        algorithm, _, setting = name.rpartition(".")
        if not (algorithm and setting and value):
            raise ValueError(f"--set {text!r} is not ALGORITHM.SETTING=VALUE; write it so.")
        try:
            found.setdefault(algorithm, {})[setting] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found.setdefault(algorithm, {})[setting] = value
    return found


def check_settings(settings: Mapping[str, Any], algorithms: Sequence[str]) -> None:
    """Refuse settings of an algorithm that does not run: they would change nothing.

    >>> check_settings({"knn": {"n_neighbors": 9}}, ["ridge"])
    Traceback (most recent call last):
        ...
    ValueError: --set knn.n_neighbors: 'knn' does not run here; those that do are 'ridge'.
    """
    for name, chosen in settings.items():
        if name not in algorithms:
            running = ", ".join(map(repr, algorithms))
            raise ValueError(
                f"--set {name}.{next(iter(chosen))}: {name!r} does not run here; those that do are "
                f"{running}."
            )
