"""A test case with other values: what would be said about it, and what candidates would lose.

The sets come from the same training runs as the trial's, so that values that are not changed give
the same set. Nothing is promised about a case that somebody made up: it is not
drawn like the others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.constructions import Part
from cpp_core.method.measuring import measure
from cpp_core.method.threads import one_thread
from cpp_core.trials.case_study import CaseStudy, Sample, check_modulated, sample_of, with_sets
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.fresh_candidates import fresh_rng, fresh_samples
from cpp_core.trials.one_trial import as_kept
from cpp_core.trials.trial_entry import entry_of


@one_thread()
def what_if(
    experiment: Experiment, seed: int, trial: int, case: int, values: tuple[float, ...], label: Any
) -> tuple[CaseStudy, dict[str, NDArray]]:
    """A study of one case with these inputs and this label, and the losses of candidates there.

    The candidates are trained on the same cases as those of ``case_losses`` at the test case that
    the values were changed of.
    """
    check_modulated(experiment)
    X, y, rows, _, _ = sample_of(experiment, seed, trial)
    if len(values) != X.shape[1]:
        raise ValueError(f"{len(values)} values were given for {X.shape[1]} inputs; give each one.")
    X, y = np.vstack([X, values]), np.concatenate([y, np.asarray([label], dtype=y.dtype)])
    at = np.array([len(y) - 1])
    sample, done, lost = Sample(X, y, np.append(rows, -1), at, np.arange(0)), {}, {}
    fresh_X, fresh_y, _, place, training = fresh_samples(experiment, seed, trial, case)
    fresh_X, fresh_y = fresh_X.copy(), fresh_y.copy()
    fresh_X[place], fresh_y[place] = values, label
    parts = [Part("test", training, np.full((len(training), 1), place))]
    for name in experiment.algorithms:
        entry = entry_of(experiment, name, seed, trial, sample[:3])
        done[name] = entry, entry.measured(), entry.rng.spawn(1)[0]
        estimator, loss = experiment.make_algorithm(name), experiment.criterion
        rng = fresh_rng(seed, trial, case, name)
        measured = measure(estimator, loss, fresh_X, fresh_y, parts, rng)
        lost[name] = as_kept(measured.values["test"][:, 0])
    return with_sets(experiment, seed, trial, sample, experiment.sizes.m, True, done), lost
