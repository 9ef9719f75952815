"""Coverage through the estimators, one new case a repetition."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.rows import ALPHAS, EDGES, SIDES, Job, Row, covers, ranks
from benchmarks.truth.truths import (
    SAMPLE,
    SYMBOL_TRUTHS,
    TRUTHS,
    Band,
    Centre,
    Cut,
    Offset,
    Sample,
    Truth,
    draw_classes,
)
from cpp_core import AlgorithmCPP, CandidateCPP, SymbolicCPP

BATCH, RIVAL = 3, 0.5
LEVELS = [1 - alpha for alpha in ALPHAS]


def held(cpp: Any, new: float, *cases: Any, **groups: Any) -> NDArray:
    """Whether the set holds the new loss: (alphas, sides)."""
    sets = np.stack(
        [cpp.predict_interval(*cases, confidence_level=LEVELS, side=s, **groups) for s in SIDES], 1
    ).reshape(len(ALPHAS), len(SIDES), 2)
    return (sets[..., 0] <= new) & (new <= sets[..., 1])


def _split(sample: Sample, *sizes: int) -> list[Sample]:
    ends = np.cumsum(sizes)
    X, y = (np.split(values, ends) for values in sample)
    return list(zip(X, y, strict=True))[: len(sizes)]


def _difference(first: float, second: float) -> float:
    return 0.0 if first == second else first - second


def candidate(
    k: int, truth: Truth, rng: np.random.Generator, batch: int = 1, modulation: Any = None
) -> NDArray:
    """One trained model: plain, on batches, or with sets that move with X."""
    n = k * batch * (1 if modulation is None else 2)
    sample = truth.draw(SAMPLE + n + batch, rng)
    training, calibration, new = _split(sample, SAMPLE, n, batch)
    regressor = truth.regressors.get(modulation)
    cpp = CandidateCPP(
        Centre(brittle=truth.brittle), truth.loss, modulation=modulation,
        regressor=regressor and regressor(), batch_size=batch if batch > 1 else None,
        random_state=rng,
    )  # fmt: skip
    cpp.fit(*training).conformalize(*calibration)
    losses = truth.losses(None if cpp.failures_ else cpp.candidate_, new)
    return held(cpp, float(np.mean(losses)), *([] if modulation is None else [new[0]]))


def candidate_groups(k: int, truth: Truth, rng: np.random.Generator) -> NDArray:
    """Bounds within each of two groups, of which one has labels three times as large."""
    sample = truth.draw(SAMPLE + 2 * k + 1, rng)
    sample[1][SAMPLE + 1 :: 2] *= 3
    training, calibration, new = _split(sample, SAMPLE, 2 * k, 1)
    groups = np.arange(2 * k) % 2
    new = (new[0], 3 * new[1])
    cpp = CandidateCPP(Centre(brittle=truth.brittle), truth.loss, random_state=rng)
    cpp.fit(*training).conformalize(*calibration, groups=groups)
    losses = truth.losses(None if cpp.failures_ else cpp.candidate_, new)
    return held(cpp, losses[0], groups=[1])


def candidate_paired(
    k: int, truth: Truth, rng: np.random.Generator, modulation: Any = None
) -> NDArray:
    """The difference of two models that were trained elsewhere."""
    n = k * (1 if modulation is None else 2)
    training, calibration, new = _split(truth.draw(SAMPLE + n + 1, rng), SAMPLE, n, 1)
    models = [
        Centre(shrink, random_state=int(rng.integers(2**31))).fit(*training)
        for shrink in (1.0, RIVAL)
    ]
    regressor = truth.regressors.get(modulation)
    cpp = CandidateCPP(
        models[0], truth.loss, prefit=True, paired_with=models[1], modulation=modulation,
        regressor=regressor and regressor(), random_state=rng,
    ).conformalize(*calibration)  # fmt: skip
    first, second = (float(truth.losses(model, new)[0]) for model in models)
    return held(cpp, _difference(first, second), *([] if modulation is None else [new[0]]))


def algorithm(
    k: int,
    truth: Truth,
    rng: np.random.Generator,
    evaluations: int = 1,
    batch: int = 1,
    modulation: Any = None,
    pair: bool = False,
) -> NDArray:
    """An algorithm that is retrained: every construction of it."""
    n = k * (SAMPLE + evaluations * batch) * (1 if modulation is None else 2)
    regressor = truth.regressors.get(modulation)
    cpp = AlgorithmCPP(
        Centre(brittle=truth.brittle), truth.loss, n_sets=k, n_evaluations=evaluations,
        modulation=modulation, regressor=regressor and regressor(),
        batch_size=batch if batch > 1 else None,
        paired_with=Centre(RIVAL, truth.brittle) if pair else None, random_state=rng,
    ).conformalize(*truth.draw(n, rng))  # fmt: skip
    fresh, new = _split(truth.draw(SAMPLE + batch, rng), SAMPLE, batch)
    found = float(np.mean(truth.losses(truth.trained(1.0, fresh, rng), new)))
    if pair:
        rival = float(np.mean(truth.losses(truth.trained(RIVAL, fresh, rng), new)))
        found = _difference(found, rival)
    return held(cpp, found, *([] if modulation is None else new))


Construction = Callable[[int, Truth, np.random.Generator], NDArray]
CONSTRUCTIONS: dict[str, Construction] = {
    "CandidateCPP, plain": candidate,
    "CandidateCPP, batch": partial(candidate, batch=BATCH),
    "CandidateCPP, X-modulated, fixed": partial(candidate, modulation="regression"),
    "CandidateCPP, X-modulated, variable": partial(candidate, modulation="quantile"),
    "CandidateCPP, groups": candidate_groups,
    "CandidateCPP, paired": candidate_paired,
    "CandidateCPP, paired, fixed": partial(candidate_paired, modulation="regression"),
    "AlgorithmCPP, Z-free": algorithm,
    "AlgorithmCPP, grouped evaluations": partial(algorithm, evaluations=3),
    "AlgorithmCPP, Z-modulated, fixed": partial(algorithm, modulation="regression"),
    "AlgorithmCPP, Z-modulated, variable": partial(algorithm, modulation="quantile"),
    "AlgorithmCPP, batch": partial(algorithm, batch=BATCH),
    "AlgorithmCPP, paired": partial(algorithm, pair=True),
    "AlgorithmCPP, paired, variable": partial(algorithm, pair=True, modulation="quantile"),
}


ONE_MODEL_PAIRED = ("CandidateCPP, paired", "trials: candidate, paired", "trials: batch, paired")


def ranked_by(what: str, side: str) -> str:
    """Sets that move have the upper rank alone."""
    return "upper" if "fixed" in what or "variable" in what else side


def coverage_rows(
    what: str, truth: Truth, k: int, hits: NDArray, exact: bool | None = None
) -> list[Row]:
    """Rows of hits (repetitions, alphas, sides) of one construction."""
    exact = truth.exact if exact is None else exact
    if what.startswith(ONE_MODEL_PAIRED):
        exact = False  # |y - a| - |y - b| is the same for all y beyond a and b
    rows = []
    for i, alpha in enumerate(ALPHAS):
        for j, side in enumerate(SIDES):
            p = ranks(k, alpha, ranked_by(what, side))
            if "grouped" in what:
                exact, p = False, 1 - alpha  # type: ignore[assignment]
            setting = f"k = {k}, alpha = {alpha}, {side}"
            rows.append(covers(f"{what}: {truth.name}", setting, hits[:, i, j], p, exact))
    return rows


def run_construction(what: str, name: str, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """One construction under one truth."""
    truth, rows = TRUTHS[name], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in EDGES:
            own = CONSTRUCTIONS[what]
            hits = np.array([own(k, truth, each) for each in rng.spawn(repetitions)])
            rows += coverage_rows(what, truth, k, hits)
    return rows


# Kinds of error


def symbol_after(learner: Cut, fresh: Sample, new: Sample) -> str:
    """The kind of error of a retrained classifier at a case, without the package."""
    label = int(new[1][0])
    try:
        one_class = len(np.unique(fresh[1])) == 1
        predicted = fresh[1][0] if one_class else learner.fit(*fresh).predict(new[0])[0]
    except RuntimeError:
        predicted = 1 - label
    if predicted == label:
        return "Correct"
    return "FN" if label == 1 else "FP"


def symbolic(k: int, name: str, rng: np.random.Generator, retrained: bool = False) -> NDArray:
    """Whether the set of symbols holds what happens: (alphas,)."""
    truth = SYMBOL_TRUTHS[name]
    regressor = Band() if truth.regressor == "truth-band" else Offset()
    fresh, new = draw_classes(SAMPLE, rng), draw_classes(1, rng)
    learner = Cut(truth.brittle)
    cpp = SymbolicCPP(
        learner, 1, n_sets=k if retrained else None, classifier=truth.classifier(),
        regressor=regressor, random_state=rng,
    )  # fmt: skip
    if not retrained:
        cpp.fit(*fresh)
    cpp.conformalize(*draw_classes(3 * k * (SAMPLE + 1 if retrained else 1), rng))
    sets = cpp.predict_set(*new, confidence_level=LEVELS)[:, 0]
    return sets[:, cpp.symbols_.index(symbol_after(learner, fresh, new))]


def run_symbolic(
    retrained: bool, name: str, repetitions: int, rng: np.random.Generator
) -> list[Row]:
    """Sets of symbols under one truth."""
    what = f"SymbolicCPP, {'algorithm' if retrained else 'candidate'}: {name}"
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in EDGES:
            hits = [symbolic(k, name, each, retrained) for each in rng.spawn(repetitions)]
            for alpha, own in zip(ALPHAS, np.array(hits).T, strict=True):
                p, exact = ranks(k, alpha, "upper"), SYMBOL_TRUTHS[name].exact
                rows.append(covers(what, f"k = {k}, alpha = {alpha}", own, p, exact))
    return rows


def jobs() -> Iterator[Job]:
    """Every construction under every truth."""
    for what in CONSTRUCTIONS:
        share = 1.0 if what.startswith("Candidate") else 0.5
        for name in TRUTHS:
            run = partial(run_construction, what, name)
            yield Job(f"estimators: {what}: {name}", run, share)
    for retrained in (False, True):
        for name in SYMBOL_TRUTHS:
            whose = "algorithm" if retrained else "candidate"
            run = partial(run_symbolic, retrained, name)
            yield Job(f"estimators: SymbolicCPP, {whose}: {name}", run, 0.5)
