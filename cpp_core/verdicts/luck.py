"""Where the split that carries the promise lies among the others: a lucky one is no better model.

See docs/method.md, section 6.
"""

import numpy as np

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.trials.results import Results, median
from cpp_core.verdicts.about import LEAST_TRIALS, about_results, first_trial
from cpp_core.verdicts.held_out import short_noun, this_one
from cpp_core.verdicts.language import counted, percent, sentence
from cpp_core.verdicts.verdict import Brief, Verdict


def split_places(results: Results, alpha: Level = 0.1, side: str = "upper") -> tuple[Verdict, ...]:
    """What is said of trial 0's split, for each algorithm of which there is something to say."""
    found = (split_place(results, name, alpha, side) for name in results.algorithms)
    return tuple(verdict for verdict in found if verdict is not None)


def split_place(
    results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper"
) -> Verdict | None:
    """Trial 0's bound among those of all trials; None where sets move, or trials are few.

    None also where trial 0 has no finite bound: there is none that could be a lucky one.

    The shares count the other trials; the typical bound is the median of all. Of two sides the end
    on the bad side is the bound.
    """
    n, row = len(results.trials), first_trial(results)
    if results.experiment.kind.moves or n < LEAST_TRIALS:
        return None
    about, label = about_results(results), ALGORITHMS[algorithm].label
    read = results.reader(algorithm).read(alpha, side)
    bounds = read.lower if about.greater_is_better else read.upper
    own, others = bounds[row], np.delete(bounds, row)
    if np.isinf(own):
        return None
    this = this_one(results.experiment)
    kind = short_noun(results.experiment)
    below, above = float(np.mean(others < own)), float(np.mean(others > own))
    equal, others_ = 1 - below - above, counted(n - 1, f"other {kind}")
    if above > max(below, 0.5):
        place = f"lower than in {percent(above)} of {others_}"
    elif below > max(above, 0.5):
        place = f"higher than in {percent(below)} of {others_}"
    elif equal > 0.5:
        place = f"the same as in {percent(equal)} of {others_}"
    else:
        place = f"in the middle of {others_}"
    what = "bound" if side == "upper" else f"{about.bad_end} end"
    usual = about.end(median(bounds))
    text = f"{label}: {this}'s {what}, {about.end(own)}, is {place}; typical is {usual}."
    why = (
        f"{sentence(this)} was fixed beforehand, and its bound keeps the promise over all such, "
        f"lucky and unlucky ones; {percent(float(read.test_coverage[row]))} of its own test losses "
        f"lie within it. A better bound of another {kind} is luck, not a better model, and "
        "choosing it would cost confidence."
    )
    facts = about.facts(
        *(alpha, results.experiment.sizes.k), algorithm=label, bound=own, below=below, above=above,
        place=place, typical=median(bounds), test_coverage=float(read.test_coverage[row]),
        trials=n, this=this,
    )  # fmt: skip
    simulated = results.experiment.data.size is None
    lean = "fresh simulated data in each trial" if simulated else "re-splits of one table"
    brief = Brief(label, f"{about.end(own)} in {this}", f"is {place}; typical is {usual}")
    return Verdict(text, "approximate", lean, facts, why, brief)
