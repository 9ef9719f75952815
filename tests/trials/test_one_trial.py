"""Trials: every variant, against the estimators and against plain twins."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import ThreadpoolController, threadpool_limits

from cpp_core import Experiment, PlattSVC, load_dataset, make_algorithm
from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.method.modulation import LEVELS
from cpp_core.method.threads import one_thread
from cpp_core.trials.gram import GramSVC, TableGram, gather, shared_gram
from cpp_core.trials.one_trial import array_names, run_block, run_trial
from cpp_core.trials.results import Results
from cpp_core.trials.trial_entry import algorithm_rng, plan_of, trial_sample
from tests.builders import VARIANTS, experiment_of, normal_sample


@pytest.mark.parametrize("name", VARIANTS)
def test_shapes_and_types(name):
    experiment = experiment_of(name)
    sizes = experiment.sizes
    arrays = run_trial(experiment, 0, 0)
    assert tuple(arrays) == experiment.entries
    assert len(arrays) == (3 if experiment.modulation else 2)
    for own in arrays.values():
        b = experiment.n_evaluations
        assert own["calibration"].shape == ((sizes.k, b) if b > 1 else (sizes.k,))
        assert own["test"].shape[0] == sizes.n_test
        assert own["calibration"].dtype == own["test"].dtype == np.float32
        assert own["failed"] == 0
        assert own["failure"] == b""
        assert set(own) == array_names(experiment)


@pytest.mark.no_cover  # the lines of the test above, again and again
@pytest.mark.parametrize("name", VARIANTS)
def test_a_trial_depends_on_its_seed_and_number_only(name):
    experiment = experiment_of(name)
    block, seconds = run_block(experiment, 5, [3, 1])
    assert seconds > 0
    again = run_trial(experiment, 5, 1)
    other = run_trial(experiment, 6, 1)
    alone = run_trial(experiment_of(name, algorithms=("naive-bayes",)), 5, 1)
    for algorithm, arrays in again.items():
        for key, values in arrays.items():
            np.testing.assert_array_equal(block[algorithm][key][1], values)
        assert (arrays["calibration"] != other[algorithm]["calibration"]).any()
    for key, values in alone["naive-bayes"].items():
        np.testing.assert_array_equal(again["naive-bayes"][key], values)


def test_a_plan_serves_until_anything_is_new():
    experiment = experiment_of("candidate")
    first = plan_of(experiment)
    assert plan_of(experiment_of("candidate")) is first
    assert plan_of(experiment_of("candidate", loss="brier")) is not first
    forests = [
        experiment_of(
            "candidate",
            algorithms=("random-forest",),
            algorithm_settings={"random-forest": {"n_estimators": 2, "max_features": share}},
        )
        for share in (1, 1.0)
    ]
    assert forests[0] == forests[1]  # yet one is a feature, the other all of them
    losses = [run_trial(own, 0, 0, plan_of(own))["random-forest"]["test"] for own in forests]
    assert (losses[0] != losses[1]).any()


def test_a_plan_is_not_that_of_an_algorithm_of_the_same_name():
    experiment = experiment_of("candidate", algorithms=("naive-bayes",))
    first = plan_of(experiment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ALGORITHMS, "naive-bayes", replace(ALGORITHMS["naive-bayes"], label="Other"))
        assert plan_of(experiment) is not first


def test_candidate_by_hand():
    experiment = experiment_of("candidate")
    X, y, rows = trial_sample(experiment, 0, 7)
    table = load_dataset("breast-cancer").table
    assert (table[0][rows] == X).all()
    assert (table[1][rows] == y).all()
    assert len(set(rows)) == len(rows) == 426 + 143
    model = make_algorithm("naive-bayes", "classification").fit(X[:213], y[:213])
    proba = np.clip(model.predict_proba(X)[np.arange(len(y)), (y == "malignant").astype(int)], 0, 1)
    expected = -np.log(np.maximum(proba, np.finfo(float).eps)).astype(np.float32)
    arrays = run_trial(experiment, 0, 7)["naive-bayes"]
    np.testing.assert_array_equal(arrays["calibration"], expected[213:426])
    np.testing.assert_array_equal(arrays["test"], expected[426:])


def test_z_free_by_hand():
    experiment = Experiment(
        dataset="quadnoise", algorithms=("ridge",), variant="z-free", n=90, n_sets=9, test_size=5
    )
    rng = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(2, 0)))
    data = load_dataset("quadnoise")
    (X, y), (X_test, y_test) = data.draw(90, rng), data.draw(50, rng)
    arrays = run_trial(experiment, 4, 2)["ridge"]
    for cases, labels, found in ((X, y, arrays["calibration"]), (X_test, y_test, arrays["test"])):
        for group, loss in enumerate(found):
            rows = slice(10 * group + 1, 10 * group + 10)
            model = make_algorithm("ridge").fit(cases[rows], labels[rows])
            expected = (labels[10 * group] - model.predict(cases[[10 * group]])[0]) ** 2
            assert loss == pytest.approx(expected, rel=1e-6)


def test_compiled_and_plain_algorithms_share_their_samples():
    """In the same trial GD's kernels and ridge see the same noise: their losses go together."""
    experiment = Experiment(
        dataset="quadnoise",
        algorithms=("gd", "ridge"),
        algorithm_settings={"gd": {"updates": 60}},
        n=4000,
        test_size=500,
    )
    arrays = run_trial(experiment, 0, 0)
    correlation = np.corrcoef(arrays["gd"]["test"], arrays["ridge"]["test"])[0, 1]
    assert correlation > 0.99
    together = run_trial(experiment, 0, 0)["gd"]["test"]
    alone = run_trial(Experiment(**{**experiment.to_dict(), "algorithms": ("gd",)}), 0, 0)
    np.testing.assert_array_equal(alone["gd"]["test"], together)


