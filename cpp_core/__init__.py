"""Conformal performance prediction: forecast the next loss, with a stated guarantee."""

from cpp_core.algorithm import AlgorithmCPP
from cpp_core.algorithms import ALGORITHMS, Algorithm, make_algorithm
from cpp_core.candidate import CandidateCPP
from cpp_core.datasets import DATASETS, Dataset, add_table, digits_features, load_dataset
from cpp_core.experiment import Experiment
from cpp_core.gradient import GradientDescent, StochasticGradientDescent
from cpp_core.losses import LOSSES, Loss, LossError, batch_mean, f1, log_loss
from cpp_core.ranks import (
    InfiniteEndWarning,
    batch_errors,
    conformal_ranks,
    coverage_law,
    grouped_ranks,
    interval,
    scores_needed,
    tolerance_rank,
)
from cpp_core.results import Results
from cpp_core.runs import Cost, cost, run, stream
from cpp_core.store import Store, default_store
from cpp_core.svm import PlattSVC
from cpp_core.symbolic import SymbolicCPP
from cpp_core.tables import LossTable, read_losses
from cpp_core.training import FailedFitWarning, Failure

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "DATASETS",
    "LOSSES",
    "Algorithm",
    "AlgorithmCPP",
    "CandidateCPP",
    "Cost",
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
    "add_table",
    "batch_errors",
    "batch_mean",
    "conformal_ranks",
    "cost",
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
