"""Coverage and sentences through the trials, every repetition being a trial of its own data."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.estimators import BATCH, RIVAL, coverage_rows
from benchmarks.truth.rows import ALPHAS, EDGES, SIDES, Job, Row, covers, errs, find, ranks
from benchmarks.truth.truths import (
    OVERFLOWING,
    SAMPLE,
    SYMBOL_TRUTHS,
    TRUTHS,
    Centre,
    Cut,
    Offset,
    Truth,
    draw_classes,
)
from cpp_core import ALGORITHMS, DATASETS, LOSSES, Algorithm, Dataset, Experiment, Results
from cpp_core import batch_mean as batched
from cpp_core.catalog.regressors import REGRESSORS, Regressor
from cpp_core.trials.one_trial import run_block

FIRST, SECOND = "truth-first", "truth-second"
NUMERIC: dict[str, dict[str, Any]] = {
    "candidate": {"variant": "candidate"},
    "batch": {"variant": "batch", "batch_size": BATCH},
    "z-free": {"variant": "z-free"},
    "z-free, grouped": {"variant": "z-free", "n_evaluations": 3},
    "z-free, batch": {"variant": "batch", "batch_size": BATCH},
    "z-fixed": {"variant": "z-fixed", "regressor": "truth-line"},
    "z-variable": {"variant": "z-variable", "regressor": "truth-band"},
}
SPOKEN = ("continuous", "zero-one", "constant", "tiny beside vast", "failing fits",
          "greater is better", *OVERFLOWING)  # fmt: skip
"""Truths under which sentences are made of trials: dearer than coverage."""


def _algorithm(name: str, **makers: Callable[..., Any]) -> Algorithm:
    return Algorithm(name, name, "for trials of a known truth", "#000000", "circle", "/", makers)  # type: ignore[arg-type]


@contextmanager
def registered(truth: Truth, classifier: Callable[..., Any] | None = None) -> Iterator[None]:
    """Make truths and learners known by name; ``classifier`` stands in for the forest of symbols.

    A forest would take a hundred times as long.
    """
    name, brittle = f"truth-{truth.name}", truth.brittle
    datasets = {
        name: lambda: Dataset(name, name, "", "regression", truth.draw),
        "truth-symbols": lambda: Dataset(
            *("truth-symbols", "symbols", "", "classification", draw_classes), classes=(0, 1)
        ),
    }
    learners = {
        FIRST: _algorithm(FIRST, regression=partial(Centre, 1.0, brittle)),
        SECOND: _algorithm(SECOND, regression=partial(Centre, RIVAL, brittle)),
        "truth-cut": _algorithm("truth-cut", classification=Cut),
        "truth-brittle": _algorithm("truth-brittle", classification=partial(Cut, True)),
    }
    regressors = {
        "truth-line": Regressor(
            "truth-line", "Line", "regression", "a line", truth.regressors["regression"]
        ),
        "truth-band": Regressor(
            "truth-band", "Band", "quantile", "a band", truth.regressors["quantile"]
        ),
        "truth-offset": Regressor("truth-offset", "Offset", "quantile", "off", Offset),
    }
    losses = {name: truth.loss, f"{name}-batch": batched(truth.loss, f"{name}-batch")}
    with ExitStack() as stack:
        for known, own in ((DATASETS, datasets), (ALGORITHMS, learners)):
            stack.enter_context(patch.dict(known, own))  # type: ignore[arg-type]
        stack.enter_context(patch.dict(REGRESSORS, regressors))
        stack.enter_context(patch.dict(LOSSES, losses))
        if classifier is not None:
            find("cpp_core.method.symbols", "default_classifier")
            stack.enter_context(patch("cpp_core.method.symbols.default_classifier", classifier))
        warnings.simplefilter("ignore")
        yield


def numeric_results(variant: str, truth: Truth, k: int, trials: int, seed: int) -> Results:
    """Trials of two algorithms, one new loss each."""
    settings = NUMERIC[variant]
    batch = settings.get("batch_size", 1)
    loss = f"truth-{truth.name}{'-batch' if batch > 1 else ''}"
    if variant.startswith("z-"):
        parts = 2 if "regressor" in settings else 1
        held_out = batch * settings.get("n_evaluations", 1)
        sizes = {"n": parts * k * (SAMPLE + held_out), "n_sets": k, "test_size": 1}
    else:
        sizes = {"n": 2 * k * batch, "test_size": batch}
    experiment = Experiment(
        dataset=f"truth-{truth.name}", algorithms=(FIRST, SECOND), loss=loss, **settings, **sizes
    )
    assert experiment.sizes.k == k
    return results_of(experiment, trials, seed)


def results_of(experiment: Experiment, trials: int, seed: int) -> Results:
    """All trials of one seed."""
    arrays, _ = run_block(experiment, seed, range(trials))
    return Results(experiment, seed, np.arange(trials), arrays, trials)


def covered(results: Results, pair: bool) -> NDArray:
    """Whether each trial's new loss, or new difference, is covered: (trials, alphas, sides)."""

    def at(alpha: float, side: str) -> NDArray:
        if pair:
            found = results.paired(FIRST, SECOND, alpha, side)["new_difference_covered"]
        else:
            table = results.at(alpha, side)
            found = table.loc[table["algorithm"] == FIRST, "new_loss_covered"]
        return found.to_numpy(dtype=bool)

    return np.stack([np.stack([at(a, s) for s in SIDES], -1) for a in ALPHAS], 1)


