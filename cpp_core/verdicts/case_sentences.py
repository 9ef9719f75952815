"""What is said about single cases: which question is answered, the finding, what is promised.

The set at a case is a fact about the case; the probability never is: it counts cases drawn at
random. See docs/method.md, section 6.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.method.ranks import conformal_ranks, scores_needed
from cpp_core.method.splits import part_sizes, training_size
from cpp_core.trials.case_study import CaseStudy, Study
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.gallery import DRAWN, HARDEST, SURPRISING, WIDEST, Gallery
from cpp_core.trials.symbol_study import SymbolStudy
from cpp_core.verdicts.about import NO_BOUND, About, about_experiment, is_stored
from cpp_core.verdicts.bounds import SYMBOL_WORDS
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    ordinal,
    percent,
    plural,
    sentence,
    with_unit,
)
from cpp_core.verdicts.loss_words import in_parentheses, in_unit, top_words
from cpp_core.verdicts.set_words import EMPTY, has_words, set_words
from cpp_core.verdicts.texts import training_runs
from cpp_core.verdicts.verdict import EXCHANGEABLE, Brief, Verdict

Ends = Mapping[str, tuple[float, float]]
"""Lower and upper end of the set at a case, by algorithm."""

MOST_NAMED = 3
"""Algorithms that a headline names."""

WIDTHS = (
    "Variable: hard cases get wider sets. Fixed: all are equally wide. Nested: a set at more "
    "confidence holds the one at less. Chosen before looking, each has the same promise."
)
OWN_PROMISE = (
    "A bound that is calibrated with the losses of one label alone is promised for that label; it "
    "rests on fewer losses."
)


def noun(experiment: Experiment) -> str:
    """What a case is called: an image where it can be seen as one."""
    return "image" if experiment.data.picture is not None else "case"


def label_of(study: Study, case: int) -> str:
    """The label of a case as text; of a regression its target."""
    label = study.y[case]
    return str(label) if study.experiment.data.classes else number(float(label))


def label_noun(experiment: Experiment) -> str:
    """What is predicted: a label, or the target of a regression."""
    return "label" if experiment.data.classes else "target"


def case_name(study: Study, case: int) -> str:
    """The case in a sentence: "this 9", "case 4 (setosa)", "case 4 (target 151)"."""
    classes, label = study.experiment.data.classes, label_of(study, case)
    if classes and study.experiment.data.picture is not None:
        return f"this {label}"
    return f"case {case} ({label})" if classes else f"case {case} (target {label})"


# Which question is answered


def question(asked: Experiment, answered: Experiment) -> str:
    """Which question the page answers where the sidebar asks another one; else nothing."""
    if asked.variant == answered.variant:
        return ""
    loss, one, m = about_experiment(answered).loss, noun(answered), answered.sizes.m
    return (
        f"The sidebar asks about “{asked.kind.label}”. One case answers: the {loss} at one {one}, "
        f"after retraining on m = {m:,} {plural(one)}."
    )


def training_sizes(experiment: Experiment) -> str:
    """How many cases a training sees, and why it is not all of them."""
    k, m, n = experiment.sizes.k, experiment.sizes.m, experiment.n
    many = plural(noun(experiment))
    if not experiment.algorithmic:
        return (
            f"The training saw m = {m:,} {many}: one model of each algorithm, and "
            f"{k:,} other {many} calibrate the sets."
        )
    return (
        f"Each retraining sees m = {m:,} {many}, not the n = {n:,} of the trial: "
        f"{training_runs(experiment)} share those, each with its own {m:,}, so the promise is for "
        "candidates trained on that many."
    )


# The finding


def finding(study: CaseStudy, case: int, sets: Ends, alpha: Level, side: str) -> str:
    """What retrained candidates may lose at a case, the highest bound first."""
    more = study.more_needed(alpha)
    if more:
        return _no_bound("No bound", study, alpha, more)
    ranked = dict(sorted(sets.items(), key=lambda item: -item[1][1]))
    bounded = {n: e for n, e in ranked.items() if e[0] <= e[1] and np.isfinite(e[1])}
    high = about_experiment(study.experiment).high
    ending = [name for name, ends in bounded.items() if is_stored(ends[1], high)]
    known = {n: e for n, e in bounded.items() if side != "upper" or n not in ending}
    told = []
    if known:
        told.append(_may_lose(study.experiment, known, side, each=len(known) == len(sets)))
    if ending:
        alone = len(ending) == len(sets)
        told.append(_at_the_top(study.experiment, ending, side, alone, not known))
    for name, (lower, upper) in ranked.items():
        if name not in bounded:
            lacking = EMPTY if lower > upper else NO_BOUND
            told.append(f"{ALGORITHMS[name].label} has {lacking}")
    return f"At {case_name(study, case)}, {', '.join(told)}"


def _at_the_top(
    experiment: Experiment, ending: list[str], side: str, alone: bool, first: bool
) -> str:
    """Which sets reach the top of the range, where a bound says no more than the range does.

    ``alone`` is whether all do, ``first`` whether nothing has told yet how they are retrained.
    """
    about = about_experiment(experiment)
    top = about.end(about.high)
    if side != "upper":
        return f"and {top} is the top of the range"
    retrained = f" retrained on {counted(experiment.sizes.m, noun(experiment))}" if first else ""
    below = f"bound below {top}, the top of the range"
    if alone and len(ending) > 1:
        return f"no model{retrained} has a {below}"
    names = listed(ALGORITHMS[name].label for name in ending)
    return f"{names}{retrained} {'has' if len(ending) == 1 else 'have'} no {below}"


MADE_UP = (
    "No promise is made about values that somebody made up: they are not drawn like the cases."
)


def what_if_finding(study: CaseStudy, before: Ends, after: Ends, side: str) -> str:
    """How the sets at a case move when its values are changed."""
    about, told = about_experiment(study.experiment), []
    for name, ends in after.items():
        bound, was = (set_words(about, *own, side) for own in (ends, before[name]))
        moved = "unchanged" if bound == was else f"before {was}"
        told.append(f"{ALGORITHMS[name].label} {bound} ({moved})")
    return f"With these values: {', '.join(told)}"


def _may_lose(experiment: Experiment, known: Ends, side: str, each: bool) -> str:
    """How much each may lose; with many algorithms, the highest bound and the lowest.

    ``each`` is whether these are all that there are.
    """
    about = about_experiment(experiment)
    retrained = f"retrained on {counted(experiment.sizes.m, noun(experiment))}"

    def amount(ends: tuple[float, float]) -> str:
        upper = about.upper_end(ends[1])
        return f"between {about.lower_end(ends[0])} and {upper}" if side != "upper" else upper

    amounts = {name: amount(ends) for name, ends in known.items()}
    names, unit = list(amounts), about.unit or f"({about.loss})"
    first = amounts[names[0]] if side != "upper" else f"up to {amounts[names[0]]}"
    if each and len(names) > 1 and len(set(amounts.values())) == 1:
        return f"each model {retrained} may lose {first} {unit}"
    told = [f"{ALGORITHMS[names[0]].label} {retrained} may lose {first} {unit}"]
    shown = names[1:] if len(names) <= MOST_NAMED else names[-1:]
    told += [f"{ALGORITHMS[name].label} {amounts[name]}" for name in shown]
    others = len(names) - 1 - len(shown)
    return ", ".join(told) + (f", {others} others in between" if others else "")


def set_reading(name: str, ends: tuple[float, float], about: About, side: str) -> str:
    """An algorithm's set at a case, as a part of a title."""
    return f"{ALGORITHMS[name].label} {has_words(about, *ends, side)}"


