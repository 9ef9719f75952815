"""Single test cases: the trial's own numbers, plain twins, and the law over many trials."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from cpp_core import Experiment, add_table, conformal_ranks, make_algorithm
from cpp_core.catalog.regressors import REGRESSORS, Regressor
from cpp_core.trials import fresh_candidates
from cpp_core.trials.case_study import (
    CONSTRUCTIONS,
    VARIANT_OF,
    case_experiment,
    case_study,
    inside,
    usual_construction,
    with_construction,
    x_study,
)
from cpp_core.trials.class_study import class_bounds, class_study
from cpp_core.trials.fresh_candidates import case_losses, fits_per_case, fresh_samples
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.results import Results
from cpp_core.trials.symbol_study import case_symbols, symbol_study
from cpp_core.trials.trial_entry import trial_sample
from tests.builders import Band, Line, register_quick

IRIS = Experiment(dataset="iris", algorithms=("naive-bayes", "knn"), variant="z-variable", n_sets=9)
RIDGE = Experiment(
    dataset="growing-noise",
    algorithms=("ridge",),
    variant="z-fixed",
    regressor="extra-trees",
    n=160,
    n_sets=20,
    test_size=12,
)


@pytest.fixture(scope="module")
def iris():
    return case_study(IRIS, 0, 2)


@pytest.fixture(scope="module")
def digits():
    return case_study(Experiment.preset("digits-instance"))


def agrees_with_trial(study):
    for construction in VARIANT_OF:
        sibling = with_construction(study.experiment, construction)
        with threadpool_limits(1):
            block, _ = run_block(sibling, study.seed, [study.trial])
        results = Results(sibling, study.seed, np.array([study.trial]), block, 1)
        for name in sibling.algorithms:
            arrays = block[name]
            np.testing.assert_array_equal(study.calibration[name], arrays["calibration"][0])
            np.testing.assert_array_equal(study.losses[name], arrays["test"][0])
            for alpha, side in ((0.1, "two-sided"), (0.25, "upper"), (0.01, "two-sided")):
                sets = study.sets(name, construction, alpha, side)
                assert sets.shape == (len(study.y), 2)
                found = results.reader(name).sets(alpha, side)
                np.testing.assert_array_equal(sets[study.tested, 0], found.lower[0])
                np.testing.assert_array_equal(sets[study.tested, 1], found.upper[0])
                row = results.at(alpha, side).set_index("algorithm").loc[name]
                assert tuple(sets[study.tested[0]]) == (row["lower"], row["upper"])
                covered = [
                    inside(sets[case], study.losses[name][i : i + 1])[0]
                    for i, case in enumerate(study.tested)
                ]
                assert np.mean(covered) == row["test_coverage"]


def test_digits_are_those_of_the_trial(digits):
    agrees_with_trial(digits)
    assert (digits.k, digits.m) == (50, 12)
    assert len(digits.y) == 450
    assert digits.tested.tolist() == list(range(0, 34 * 13, 13))
    _, _, rows = trial_sample(digits.experiment, 0, 0)
    np.testing.assert_array_equal(digits.rows[: 34 * 13], rows[1347:])
    assert len({*digits.rows, *rows[:1347]}) == 1797
    assert digits.more_needed(0.1) == 0
    assert digits.more_needed(0.01) == 49
    assert not any(digits.failures.values())


@pytest.mark.no_cover  # the lines of the test above, of other data
@pytest.mark.parametrize(
    "experiment",
    [
        RIDGE,
        Experiment(
            dataset="diabetes", algorithms=("ridge", "dummy"), variant="z-variable", n_sets=20
        ),
        pytest.param(
            case_experiment(
                Experiment(
                    dataset="wine",
                    algorithms=("svm-lin", "svm-rbf", "logistic", "knn", "naive-bayes", "dummy"),
                )
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["simulated", "regression", "six algorithms"],
)
def test_others_are_those_of_the_trial(experiment):
    study = case_study(experiment, 3, 1)
    agrees_with_trial(study)
    simulated = experiment.data.table is None
    assert len(study.y) == (experiment.sizes.n_test if simulated else experiment.test_size)
    assert (study.rows == -1).all() == simulated
    if simulated:
        X, y, _ = trial_sample(experiment, 3, 1)
        np.testing.assert_array_equal(study.X, X[160::4])
        np.testing.assert_array_equal(study.y, y[160::4])
        assert with_construction(experiment, "variable").regressor == "quantile-extra-trees"


def test_curve_and_regressed_ends(iris):
    alphas = [0.05, 0.1, 0.3]
    for construction in CONSTRUCTIONS:
        curve = iris.curve("knn", construction, 4, alphas)
        expected = [iris.sets("knn", construction, alpha)[4] for alpha in alphas]
        np.testing.assert_array_equal(curve, expected)
        regressed = iris.predicted("knn", construction, 0.3)
        assert (regressed[:, 0] == regressed[:, 1]).all() == (construction == "fixed")
    # k = 9 scores are too few for 0.05: the ends are those of the loss's range.
    np.testing.assert_allclose(curve[0], [0, -math.log(np.finfo(float).eps)], rtol=1e-6)


@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_nested_sets_hold_those_at_less_confidence(digits, side):
    """One pair of levels for every alpha; at that alpha itself they are those of variable width."""
    alphas = [0.01, *np.arange(2, 51, 2) / 100]

    def nested(name, construction):
        found = [digits.sets(name, construction, alpha, side) for alpha in alphas]
        return all(
            (wide[:, 0] <= narrow[:, 0]).all() and (wide[:, 1] >= narrow[:, 1]).all()
            for wide, narrow in itertools.pairwise(found)
        )

    for name in digits.experiment.algorithms:
        assert nested(name, "nested")
        assert nested(name, "fixed")
        same = [digits.sets(name, own, 0.1, side) for own in ("nested", "variable")]
        np.testing.assert_array_equal(*same)
        levels = {digits.predicted(name, "nested", a, side).tobytes() for a in alphas}
        assert len(levels) == 1
    assert not all(nested(name, "variable") for name in digits.experiment.algorithms)


def test_training_subsets_of_a_case(digits):
    experiment = digits.experiment
    X, y, rows, at, training = fresh_samples(experiment, 0, 0, 7)
    assert training.shape == (37, 12)
    assert fits_per_case(experiment) == 37
    assert len(np.unique(training)) == training.size
    assert at not in training
    assert rows[at] == digits.rows[7]
    assert set(rows[training].ravel()) <= set(digits.rows)
    np.testing.assert_array_equal(X[at], digits.X[7])
    assert y[at] == digits.y[7]
    assert (training != fresh_samples(experiment, 0, 0, 8)[-1]).any()
    losses = case_losses(experiment, 0, 0, 7)
    assert {name: len(found) for name, found in losses.items()} == {"svm-lin": 37, "svm-rbf": 37}


def test_losses_at_a_case_by_hand():
    flipped = replace(IRIS, algorithms=("knn", "naive-bayes"))
    others = case_losses(flipped, 0, 2, 3)
    first = case_losses(IRIS, 0, 2, 5)
    found = case_losses(IRIS, 0, 2, 3)
    for name in IRIS.algorithms:  # neither the order of questions nor that of algorithms matters
        np.testing.assert_array_equal(found[name], others[name])
        np.testing.assert_array_equal(case_losses(IRIS, 0, 2, 5)[name], first[name])
    X, y, _, at, training = fresh_samples(IRIS, 0, 2, 3)
    assert training.shape == (37 // 5, 5)
    knn = make_algorithm("knn", "classification")
    for i, rows in enumerate(training):
        model = knn.fit(X[rows], y[rows])
        shares = dict(zip(model.classes_, model.predict_proba(X[[at]])[0], strict=True))
        expected = -math.log(max(shares.get(y[at], 0), np.finfo(float).eps))
        assert found["knn"][i] == pytest.approx(expected, rel=1e-6)


def test_losses_at_a_simulated_case():
    X, y, _, at, training = fresh_samples(RIDGE, 3, 1, 2)
    study = case_study(RIDGE, 3, 1)
    assert (X[at], y[at]) == (study.X[2], study.y[2])
    assert training.shape == (40, RIDGE.sizes.m)
    assert len(np.unique(training)) == training.size
    assert len(np.unique(y[training])) == training.size
    found = case_losses(RIDGE, 3, 1, 2)["ridge"]
    for i, rows in enumerate(training):
        model = make_algorithm("ridge").fit(X[rows], y[rows])
        assert found[i] == pytest.approx((y[at] - model.predict(X[[at]])[0]) ** 2, rel=1e-5)


def test_each_run_has_its_own_seed():
    experiment = Experiment(
        dataset="quadnoise", algorithms=("gd",), variant="z-variable", n=60, n_sets=10, test_size=3
    )
    start = {"gd": {"updates": 1, "step": 1e-9}}  # stays where it started: the seed decides
    losses = case_losses(replace(experiment, algorithm_settings=start), 0, 0, 1)["gd"]
    assert len(np.unique(losses)) == 40


@pytest.mark.slow
def test_the_law_over_trials(monkeypatch):
    """Set and fresh loss at a random case: p = hi/(k+1), for both constructions and sides."""
    forests = {"quantile-forest": ("quantile", Band), "random-forest": ("regression", Line)}
    for name, (modulation, learner) in forests.items():
        monkeypatch.setitem(REGRESSORS, name, Regressor(name, name, modulation, "", learner))
    monkeypatch.setattr(fresh_candidates, "N_FRESH", 1)
    experiment = Experiment(
        dataset="growing-noise",
        algorithms=("dummy",),
        variant="z-variable",
        n=54,
        n_sets=9,
        test_size=1,
    )
    questions = [
        (construction, alpha, side)
        for construction in CONSTRUCTIONS
        for alpha in (0.1, 0.3)
        for side in ("two-sided", "upper")
    ]
    trials, hits = 300, np.zeros((2, len(questions)), dtype=int)
    for trial in range(trials):
        z, x = case_study(experiment, 0, trial), x_study(experiment, 0, trial)
        fresh = case_losses(experiment, 0, trial, 0)["dummy"]
        for j, question in enumerate(questions):
            hits[0, j] += inside(z.sets("dummy", *question)[0], fresh)[0]
            hits[1, j] += inside(x.sets("dummy", *question)[0], x.losses["dummy"])[0]
    for i, k in enumerate((z.k, x.k)):
        for j, (_, alpha, _) in enumerate(questions):
            p = conformal_ranks(k, alpha, "upper")[1] / (k + 1)
            assert stats.binomtest(int(hits[i, j]), trials, p).pvalue > 1e-3, (k, questions[j])


def test_from_x_alone(iris):
    study = x_study(IRIS, 0, 2)
    assert (study.k, study.m, study.label_known) == (37, 37, False)
    np.testing.assert_array_equal(study.rows, iris.rows)
    np.testing.assert_array_equal(study.tested, np.arange(38))
    X, y, _ = trial_sample(IRIS, 0, 2)
    model = make_algorithm("naive-bayes", "classification").fit(X[:37], y[:37])
    labels = np.searchsorted(model.classes_, study.y)
    shares = model.predict_proba(study.X)[np.arange(38), labels]
    expected = -np.log(np.maximum(shares, np.finfo(float).eps))
    np.testing.assert_allclose(study.losses["naive-bayes"], expected, rtol=1e-5, atol=1e-7)
    assert study.sets("knn", "variable", 0.1, "upper").shape == (38, 2)


def test_the_label_moves_only_sets_that_may_know_it():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(400, 1)), (rng.random(400) < 0.2).astype(int)
    table = add_table(X, y, "classification")
    experiment = Experiment(
        dataset=table.name, algorithms=("dummy",), variant="z-variable", n_sets=20
    )
    for ask, distinct in ((x_study, 3), (case_study, 6)):
        study = ask(experiment)
        seen = {(*x, label) for x, label in zip(study.X, study.y, strict=True)}
        assert len(seen) == 6
        regressed = np.column_stack([study.X, study.predicted("dummy", "fixed")])
        assert len(np.unique(regressed, axis=0)) == distinct


def test_large_samples_are_regressed_in_part():
    experiment = replace(RIDGE, n=6000, algorithms=("dummy",), regressor="linear")
    study = x_study(experiment)
    assert (study.k, study.m) == (1000, 2000)


def test_a_failed_candidate_is_told():
    experiment = Experiment(
        dataset="diabetes",
        algorithms=("gd",),
        algorithm_settings={"gd": {"step": 1e200}},
        variant="z-variable",
        n_sets=10,
    )
    study, alone = case_study(experiment), x_study(experiment)
    assert len(study.failures["gd"]) == experiment.sizes.fits
    assert len(alone.failures["gd"]) == 1
    assert np.isinf(study.sets("gd")[:, 1]).all()
    assert np.isinf(case_losses(experiment, 0, 0, 0)["gd"]).all()


def test_bounds_per_class(digits):
    """A class's own losses: the first held-out case of the class in every group that has one."""
    groups = class_study(digits.experiment)
    assert groups.m == 12
    assert groups.labels.shape == (1347 // 22, 10)
    _, y, _ = trial_sample(digits.experiment, 0, 0)
    np.testing.assert_array_equal(groups.labels, y[: 61 * 22].reshape(61, 22)[:, :10])
    frame = class_bounds(digits, groups, 0.2, "upper")
    assert len(frame) == 20
    assert (frame.groupby("algorithm")["cases"].sum() == 450).all()
    assert (frame.groupby("algorithm")["tested"].sum() == 34).all()
    for name in digits.experiment.algorithms:
        own = frame[frame.algorithm == name].set_index("label")
        sets = digits.sets(name, "variable", 0.2, "upper")
        covered = [
            (sets[case, 0] <= loss <= sets[case, 1], digits.y[case])
            for case, loss in zip(digits.tested, digits.losses[name], strict=True)
        ]
        for label in range(10):
            scores = []
            for labels, losses in zip(groups.labels, groups.losses[name], strict=True):
                scores += [loss for y, loss in zip(labels, losses, strict=True) if y == label][:1]
            scores.sort()
            hi = math.ceil((len(scores) + 1) * 4 / 5)
            assert own.loc[label, "k"] == len(scores)
            assert own.loc[label, "more"] == max(0, 4 - len(scores))
            if hi <= len(scores):
                assert own.loc[label, "bound"] == scores[hi - 1]
            assert own.loc[label, "upper"] == np.median(sets[digits.y == label, 1])
            assert own.loc[label, "covered"] == sum(hit for hit, y in covered if y == label)
    tight = class_bounds(digits, groups, 0.001)
    assert (tight["more"] == 999 - tight["k"]).all()
    np.testing.assert_allclose(tight["bound"], digits.experiment.criterion.high, rtol=1e-6)
    plain = class_bounds(digits, None, 0.2, "upper")
    assert "bound" not in plain
    pd.testing.assert_frame_equal(plain, frame[plain.columns])


def test_a_class_without_groups_or_cases(iris):
    groups = class_study(IRIS, 0, 2)
    assert groups.labels.shape == (112 // 8, 3)
    alone = replace(groups, labels=np.full(groups.labels.shape, "setosa"))
    frame = class_bounds(replace(iris, y=np.full(38, "setosa")), alone).set_index("label")
    absent = frame.loc["virginica"]
    assert (absent["k"] == 0).all()
    assert (absent["more"] == 9).all()
    assert (absent["cases"] == 0).all()
    assert absent["upper"].isna().all()
    with pytest.raises(ValueError, match="Diabetes is a regression, without classes"):
        class_study(Experiment(dataset="diabetes", algorithms=("ridge",), variant="z-fixed"))


def test_many_classes_leave_as_many_training_cases():
    """Held-out cases of a group never outnumber what it trains with, however many classes."""
    one = Experiment(dataset="digits", algorithms=("knn",), variant="z-variable", n=24, n_sets=2)
    assert (one.sizes.m, class_study(one).labels.shape) == (5, (24 // 11, 6))


@pytest.mark.slow
@pytest.mark.slow
def test_the_law_within_a_class(monkeypatch):
    """A new case of a class, at a fresh candidate: p = hi/(k+1) with the k that the class has."""
    register_quick(monkeypatch)
    experiment = Experiment(
        dataset="two-classes", algorithms=("slope",), variant="z-variable", n=160, n_sets=10
    )
    hits, chances = 0, []
    for trial in range(400):
        groups = class_study(experiment, 0, trial)
        new = class_study(experiment, 1, trial)  # other draws of the same kind
        scores, fresh = (own.scores("slope", 1) for own in (groups, new))
        lo, hi = conformal_ranks(len(scores), 0.2, "upper")
        if hi <= len(scores) and len(fresh):
            hits += fresh[0] <= np.sort(scores)[hi - 1]
            chances.append((hi - lo) / (len(scores) + 1))
    assert len(chances) > 350
    z = (hits - sum(chances)) / math.sqrt(sum(p * (1 - p) for p in chances))
    assert abs(z) < stats.norm.ppf(1 - 0.0005)


@pytest.mark.parametrize("n_sets", [None, 12])
def test_symbols(n_sets):
    experiment = Experiment(
        dataset="breast-cancer",
        algorithms=("knn",),
        variant="symbolic",
        n_sets=n_sets,
    )
    study = symbol_study(experiment, 1, 1)
    block, _ = run_block(experiment, 1, [1])
    results = Results(experiment, 1, np.array([1]), block, 1)
    assert len(study.y) == 143
    for name in experiment.algorithms:
        np.testing.assert_array_equal(study.happened[name], block[name]["test_symbol"][0])
        for alpha in (0.1, 0.3):
            sets = study.sets(name, alpha)
            assert sets.shape == (143, 3)
            found = results.reader(name).sets(alpha)[0]
            np.testing.assert_array_equal(sets[study.tested], found)
        assert (study.sets(name, 0.001).sum(axis=1) == 2).all()
    assert study.more_needed(0.001) == 999 - study.k
    if n_sets is None:
        with pytest.raises(ValueError, match="about one trained candidate"):
            case_symbols(experiment, 1, 1, 0)
        return
    symbols = case_symbols(experiment, 1, 1, 5)["knn"]
    X, y, _, at, training = fresh_samples(experiment, 1, 1, 5)
    assert len(symbols) == len(training) == 142 // experiment.sizes.m
    for symbol, rows in zip(symbols, training, strict=True):
        if len(np.unique(y[rows])) == 2:
            model = make_algorithm("knn", "classification").fit(X[rows], y[rows])
            assert (symbol == "Correct") == (model.predict(X[[at]])[0] == y[at])


def test_experiments_for_looking_at_cases():
    instance = Experiment.preset("digits-instance")
    automatic = case_experiment(Experiment.preset("digits-candidate"))
    assert automatic == replace(instance, n_sets=19)
    assert automatic.sizes.m == 34
    assert case_experiment(instance) is instance
    assert case_experiment(RIDGE) is RIDGE
    retrained = case_experiment(Experiment.preset("quadnoise-algorithm"))
    assert (retrained.sizes.k, retrained.sizes.n_test) == (19, 250)
    assert dict(retrained.dataset_settings)["noise"] == "student"
    assert case_experiment(Experiment.preset("quadnoise-candidate")).sizes.m == 3750 // 19 - 1
    batch = Experiment(
        dataset="iris", algorithms=("knn",), variant="batch", loss="f1", batch_size=5
    )
    assert (case_experiment(batch).loss, case_experiment(batch).sizes.m) == ("log_loss", 5)
    symbolic = Experiment(dataset="two-classes", algorithms=("knn",), variant="symbolic")
    assert case_experiment(symbolic).loss == "log_loss"
    clipped = Experiment(dataset="wine", algorithms=("knn",), loss_settings={"clip": 0.01})
    assert case_experiment(clipped).criterion.high == pytest.approx(math.log(100))
    assert case_experiment(clipped).sizes.k == 66 // 6
    small_test = Experiment(dataset="digits", n=1600, test_size=10)
    assert case_experiment(small_test).sizes.m + 1 <= 10
    assert case_experiment(small_test).sizes.n_test == 1


def test_the_construction_that_is_asked_for():
    assert usual_construction(RIDGE) == "fixed"
    assert usual_construction(IRIS) == "variable"
    assert usual_construction(Experiment(dataset="iris", algorithms=("knn",))) == "variable"


@pytest.mark.parametrize("sizes", [(8, 100), (1600, 5), (22, 9)])
def test_too_small_for_looking_at_cases(sizes):
    n, test_size = sizes
    experiment = Experiment(dataset="digits", n=n, test_size=test_size)
    with pytest.raises(ValueError, match=f"n = {n} cases of Digits.* and {test_size} to test with"):
        case_experiment(experiment)


def test_bad_questions(iris):
    candidate = Experiment(dataset="iris", algorithms=("knn",))
    for ask in (case_study, x_study, class_study):
        with pytest.raises(ValueError, match="need the variant z-fixed or z-variable, but this"):
            ask(candidate)
    with pytest.raises(ValueError, match="need the variant z-fixed or z-variable"):
        case_losses(candidate, 0, 0, 0)
    for ask in (symbol_study, lambda experiment: case_symbols(experiment, 0, 0, 0)):
        with pytest.raises(ValueError, match="need the variant symbolic"):
            ask(IRIS)
    for case in (38, -1, 1.5, True):
        with pytest.raises(ValueError, match=r"There is no test case .*: the trial has 38"):
            case_losses(IRIS, 0, 2, case)
        with pytest.raises(ValueError, match="There is no test case"):
            iris.curve("knn", "fixed", case, [0.1])
    with pytest.raises(ValueError, match="'ridge' is not among the algorithms naive-bayes, knn"):
        iris.sets("ridge", "fixed")
    with pytest.raises(ValueError, match="no construction called 'fixd'; did you mean 'fixed'"):
        iris.sets("knn", "fixd")
    with pytest.raises(ValueError, match="side must be"):
        iris.sets("knn", "fixed", 0.1, "lower")
    with pytest.raises(ValueError, match="alpha must"):
        iris.sets("knn", "fixed", 10)
    with pytest.raises(ValueError, match="trial must be a whole number"):
        case_study(IRIS, 0, -1)
    with pytest.raises(ValueError, match="seed must be a whole number"):
        case_study(IRIS, -1, 0)
