"""Pictures of a file of losses: what they draw is what was computed."""

import numpy as np
import pytest

from cpp_core import batch_errors, interval
from cpp_core.figures.loss_figures import LONGEST, bound_bars, color_of, error_bars, loss_picture
from tests.builders import check

RNG = np.random.default_rng(0)
MANY = np.arange(1, 101) / 100  # at alpha 0.1 the bound is 0.91


def bars(panel):
    return [trace for trace in panel.sketch.data if trace["type"] == "bar"]


def notes(panel):
    return [note["text"] for note in panel.sketch.layout.get("annotations", [])]


def test_a_bar_reaches_from_0_to_the_bound_and_the_title_counts():
    columns = {"a": MANY, "b": 2 * MANY}
    panel = bound_bars(columns, 0.1)
    check(panel)
    ends = [(bar["base"][0], bar["base"][0] + bar["x"][0]) for bar in bars(panel)]
    assert ends == [(0, 0.91), (0, 1.82)]
    assert [bar["marker"]["color"] for bar in bars(panel)] == [color_of(columns, n) for n in "ab"]
    assert panel.title == (
        "91 of 100 calibration losses lie within each model's bound: the next will too, with 90 % "
        "confidence each"
    )
    assert "a at most 0.91 (average 0.505), b at most 1.82 (average 1.01)" in panel.alt
    assert {"<b>0.91</b>", "<b>1.82</b>"} <= set(notes(panel))


@pytest.mark.parametrize("greater", [False, True])
@pytest.mark.parametrize(
    "losses",
    [
        np.full(30, 2.0),
        np.zeros(30),
        RNG.normal(size=200),
        -RNG.exponential(size=200),
        RNG.exponential(size=200) ** 8,
        RNG.exponential(size=200) * 1e12,
        MANY[:5],
        MANY[:1],
        np.append(MANY, 1e6),
    ],
)
def test_every_kind_of_losses_can_be_drawn(losses, greater):
    columns = {"one": losses, "other": losses[::-1]}
    for more in ({}, {"at_most": 0.5}, {"at_most": 1e9, "dark": True}):
        panel = bound_bars(columns, 0.1, **more, greater_is_better=greater)
        check(panel)
        sign = -1 if greater else 1
        upper = interval(sign * losses, 0.1, "upper")[1] if len(losses) > 8 else np.inf
        assert panel.data["bound"].tolist() == [sign * upper] * 2
        assert panel.sketch.layout["xaxis"]["range"][0] < panel.sketch.layout["xaxis"]["range"][1]


def test_too_few_cases_are_told_by_what_is_missing():
    panel = bound_bars({"a": MANY[:5]}, 0.1)
    assert panel.title == "With 90 % confidence there is no bound: 4 more cases would give one"
    assert "<b>no finite bound</b>" in notes(panel)


def test_a_limit_is_drawn_or_said():
    near = bound_bars({"a": MANY}, 0.1, 0.5)
    assert "Dashed: the limit 0.5." in near.caption
    assert near.sketch.layout["shapes"][0]["x0"] == 0.5
    far = bound_bars({"a": MANY}, 0.1, 50.0)
    assert "The limit 50 is beyond the axis." in far.caption
    assert "shapes" not in far.sketch.layout


def test_names_stay_names_and_leave_room():
    evil, long = "<b>{x}</b>", "a_very_long_name_of_a_model_" * 3
    panel = bound_bars({evil: MANY, long: MANY}, 0.1)
    check(panel)
    labels = panel.sketch.layout["yaxis"]["ticktext"]
    assert "&lt;b&gt;&#123;x}&lt;/b&gt;" in labels[0]
    assert len(labels[1]) < LONGEST + 10
    assert "…" in labels[1]
    assert long in panel.alt


@pytest.mark.parametrize("greater", [False, True])
def test_errors_reach_to_the_most_among_the_next(greater):
    wrong = {"a": np.repeat([1.0, 0.0], [10, 190]), "b": np.repeat([1.0, 0.0], [0, 200])}
    columns = {name: 1 - own if greater else own for name, own in wrong.items()}
    panel = loss_picture(columns, 0.1, None, 0.2, greater_is_better=greater)
    check(panel)
    most = [batch_errors(200, errors, 100, 0.1, "upper")[1] for errors in (10, 0)]
    assert panel.data["most"].tolist() == most
    assert panel.data["usual"].tolist() == [5, 0]
    assert [bar["x"][0] for bar in bars(panel)] == most
    assert panel.title == (
        "On the next 100 cases, with 90 % confidence each: a at most "
        f"{most[0]} errors, b at most {most[1]} errors"
    )
    assert "Dashed: the limit of 20 %." in panel.caption
    assert panel.sketch.layout["shapes"][0]["x0"] == 20
    few = error_bars({"a": columns["a"]}, 0.1, batch_size=1, greater_is_better=greater)
    assert few.title.startswith("On the next case, with 90 % confidence: a at most ")


def test_the_picture_counts_errors_only_where_all_numbers_are_0_or_1():
    assert loss_picture({"a": np.zeros(20), "b": np.ones(20)}, 0.1).key == "errors"
    assert loss_picture({"a": np.zeros(20), "b": np.full(20, 0.5)}, 0.1).key == "bounds"
    assert loss_picture({"a": np.zeros(20), "b": np.ones(20)}, 0.1, high=5.0).key == "bounds"
