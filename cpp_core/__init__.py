"""Conformal performance prediction: forecast the next loss, with a stated guarantee."""

from cpp_core.catalog.algorithms import ALGORITHMS, Algorithm, make_algorithm
from cpp_core.catalog.datasets import DATASETS, Dataset, add_table, digits_features, load_dataset
from cpp_core.catalog.loss_files import LossTable, read_losses
from cpp_core.catalog.losses import LOSSES, f1, log_loss
from cpp_core.estimators.algorithm_cpp import AlgorithmCPP
from cpp_core.estimators.candidate_cpp import CandidateCPP
from cpp_core.estimators.symbolic_cpp import SymbolicCPP
from cpp_core.learners.gradient import GradientDescent, StochasticGradientDescent
from cpp_core.learners.svm import PlattSVC
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
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.trials.running import run, stream
from cpp_core.trials.store import Store, default_store
from cpp_core.version import __version__

__all__ = [
    "ALGORITHMS",
    "DATASETS",
    "LOSSES",
    "Algorithm",
    "AlgorithmCPP",
    "CandidateCPP",
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
    "__version__",
    "add_table",
    "batch_errors",
    "batch_mean",
    "conformal_ranks",
    "coverage_law",
    "default_store",
    "digits_features",
    "f1",
    "grouped_ranks",
    "interval",
    "load_dataset",
    "log_loss",
    "make_algorithm",
    "read_losses",
    "run",
    "scores_needed",
    "stream",
    "tolerance_rank",
]
