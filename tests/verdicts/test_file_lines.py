"""A file of losses in few words: every branch with a known truth."""

import numpy as np
import pytest

from cpp_core import batch_errors, interval
from cpp_core.catalog.loss_files import LossTable
from cpp_core.figures.loss_figures import error_bars
from cpp_core.verdicts.about import about_numbers
from cpp_core.verdicts.answers import answers_of
from cpp_core.verdicts.file_lines import (
    approximate_line,
    asked_line,
    assumed_line,
    decision_line,
    group_table,
    losses_table,
    pair_lines,
    separately_line,
)

RNG = np.random.default_rng(0)
HARD = RNG.exponential(size=300)
MANY = np.arange(1, 101) / 100  # at alpha 0.1 the bound is the 91st; 96 within a limit show it
WRONG = np.repeat([1.0, 0.0], [10, 190])


def told(columns, alpha=0.1, greater=False, groups=None, **question):
    """A table of these columns and the answers to a question about it."""
    columns = {name: np.asarray(own, dtype=float) for name, own in columns.items()}
    table = LossTable(columns, None, groups, (), greater_is_better=greater)
    return table, answers_of(columns, alpha, **table.told, **question)


def rows_of(columns, alpha=0.1, **settings):
    return losses_table(*told(columns, alpha, **settings), alpha)


def line_of(columns, alpha=0.1, **settings):
    return decision_line(told(columns, alpha, **settings)[1].strip, alpha)


def test_a_row_has_cases_average_bound_and_outcome():
    table = rows_of({"a": MANY, "b": 2000 * MANY})
    assert interval(MANY, 0.1, "upper")[1] == 0.91
    assert table.head == ("model", "cases", "average", "bound (90 %)")  # nothing was asked
    assert table.rows[0] == ("a", "100", "0.505", "at most 0.91")
    assert table.rows[1] == ("b", "100", "1,010", "at most 1,820")
    scores = rows_of({"acc": MANY}, greater=True)
    assert scores.rows == [("acc", "100", "0.505", "at least 0.1")]
    assert "the next score" in scores.caption


def test_the_number_of_cases_can_be_left_out():
    for columns in ({"a": MANY, "b": MANY}, {"a": WRONG, "b": WRONG}):
        found = told(columns)
        long, short = (losses_table(*found, 0.1, cases=cases) for cases in (True, False))
        assert long.head[1] == "cases"
        assert "cases" not in short.head
        assert [(row[0], *row[2:]) for row in long.rows] == list(short.rows)
        assert all(len(row) == len(short.head) for row in short.rows)


def test_an_average_beyond_the_bound_has_a_word():
    """9 of 10 lose nothing, one loses 100: the bound is 0 and the average 9."""
    rare = np.repeat([0.0, 100.0], [91, 9])
    (row,) = rows_of({"m": rare}).rows
    assert row[2:] == ("9", "at most 0", "bound; the average lies beyond it")
    (row,) = rows_of({"m": rare}, alpha=0.15).rows
    assert row[-1] == "bound; the average lies beyond it"
    (row,) = rows_of({"m": -rare}, greater=True).rows
    assert row[3:] == ("at least 0", "bound; the average lies beyond it")
    assert line_of({"m": rare}) == (
        "At most 0. The loss of this trained model on the next case, with 90 % confidence; average "
        "9, beyond the bound."
    )
    (row,) = rows_of({"m": rare}, alpha=0.05).rows
    assert row[3:] == ("at most 100",)


def test_no_bound_is_told_by_the_count_that_is_missing():
    (row,) = rows_of({"m": MANY[:5]}).rows
    assert row[3:] == ("none: 4 more cases needed", "too little data")
    (row,) = rows_of({"m": MANY[:8]}).rows
    assert row[3] == "none: 1 more case needed"
    line = line_of({"m": MANY[:8]})
    assert line.startswith("No bound yet. ")
    assert "1 more calibration case would give one; average 0.045." in line
    top = {"m": np.append(MANY[:80], np.ones(20))}
    (row,) = rows_of(top, low=0.0, high=1.0).rows
    assert row[-1] == "no bound inside the range, which ends at 1"
    line = line_of(top, low=0.0, high=1.0)
    assert line.startswith("No bound below 1. ")
    assert "the top of its range; average 0.524." in line


