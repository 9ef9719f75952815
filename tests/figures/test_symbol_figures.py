"""Figures of kinds of error."""

import numpy as np
import pytest

from cpp_core import ALGORITHMS
from cpp_core.figures.symbol_figures import symbol_bars, symbol_grid
from cpp_core.verdicts.language import percent
from tests.builders import check

pytestmark = pytest.mark.usefixtures("no_warnings")


@pytest.mark.parametrize("name", ["symbolic", "symbolic-algorithm"])
def test_symbols(every_variant, name):
    results = every_variant[name]
    panel = symbol_bars(results, 0.1)
    alone = []
    for algorithm in results.algorithms:
        reader = results.reader(algorithm)
        sets = reader.sets(0.1).reshape(-1, len(reader.symbols))
        rows = panel.data[panel.data["algorithm"] == algorithm]
        np.testing.assert_allclose(rows["share_of_sets"], sets.mean(axis=0))
        summary = results.summary(0.1)[algorithm]
        assert rows["coverage"].iloc[0] == pytest.approx(summary["test_coverage_mean"])
        assert rows["mean_set_size"].iloc[0] == pytest.approx(summary["width_mean"])
        assert rows["share_happened"].sum() == pytest.approx(1)
        only = (sets.sum(axis=1) == 1) & sets[:, 0]
        alone.append(f"{ALGORITHMS[algorithm].label} in {percent(only.mean())}")
    left = "Over 2 trials, nothing but Correct is left"
    assert panel.title == f"{left}: {' and '.join(alone)} of the sets"
    assert "All possible symbols are kept" in symbol_bars(results, 0.001).caption


def test_symbols_at_one_case():
    symbols = ("Correct", "FP", "FN")
    panel = symbol_grid(
        symbols,
        {"svm-lin": np.array([True, False, True]), "svm-rbf": np.array([True, False, False])},
        {"svm-lin": np.array(["Correct"] * 3), "svm-rbf": np.array(["Correct", "FN", "FN"])},
    )
    check(panel)
    assert panel.title == "Left at this case: SVM-lin Correct or FN, SVM-rbf Correct"
    assert "in the set for SVM-lin 3 of 3 and SVM-rbf 1 of 3." in panel.caption
    squares, diamonds = panel.figure.data[2], panel.figure.data[3]
    assert squares.marker.symbol == ("square", "square-open", "square-open")
    assert diamonds.text == ("1 ×", "2 ×")
    assert panel.data["happened"].tolist() == [3, 0, 0, 1, 0, 2]
    with pytest.raises(ValueError, match="at least one algorithm"):
        symbol_grid(symbols, {}, {})
