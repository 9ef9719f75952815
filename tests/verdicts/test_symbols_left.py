"""Which kinds of outcome are left: shares against plain counts, titles with a known truth."""

import numpy as np
import pytest

from cpp_core.verdicts.symbols_left import (
    SymbolsSeen,
    covered_words,
    happened_words,
    left_title,
    symbols_at,
    symbols_seen,
    symbols_title,
)
from tests.builders import symbolic

SYMBOLS = ("Correct", "FP", "FN")


@pytest.mark.parametrize("name", ["symbolic", "symbolic-algorithm"])
def test_shares_are_plain_counts(every_variant, name):
    results = every_variant[name]
    for algorithm, found in symbols_seen(results, 0.1).items():
        reader = results.reader(algorithm)
        sets = reader.sets(0.1).reshape(-1, len(reader.symbols)).tolist()
        happened = reader.arrays["test_symbol"].astype(int).ravel().tolist()
        n = len(sets)
        assert found.covered == sum(s[h] for s, h in zip(sets, happened, strict=True)) / n
        assert found.alone == sum(s[0] and sum(s) == 1 for s in sets) / n
        assert found.size == pytest.approx(sum(map(sum, sets)) / n)
        for i in range(len(found.symbols)):
            assert found.held[i] == pytest.approx(sum(s[i] for s in sets) / n)
            assert found.happened[i] == pytest.approx(happened.count(i) / n)


def test_with_too_few_scores_nothing_is_ruled_out_but_the_impossible():
    (found, *_) = symbols_seen(symbolic(5), 0.1).values()
    assert found.covered == 1
    assert found.alone == 0


def test_titles_over_trials():
    def seen(label, alone, covered):
        return SymbolsSeen(label, SYMBOLS, np.zeros(3), np.zeros(3), 1.0, covered, alone)

    found = [seen("A", 0.5, 0.9), seen("B", 1.0, 0.95)]
    assert symbols_title(found, 20) == (
        "Over 20 trials, nothing but Correct is left: A in 50 % and B in 100 % of the sets"
    )
    assert symbols_title(found[:1], 1).startswith("Over 1 trial, nothing but Correct is left: A ")
    assert covered_words(found) == "90 % of A's sets and 95 % of B's sets"


def test_one_case():
    sets = {"svm-lin": np.array([True, False, True]), "svm-rbf": np.array([True, False, False])}
    happened = {"svm-lin": np.array(["Correct"] * 3), "svm-rbf": np.array(["Correct", "FN", "FN"])}
    found = symbols_at(SYMBOLS, sets, happened)
    assert [own.covered for own in found.values()] == [3, 1]
    assert found["svm-rbf"].seen == {"Correct": 1, "FP": 0, "FN": 2}
    every = list(found.values())
    assert left_title(every) == "Left at this case: SVM-lin Correct or FN, SVM-rbf Correct"
    assert happened_words(every) == "SVM-lin 3 of 3 and SVM-rbf 1 of 3"
