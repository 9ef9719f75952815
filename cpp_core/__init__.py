"""Conformal performance prediction: forecast the next loss, with a stated guarantee.

A name is loaded when it is first asked for: who reads losses never waits for what trains.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cpp_core.version import __version__

if TYPE_CHECKING:  # the same names for who reads types; a test compares the two
    from cpp_core.catalog.algorithms import ALGORITHMS, Algorithm, make_algorithm
    from cpp_core.catalog.costs import asymmetric_cost, cost_matrix, pinball
    from cpp_core.catalog.datasets import (
        DATASETS,
        Dataset,
        add_table,
        digits_features,
        load_dataset,
    )
    from cpp_core.catalog.loss_files import LossTable, read_losses
    from cpp_core.catalog.losses import LOSSES, f1, log_loss
    from cpp_core.catalog.own_algorithms import add_algorithm
    from cpp_core.estimators.algorithm_cpp import AlgorithmCPP
    from cpp_core.estimators.candidate_cpp import CandidateCPP
    from cpp_core.estimators.symbolic_cpp import SymbolicCPP
    from cpp_core.learners.gradient import GradientDescent, StochasticGradientDescent
    from cpp_core.learners.svm import PlattSVC
    from cpp_core.learners.table_encoder import TableEncoder
    from cpp_core.method.counts import batch_errors, tolerance_rank
    from cpp_core.method.evaluation import Loss, LossError, batch_mean
    from cpp_core.method.ranks import (
        InfiniteEndWarning,
        conformal_ranks,
        coverage_law,
        grouped_ranks,
        interval,
        scores_needed,
    )
    from cpp_core.method.training import FailedFitWarning, Failure
    from cpp_core.report.comparison import Comparison, compare
    from cpp_core.trials.experiment import Experiment
    from cpp_core.trials.results import Results
    from cpp_core.trials.running import run, stream
    from cpp_core.trials.store import Store, default_store

_HOMES = {
    "catalog.algorithms": "ALGORITHMS Algorithm make_algorithm",
    "catalog.costs": "asymmetric_cost cost_matrix pinball",
    "catalog.datasets": "DATASETS Dataset add_table digits_features load_dataset",
    "catalog.loss_files": "LossTable read_losses",
    "catalog.losses": "LOSSES f1 log_loss",
    "catalog.own_algorithms": "add_algorithm",
    "estimators.algorithm_cpp": "AlgorithmCPP",
    "estimators.candidate_cpp": "CandidateCPP",
    "estimators.symbolic_cpp": "SymbolicCPP",
    "learners.gradient": "GradientDescent StochasticGradientDescent",
    "learners.svm": "PlattSVC",
    "learners.table_encoder": "TableEncoder",
    "method.counts": "batch_errors tolerance_rank",
    "method.evaluation": "Loss LossError batch_mean",
    "method.ranks": "InfiniteEndWarning conformal_ranks coverage_law grouped_ranks interval "
    "scores_needed",
    "method.training": "FailedFitWarning Failure",
    "report.comparison": "Comparison compare",
    "trials.experiment": "Experiment",
    "trials.results": "Results",
    "trials.running": "run stream",
    "trials.store": "Store default_store",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "ALGORITHMS",
    "DATASETS",
    "LOSSES",
    "Algorithm",
    "AlgorithmCPP",
    "CandidateCPP",
    "Comparison",
    "Dataset",
    "Experiment",
    "FailedFitWarning",
    "Failure",
    "GradientDescent",
    "InfiniteEndWarning",
    "Loss",
    "LossError",
    "LossTable",
    "PlattSVC",
    "Results",
    "StochasticGradientDescent",
    "Store",
    "SymbolicCPP",
    "TableEncoder",
    "__version__",
    "add_algorithm",
    "add_table",
    "asymmetric_cost",
    "batch_errors",
    "batch_mean",
    "compare",
    "conformal_ranks",
    "cost_matrix",
    "coverage_law",
    "default_store",
    "digits_features",
    "f1",
    "grouped_ranks",
    "interval",
    "load_dataset",
    "log_loss",
    "make_algorithm",
    "pinball",
    "read_losses",
    "run",
    "scores_needed",
    "stream",
    "tolerance_rank",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("CPP_CORE_ALGORITHMS"):  # last: a file of one's own may use all of the above
    from cpp_core.catalog.own_algorithms import read_from_environment

    read_from_environment()
