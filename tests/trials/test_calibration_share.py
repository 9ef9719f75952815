"""A share of calibration that is fixed beforehand: sizes, names of numbers, and the exact laws."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cpp_core import Experiment, Results, coverage_law
from cpp_core.cli.commands import parser
from cpp_core.cli.run_command import experiment_of
from cpp_core.method.constructions import modulated, plain, symbolic
from cpp_core.report.reproduce import command_line
from cpp_core.trials.one_trial import run_block
from tests.builders import law_pvalues, register_quick

SHARES = (0.2, 0.5, 0.8)
TRIALS, NEW = 600, 40
LEAST = 1e-4
"""The p-value below which a law counts as broken; seeds are fixed, so that luck is too."""


def rows_of(part):
    return {*part.training.ravel().tolist(), *part.at.ravel().tolist()}


@pytest.mark.parametrize("layout", [plain, modulated, symbolic])
@pytest.mark.parametrize("n_sets", [None, 12])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.8])
def test_parts_are_disjoint_and_have_the_share(layout, n_sets, share):
    n = 1001
    parts = layout(n, n_sets, 1, share)
    seen = [row for part in parts for row in part.at.ravel()]
    trained = {row for part in parts for row in part.training.ravel()}
    assert len(seen) == len(set(seen))
    assert not trained & set(seen)
    assert max(*seen, *trained) < n
    assert parts[-1].role == "calibrate"
    if n_sets is None:
        before = len(parts[0].training) if len(parts) == 1 else len(parts[-2].at)
        assert len(parts[-1].at) / (before + len(parts[-1].at)) == pytest.approx(share, abs=0.01)
        return
    assert len(parts[-1].at) == n_sets
    assert len({part.training.shape[1] for part in parts}) == 1  # every run has the same m
    own = [rows_of(part) for part in parts]
    assert len(set().union(*own)) == sum(map(len, own))


@pytest.mark.parametrize(("layout", "n_parts"), [(plain, 1), (modulated, 2), (symbolic, 3)])
def test_half_is_what_equal_parts_are(layout, n_parts):
    n, k = 1001, 12
    size = n // (n_parts + 1)
    for i, part in enumerate(layout(n)):
        assert part.training.tolist() == list(range(size))
        assert part.at.ravel().tolist() == list(range(size * (i + 1), size * (i + 2)))
    size = n // n_parts
    for i, part in enumerate(layout(n, k)):
        m = size // k - 1
        dealt = np.arange(size * i, size * i + k * (m + 1)).reshape(k, m + 1)
        assert part.at.tolist() == dealt[:, :1].tolist()
        assert part.training.tolist() == dealt[:, 1:].tolist()


def test_the_usual_share_has_no_name():
    usual = Experiment()
    assert "calibration_share" not in usual.to_dict()
    assert replace(usual, calibration_share=0.50).key("svm-lin", 0) == usual.key("svm-lin", 0)
    other = replace(usual, calibration_share=0.2)
    assert other.key("svm-lin", 0) != usual.key("svm-lin", 0)
    again = Experiment.from_dict(json.loads(json.dumps(other.to_dict())))
    assert again == other
    assert (other.sizes.m, other.sizes.k) == (1077, 269)
    assert other.sizes.n_test == usual.sizes.n_test


def test_what_cannot_be_shared_is_said():
    for share in (0.05, 0.95):
        with pytest.raises(ValueError, match=r"must be from 0\.1 to 0\.9"):
            Experiment(calibration_share=share)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        Experiment(calibration_share=20)
    with pytest.raises(ValueError, match="leave calibration_share out"):
        Experiment(variant="z-free", calibration_share=0.2)
    with pytest.raises(ValueError, match="leave none for the other part"):
        Experiment(variant="z-fixed", n_sets=8, calibration_share=0.9)
    with pytest.raises(ValueError, match="at least 10 are needed"):
        Experiment(dataset="wine", algorithms=("dummy",), n=4, calibration_share=0.1)
    smallest = Experiment(dataset="wine", algorithms=("dummy",), n=10, calibration_share=0.1)
    assert smallest.sizes.k == 1


def test_the_command_says_it():
    experiment = Experiment(calibration_share=0.25, n=1000)
    command = command_line(experiment, 20, 0, 0.1, "upper")
    assert "--calibration-share 0.25" in command
    words = command.split()[3:]
    assert experiment_of(parser().parse_args(words)) == experiment


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    "kernels",
    [True, pytest.param(False, marks=pytest.mark.slow)],
    ids=["compiled", "fitted"],
)
def test_the_law_of_a_candidate(share, kernels):
    k = 19
    n = 2 * round(k / share / 2)
    algorithm, loss = ("gd", "squared_error") if kernels else ("ridge", "absolute_error")
    experiment = Experiment(
        dataset="quadnoise", algorithms=(algorithm,), loss=loss, n=n, test_size=NEW,
        calibration_share=share,
    )  # fmt: skip
    check_law(experiment, {"two-sided": "two-sided", "upper": "upper"})


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
def test_the_law_of_sets_that_move(share, monkeypatch):
    register_quick(monkeypatch)
    runs = {0.2: 95, 0.5: 38, 0.8: 23}[share]
    experiment = Experiment(
        dataset="two-classes", algorithms=("slope",), loss="log_loss", variant="z-variable",
        regressor="band", n=6 * runs + 20, n_sets=19, test_size=NEW, calibration_share=share,
    )  # fmt: skip
    assert experiment.sizes.k == 19
    check_law(experiment, {"upper": "upper"})


def check_law(experiment, sides):
    arrays, _ = run_block(experiment, 0, range(TRIALS))
    results = Results(experiment, 0, np.arange(TRIALS), arrays, TRIALS)
    rng = np.random.default_rng(1)
    for alpha in (0.1, 0.2):
        for side, ranked in sides.items():
            table = results.at(alpha, side)
            counts = (table["test_coverage"].to_numpy() * NEW).round().astype(int)
            first = table["new_loss_covered"].to_numpy(dtype=bool)
            law = coverage_law(experiment.sizes.k, alpha, ranked)
            assert min(law_pvalues(first, counts, NEW, law, rng)) > LEAST, (alpha, side)