def trained_title(sets: Ends, about: About, side: str) -> str:
    """The sets of trained models at a case."""
    told = listed(set_reading(name, ends, about, side) for name, ends in sets.items())
    return f"The trained model at this case: {told}"


def sweep_title(sets: Ends, about: About, side: str, alpha: Level) -> str:
    """The sets at the chosen confidence, beside those at others."""
    told = ", ".join(set_reading(name, ends, about, side) for name, ends in sets.items())
    return f"The set of this case, by the rule for {confidence(alpha)} of cases: {told}"


def symbol_finding(study: SymbolStudy, case: int, alpha: Level) -> str:
    """Which kinds of outcome are left at a case."""
    more = study.more_needed(alpha)
    if more:
        return _no_bound("Nothing that the label allows is ruled out", study, alpha, more)
    told: dict[str, list[str]] = {}
    for name in study.experiment.algorithms:
        held = study.sets(name, alpha)[case]
        left = [SYMBOL_WORDS[s] for s, there in zip(study.symbols, held, strict=True) if there]
        words = " or ".join(filter(None, [", ".join(left[:-1]), left[-1]]))
        told.setdefault(words, []).append(ALGORITHMS[name].label)
    who = "a retrained model" if study.experiment.algorithmic else "the trained model"
    each = "; ".join(f"{words} ({', '.join(labels)})" for words, labels in told.items())
    return f"At {case_name(study, case)}, {who} may be {each}"


