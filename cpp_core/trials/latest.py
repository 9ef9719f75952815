"""The latest cases held out: what random splits cannot show.

Random splits train on the future of the cases that they judge. Here one candidate of each algorithm
is trained and calibrated on the earlier rows, at random among them, and judged on the latest. Under
drift no bound is promised: what is found describes this one hold-out.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from cpp_core.catalog.times import moments
from cpp_core.method.threads import one_thread
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.one_trial import arrays_of, with_failures
from cpp_core.trials.results import Results
from cpp_core.trials.trial_entry import data_rng, entry_of


def latest_held_out(experiment: Experiment, times: Any, seed: int = 0) -> Results:
    """Results of one split in time: the last ``test_size`` rows test, the earlier ones do the rest.

    ``times`` has a date or number for each row of the experiment's table (``moments``); rows
    without one have no part in it. Only for a candidate: a retrained one would need as many latest
    rows again.
    """
    table = experiment.data.table
    if table is None or not experiment.kind.holds_out:
        raise ValueError("The latest rows can be held out of a table, for the candidate variant.")
    when = moments(times)
    if len(when) != len(table[1]):
        raise ValueError(f"{len(when)} times were given for {len(table[1])} rows; give one each.")
    rng = data_rng(seed, 0)
    shuffled = rng.permutation(len(when))  # rows of the same time are in random order
    shuffled = shuffled[~np.isnan(when[shuffled])]
    order = shuffled[np.argsort(when[shuffled], kind="stable")]
    if len(order) and when[order[0]] == when[order[-1]]:
        raise ValueError("All rows have the same time, so that none is later than another.")
    n_test = experiment.test_size or 1
    if len(order) < n_test + 2:
        raise ValueError(
            f"{len(order)} rows have a time, but {n_test} are to be held out as the latest and "
            "some to come before them; fill in times, or hold out fewer."
        )
    earlier = rng.permutation(order[: len(order) - n_test])[: experiment.n or 0]
    rows = np.concatenate([earlier, order[-n_test:]])
    spent = replace(experiment, n=len(earlier))
    sample = table[0][rows], table[1][rows], rows
    arrays = {}
    with one_thread():
        for name in spent.algorithms:
            entry = entry_of(spent, name, seed, 0, sample)
            measured = entry.measured()
            first = next((f"{f.algorithm}: {f.message}" for f in measured.failures), "")
            own = with_failures(arrays_of(entry, measured), len(measured.failures), first)
            arrays[name] = {array: values[None] for array, values in own.items()}
    return Results(spent, seed, np.arange(1), arrays, 1)
