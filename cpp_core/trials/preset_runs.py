"""Which of the paper's runs an experiment is."""

from dataclasses import replace
from functools import lru_cache

from cpp_core.catalog.presets import PRESETS
from cpp_core.trials.experiment import Experiment


@lru_cache(maxsize=64)
def preset_of(experiment: Experiment) -> str | None:
    """Which of the paper's runs an experiment is, in whatever order its algorithms are named.

    One that starts with automatic sizes is known by those too.

    >>> preset_of(Experiment(algorithms=("svm-rbf", "svm-lin"))), preset_of(Experiment(n=1000))
    ('digits-candidate', None)
    """

    def in_order(of: Experiment) -> Experiment:
        return replace(of, algorithms=tuple(sorted(of.algorithms)))

    runs = {in_order(Experiment.preset(name)): name for name in PRESETS}
    started = [name for name, preset in PRESETS.items() if preset.automatic]
    runs |= {in_order(Experiment.preset(name, n_sets=None)): name for name in started}
    return runs.get(in_order(experiment))