def _no_bound(what: str, study: Study, alpha: Level, more: int) -> str:
    subsets = "training subsets" if study.experiment.algorithmic else "calibration cases"
    return (
        f"{what} at {confidence(alpha, 'up')} confidence: that takes {study.k + more:,} {subsets}, "
        f"and there are {study.k:,}"
    )


# What is promised


def promise(study: Study, alpha: Level) -> Verdict:
    """What the sets promise, over new cases, and that this is nothing about a single one."""
    about, level, k = about_experiment(study.experiment), confidence(alpha), study.k
    one, more = noun(study.experiment), study.more_needed(alpha)
    facts = about.facts(alpha, k, more_needed=more)
    if more:
        text = f"{about.more(more)} would allow it. {_remedy(study.experiment, alpha)}"
        why = f"It takes k of at least 1/alpha - 1 = {k + more:,} calibration scores; there are "
        why += f"{k:,}."
        brief = Brief("", about.missing(more), "would allow it", "open")
        return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)
    held_over = f"the promise holds over {plural(one)} drawn at random, at {level}"
    brief = Brief("", held_over, f"; not for this one {one} alone")
    text = brief.line
    held = "the kind of the outcome" if study.experiment.kind.symbolic else "the loss"
    new = "" if about.m is None else ", after retraining on fresh ones,"
    each = ", separately for each algorithm" if about.n_algorithms > 1 else ""
    hi = conformal_ranks(k, alpha, "upper")[1]
    why = (
        f"At a new {one}{new} {held} is in its set with {level} confidence{each}. What was "
        f"predicted at it is moved by the {ordinal(hi)} smallest of the {k:,} calibration scores. "
        f"The probability is {about.together}: at this one {one}, or in one class, the set may "
        f"hold more often or less. {training_sizes(study.experiment)}"
    )
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)


def _remedy(experiment: Experiment, alpha: Level) -> str:
    """What gives a bound where there are too few scores."""
    if not experiment.algorithmic:
        return "Ask for less confidence, or use more cases."
    needed, n = scores_needed(alpha, "upper"), experiment.n or 0
    last = part_sizes(n, experiment.kind.n_parts, experiment.calibration_share)[-1]
    m = training_size(last, needed)
    if m < 1:
        return f"The n = {n:,} cases are too few for that: ask for less confidence."
    return f"Ask for less confidence, or set k to {needed:,}: m then falls to {m:,}."


