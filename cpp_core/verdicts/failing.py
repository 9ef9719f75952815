"""Training runs that failed: who, how many, and the first message."""

import numpy as np

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import about_results, first_trial
from cpp_core.verdicts.held_out import held_out_losses
from cpp_core.verdicts.language import counted


def failed_lines(results: Results) -> tuple[str, ...]:
    """For each algorithm of which training runs failed: how many of all trials, and the first."""
    lines = []
    for name, own in results.failures.groupby("algorithm", sort=False):
        n, message = int(own["failed"].sum()), str(own["message"].iloc[0]).strip()
        lines.append(
            f"{ALGORITHMS[str(name)].label}: {counted(n, 'training run')} failed and "
            f"{'counts' if n == 1 else 'count'} with the worst loss. The first said: {message}"
            f"{'' if message.endswith(('.', '!', '?')) else '.'}"
        )
    return tuple(lines)


def always_failed(results: Results, algorithm: str) -> bool:
    """Whether no training run behind a held-out loss of trial 0 succeeded."""
    row, losses = first_trial(results), held_out_losses(results, algorithm)
    worst = losses.dtype.type(about_results(results).worst)
    runs = results.experiment.sizes.k if results.experiment.algorithmic else 1
    return bool(results.arrays[algorithm]["failed"][row] >= runs and np.all(losses == worst))
