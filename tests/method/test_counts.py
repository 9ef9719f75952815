"""How many cases a tolerance bound needs."""

from fractions import Fraction

import pytest

from cpp_core.method.counts import cases_needed, tolerance_rank


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, Fraction(1, 3), 0.5, 0.9])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.25, 0.9, 0.99])
def test_cases_needed_against_powers(alpha, delta):
    p, error = 1 - Fraction(str(alpha)), Fraction(str(delta))
    expected = next(k for k in range(1, 10**4) if p**k <= error)
    assert cases_needed(alpha, delta) == expected
    assert tolerance_rank(expected, alpha, delta) <= expected
    if expected > 1:
        assert tolerance_rank(expected - 1, alpha, delta) == expected


def test_exact_powers_and_tiny_alphas():
    for k in (1, 7, 40):  # (1 - alpha)^k is delta itself, and just not
        assert cases_needed(0.5, Fraction(1, 2**k)) == k
        assert cases_needed(0.5, Fraction(1, 2**k) - Fraction(1, 10**40)) == k + 1
        assert cases_needed(0.1, Fraction(9, 10) ** k) == k
    assert cases_needed(1e-9, 0.05) == 2995732273
    with pytest.raises(ValueError, match="delta must lie strictly between"):
        cases_needed(0.1, 0)