def test_errors_are_counted_where_losses_are_0_and_1():
    most = batch_errors(200, 10, 100, 0.1, "upper")[1]
    table = rows_of({"wrong": WRONG})
    assert table.head[2:5] == ("errors", "error rate", "next 100 cases")
    assert table.rows == [("wrong", "200", "10", "5 %", f"at most {most} errors", "right (90 %)")]
    often = rows_of({"wrong": np.repeat([0.0, 1.0], [140, 60])})
    assert often.rows[0][-1] == "may be wrong"  # 30 of 100 are errors
    right = rows_of({"right": 1 - WRONG}, greater=True)
    assert right.rows[0][1:] == table.rows[0][1:]
    assert line_of({"right": 1 - WRONG}, greater=True) == (
        f"At most {most} errors. By this trained model among the next 100 cases, with 90 % "
        "confidence; error rate 5 %."
    )
    asked = rows_of({"wrong": WRONG}, error_rate_at_most=0.5, batch_size=7)
    assert batch_errors(200, 10, 7, 0.1, "upper")[1] == 1
    assert asked.head[4] == "next 7 cases"
    assert asked.rows[0][4:] == ("at most 1 error", "shown")


def test_a_batch_of_one_is_the_next_case():
    """As words, not as "the next 1 case", wherever errors of a batch are told."""
    columns = {"a": np.array([1.0] + [0.0] * 29), "b": np.zeros(30)}
    found = told(columns, error_rate_at_most=0.2, batch_size=1)
    table = losses_table(found[0], found[1], 0.1)
    assert "next case" in table.head
    assert table.caption.startswith("Errors on the next case: an exact guarantee")
    line = asked_line(found[1].answer, about_numbers())
    assert line == "At most 20 % errors on the next case: shown for a and b."
    words = [own.text + own.brief.line for own in (*found[1].answer, *found[1].each_model)]
    some = told({"a": np.repeat([1.0, 0.0], [15, 15])}, error_rate_at_most=0.2, batch_size=1)
    words += [own.text + own.brief.line for own in some[1].answer]
    panel = error_bars(columns, 0.1, 0.2, 1)
    assert panel.title.startswith("On the next case, with 90 % confidence each: ")
    every = [*words, table.caption, line, panel.title, panel.alt]
    assert not any("1 case" in own or "among the next case" in own for own in every)


def test_zeros_and_ones_in_a_wider_range_are_no_errors():
    """A loss of 1 is then one like any other: a bound of 1 does not say that an answer is right."""
    often = np.repeat([0.0, 1.0], [75, 25])
    table = rows_of({"m": often}, high=5.0)
    assert table.head == ("model", "cases", "average", "bound (90 %)")
    assert table.rows == [("m", "100", "0.25", "at most 1")]
    scores = rows_of({"m": often}, greater=True, low=-1.0)
    assert scores.rows == [("m", "100", "0.25", "at least 0")]
    same = rows_of({"m": often}, low=0.0, high=1.0)
    assert (same.head[2], same.rows[0][-1]) == ("errors", "may be wrong")


def test_what_was_asked_is_told_in_full():
    """99.9 % is shown and 99.95 % is not: both lines must be true."""
    none = {"m": np.full(3000, 0.5)}
    line, _ = asked(none, alpha=0.001, at_most=1.0)
    assert line == "Shown: at least 99.9 % of new losses are at most 1 (95 % confidence)."
    line, _ = asked(none, alpha=0.0005, at_most=1.0)
    assert line == (
        "Too little data: at least 99.95 % of new losses are at most 1 (95 % confidence)."
    )
    several = {"a": np.full(6000, 0.5), "b": np.repeat([0.5, 2.0], [5990, 10])}
    line, _ = asked(several, alpha=0.0005, at_most=1.0)
    assert line == (
        "At least 99.95 % of new losses are at most 1 (95 % confidence): shown for a; not shown "
        "for b."
    )


def asked(columns, greater=False, alpha=0.1, **settings):
    table, answers = told(columns, alpha, greater, **settings)
    outcomes = [row[-1] for row in losses_table(table, answers, alpha).rows]
    return asked_line(answers.answer, about_numbers(greater)), outcomes


