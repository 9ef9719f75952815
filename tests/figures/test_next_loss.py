"""The picture of the next loss: every count against a plain one, every press against the losses."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cpp_core import ALGORITHMS, Experiment, Results
from cpp_core.figures.next_loss import next_loss
from cpp_core.figures.panels import GREY
from cpp_core.trials.results import median
from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.language import number
from tests.builders import SIX, bars, check, drawn, failing, infinite, made, results_of, tenths

pytestmark = pytest.mark.usefixtures("no_warnings")

ACCURACY = {"variant": "batch", "loss": "accuracy", "batch_size": 20}


def exponential(n_algorithms=2, k=99, trials=30, n_test=50, spread=1.0, **settings):
    """Losses with different means; a spread makes them powers of ten."""
    rng = np.random.default_rng(n_algorithms)
    means = [0.2 * (i + 1) ** spread for i in range(n_algorithms)]
    sizes = (trials, k), (trials, n_test)
    return results_of(
        *([np.minimum(mean * rng.exponential(size=size), 36) for mean in means] for size in sizes),
        **settings,
    )


def words(panel):
    return [note.text for note in panel.figure.layout.annotations]


def counts(frame):
    """What a frame writes below the labels."""
    return [note["text"] for note in frame["layout"]["annotations"]]


def film(panel):
    """The frames by name, the traces of diamonds and of rings."""
    frames = {frame["name"]: frame for frame in panel.sketch.frames}
    return frames, *(panel.sketch.data[i] for i in frames["0"]["traces"][:2])


def ticks(panel, row, outside):
    """The trace of a row's ticks."""
    rows = [t for t in panel.sketch.data if "dy" in t]
    return rows[2 * row + outside]


# The sets


def test_the_bar_is_the_set_of_the_first_trial(two):
    frame = two.at(0.1)
    panel = next_loss(two, 0.1)
    own = frame[frame["algorithm"] == "ridge"]
    first = own.iloc[0]
    solid = [bar for bar in bars(panel) if bar.marker.color == ALGORITHMS["ridge"].color]
    assert len(solid) == 1
    assert solid[0].base[0] == pytest.approx(first["lower"], rel=1e-6)
    assert solid[0].base[0] + solid[0].x[0] == pytest.approx(first["upper"], rel=1e-6)
    fades = [bar for bar in bars(panel) if len(bar.x) == 2]
    assert len(fades) == 4
    upper = fades[1]
    assert "5 % to 95 %" in upper.customdata[0]
    expected = np.sort(own["upper"].to_numpy())[[round(0.05 * 199), round(0.95 * 199)]]
    assert [upper.base[0], upper.base[0] + upper.x[0]] == pytest.approx(expected.tolist(), rel=1e-6)
    tick = next(t for t in panel.figure.data if t.marker.line.color == GREY)
    losses = [two.arrays["ridge"][part][0] for part in ("calibration", "test")]
    assert tick.x[0] == pytest.approx(np.concatenate(losses).mean(dtype=float), rel=1e-6)
    low, high = number(first["lower"], "down"), number(first["upper"], "up")
    assert f"Ridge between {low} and {high}" in panel.alt
    assert {f"<b>{low}</b>", f"<b>{high}</b>"} < set(words(panel))
    assert f"typical {number(median(own['upper'].to_numpy()), 'up')}" in words(panel)
    assert "90 % confidence each" in panel.title
    assert "the set of trial 0, which carries the promise" in panel.caption
    later = next_loss(replace(two, trials=two.trials + 3), 0.1)
    assert "the set of trial 3, until trial 0 is there" in later.caption
    upper = next_loss(two, 0.1, "upper")
    bound = two.at(0.1, "upper").query("algorithm == 'ridge'")["upper"].iloc[0]
    assert f"Ridge at most {number(bound, 'up')}" in upper.alt