def run_numeric(variant: str, name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """One variant under one truth: coverage of a loss and of a difference, overflow, sentences."""
    truth = TRUTHS[name]
    what = f"trials: {variant}"
    rows, paired, infinite, tied = [], [], [], []
    exact = truth.exact and name not in OVERFLOWING  # stored ones may have been clipped, and tie
    with warnings.catch_warnings(), registered(truth):
        for k in EDGES:
            results = numeric_results(variant, truth, k, repetitions, int(rng.integers(2**31)))
            rows += coverage_rows(what, truth, k, covered(results, False), exact)
            paired += coverage_rows(f"{what}, paired", truth, k, covered(results, True), exact)
            if name in OVERFLOWING:
                infinite.append(infinite_row(f"trials: {variant}", name, k, results))
                tied.append(tie_row(f"trials: {variant}", name, k, results))
        spoken = said(variant, truth, results) if name in SPOKEN else []
    return rows + paired + infinite + tied + spoken


def infinite_row(what: str, name: str, k: int, results: Results) -> Row:
    """How many trials have an infinite loss although no training run failed."""
    own = results.arrays[FIRST]
    losses = own["calibration"].reshape(len(results.trials), -1)
    odd = np.isinf(losses).any(axis=1) & (own["failed"] == 0)
    return errs(f"{what}: an infinite loss and no failed run: {name}", f"k = {k}", odd, 0.0)


def tie_row(what: str, name: str, k: int, results: Results) -> Row:
    """How many trials call two losses equal that differ: infinity minus infinity."""
    ties = results.paired(FIRST, SECOND)["ties"].to_numpy() > 0
    return errs(f"{what}: two losses that differ are a tie: {name}", f"k = {k}", ties, 0.0)


def singly(results: Results) -> Iterator[Results]:
    """Each trial as trial 0, the one that sentences quote."""
    for i in range(len(results.trials)):
        arrays = {
            name: {array: values[i : i + 1] for array, values in own.items()}
            for name, own in results.arrays.items()
        }
        yield Results(results.experiment, results.seed, np.arange(1), arrays, 1)


def beyond(bound: Any, new: float, truth: Truth) -> bool:
    """Whether a new loss is worse than its bound; no bound is no claim."""
    if bound is None:
        return False
    return bool(new < bound if truth.greater_is_better else new > bound)


def new_difference(one: Results) -> float:
    """The difference at a trial's new case: of a pair that moves as stored, else of two losses."""
    pair = one.arrays.get(f"{FIRST} minus {SECOND}")
    if pair is not None:
        return pair["test"][0, 0]
    first, second = (one.arrays[name]["test"][0, 0] for name in (FIRST, SECOND))
    return 0.0 if first == second else first - second


def said(variant: str, truth: Truth, results: Results, alpha: float = 0.1) -> list[Row]:
    """Sentences of each trial against its new loss: a bound, the next case, the safe winner."""
    expected = find("cpp_core.verdicts.bounds", "expected_loss")
    judged = find("cpp_core.verdicts.pairs", "judged")
    safe = find("cpp_core.verdicts.selection", "selection_safe")
    bounds, nexts, winners = [], [], []
    for one in singly(results):
        new = {name: one.arrays[name]["test"][0, 0] for name in (FIRST, SECOND)}
        bounds.append(beyond(expected(one, FIRST, alpha).facts.get("bound"), new[FIRST], truth))
        facts = judged(one, FIRST, SECOND, alpha, "next case").facts
        nexts.append(not facts["lower"] <= new_difference(one) <= facts["upper"])
        facts = safe(one, alpha).facts
        chosen = facts.get("chosen")
        winners.append(beyond(facts.get("bound"), new.get(chosen, np.nan), truth))
    setting = f"{variant}, k = {results.experiment.sizes.k}, alpha = {alpha}"
    sentences = {"expected_loss": bounds, "judged, next case": nexts, "selection_safe": winners}
    return [
        errs(f"sentence: {sentence}: {variant}: {truth.name}", setting, false, alpha)
        for sentence, false in sentences.items()
    ]


# Kinds of error


def run_symbolic(
    retrained: bool, name: str, repetitions: int, rng: np.random.Generator
) -> list[Row]:
    """Sets of symbols under one truth, and the sentence on them."""
    truth = SYMBOL_TRUTHS[name]
    expected = find("cpp_core.verdicts.bounds", "expected_loss")
    whose = "algorithm" if retrained else "candidate"
    rows = []
    with warnings.catch_warnings(), registered(TRUTHS["continuous"], truth.classifier):
        learner = "truth-brittle" if truth.brittle else "truth-cut"
        for k in EDGES:
            sizes = {"n": 3 * k * (SAMPLE + 1), "n_sets": k} if retrained else {"n": 4 * k}
            experiment = Experiment(
                dataset="truth-symbols", algorithms=(learner,), variant="symbolic", test_size=1,
                regressor=truth.regressor, positive_class=1, **sizes,
            )  # fmt: skip
            results = results_of(experiment, repetitions, int(rng.integers(2**31)))
            for alpha in ALPHAS:
                hits = results.at(alpha)["new_loss_covered"].to_numpy(dtype=bool)
                p, setting = ranks(k, alpha, "upper"), f"k = {k}, alpha = {alpha}"
                what = f"trials: symbolic, {whose}: {name}"
                rows.append(covers(what, setting, hits, p, truth.exact))
        symbols, false = ("Correct", "FP", "FN"), []
        for one in singly(results):
            happened = symbols[int(one.arrays[learner]["test_symbol"][0, 0])]
            false.append(happened not in expected(one, learner, 0.1).facts["symbols"])
    what = f"sentence: expected_loss: symbolic, {whose}: {name}"
    return [*rows, errs(what, f"k = {k}, alpha = 0.1", false, 0.1)]


def jobs() -> Iterator[Job]:
    """Every variant under every truth."""
    for variant in NUMERIC:
        for name in TRUTHS:
            share = 0.6 if variant == "candidate" else 0.4
            yield Job(f"trials: {variant}: {name}", partial(run_numeric, variant, name), share)
    for retrained in (False, True):
        for name in SYMBOL_TRUTHS:
            whose = "algorithm" if retrained else "candidate"
            run = partial(run_symbolic, retrained, name)
            yield Job(f"trials: symbolic, {whose}: {name}", run, 0.6)