def test_what_was_asked_is_told_by_outcome():
    assert asked({"m": MANY}) == ("", ["at most 0.91"])  # no outcome, the bound is the last
    assert asked({"m": MANY}, at_most=0.96) == (
        "Shown: at least 90 % of new losses are at most 0.96 (95 % confidence).",
        ["shown"],
    )
    line, outcomes = asked({"m": MANY}, at_most=0.95)
    assert line.startswith("Not shown: at least 90 % of new losses")
    assert outcomes == ["not shown: 5 cases beyond it, 4 may be"]
    many = np.repeat([0.5, 2.0], [16_000, 4000])
    _, outcomes = asked({"m": many}, at_most=1.0)
    assert outcomes[0].startswith("not shown: 4,000 cases beyond it, 1,")
    line, outcomes = asked({"m": MANY[:28]}, at_most=0.96)
    assert line.startswith("Too little data: at least 90 %")
    assert outcomes == ["too little data: 29 cases needed"]
    line, outcomes = asked({"a": MANY, "b": MANY + 1, "c": MANY}, at_most=1.0)
    assert line == (
        "At least 90 % of new losses are at most 1 (95 % confidence): shown for a and c; not "
        "shown for b."
    )
    line, _ = asked({"m": MANY}, greater=True, at_least=0.01)
    assert line == "Shown: at least 90 % of new scores are at least 0.01 (95 % confidence)."
    line, outcomes = asked({"m": WRONG}, error_rate_at_most=0.1, batch_size=100)
    assert line == "Shown: at most 10 % errors on the next 100 cases."
    line, outcomes = asked({"m": WRONG}, error_rate_at_most=0.02, batch_size=100)
    assert line == "Not shown: at most 2 % errors on the next 100 cases."
    assert outcomes == ["not shown"]
    _, outcomes = asked({"m": WRONG[-9:]}, error_rate_at_most=0.0, batch_size=9)
    assert outcomes[0].startswith("too little data: ")


def lines_of(columns, **settings):
    return pair_lines(told(columns, **settings)[1].strip)


def test_a_line_for_a_pair_says_who_is_better_and_how_often():
    small = RNG.normal(0, 0.1, 300)
    (line,) = lines_of({"good": HARD, "bad": HARD + 1 + small})
    assert line.startswith("good and bad: on average good 0.9")
    assert line.endswith("less (approximate); good wins 98 to 100 % of new cases (exact).")
    (line,) = lines_of({"bad": HARD + 1 + small, "good": HARD})
    assert line.startswith("bad and good: on average good 0.9")
    (line,) = lines_of({"low": HARD, "high": HARD + 1 + small}, greater=True)
    assert "on average high 0.9" in line
    assert "more (approximate); high wins 98 to 100 % of new cases (exact)." in line
    (line,) = lines_of({"good": np.full(300, 2), "bad": np.full(300, 3)})  # no spread: no average
    assert line == (
        "good and bad: on average not decided; good wins 98 to 100 % of new cases (exact)."
    )


def test_two_that_are_equal_on_all_are_told_so_beside_a_margin():
    alike = np.full(40, 0.5)
    (line,) = lines_of({"a": alike, "b": alike}, margin=0.3)
    assert line == (
        "a and b: on average no real difference (approximate); equal on all of 40 held-out cases."
    )


def test_a_line_for_a_pair_of_bounded_losses_is_exact():
    brier = RNG.uniform(0, 0.2, 400)
    (line,) = lines_of({"a": brier, "b": brier + 0.5}, low=0.0, high=1.0)
    assert line.startswith("a and b: on average a 0.4")
    assert "less (exact); a wins 99 to 100 % of new cases (exact)." in line


def test_wins_and_average_may_point_to_different_models():
    """A is a little better on most cases and much worse on every sixth."""
    d = np.where(np.arange(600) % 6 == 0, 5.0, -0.1) + RNG.normal(0, 0.01, 600)
    (line,) = lines_of({"a": 10 + d, "b": np.full(600, 10.0)})
    assert "on average b 0." in line
    assert "a wins 80 to 87 % of new cases (exact)" in line