def test_sets_that_move_are_typical(every_variant):
    results = every_variant["z-variable"]
    panel = next_loss(results, 0.1)
    ends = np.sort(results.at(0.1).query("algorithm == 'naive-bayes'")["upper"])
    assert panel.data["upper"][1] == pytest.approx(ends[0])  # the lower one of two
    assert panel.title.startswith("Typically")
    assert "promise" not in panel.caption
    assert not panel.sketch.frames
    assert not [trace for trace in panel.sketch.data if "dy" in trace]
    many = results_of([i + np.arange(1, 20)[None] for i in range(4)], variant="z-fixed")
    ends = [number(end, "up") for end in many.at(0.1, "upper")["upper"]]
    assert next_loss(many, 0.1, "upper").title == f"Typically: 4 bounds from {ends[0]} to {ends[3]}"
    few = next_loss(results_of([tenths(8, i) for i in range(4)], variant="z-fixed"), 0.1, "upper")
    assert few.title == "Typically: 4 bounds from 36.04 to 36.04"
    assert few.caption.endswith(
        "There is no bound but the end of the range: 1 more training subset would give one."
    )


def test_failed_runs_of_moving_sets_are_told():
    names = ("ridge", "knn", "random-forest", "dummy")
    experiment = Experiment(
        dataset="growing-noise", algorithms=names, variant="z-fixed", n=400, n_sets=19, test_size=4
    )
    arrays = {"calibration": (1, 19), "calibration_ends": (1, 19), "test_ends": (1, 4)}
    arrays = {name: np.full(shape, np.inf, dtype="f4") for name, shape in arrays.items()}
    arrays["calibration_ends"][:], arrays["test_ends"][:] = 1, 1
    arrays["test"] = np.ones((1, 4), dtype="f4")
    results = Results(experiment, 0, np.arange(1), dict.fromkeys(names, arrays), 1)
    panel = next_loss(results, 0.1, "upper")
    assert panel.title == "Typically: no finite bound for 4 of 4"
    assert panel.caption.endswith("failed training runs count as infinite losses.")


def test_larger_is_better_is_at_least(every_variant):
    assert "at least" in next_loss(every_variant["batch"], 0.1, "upper").alt


# The ticks


@pytest.mark.parametrize("side", ["upper", "two-sided"])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
def test_ticks_are_the_calibration_losses(side, alpha):
    results = exponential(3, k=673)
    panel = next_loss(results, alpha, side)
    for row, name in enumerate(results.algorithms):
        losses = results.arrays[name]["calibration"][0]
        first = results.at(alpha, side).query("algorithm == @name").iloc[0]
        inside = (first["lower"] <= losses) & (losses <= first["upper"])
        edge = panel.figure.layout.xaxis.range[1]
        seen = losses <= edge
        within, outside = ticks(panel, row, False), ticks(panel, row, True)
        assert sum(within["marker"]["line"]["color"]) == (inside & seen).sum()
        for trace, part in ((within, inside), (outside, ~inside)):
            assert len(trace["x"]) <= 301
            gaps = np.abs(np.array(trace["x"])[:, None] - losses[part & seen]).min(axis=1)
            assert gaps.max() < edge / 1000
        # Every loss has a tick nearby.
        near = np.abs(losses[seen & ~inside][:, None] - np.array(outside["x"])).min(axis=1)
        assert near.max() < edge / 250
        assert outside["marker"]["size"] > within["marker"]["size"]
        beyond = int((~seen).sum())
        assert beyond == panel.data["beyond_axis"][row]
        assert (f"{beyond} of 673 off the axis →" in words(panel)) == (beyond > 0)
        assert panel.data["calibration_inside"][row] == inside.sum()
    assert f"{inside.sum()} of 673 calibration losses within" in panel.alt


def test_the_axis_is_that_of_the_bounds():
    results = exponential(2, k=673)
    for array in results.arrays.values():
        array["calibration"][0, :5] = 30
    bounds = results.at(0.1, "upper").query("trial == 0")["upper"]
    low, high = next_loss(results, 0.1, "upper").figure.layout.xaxis.range
    assert low == 0
    assert 2 * bounds.max() < high < 4 * bounds.max()
    equal = next_loss(results_of([np.zeros((3, 19))]), 0.1, "upper")
    assert equal.figure.layout.xaxis.range[1] == pytest.approx(36.04, abs=0.01)
    check(next_loss(made(np.zeros((2, 3, 19)), np.zeros((2, 3, 5))), 0.1, "upper"))


