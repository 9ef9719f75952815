"""k against m, and what a confidence needs, beside the experiments and ranks themselves."""

import re

import pytest

from cpp_core import Experiment
from cpp_core.catalog.variants import VARIANTS
from cpp_core.method.ranks import scores_needed
from cpp_core.method.splits import part_sizes
from cpp_core.trials.usual_sizes import LEAST_TRAINING
from cpp_core.verdicts.spending import (
    ALPHAS,
    finite_words,
    needs_table,
    rows_needed,
    runs_offered,
    trade_off,
)


def test_runs_are_offered_with_what_each_has():
    offered = runs_offered(VARIANTS["z-variable"], 1347, share=0.2, also=(50, 10**6))
    assert offered.pop(10**6) < 1
    assert set(range(1, 30)) | {50} <= set(offered)
    assert max(offered) == 269 // 2
    for k, m in offered.items():
        made = Experiment(variant="z-variable", n_sets=k, calibration_share=0.2)
        assert made.sizes.m == m


@pytest.mark.parametrize("side", ["upper", "two-sided"])
@pytest.mark.parametrize("k", [2, 9, 19, 20, 99])
def test_where_ends_become_infinite(side, k):
    points = float(re.search(r"up to ([\d.]+) %", finite_words(VARIANTS["z-free"], k, side))[1])
    assert scores_needed(round(1 - points / 100, 4), side) <= k
    assert scores_needed(round(1 - points / 100 - 0.0011, 4), side) > k


def test_sets_that_move_have_the_upper_rank():
    assert finite_words(VARIANTS["z-fixed"], 9, "two-sided") == finite_words(VARIANTS["z-free"], 9)


def test_the_trade_off_ends_where_no_case_is_left():
    rows = trade_off(VARIANTS["z-free"], 150, side="two-sided").rows
    assert [row[1] for row in rows] == ["9", "19", "39", "199"]
    assert [row[2] for row in rows] == ["15", "6", "2", "too few cases"]


@pytest.mark.parametrize("name", ["candidate", "z-free", "z-fixed", "z-variable", "symbolic"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_rows_that_a_confidence_needs(name, share):
    kind = VARIANTS[name]
    parts, each = kind.n_parts + (kind.retrains is not True), 1
    if kind.retrains:
        each = LEAST_TRAINING + 1
    for alpha in ALPHAS:
        rows, k = rows_needed(kind, alpha, share), scores_needed(alpha, "upper")
        assert part_sizes(rows * 3 // 4, parts, share)[-1] // each >= k
        assert part_sizes((rows - 1) * 3 // 4, parts, share)[-1] // each < k
    assert len(needs_table(share).rows) == len(ALPHAS)
