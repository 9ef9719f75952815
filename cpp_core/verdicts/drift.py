"""Random splits beside the latest cases held out, in words: what was seen, never a promise."""

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import confidence, counted, listed, number, percent
from cpp_core.verdicts.summary import Table

NO_PROMISE = (
    "One hold-out in time is a look, not a guarantee: where new cases differ from old ones, no "
    "bound is promised."
)


def latest_table(random: Results, latest: Results, alpha: Level, side: str = "upper") -> Table:
    """By algorithm, the share of test cases within the bound: of random splits, and of the latest.

    The first is the mean over all trials; the second counts one hold-out.
    """
    seen, rows = random.at(alpha, side), []
    newest = latest.at(alpha, side)
    n = latest.experiment.sizes.n_test
    for name in latest.algorithms:
        typical = float(seen[seen["algorithm"] == name]["test_coverage"].mean())
        own = float(newest[newest["algorithm"] == name]["test_coverage"].iloc[0])
        rows.append((ALGORITHMS[name].label, percent(typical), f"{round(own * n):,} of {n:,}"))
    head = ("Within the bound", "Random splits", "Latest cases")
    return Table(
        head, rows, f"{confidence(alpha)} was asked. {NO_PROMISE}", names=latest.algorithms
    )


def latest_words(latest: Results, alpha: Level, side: str = "upper") -> str:
    """The hold-out in time in two sentences, for whoever sees the result alone."""
    found, n = latest.at(alpha, side), latest.experiment.sizes.n_test
    shares = found.set_index("algorithm")["test_coverage"]
    within = [
        f"{round(float(shares[name]) * n):,} are within the bound of {ALGORITHMS[name].label}"
        for name in latest.algorithms
    ]
    return (
        f"Of the latest {counted(n, 'case')}, which were held out, {listed(within)} "
        f"({confidence(alpha)} was asked). {NO_PROMISE}"
    )


def latest_only(latest: Results, alpha: Level, side: str = "upper") -> Table:
    """By algorithm, how many of the latest cases were within the bound, and their average loss."""
    found, rows = latest.at(alpha, side), []
    n = latest.experiment.sizes.n_test
    for name in latest.algorithms:
        covered = float(found[found["algorithm"] == name]["test_coverage"].iloc[0])
        average = number(float(latest.arrays[name]["test"].mean()))
        rows.append((ALGORITHMS[name].label, f"{round(covered * n):,} of {n:,}", average))
    head = ("Latest cases", "Within the bound", "Average loss")
    told = f"{confidence(alpha)} was asked. {NO_PROMISE}"
    return Table(head, rows, told, names=latest.algorithms)