def test_a_few_places_are_counted_in_words():
    errors = np.zeros((30, 99))
    errors[:, :4] = 1
    panel = next_loss(results_of([errors], [errors[:, :20]], loss="zero_one"), 0.1, "upper")
    assert {"95 here", "4 here"} < set(words(panel))
    near = next_loss(results_of([0.1 + 0.9 * errors], [errors]), 0.5, "upper")
    assert {"95 here", "4 of 99 off the axis →"} < set(words(near))
    close = next_loss(results_of([0.8 + 0.2 * errors], [errors]), 0.01, "upper")
    assert not [text for text in words(close) if text.endswith("here")]
    assert "99 of 99" not in panel.alt
    assert "95 of 99 calibration losses within" in panel.alt


def test_losses_over_many_powers_of_ten_have_a_log_axis():
    rng = np.random.default_rng(0)
    small, large = (10 ** rng.normal(mean, 0.5, size=(30, 99)) for mean in (-5, 0))
    small[0, 0] = 0
    for side in ("upper", "two-sided"):
        panel = next_loss(results_of([small, large], [small, large]), 0.1, side)
        axis = panel.figure.layout.xaxis
        assert axis.type == "log"
        assert "log\u00a0axis" in axis.title.text
        assert "Smaller losses are drawn at the left end of the axis." in panel.caption
        assert min(ticks(panel, 0, False)["x"] + ticks(panel, 0, True)["x"]) > 0
        check(panel)
    assert next_loss(results_of([large]), 0.1, "upper").figure.layout.xaxis.type == "linear"


def test_nothing_is_drawn_outside_the_axis():
    """Plotly would hide it."""
    rng = np.random.default_rng(3)
    for scale in (1e-7, 0.03, 1.0, 36.0):
        for power in (1, 9):
            losses, new = (scale * rng.random((30, n)) ** power for n in (99, 60))
            new[0, :2] = 0, scale
            for side in ("upper", "two-sided"):
                panel = next_loss(results_of([losses], [new]), 0.1, side)
                ends = panel.figure.layout.xaxis.range
                drops, *_ = (frame["data"][0]["x"] for frame in panel.sketch.frames[-1:])
                marks = [x for t in panel.sketch.data if t["type"] == "scatter" for x in t["x"]]
                at = np.array(drops + marks)
                at = np.log10(at) if panel.figure.layout.xaxis.type == "log" else at
                assert ends[0] <= at.min()
                assert at.max() <= ends[1]


def test_an_average_beyond_the_axis_is_told():
    losses = np.tile(np.linspace(0, 0.1, 99), (30, 1))
    test = np.full((30, 40), 5.0)
    panel = next_loss(results_of([losses], [test]), 0.1, "upper")
    average = np.concatenate([losses[0], test[0]]).mean()
    assert f"average {number(average)} →" in words(panel)
    assert not [t for t in panel.figure.data if t.marker.line.color == GREY]
    broken = made(losses[None] + 1, np.full((1, 30, 4), np.inf))
    assert "average infinite →" in words(next_loss(broken, 0.1, "upper"))


# New cases


def press(panel, presses):
    """Go where the buttons lead: the state of the figure after each press of the nth button."""
    frames, *_ = film(panel)
    now = panel.sketch.layout["updatemenus"][0]["buttons"]
    for which in presses:
        path = now[which]["args"][0]
        now = frames[path[-1]]["layout"]["updatemenus"][0]["buttons"]
        yield path


@pytest.mark.parametrize("side", ["upper", "two-sided"])
@pytest.mark.parametrize("n_algorithms", [1, 2, 3, 6])
def test_each_frame_has_one_case_more(side, n_algorithms):
    results = exponential(n_algorithms, n_test=60)
    panel = next_loss(results, 0.2, side)
    frames, diamonds, _ = film(panel)
    count = 40 if n_algorithms <= 2 else 20
    assert list(frames) == [str(i) for i in range(count + 1)]
    low, high = panel.figure.layout.xaxis.range
    sets = results.at(0.2, side).query("trial == 0").set_index("algorithm")
    names = results.algorithms
    for i in range(count + 1):
        all_, newest, *_ = frames[str(i)]["data"]
        assert len(all_["x"]) == i * n_algorithms
        texts = counts(frames[str(i)])
        for row, name in enumerate(names):
            new = results.arrays[name]["test"][0, :i].tolist()
            kept = sum(sets["lower"][name] <= x <= sets["upper"][name] for x in new)
            assert texts[row] == (f"{kept} of {i} kept" if i else " ")
            places = all_["x"][row::n_algorithms]
            assert places == pytest.approx(np.clip(new, low, high), abs=high / 1000)
            if i:
                assert newest["x"][row] == places[-1]
                assert round(newest["y"][row]) == row
    assert panel.data["new_kept"].tolist() == [int(text.split()[0]) for text in texts]
    assert words(panel)[:n_algorithms] == [" "] * n_algorithms  # what the frames write over
    assert not diamonds["x"]
    assert [round(y) for y in diamonds["y"]] == list(range(n_algorithms)) * count
    check(panel)