def end_of_range(study: CaseStudy, ends: Iterable[tuple[str, float]], alpha: Level) -> str:
    """Why bars reach the end of the loss's range, and what helps.

    ``ends`` are algorithms with upper ends of their bars. Empty where none reaches it, and where
    there are too few scores, which ``finding`` tells.
    """
    experiment, about = study.experiment, about_experiment(study.experiment)
    worst = np.float32(experiment.criterion.worst)
    names = list(dict.fromkeys(name for name, upper in ends if upper >= worst))
    if not names or not np.isfinite(worst) or study.more_needed(alpha):
        return ""
    top, bars = about.end(experiment.criterion.worst), "bar" if len(names) == 1 else "bars"
    whose = f"the {bars} of {listed(ALGORITHMS[name].label for name in names)}"
    end = f"{sentence(whose)} {'ends' if len(names) == 1 else 'end'} there."
    start = f"{top_words(experiment, top)} {end}"
    shares = [float(np.mean(study.calibration[name] >= worst)) for name in names]
    if not min(shares):
        return (
            f"{start} What is predicted here, and what calibration adds to it, go beyond that. "
            "Less confidence or more cases lower a bar."
        )
    return (
        f"{start} With {study.m:,} training {plural(noun(experiment))}, "
        f"{percent(min(shares), 'down')} or more of the calibration losses are that high. "
        "A smaller k leaves more to train with."
    )


def stayed_inside(inside: int, losses: NDArray | None) -> str:
    """How many of the candidates that were trained afresh lost what the set says.

    ``losses`` are None while none has been trained yet.

    >>> stayed_inside(1, np.zeros(1)), stayed_inside(0, None)
    ('1 of 1 retrained model stayed inside', 'retrained models to compare with: not there yet')
    """
    if losses is None:
        return "retrained models to compare with: not there yet"
    if not len(losses):
        return "too few other cases to retrain on"
    return f"{inside} of {counted(len(losses), 'retrained model')} stayed inside"


def lost_words(losses: NDArray, about: About) -> str:
    """What the one trained model lost; empty where nobody knows.

    >>> lost_words(np.array([0.25]), About(unit="nats")), lost_words(np.array([]), About())
    ('it lost 0.25 nats', '')
    """
    return f"it lost {with_unit(number(float(losses[0])), about.unit)}" if len(losses) else ""


# The gallery

VALUES = {DRAWN: "bound", HARDEST: "bound", WIDEST: "width", SURPRISING: "difference"}
"""What the number at each case is, in a word."""


def wall_heading(study: Study, gallery: Gallery) -> str:
    """How many cases there are, and what their tint means."""
    symbolic = study.experiment.kind.symbolic
    meaning = "the darker, the more may happen" if symbolic else "the darker, the higher the bound"
    shown, total = len(gallery.cases), len(study.y)
    of = "" if shown == total else f"{shown:,} of "
    return f"{of}{counted(total, f'test {noun(study.experiment)}')}: {meaning}"


def ordered_by(study: Study, gallery: Gallery) -> str:
    """What the number at each case is, with its unit."""
    if isinstance(study, SymbolStudy):
        return "how many kinds of outcome are left"
    about, several = about_experiment(study.experiment), len(study.experiment.algorithms) > 1
    unit = in_unit(about.unit) or in_parentheses(about.loss)
    bound = "the highest bound of any algorithm" if several else "the bound"
    surprise = "how far the algorithms' bounds lie apart"
    if not several:
        of = "of its label" if study.experiment.data.classes else "of all cases"
        surprise = f"how far its predicted loss is from the usual one {of}"
    words = {DRAWN: bound, HARDEST: bound, WIDEST: "the width of the widest set"}
    return (words | {SURPRISING: surprise})[gallery.by] + unit


def wall_caption(study: Study, gallery: Gallery, shown: int) -> str:
    """How to read the gallery, and that a case can be chosen."""
    some = f"{shown:,} of {len(gallery.cases):,} are shown. " if shown < len(gallery.cases) else ""
    return f"Number: {ordered_by(study, gallery)}. {some}Choose one."


def value_texts(study: Study, gallery: Gallery, cases: NDArray) -> list[str]:
    """The value that each of these cases is ordered by."""
    values = [gallery.values[case] for case in cases]
    if isinstance(study, SymbolStudy):
        return [f"{int(value)}" for value in values]
    about = about_experiment(study.experiment)
    write = {DRAWN: about.upper_end, HARDEST: about.upper_end, WIDEST: about.difference.upper_end}
    texts = map(write.get(gallery.by, number), values)
    return [text if np.isfinite(v) else "∞" for text, v in zip(texts, values, strict=True)]