def test_a_pair_that_is_not_decided_says_what_would_do():
    d = np.where(np.arange(200) % 2 == 0, 1.0, -1.0) + 0.02
    d[0] = -1.0
    (line,) = lines_of({"a": 5 + d, "b": np.full(200, 5.0)})
    assert line.startswith("Not decided: a is ahead of b on 101 of 200 cases, never equal; about")
    (line,) = lines_of({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert line == "Not decided: a and b win 1 each of 2 cases, never equal."
    (line,) = lines_of({"a": MANY, "b": MANY})
    assert line == "a and b: equal on all of 100 held-out cases."


def test_a_pair_inside_the_margin_does_not_differ():
    near = HARD + RNG.normal(0, 0.01, 300)
    (line,) = lines_of({"a": HARD, "b": near}, margin=0.5)
    assert line.startswith("a and b: on average no real difference (approximate); ")
    small = np.clip(HARD / 10, 0, 1)
    (line,) = lines_of({"a": small, "b": small}, margin=0.5, low=0.0, high=1.0)
    assert line.startswith("a and b: on average no real difference (exact); ")


def test_errors_of_a_pair_are_settled_by_wins():
    """Whatever was asked: columns of 0 and 1 are errors, and the average is as exact as wins."""
    good, bad = np.zeros(200), np.repeat([1.0, 0.0], [60, 140])
    for asked in ({"error_rate_at_most": 0.5, "batch_size": 10}, {}):
        (line,) = lines_of({"good": good, "bad": bad}, **asked)
        assert line == (
            "good and bad: on average good fewer errors (exact); good wins 94 to 100 % where they "
            "differ (exact)."
        )


def test_no_line_of_a_pair_has_more_than_25_words():
    rng = np.random.default_rng(1)
    for scale in (1e-4, 1.0, 12345.678):
        for shift in (0.0, 0.03, 3.0):
            columns = {
                name: scale * (rng.exponential(size=900) + i * shift)
                for i, name in enumerate("abc")
            }
            for settings in ({}, {"margin": 5 * scale}):
                for line in lines_of(columns, **settings):
                    assert len(line.split()) <= 25, line


def test_what_it_assumes_and_when_the_approximate_holds():
    _, one = told({"m": MANY})
    assert assumed_line(one).startswith("Assumes that new cases come from the same source")
    assert approximate_line(one.strip) == ""
    assert separately_line(one, 0.1) == ""
    _, limit = told({"m": MANY}, at_most=1.0)
    assert "independent of each other" in assumed_line(limit)
    _, two = told({"a": HARD, "b": HARD + 1 + RNG.normal(0, 0.1, 300)})
    assert "independent of each other" in assumed_line(two)
    assert approximate_line(two.strip).startswith(
        "What is approximate holds unless one new case in 300"
    )
    assert separately_line(two, 0.1) == (
        "Each of these 2 holds separately; for all at once use --alpha 0.05."
    )
    _, limits = told({"a": MANY, "b": MANY}, at_most=1.0)
    assert "for all at once use --delta 0.025." in separately_line(limits, 0.1)
    for line in (assumed_line(one), assumed_line(two)):
        assert len(line.split()) <= 25


def test_the_decision_of_several_is_that_of_the_strip():
    line = line_of({"good": HARD, "bad": HARD + 1 + RNG.normal(0, 0.1, 300)})
    assert line == ("Use good. It wins more often than bad (exact, 90 % confidence).")
    line = line_of({"a": MANY, "b": 1.01 - MANY})
    assert line.startswith("Not decided by this data. ")
    assert "confidence" not in line


def test_groups_have_rows_of_their_own():
    groups = np.repeat(["big", "few"], [95, 5])
    table, answers = told({"a": MANY, "b": 2 * MANY}, groups=groups)
    found = group_table(table, answers, 0.1)
    assert found.rows[0] == ("big", "a", "95", "0.48", "at most 0.87")
    assert [row[-1] for row in found.rows[2:]] == ["none: 4 more cases needed"] * 2
    assert found.head[-1] == "bound (90 %)"


@pytest.mark.parametrize("greater", [False, True])
def test_every_group_bound_beyond_its_average_has_the_word(greater):
    rare = np.repeat([0.0, 100.0], [91, 9])
    groups = np.repeat(["all"], 100)
    table, answers = told({"m": -rare if greater else rare}, greater=greater, groups=groups)
    (row,) = group_table(table, answers, 0.1).rows
    assert row[-1].endswith(" 0; the average lies beyond it")
