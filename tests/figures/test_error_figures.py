"""Errors among the next cases: what is drawn and counted is what happened."""

import numpy as np
import pytest

from cpp_core.figures.compare import first_picture
from cpp_core.figures.error_figures import errors_bars
from cpp_core.figures.loss_figures import error_bars, loss_histograms
from cpp_core.figures.loss_rows import NEW_CASES
from cpp_core.method.counts import batch_errors
from tests.builders import check, results_of

RNG = np.random.default_rng(0)


def world(n_test=60, algorithms=2):
    losses = [(RNG.random((3, 200)) < 0.1 * (i + 1)) * 1.0 for i in range(algorithms)]
    tests = [(RNG.random((3, n_test)) < 0.3) * 1.0 for _ in range(algorithms)]
    return results_of(losses, tests, loss="zero_one")


def test_the_next_cases_are_drawn_one_by_one():
    results = world()
    panel = errors_bars(results, 0.1, "upper")
    check(panel)
    frames = panel.sketch.frames
    assert len(frames) == NEW_CASES + 1
    tests = [results.arrays[name]["test"][0] for name in results.algorithms]
    for i, frame in enumerate(frames):
        so_far = [int(own[:i].sum()) for own in tests]
        told = [note["text"] for note in frame["layout"]["annotations"]]
        assert told == ([f"{n} of {i} wrong" for n in so_far] if i else [" ", " "])
        if i:
            mark = frame["data"][0]
            assert mark["x"] == so_far
            symbols = mark["marker"]["symbol"]
            assert [symbol == 4 for symbol in symbols] == [bool(own[i - 1]) for own in tests]
    drawn = panel.sketch.data[frames[0]["traces"][0]]
    assert drawn["x"] == []  # none is seen before the first press
    assert panel.data["new_errors"].tolist() == so_far
    assert len(errors_bars(world(7), 0.1).sketch.frames) == 8


def test_a_report_draws_the_same_bars_without_buttons():
    still = first_picture(world(), 0.1, "upper", draws=False)
    check(still)
    assert not still.sketch.frames
    assert "updatemenus" not in still.sketch.layout
    assert still.key == "errors-ahead"
    assert "Diamond" not in still.caption


def test_any_number_of_errors_has_one_wording():
    wrong = np.ones((1, 5))
    words = "any number of errors"
    assert words in errors_bars(results_of([wrong], loss="zero_one"), 0.1, "upper").title
    panel = error_bars({"a": wrong[0], "b": np.zeros(200)}, 0.1)
    most = batch_errors(200, 0, 100, 0.1, "upper")[1]
    assert panel.title.endswith(f"a {words}, b at most {most} error{'s' * (most != 1)}")


@pytest.mark.parametrize("greater", [False, True])
def test_histograms_count_what_lies_beyond_a_bound(greater):
    sign, side = (-1, "below") if greater else (1, "above")
    many = sign * np.arange(1.0, 2001.0)
    plural = "scores" if greater else "losses"

    def title(**columns):
        return loss_histograms(columns, 0.1, greater_is_better=greater).title

    assert title(a=many) == f"199 of 2,000 {plural} of a lie {side} the bound"
    one = sign * np.arange(1.0, 12.0)  # the 11th of 12 ranks
    assert title(a=sign * np.arange(1.0, 19.0)) == f"0 of 18 {plural} of a lie {side} the bound"
    assert title(a=one) == f"0 of 11 {plural} of a lie {side} the bound"
    assert title(a=sign * np.arange(1.0, 21.0)) == f"1 of 20 {plural} of a lies {side} the bound"
    assert title(a=one[:5]) == "a has no finite bound"
    both = title(a=many, b=one[:5])
    assert both == f"199 of 2,000 {plural} of a lie {side} the bound; b has no finite bound"
