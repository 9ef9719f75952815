"""A user's table as an experiment: the numbers of the built-in one, and mixed columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import Pipeline, make_pipeline

from cpp_core import Experiment, Store, load_dataset, run
from cpp_core.catalog.datasets import DATASETS, OWN, forget
from cpp_core.report import report_html
from cpp_core.trials.case_study import case_study


@pytest.fixture(autouse=True)
def forgotten():
    """Tables of one test are unknown to the next."""
    yield
    OWN.clear()


def frame_of(name):
    data = load_dataset(name)
    X, y = data.table
    return pd.DataFrame(X, columns=list(data.feature_names)).assign(target=y)


def as_csv(frame, folder):
    frame.to_csv(folder / "own.csv", index=False)
    return pd.read_csv(folder / "own.csv")


def as_parquet(frame, folder):
    frame.to_parquet(folder / "own.parquet")
    return pd.read_parquet(folder / "own.parquet")


def mixed(n=240, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bonn", "Oslo", "Rome", None], n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n))
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D")
    y = (city == "Oslo") * 2.0 + np.nan_to_num(size, nan=50) / 20 + rng.normal(0, 0.5, n)
    return pd.DataFrame({"city": city, "size": size, "day": day, "y": y})


@pytest.mark.parametrize("written", [as_csv, as_parquet])
@pytest.mark.parametrize(
    ("name", "algorithms", "settings"),
    [
        ("iris", ("logistic", "random-forest"), {}),
        ("iris", ("knn", "naive-bayes"), {"variant": "z-free"}),
        ("diabetes", ("ridge", "knn"), {"variant": "z-fixed", "regressor": "linear"}),
        ("breast-cancer", ("knn", "logistic"), {"loss": "brier"}),
    ],
)
def test_the_numbers_of_the_built_in_table(name, algorithms, settings, written, tmp_path):
    own = Experiment.from_table(
        written(frame_of(name), tmp_path), target="target", algorithms=algorithms, **settings
    )
    known = Experiment(dataset=name, algorithms=algorithms, **settings)
    assert own.data.task == known.data.task
    assert own.sizes == known.sizes
    ours, theirs = (run(one, 2, n_jobs=1, store=Store(None)).arrays for one in (own, known))
    for entry, arrays in theirs.items():
        for kind, values in arrays.items():
            assert np.array_equal(ours[entry][kind], values), (entry, kind)


def test_the_same_content_has_the_same_name(tmp_path):
    frame = mixed()
    names = {
        Experiment.from_table(own, target="y").dataset
        for own in (
            frame,
            as_csv(frame, tmp_path).assign(day=frame["day"]),
            frame.astype({"city": "category"}),
        )
    }
    assert len(names) == 1
    others = [
        {"target": "size"},
        {"target": "y", "drop": ["day"]},
        {"target": "city", "task": "classification"},
    ]
    names |= {Experiment.from_table(frame, **asked).dataset for asked in others}
    names.add(Experiment.from_table(frame.replace("Rome", "Roma"), target="y").dataset)
    assert len(names) == 5


@pytest.mark.parametrize(
    ("variant", "settings"),
    [("candidate", {}), ("z-free", {}), ("z-fixed", {"regressor": "linear"}), ("z-variable", {}),
     ("batch", {}), ("symbolic", {})],
)  # fmt: skip
def test_every_variant_on_mixed_columns(variant, settings):
    frame = mixed()
    if variant == "symbolic":
        frame["y"] = np.where(frame["y"] > 3, "high", "low")
        settings = {"algorithms": ("logistic", "naive-bayes")}
    else:
        settings = {"algorithms": ("ridge", "knn"), **settings}
    experiment = Experiment.from_table(frame, target="y", variant=variant, **settings)
    results = run(experiment, 2, n_jobs=1, store=Store(None))
    assert all(own["failed"] == 0 for own in results.summary(0.2, "upper").values())
    if experiment.modulation:
        study = case_study(experiment)
        assert np.isfinite(study.predicted(experiment.algorithms[0])).all()


def test_only_mixed_columns_are_encoded():
    mixed_up = Experiment.from_table(mixed(), target="y")
    assert isinstance(mixed_up.make_algorithm("random-forest"), Pipeline)
    plain = Experiment.from_table(mixed().drop(columns=["city", "day"]).dropna(), target="y")
    assert not isinstance(plain.make_algorithm("random-forest"), Pipeline)
    gaps = Experiment.from_table(mixed().drop(columns=["city", "day"]), target="y")
    assert isinstance(gaps.make_algorithm("random-forest"), Pipeline)


def test_nobody_else_sees_a_table():
    experiment = Experiment.from_table(mixed(), target="y", label="Secret")
    assert experiment.dataset not in DATASETS
    assert experiment.data.label == "Secret"
    forget(experiment.dataset)
    with pytest.raises(ValueError, match="dataset") as told:
        load_dataset(experiment.dataset)
    assert "Secret" not in str(told.value)


def test_stored_losses_are_found_again(tmp_path):
    store = Store(tmp_path)
    first = run(Experiment.from_table(mixed(), target="y", algorithms=("ridge",)), 3, store=store)
    OWN.clear()
    again = Experiment.from_table(mixed(), target="y", algorithms=("ridge",))
    trials, _ = store.load(again.key("ridge", 0), range(3))
    assert len(trials) == 3
    known = run(again, 3, store=store)
    assert np.array_equal(known.arrays["ridge"]["test"], first.arrays["ridge"]["test"])


def test_what_is_kept_and_forwarded_of_a_table(tmp_path):
    frame = pd.DataFrame({"secret size": 1.5 * np.arange(80.0), "city": ["Oslo", "Rome"] * 40})
    frame["ill"] = np.where(frame["secret size"] % 7 > 3, "TopSecret", "well")
    costs = {"TopSecret": {"well": 5}, "well": {"TopSecret": 1}}
    chosen = {"algorithms": ("dummy", "naive-bayes"), "loss": "cost_matrix"}
    experiment = Experiment.from_table(frame, "ill", **chosen, loss_settings={"costs": costs})
    results = run(experiment, 2, store=Store(tmp_path), n_jobs=1)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert kept
    assert not [word for word in (b"TopSecret", b"secret size", b"Oslo") if word in kept]
    whole = report_html(results, side="upper")
    assert "rows and inputs of the table" in whole
    assert "secret size, city" in whole
    left_out = report_html(results, side="upper", sections=("comparison", "appendix"))
    assert "80, 2" in left_out
    assert "secret size" not in left_out
    assert "Oslo" not in whole


class Quotes(RegressorMixin, BaseEstimator):
    """Says what it was given, and fails."""

    def fit(self, X, y):
        raise ValueError(f"could not convert string to float: {X['name'].iloc[0]!r}")

    def predict(self, X):
        raise AssertionError


def test_what_a_failed_fit_said_of_the_cells_is_neither_stored_nor_printed(tmp_path):
    frame = pd.DataFrame({"name": ["Alice", "Bob"] * 40, "y": np.arange(80.0)})
    asked = {"algorithms": {"quotes": make_pipeline(Quotes())}, "loss": "absolute_error"}
    experiment = Experiment.from_table(frame, "y", "regression", **asked)
    results = run(experiment, 2, store=Store(tmp_path), n_jobs=1)
    assert "Alice" in results.failures["message"][0] + results.failures["message"][1]  # in memory
    again = run(experiment, 2, store=Store(tmp_path), n_jobs=1)
    assert again.failures["message"].str.endswith(": ValueError").all()
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert kept
    said = report_html(results, side="upper")
    assert "ValueError" in said
    for cell in ("Alice", "Bob"):
        assert cell.encode() not in kept
        assert cell not in said


def test_a_report_without_columns_has_none_of_the_labels():
    frame = pd.DataFrame({"size": np.arange(120.0), "ill": ["TopSecret", "well"] * 60})
    costs = {"TopSecret": {"well": 5}, "well": {"TopSecret": 1}}
    asks = [
        {"loss": "cost_matrix", "loss_settings": {"costs": costs}},
        {"variant": "symbolic", "positive_class": "TopSecret"},
    ]
    for asked in asks:
        experiment = Experiment.from_table(frame, "ill", algorithms=("dummy",), **asked)
        results = run(experiment, 1, store=Store(None), n_jobs=1)
        with_all = report_html(results, side="upper")
        left_out = report_html(results, side="upper", sections=("numbers", "appendix"))
        assert "TopSecret" in with_all
        assert "TopSecret" not in left_out
        assert "Then say costs and the positive class" in left_out


def test_groups_are_named_in_a_report_with_columns_alone():
    frame = mixed().assign(city=lambda own: own["city"].fillna("Wien"))
    asked = {"algorithms": ("dummy",), "loss": "absolute_error"}
    experiment = Experiment.from_table(frame, "y", "regression", group="city", **asked)
    results = run(experiment, 1, store=Store(None), n_jobs=1)
    assert "Within each group" in (whole := report_html(results, side="upper"))
    assert "Oslo" in whole
    assert "A new case of any other group has no bound here." in whole
    left_out = report_html(results, side="upper", sections=("details", "numbers", "appendix"))
    assert "Oslo" not in left_out
    retrained = Experiment.from_table(
        frame, "y", "regression", group="city", variant="z-free", n_sets=9, **asked
    )
    told = report_html(run(retrained, 1, store=Store(None), n_jobs=1), side="upper")
    assert "A bound for each group needs the question about the model at hand." in told