def test_losses_beyond_the_axis_are_arrows_at_its_edge():
    results = exponential(2, n_test=60)
    results.arrays[SIX[0]]["test"][0, 3] = 30
    panel = next_loss(results, 0.1, "upper")
    frames, diamonds, _ = film(panel)
    edge = panel.figure.layout.xaxis.range[1]
    new = np.stack([results.arrays[name]["test"][0, :40] for name in results.algorithms], axis=1)
    arrows = [symbol == 8 for symbol in diamonds["marker"]["symbol"]]
    assert arrows == (new.ravel() > edge).tolist()
    at = np.array(frames["40"]["data"][0]["x"])
    assert at[np.array(arrows)] == pytest.approx(edge, rel=1e-3)
    assert diamonds["customdata"][6] == "30"


def test_buttons_lead_on_one_by_one_and_in_pauses():
    panel = next_loss(exponential(2), 0.1, "upper")
    assert list(press(panel, [0] * 3)) == [["1"], ["2"], ["3"]]
    one, twenty, forty, again, first = press(panel, [0, 1, 1, 0, 0])
    assert (one, again, first) == (["1"], ["0"], ["1"])
    assert twenty == [str(i) for i in range(2, 21)]
    assert forty == [str(i) for i in range(21, 41)]
    frames, *_ = film(panel)

    def labels(i):
        return [b["label"] for b in frames[str(i)]["layout"]["updatemenus"][0]["buttons"]]

    assert labels(0) == labels(19) == ["Draw the next case", "Draw up to 20"]
    assert labels(20) == ["Draw the next case", "Draw up to 40"]
    assert labels(40) == ["All 40 stored cases drawn: start again"]
    # Back at the start the figure is as it was.
    start = frames["0"]
    buttons = start["layout"]["updatemenus"][0]["buttons"]
    assert buttons == panel.sketch.layout["updatemenus"][0]["buttons"]
    assert counts(start) == words(panel)[:2]
    assert start["data"][:2] == [{"x": []}, {"x": [], "y": []}]
    # Bars stay as they are, and are named: Plotly would take them away between two frames.
    still = [i for i, trace in enumerate(panel.sketch.data) if trace["type"] == "bar"]
    for frame in frames.values():
        assert frame["traces"][2:] == still
        assert frame["data"][2:] == [{"type": "bar"}] * len(still)


def test_no_more_cases_than_are_stored():
    panel = next_loss(exponential(2, n_test=7), 0.1, "upper")
    frames, *_ = film(panel)
    assert len(frames) == 8
    assert list(press(panel, [1, 0])) == [[str(i) for i in range(1, 8)], ["0"]]
    assert panel.data["new_cases"].tolist() == [7, 7]
    assert "Buttons draw 7 new cases" in panel.alt


def test_without_buttons_the_rest_is_the_same():
    results = exponential(2)
    still, moving = (next_loss(results, 0.1, "upper", draws=draws) for draws in (False, True))
    assert not still.sketch.frames
    assert "updatemenus" not in still.sketch.layout
    assert "Diamonds" not in still.caption
    assert "Buttons" not in still.alt
    assert still.title == moving.title
    assert still.sketch.data == moving.sketch.data[:-2]
    assert moving.figure.frames[3].name == "3"


