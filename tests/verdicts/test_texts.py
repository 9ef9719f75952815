"""What was chosen, and what can be chosen, in words: each branch with a known truth."""

import pytest

from cpp_core import ALGORITHMS, DATASETS, LOSSES, Experiment, load_dataset
from cpp_core.catalog.losses import CLIPS
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.trials.preset_runs import preset_of
from cpp_core.verdicts.language import alpha_of_points, confidence_points
from cpp_core.verdicts.loss_words import clip_words
from cpp_core.verdicts.texts import (
    alpha_words,
    chosen_words,
    question_words,
    spent_words,
)

IRIS = {"dataset": "iris", "algorithms": ("naive-bayes",)}


@pytest.mark.parametrize("name", PRESETS)
def test_the_papers_runs_are_called_by_their_names(name):
    experiment = Experiment.preset(name)
    assert preset_of(experiment) == name
    assert chosen_words(experiment, 0.1, 20).startswith(f"{PRESETS[name].label} · ")
    other = Experiment.preset(name, algorithms=experiment.algorithms[:1])
    assert preset_of(other) is None


@pytest.mark.parametrize(
    ("settings", "alpha", "trials", "side", "told"),
    [
        (
            *(IRIS, 0.0123, 1, "upper"),
            "Iris: Naive Bayes · the model I have · log loss · 98.77 % confidence · 1 split",
        ),
        (
            {"dataset": "growing-noise", "algorithms": ("knn", "ridge")},
            *(0.2, 100, "two-sided"),
            "Growing noise: Nearest neighbours and Ridge · the model I have · squared error · "
            "80 % confidence, both sides · 100 simulated data sets",
        ),
        (
            IRIS | {"algorithms": ("naive-bayes", "dummy", "knn", "logistic"), "variant": "z-free"},
            *(0.1, 20, "upper"),
            "Iris: 4 algorithms · after retraining on 5 cases · log loss · 90 % confidence · "
            "20 splits",
        ),
        (
            IRIS | {"variant": "symbolic"},
            *(0.1, 20, "two-sided"),
            "Iris: Naive Bayes · what kind of error · 90 % confidence · 20 splits",
        ),
    ],
)
def test_what_was_chosen_is_one_line(settings, alpha, trials, side, told):
    assert chosen_words(Experiment(**settings), alpha, trials, side) == told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "the model I have"),
        ({"variant": "z-free", "n_sets": 10}, "after retraining on 10 cases"),
        ({"variant": "z-fixed", "n_sets": 10}, "at one case, after retraining on 4 cases"),
        ({"variant": "z-variable", "n_sets": 10}, "at one case, after retraining on 4 cases"),
        ({"variant": "symbolic"}, "what kind of error"),
        (
            {"variant": "symbolic", "n_sets": 18},
            "what kind of error, after retraining on 1 case",
        ),
        ({"variant": "batch", "batch_size": 5}, "on the next batch of 5"),
        (
            {"variant": "batch", "batch_size": 5, "n_sets": 4},
            "on the next batch of 5, after retraining on 23 cases",
        ),
    ],
)
def test_the_question_in_a_few_words(settings, told):
    assert question_words(Experiment(**IRIS, **settings)) == told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "Of 112 cases, 56 train each model and 56 calibrate its bound. 38 others test it."),
        (
            {"variant": "batch", "batch_size": 5},
            "Of 112 cases, 56 train each model and 11 batches calibrate its bound. 7 other batches "
            "test it.",
        ),
        (
            {"variant": "symbolic"},
            "Of 112 cases, 28 train each model and 3 x 28 find its sets. 38 others test it.",
        ),
        (
            {"variant": "z-free", "n_sets": 10, "n_evaluations": 2},
            "Of 112 cases, each of k = 10 training runs takes m = 9 and 2 more to be judged at.",
        ),
        (
            {"variant": "z-fixed", "n_sets": 10},
            "Of 112 cases, each of 2 x 10 training runs takes m = 4 and one more to be judged at.",
        ),
        (
            {"variant": "batch", "batch_size": 5, "n_sets": 4},
            "Of 112 cases, each of k = 4 training runs takes m = 23 and 5 more to be judged at.",
        ),
    ],
)
def test_how_the_cases_are_spent(settings, told):
    experiment = Experiment(**IRIS, **settings)
    assert spent_words(experiment) == told
    sizes, parts = experiment.sizes, experiment.kind.n_parts
    held_out = experiment.batch_size or experiment.n_evaluations
    if experiment.algorithmic:
        assert parts * sizes.k * (sizes.m + held_out) <= experiment.n
    else:
        assert (parts + 1) * sizes.m <= experiment.n


def test_a_confidence_is_the_alpha_that_was_typed():
    for points in range(50, 100):
        alpha = alpha_of_points(points)
        assert alpha == round(1 - points / 100, 2)
        assert confidence_points(alpha) == points
        assert alpha_words(alpha) == f"alpha {alpha:.2f}. Moving it trains nothing."
    assert alpha_of_points(confidence_points(0.0123)) == 0.0123
    assert alpha_words(0.0123) == "alpha 0.0123. Moving it trains nothing."


def test_all_that_can_be_picked_has_words_of_its_own():
    for known in (ALGORITHMS, LOSSES, REGRESSORS):
        labels = [entry.label for entry in known.values()]
        assert len(set(labels)) == len(labels)
    offered = [name for name in DATASETS if not name.startswith("table-")]  # a user's may be alike
    assert len({load_dataset(name).label for name in offered}) == len(offered)
    assert len({(kind.label, kind.width) for kind in VARIANTS.values()}) == len(VARIANTS)
    assert all("CPP" not in kind.technical for kind in VARIANTS.values())
    assert len({clip_words(name) for name in CLIPS}) == len(CLIPS)


def contrast(first, second):
    """WCAG's ratio of the luminances of two colours, as the standard writes it."""

    def luminance(color):
        total = 0.0
        for weight, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)):
            share = int(color[at : at + 2], 16) / 255
            total += weight * (
                share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
            )
        return total + 0.05

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return light / dark


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_tag_of_an_algorithm_can_be_read(name):
    color, ink = ALGORITHMS[name].color, ALGORITHMS[name].ink
    other = "#FFFFFF" if ink == "#000000" else "#000000"
    assert contrast(color, ink) >= 4.5
    assert contrast(color, ink) >= contrast(color, other)
