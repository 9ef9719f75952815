"""How cases can be spent, before anything runs: k against m, and what each confidence needs."""

import math
from collections.abc import Sequence
from fractions import Fraction

from cpp_core.catalog.checkups import Finding
from cpp_core.catalog.variants import VARIANTS, Variant
from cpp_core.checks import Level, Side, check_side, probability
from cpp_core.method.ranks import scores_needed
from cpp_core.method.splits import HALF, part_sizes, training_size
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.usual_sizes import LEAST_TRAINING
from cpp_core.verdicts.language import confidence, counted, listed, percent
from cpp_core.verdicts.summary import Table

ALPHAS = (0.2, 0.1, 0.05, 0.01)
"""The levels that tables of what is needed go through."""

FINE = 30
"""Up to here every k is offered, beyond it steps of about a tenth."""


def ranked_side(kind: Variant, side: str) -> Side:
    """The side whose rank serves: sets that move with the case have the upper one alone."""
    return "upper" if kind.moves else check_side(side)


def runs_offered(
    kind: Variant, n: int, held_out: int = 1, share: float = HALF, also: Sequence[int] = ()
) -> dict[int, int]:
    """How many training runs n cases can make, with the cases that each has: k and m.

    ``also`` are further k, which stay on offer where they leave nothing to train with.

    >>> offered = runs_offered(VARIANTS["z-free"], 200)
    >>> offered[1], offered[19], max(offered)
    (199, 9, 100)
    """
    last = part_sizes(n, kind.n_parts, share)[-1]
    most, steps = last // (held_out + 1), list(range(1, FINE))
    while steps[-1] < most:
        steps.append(steps[-1] + max(steps[-1] // 10, 1))
    fitting = {k for k in (*steps, most) if 1 <= k <= most}
    return {k: training_size(last, k, held_out) for k in sorted(fitting | set(also))}


def run_words(k: int, m: int) -> str:
    """A number of training runs as it is offered.

    >>> run_words(19, 69), run_words(1, 1), run_words(1000, -1)
    ('19 runs of 69 cases', '1 run of 1 case', '1,000 runs: too few cases')
    """
    return (
        f"{counted(k, 'run')} of {counted(m, 'case')}"
        if m > 0
        else (f"{counted(k, 'run')}: too few cases")
    )


def finite_words(kind: Variant, k: int, side: str = "upper") -> str:
    """Up to which confidence k calibration losses give finite ends.

    >>> finite_words(VARIANTS["z-free"], 19), finite_words(VARIANTS["z-free"], 1, "two-sided")
    ('Finite ends up to 95 % confidence.', 'No finite ends at any confidence.')
    """
    highest = 1 - Fraction(1 if ranked_side(kind, side) == "upper" else 2, k + 1)
    if highest <= 0:
        return "No finite ends at any confidence."
    return f"Finite ends up to {percent(highest, 'down')} confidence."


def share_words(retrained: bool) -> str:
    """What a share is taken from, under its control.

    >>> share_words(False)
    'The rest trains the model. Half is usual; any share fixed before looking is valid.'
    """
    rest = (
        "The rest learns how the loss depends on the case"
        if retrained
        else ("The rest trains the model")
    )
    return f"{rest}. Half is usual; any share fixed before looking is valid."


def trade_off(
    kind: Variant, n: int, held_out: int = 1, share: float = HALF, side: str = "upper"
) -> Table:
    """By confidence, the least k with finite ends, and the m that it leaves.

    >>> [row[1:] for row in trade_off(VARIANTS["z-free"], 200).rows]
    [('4', '49'), ('9', '21'), ('19', '9'), ('99', '1')]
    """
    last, rows = part_sizes(n, kind.n_parts, share)[-1], []
    for alpha in ALPHAS:
        k = scores_needed(alpha, ranked_side(kind, side))
        m = training_size(last, k, held_out)
        rows.append((confidence(alpha), f"{k:,}", f"{m:,}" if m > 0 else "too few cases"))
    caption = "k is the least with finite ends; every run more leaves fewer cases to each."
    return Table(("Confidence", "k needed", "m left"), rows, caption)


def rows_needed(kind: Variant, alpha: Level, share: float = HALF, side: str = "upper") -> int:
    """The least table with finite ends at this alpha, a quarter of it held out for testing.

    Every retraining has at least 5 cases, batches are single cases.

    >>> [rows_needed(VARIANTS[name], 0.1) for name in ("candidate", "z-free", "z-variable")]
    [24, 72, 144]
    """
    k = scores_needed(alpha, ranked_side(kind, side))
    retrains = kind.retrains is True
    parts = kind.n_parts + (not retrains)
    each = LEAST_TRAINING + 1 if retrains else 1
    divided = 2 * probability(share, "share") if parts > 1 else 1
    n = parts * math.ceil(k * each / divided)
    return math.ceil(Fraction(4 * n, 3))


def needs_table(share: float = HALF, side: str = "upper") -> Table:
    """Rows that a table needs for finite ends, by confidence and question."""
    kinds = {kind.label: kind for kind in VARIANTS.values() if not kind.batch}
    rows = [
        (
            confidence(alpha),
            *(f"{rows_needed(kind, alpha, share, side):,}" for kind in kinds.values()),
        )
        for alpha in ALPHAS
    ]
    caption = (
        "Rows for finite ends. A quarter of them tests, and every retraining has at least "
        f"{LEAST_TRAINING} cases."
    )
    return Table(("Confidence", *kinds), rows, caption)


def enough(experiment: Experiment, side: str = "upper") -> Finding:
    """For which confidences the calibration cases give finite ends (the check S1).

    >>> enough(Experiment(dataset="wine", algorithms=("dummy",))).text
    'Enough for 80 %, 90 % and 95 %, not for 99 %: 99 calibration cases are needed, 66 are there.'
    """
    k, kind = experiment.sizes.k, experiment.kind
    needed = {alpha: scores_needed(alpha, ranked_side(kind, side)) for alpha in ALPHAS}
    fine = [confidence(alpha) for alpha, least in needed.items() if least <= k]
    short = [alpha for alpha, least in needed.items() if least > k]
    told = f"Enough for {listed(fine)}" if fine else "Not enough for any usual confidence"
    if not short:
        return Finding("S1", f"{told}: {counted(k, 'calibration case')}.", fine=True)
    more = f", not for {listed([confidence(alpha) for alpha in short])}" if fine else ""
    return Finding(
        "S1",
        f"{told}{more}: {counted(needed[short[0]], 'calibration case')} are needed, {k:,} "
        f"{'is' if k == 1 else 'are'} there.",
    )
