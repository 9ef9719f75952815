"""What averages are of, and over what something is typical: the same for every figure."""

import numpy as np
from numpy.typing import NDArray

from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import first_trial
from cpp_core.verdicts.language import counted, number


def held_out_losses(results: Results, algorithm: str, row: int | None = None) -> NDArray:
    """The losses of a trial, by default trial 0, that an average is of.

    Those that pairs are judged by: of a candidate all its held-out cases, of an algorithm its
    calibration groups.
    """
    arrays, row = results.arrays[algorithm], first_trial(results) if row is None else row
    losses = arrays["calibration"][row].ravel()
    if results.experiment.algorithmic:
        return losses
    return np.concatenate([losses, arrays["test"][row].ravel()])


def average_of(losses: NDArray) -> float:
    """Their mean in full precision."""
    return float(losses.mean(dtype=np.float64))


def average_words(average: float) -> str:
    """An average as a number, or that it is not finite: a failed run counts as infinitely bad."""
    return number(average) if np.isfinite(average) else "not finite"


def trial_noun(experiment: Experiment) -> str:
    """What a trial is in words: a split of one table, or a data set that was simulated."""
    kind = "simulated " if experiment.data.size is None else ""
    return f"{kind}{short_noun(experiment)}"


def short_noun(experiment: Experiment) -> str:
    """The same in short."""
    return "data set" if experiment.data.size is None else "split"


def this_one(experiment: Experiment) -> str:
    """The trial that carries the promise, in words: "this split" or "this data set"."""
    return f"this {short_noun(experiment)}"


def over_what(results: Results) -> str:
    """The trials in words."""
    return counted(len(results.trials), trial_noun(results.experiment))
