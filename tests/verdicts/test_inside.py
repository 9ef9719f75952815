"""How many calibration losses a set holds: counts against plain ones, words in every branch."""

import re
from dataclasses import replace

import numpy as np
import pytest

from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.inside import held, held_title, missing_words, ranks_words, within
from tests.builders import SIX, failing, infinite, results_of, tenths

pytestmark = pytest.mark.usefixtures("no_warnings")

ACCURACY = {"variant": "batch", "loss": "accuracy", "batch_size": 4}


def title_of(results, alpha=0.1, side="upper"):
    found = list(held(results, alpha, side).values())
    missing, about = too_few(results, alpha, side), about_results(results)
    return held_title(found, alpha, side, about, missing, int(results.trials[0]))


def recount(results, name, alpha, side):
    """How many losses of the first trial lie between the ends that a frame of results has."""
    first = results.at(alpha, side).query("algorithm == @name").iloc[0]
    losses = results.arrays[name]["calibration"][0].ravel().tolist()
    return sum(first["lower"] <= loss <= first["upper"] for loss in losses), len(losses)


@pytest.mark.parametrize("side", ["upper", "two-sided"])
@pytest.mark.parametrize("ties", [False, True])
def test_counts_are_those_of_a_plain_count(side, ties):
    rng = np.random.default_rng(ties)
    for k in (39, 40, 101):
        losses = rng.exponential(size=(2, 3, k))
        results = results_of(np.round(2 * losses) / 2 if ties else losses)
        for alpha in (0.05, 0.1, 0.3, 0.5):
            found = held(results, alpha, side)
            counts = {name: recount(results, name, alpha, side) for name in found}
            assert {name: (own.inside, own.losses.size) for name, own in found.items()} == counts
            lo, hi = found[SIX[0]].ranks
            plain = hi - max(lo, 1) + 1
            inside = [count for count, _ in counts.values()]
            assert min(inside) >= plain
            assert ties or set(inside) == {plain}
            least, of = re.match(
                r"(?:At least )?(\d+) of (\d+) ", title_of(results, alpha, side)
            ).groups()
            assert (int(least), int(of)) == (min(inside), k)
            assert title_of(results, alpha, side).startswith("At least") == (len(set(inside)) > 1)


def test_titles_of_one_and_of_several():
    one, two = results_of([tenths(19)]), results_of([tenths(19), tenths(19, 1.0)])
    assert title_of(one) == (
        "18 of 19 calibration losses lie within Logistic regression's bound: the next will too, "
        "with 90 % confidence"
    )
    assert title_of(two) == (
        "18 of 19 calibration losses lie within each model's bound: the next will too, with 90 % "
        "confidence each"
    )
    assert title_of(two, 0.1, "two-sided") == (
        "19 of 19 calibration losses lie within each model's bounds: the next will too, with 90 % "
        "confidence each"
    )
    tied = tenths(19)
    tied[0, -3:] = tied[0, -3]
    assert title_of(results_of([tenths(19), tied])).startswith("At least 18 of 19 calibration")
    retrained = results_of([tenths(19)], variant="z-free")
    assert title_of(retrained).endswith("the next will too, after retraining, with 90 % confidence")
    both = results_of([tenths(19), tenths(19)], variant="z-free")
    assert "within each algorithm's bound" in title_of(both)
    later = replace(two, trials=two.trials + 3)
    assert title_of(later) == (
        "18 of 19 calibration losses lie within each model's bound in trial 3; trial 0, which "
        "carries the promise, is still to come"
    )
    assert title_of(results_of([tenths(9)]), 0.9) == (
        "1 of 9 calibration losses lies within Logistic regression's bound: the next will too, "
        "with 10 % confidence"
    )
    grouped = np.arange(1, 58, dtype=float).reshape(1, 19, 3) / 10
    several = results_of([grouped], variant="z-free", n_evaluations=3)
    assert title_of(several).startswith("54 of 57 calibration losses")


def test_too_few_scores():
    assert title_of(infinite(), 0.05) == (
        "With 95 % confidence there is no finite bound: 9 more calibration cases would give one"
    )
    assert title_of(results_of([tenths(8)])) == (
        "With 90 % confidence there is no bound but the end of the range: 1 more calibration case "
        "would give one"
    )
    few = held(results_of([tenths(8)]), 0.1, "upper")["logistic"]
    assert few.outcome == "too little data"
    assert ranks_words(few, "upper", about_results(results_of([tenths(8)]))) == ""


def test_failed_runs_and_the_end_of_the_range():
    results = failing()
    assert [own.outcome for own in held(results, 0.1, "upper").values()] == ["failed", "bound"]
    own = next(iter(held(results, 0.1, "upper").values()))
    said = ranks_words(own, "upper", about_results(results))
    assert said.endswith("smallest is infinite: no bound")
    assert title_of(results) == (
        "19 of 20 calibration losses lie within Dummy's bound: the next will too, after "
        "retraining, with 90 % confidence; Nearest neighbours has none: training failed"
    )
    arrays = dict(results.arrays) | {"dummy": results.arrays["knn"]}
    assert title_of(replace(results, arrays=arrays, _readers={})) == (
        "With 90 % confidence, Nearest neighbours and Dummy have no finite bound: failed training "
        "runs count as infinite losses"
    )
    zeros, errors = np.zeros((1, 19)), np.zeros((1, 19))
    errors[0, :5] = 1
    both = results_of([zeros, errors], loss="zero_one")
    found = held(both, 0.1, "upper")
    assert [own.outcome for own in found.values()] == ["bound", "top"]
    assert ranks_words(found["knn"], "upper", about_results(both)) == (
        "the 18th smallest is the end of the range: no bound"
    )
    assert title_of(both) == (
        "19 of 19 calibration losses lie within Logistic regression's bound: the next will too, "
        "with 90 % confidence; Nearest neighbours has none below the top of the range"
    )
    assert title_of(results_of([errors], loss="zero_one")) == (
        "With 90 % confidence, Logistic regression has no bound below the top of the range, 1"
    )


def test_greater_is_better():
    values = np.arange(1, 20)[None] / 20
    results = results_of([values], **ACCURACY)
    own = held(results, 0.1, "upper")["logistic"]
    assert own.lower == np.float32(0.1)  # the 18th largest of 0.05, 0.1, ..., 0.95
    assert (own.inside, own.ranks, own.outcome) == (18, (0, 18), "bound")
    about = about_results(results)
    assert ranks_words(own, "upper", about) == "the 18th largest is the bound"
    assert within(own, about) == "18 of 19 calibration batches within"
    assert title_of(results) == (
        "18 of 19 calibration batches lie within Logistic regression's bound: the next will too, "
        "with 90 % confidence"
    )
    both = held(results, 0.1, "two-sided")["logistic"]
    assert (both.lower, both.upper, both.inside) == (np.float32(0.05), np.float32(0.95), 19)
    assert ranks_words(both, "two-sided", about) == "the 1st and the 19th largest are the ends"
    bad = np.where(np.arange(19) < 3, 0.0, 0.9)[None]
    assert title_of(results_of([bad], **ACCURACY)) == (
        "With 90 % confidence, Logistic regression has no bound above the bottom of the range, 0"
    )


def test_what_a_verdict_lacks():
    assert missing_words({"k": 5, "k_needed": 9}) == "no bound: 4 more cases would give one"
    assert missing_words({"k": 8, "k_needed": 9}) == "no bound: 1 more case would give one"
    assert missing_words({"k": 9, "k_needed": 9}) == missing_words({"k": 10, "k_needed": 9}) == ""