def test_nothing_to_draw_where_there_is_no_bound():
    for results, alpha in ((infinite(("ridge", "knn")), 0.05), (results_of([tenths(8)]), 0.1)):
        panel = next_loss(results, alpha, "upper")
        assert not panel.sketch.frames
        assert "Diamonds" not in panel.caption
    some = next_loss(failing(), 0.1, "upper")
    assert some.sketch.frames
    assert "<b>no finite bound</b>" in words(some)
    assert "15 of 20 off the axis →" in words(some)
    frames, *_ = film(some)
    assert counts(frames["2"]) == ["2 of 2 kept"] * 2


def test_an_infinite_new_loss_is_not_kept():
    results = drawn(trials=3)
    results.arrays["ridge"]["test"][0, 0] = math.inf
    panel = next_loss(results, 0.1, "upper")
    frames, diamonds, _ = film(panel)
    assert counts(frames["1"])[0] == "0 of 1 kept"
    assert diamonds["customdata"][0] == "infinite"
    assert diamonds["marker"]["symbol"][0] == 8


def test_greater_is_better_is_mirrored():
    rng = np.random.default_rng(0)
    values, new = (rng.integers(17, 21, size=(30, n)) / 20 for n in (40, 25))
    values[0, :3], new[0, 0] = (0.1, 0.7, 0.7), 0
    results = results_of([values], [new], **ACCURACY)
    panel = next_loss(results, 0.1, "upper")
    bound = results.at(0.1, "upper")["lower"][0]
    kept = [sum(x >= bound for x in new[0, :i].tolist()) for i in range(26)]
    frames, diamonds, _ = film(panel)
    for i in range(1, 26):
        assert counts(frames[str(i)]) == [f"{kept[i]} of {i} kept"]
    low, high = panel.figure.layout.xaxis.range
    assert high == 1
    assert diamonds["marker"]["symbol"][0] == 7
    inside = int((values[0].astype("f4") >= bound).sum())
    assert f"{inside} of 40 calibration batches lie within" in panel.title
    assert 0.1 < low < 0.7
    assert "← 1 of 40 off the axis" in words(panel)
    assert panel.sketch.layout["updatemenus"][0]["buttons"][0]["label"] == "Draw the next batch"
    assert max(ticks(panel, 0, True)["x"]) < bound <= min(ticks(panel, 0, False)["x"])
    for side in ("upper", "two-sided"):
        check(next_loss(results, 0.1, side))


def test_after_retraining_each_case_has_its_own_model():
    panel = next_loss(exponential(2, k=19, variant="z-free"), 0.1, "upper")
    assert "in random order, each with a freshly trained model; kept: within" in panel.caption
    assert "the 18th smallest is the bound" in panel.caption
    trained = next_loss(exponential(2), 0.1, "upper")
    assert "freshly" not in trained.caption


def test_the_caption_calls_no_end_of_the_range_a_bound():
    """Of two, the one that has a bound is told; where none has one, that is said."""
    errors, right = np.zeros((1, 19)), np.zeros((1, 19))
    errors[0, :5] = 1
    none = next_loss(results_of([errors, errors], loss="zero_one"), 0.1, "upper")
    assert "the 18th smallest is the end of the range: no bound" in none.caption
    assert "is the bound" not in none.caption
    one = next_loss(results_of([errors, right], loss="zero_one"), 0.1, "upper")
    assert "the 18th smallest is the bound" in one.caption


def test_numbers_beside_the_lines_are_rounded_like_sentences():
    for side in ("upper", "two-sided"):
        results = exponential(6, spread=2.0)
        panel, about = next_loss(results, 0.1, side), about_results(results)
        for row in results.at(0.1, side).query("trial == 0").itertuples():
            for end in about.ends(side):
                assert f"<b>{about.rounded(end, getattr(row, end))}</b>" in words(panel)


@pytest.mark.parametrize("dark", [False, True])
def test_marks_are_seen_on_light_and_dark(dark):
    panel = next_loss(exponential(2), 0.1, "upper", dark=dark)
    _, diamonds, ring = film(panel)
    color = "#FFFFFF" if dark else "#000000"
    assert diamonds["marker"]["color"] == ring["marker"]["color"] == color
    assert ticks(panel, 0, True)["marker"]["line"]["color"] == color
    # Plotly's own colour of a button under the pointer is light; the words are seen on it too.
    button = panel.sketch.layout["updatemenus"][0]
    assert button["bgcolor"].startswith("rgba(128, 128, 128")
    assert button["font"]["color"] == "#6765DD"
