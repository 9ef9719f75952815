"""Experiments describe themselves, and refuse what cannot work."""

import json
from dataclasses import replace

import pytest

from cpp_core import Experiment, conformal_ranks
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.method.ranks import scores_needed
from cpp_core.trials.experiment import Sizes
from cpp_core.trials.usual_sizes import USUAL_ALPHA, usual_sets


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("digits-candidate", Sizes(673, 673, 450, 1, 450)),
        ("digits-instance", Sizes(50, 12, 34, 134, 442)),
        ("quadnoise-candidate", Sizes(3750, 3750, 2500, 1, 2500)),
        ("quadnoise-algorithm", Sizes(1000, 74, 250, 1250, 18750)),
    ],
)
def test_the_papers_sizes(name, sizes):
    assert Experiment.preset(name).sizes == sizes


@pytest.mark.parametrize("name", PRESETS)
def test_round_trip(name):
    experiment = Experiment.preset(name, algorithm_settings={"gd": {"updates": 7}, "sgd": {}})
    again = Experiment.from_dict(json.loads(json.dumps(experiment.to_dict())))
    assert again == experiment
    assert hash(again) == hash(experiment)
    assert again.key(experiment.algorithms[0], 3) == experiment.key(experiment.algorithms[0], 3)


def test_keys_tell_what_matters():
    base = Experiment.preset("quadnoise-candidate")
    key = base.key("gd", 0)
    assert replace(base, algorithms=("gd",)).key("gd", 0) == key
    assert replace(base, algorithms=("sgd", "ridge", "gd")).key("gd", 0) == key
    others = [
        base.key("sgd", 0),
        base.key("gd", 1),
        replace(base, n=7000).key("gd", 0),
        replace(base, algorithm_settings={"gd": {"updates": 6}}).key("gd", 0),
        replace(base, dataset_settings={"d": 3}).key("gd", 0),
    ]
    assert len({key, *others}) == 6
    assert replace(base, algorithm_settings={"sgd": {"passes": 6}}).key("gd", 0) == key


@pytest.mark.parametrize(
    ("variant", "options", "sizes"),
    [
        ("candidate", {}, Sizes(213, 213, 143, 1, 143)),
        ("z-free", {}, Sizes(19, 21, 6, 25, 132)),
        ("z-free", {"n_evaluations": 3}, Sizes(19, 19, 7, 26, 140)),
        ("z-fixed", {"n_sets": 20}, Sizes(20, 9, 14, 54, 140)),
        ("z-variable", {"n_sets": 20}, Sizes(20, 9, 14, 54, 140)),
        ("symbolic", {}, Sizes(106, 106, 143, 1, 143)),
        ("symbolic", {"n_sets": 20}, Sizes(20, 6, 20, 80, 140)),
        ("batch", {}, Sizes(21, 213, 14, 1, 143)),
        ("batch", {"n_sets": 20, "batch_size": 5}, Sizes(20, 16, 6, 26, 126)),
    ],
)
def test_sizes_of_every_variant(variant, options, sizes):
    experiment = Experiment(
        dataset="breast-cancer", algorithms=("logistic",), variant=variant, **options
    )
    assert experiment.sizes == sizes


@pytest.mark.parametrize("variant", [v.name for v in VARIANTS.values() if v.retrains])
def test_the_usual_k_is_just_enough(variant):
    """One subset fewer would have no two-sided end at the usual alpha; each has m cases more."""
    k = usual_sets(variant, 1347)
    assert k == scores_needed(USUAL_ALPHA, "two-sided")
    assert conformal_ranks(k, USUAL_ALPHA) == (1, k)
    assert conformal_ranks(k - 1, USUAL_ALPHA) == (0, k)
    assert k >= scores_needed(USUAL_ALPHA / 2, "upper")  # slack for upper bounds and moving sets


def test_defaults_depend_on_the_task():
    assert Experiment(dataset="iris", algorithms=("knn",)).loss == "log_loss"
    assert Experiment(dataset="diabetes", algorithms=("knn",)).loss == "squared_error"
    batch = Experiment(dataset="diabetes", algorithms=("knn",), variant="batch")
    assert (batch.loss, batch.batch_size) == ("rmse", 10)
    symbolic = Experiment(dataset="iris", algorithms=("knn",), variant="symbolic")
    assert (symbolic.positive_class, symbolic.regressor) == ("virginica", "quantile-forest")
    clipped = Experiment(loss_settings={"clip": 1e-3})
    assert clipped.criterion.high == pytest.approx(6.9078, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dataset": "digit"}, "did you mean 'digits'"),
        ({"algorithms": ("svm-line",)}, "did you mean 'svm-lin'"),
        ({"algorithms": ()}, "pick 1 to 6"),
        ({"algorithms": ("knn", "knn")}, "named twice"),
        ({"algorithms": ("gd",)}, "GD does regression, but Digits is a classification"),
        ({"algorithm_settings": {"svm": {}}}, "no algorithm called 'svm'"),
        ({"algorithm_settings": {"svm-lin": {"depth": 3}}}, "does not take these settings"),
        ({"loss": "logloss"}, "did you mean 'log_loss'"),
        ({"loss": "squared_error"}, "is for a regression"),
        ({"loss": "accuracy"}, "needs a loss per case"),
        ({"loss": "hinge", "algorithms": ("knn",)}, "has no decision_function"),
        ({"loss": "brier", "loss_settings": {"clip": 0.1}}, "does not take the settings"),
        ({"variant": "z-fre"}, "did you mean 'z-free'"),
        ({"variant": "batch", "loss": "log_loss"}, "needs a metric on a batch"),
        ({"variant": "candidate", "n_sets": 5}, "leave n_sets out"),
        ({"variant": "z-free", "n_sets": 0}, "n_sets must be a whole number"),
        ({"variant": "z-free", "n_sets": 1000}, "at least 2000 points are needed"),
        ({"variant": "z-fixed", "n_evaluations": 2}, "is for the z-free variant"),
        ({"variant": "z-free", "regressor": "linear"}, "regresses nothing"),
        ({"variant": "z-fixed", "regressor": "quantile-forest"}, "no regression regressor"),
        ({"variant": "z-free", "batch_size": 5}, "batch_size is for the batch variant"),
        ({"variant": "batch", "batch_size": 0}, "batch_size must be"),
        ({"variant": "batch", "batch_size": 500}, "leave nothing|no test loss"),
        ({"variant": "symbolic", "loss": "zero_one"}, "leave the loss out"),
        ({"variant": "symbolic", "positive_class": 11}, "is not a class of Digits"),
        ({"positive_class": 1}, "positive_class is for the symbolic variant"),
        ({"n": 1}, "n must be a whole number of at least 2"),
        ({"n": 1700, "test_size": 200}, "make 1900, but Digits has 1797"),
        ({"n": 2, "variant": "symbolic"}, "leave nothing to calibrate with"),
        ({"variant": "z-free", "n_sets": 5, "test_size": 20}, "leave no test loss"),
    ],
)
def test_what_cannot_work(options, says):
    with pytest.raises(ValueError, match=says):
        Experiment(**{"dataset": "digits", "algorithms": ("svm-lin",), **options})


def test_symbols_need_classes():
    with pytest.raises(ValueError, match="need a classification"):
        Experiment(dataset="diabetes", algorithms=("ridge",), variant="symbolic")
    with pytest.raises(ValueError, match="no field of an experiment called 'datset'"):
        Experiment.from_dict({"datset": "digits"})
    with pytest.raises(ValueError, match="did you mean 'digits-candidate'"):
        Experiment.preset("digits-candidat")