def test_stored_quantiles_are_those_of_the_forest():
    experiment = experiment_of("z-variable", algorithms=("naive-bayes",))
    arrays = run_trial(experiment, 0, 0)["naive-bayes"]
    assert arrays["test_ends"].shape == (experiment.sizes.n_test, len(LEVELS))
    assert (np.diff(arrays["test_ends"], axis=1) >= 0).all()
    assert LEVELS[[0, 19, -1]].tolist() == [0.005, 0.1, 0.995]


def test_failures_are_counted_and_told():
    experiment = Experiment(
        dataset="diabetes",
        algorithms=("gd", "dummy"),
        variant="z-free",
        n_sets=20,
        algorithm_settings={"gd": {"step": 1e200}},
    )
    block, _ = run_block(experiment, 0, range(3))
    results = Results(experiment, 0, np.arange(3), block, 3)
    failures = results.failures
    assert failures["algorithm"].unique().tolist() == ["gd"]
    assert failures["trial"].tolist() == [0, 1, 2]
    assert (failures["failed"] == experiment.sizes.fits).all()
    assert failures["message"].str.contains("FloatingPointError: the weights diverged").all()
    assert np.isinf(block["gd"]["calibration"]).all()
    assert results.at(0.2)["upper"].iloc[0] == np.inf


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_shared_gram_is_the_plain_machine(kernel):
    X, y = load_dataset("digits").table
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))
    train, new = rows[:300], rows[300:400]
    gram = TableGram(X)
    plain = PlattSVC(kernel=kernel, random_state=1).fit(X[train], y[train])
    fast = GramSVC(gram, kernel, random_state=1).fit(train, y[train])
    # Kernel values differ in the last digit, which the solver may amplify up to its tolerance.
    tolerance = {"rtol": 0, "atol": 1e-7 if kernel == "linear" else 1e-4}
    np.testing.assert_allclose(fast.predict_proba(new), plain.predict_proba(X[new]), **tolerance)
    np.testing.assert_array_equal(fast.predict(new), plain.predict(X[new]))
    np.testing.assert_allclose(
        fast.decision_function(new), plain.decision_function(X[new]), **tolerance
    )
    slices = gather.py_func(gram.inner, new[:3], train[:4])
    np.testing.assert_array_equal(slices, gram.inner[np.ix_(new[:3], train[:4])])
    np.testing.assert_array_equal(slices, gather(gram.inner, new[:3], train[:4]))


def test_a_shared_gram_is_compact_where_it_stays_exact():
    X, y = load_dataset("wine").table
    for table, kind in ((np.eye(3), np.uint16), (np.eye(3) / 2, np.float32), (X, np.float64)):
        gram = TableGram(table)
        assert gram.inner.dtype == gram.squared.dtype == kind
        np.testing.assert_array_equal(gram.inner, table @ table.T)
    train, new = np.arange(0, 178, 2), np.arange(1, 178, 2)
    plain = PlattSVC(random_state=1).fit(X[train], y[train])
    fast = shared_gram(PlattSVC(random_state=1), gram).fit(train, y[train])
    np.testing.assert_allclose(fast.predict_proba(new), plain.predict_proba(X[new]), atol=1e-3)
    with pytest.raises(ValueError, match="C must be greater than 0"):
        GramSVC(gram, C=-1.0).fit(train, y[train])


def test_shared_gram_is_for_its_kernels():
    gram = TableGram(np.eye(3))
    assert shared_gram(PlattSVC(), TableGram(1e200 * np.eye(3))) is None
    assert shared_gram(PlattSVC(kernel="poly"), gram) is None
    assert shared_gram(make_algorithm("knn"), gram) is None
    automatic = GramSVC(gram, "rbf", gamma="auto").fit(np.array([0, 1]), np.array([0, 1]))
    assert automatic.gamma_ == pytest.approx(1 / 3)


def test_generators_are_independent():
    draws = [algorithm_rng(0, t, name).random() for t in range(50) for name in ("a", "b", "c")]
    assert len(set(draws)) == 150
    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    assert normal_sample(2, algorithm_rng(0, 0, "a"))[1].shape == (2,)


def test_one_thread_until_the_last_block_is_done():
    with one_thread():
        pass  # the libraries are known

    def threads():
        return {library["num_threads"] for library in ThreadpoolController().info()}

    with threadpool_limits(2):
        before = threads()
        with one_thread():
            first = one_thread()
            with first:
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before


LATE = """
import sys
from threadpoolctl import threadpool_info
from cpp_core import Experiment, Store, run
import cpp_core.trials.one_trial as module
from cpp_core.method.threads import one_thread
assert "sklearn" not in sys.modules
with one_thread():  # another block, of what needs no scikit-learn
    plain = module.run_trial
    def looked(*args):
        print(sorted({own["user_api"] for own in threadpool_info()}))
        print({own["num_threads"] for own in threadpool_info()})
        return plain(*args)
    module.run_trial = looked
    run(Experiment(dataset="iris", algorithms=("naive-bayes",)), 1, n_jobs=1, store=Store(None))
print([own["num_threads"] for own in threadpool_info() if own["user_api"] == "openmp"])
"""


@pytest.mark.slow
def test_one_thread_for_libraries_that_come_with_the_estimator():
    """Fits of milliseconds took 5 times as long with a thread for each core."""
    several = {f"{name}_NUM_THREADS": "3" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, "-c", LATE], env={**os.environ, **several}, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["['blas', 'openmp']", "{1}", "[3]"], done.stderr
