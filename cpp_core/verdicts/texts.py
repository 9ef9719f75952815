"""The words that pages, report and command line share."""

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.presets import PRESETS
from cpp_core.checks import Level, exact_alpha
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.preset_runs import preset_of
from cpp_core.verdicts.held_out import trial_noun
from cpp_core.verdicts.language import (
    clause,
    confidence,
    counted,
    duration,
    listed,
    typed,
)

STEPS = (
    "**Draw** data, **split** them at random, **train**, **lose** (compute the loss of every "
    "held-out case), **sort** the losses, **read off** the bound: its rank alone makes the promise."
)

RE_SPLITS = (
    "These trials re-split one table. Given the table, and where losses do not tie, the counts of "
    "covered losses follow the exact law drawn here: agreement checks the arithmetic, and would "
    "hold on a table that drifts too. Ends, widths and mean losses describe re-splitting this "
    "table, not new tables."
)

BEFORE_THE_LABEL = (
    "While the label is still unknown, only the inputs can move the bar, and the promise is about "
    "one model that is trained already (on a third of the cases), not about retraining."
)

SEPARATOR = " · "
"""Between the parts of what was chosen."""

# What was chosen


def alpha_words(alpha: Level) -> str:
    """What stands under the control of the confidence.

    >>> alpha_words(0.1), alpha_words(0.0123)
    ('alpha 0.10. Moving it trains nothing.', 'alpha 0.0123. Moving it trains nothing.')
    """
    exact = float(exact_alpha(alpha))
    short = f"{exact:.2f}"
    return f"alpha {short if float(short) == exact else typed(exact)}. Moving it trains nothing."


def limit_words(alpha: Level) -> str:
    """What is asked with a limit, under its control.

    >>> limit_words(0.1)
    'Asked of 90 % of new cases, fixed before looking: shown, not shown or too little data.'
    """
    asked = f"Asked of {confidence(alpha)} of new cases, fixed before looking"
    return f"{asked}: shown, not shown or too little data."


def question_words(experiment: Experiment) -> str:
    """The question that an experiment answers, in a few plain words.

    >>> question_words(Experiment()), question_words(Experiment(variant="z-free"))
    ('the model I have', 'after retraining on 69 cases')
    """
    told = clause(experiment.kind.label)
    if experiment.batch_size is not None:
        told = f"{told} of {experiment.batch_size:,}"
    if not experiment.algorithmic:
        return told
    again = "" if experiment.kind.retrains else ", after retraining"
    return f"{told}{again} on {counted(experiment.sizes.m, 'case')}"


def chosen_words(experiment: Experiment, alpha: Level, trials: int, side: str = "upper") -> str:
    """What was chosen, in one line that stands above the answer.

    >>> chosen_words(Experiment.preset("digits-candidate"), 0.1, 1000)
    'Digits: which SVM? · the model I have · log loss · 90 % confidence · 1,000 splits'
    """
    start, data = preset_of(experiment), experiment.data
    labels = [ALGORITHMS[name].label for name in experiment.algorithms]
    rivals = listed(labels) if len(labels) < 4 else f"{len(labels)} algorithms"
    symbolic = experiment.kind.symbolic
    parts = [
        PRESETS[start].label if start else f"{data.label}: {rivals}",
        question_words(experiment),
        *([] if symbolic else [experiment.criterion.label]),
        f"{confidence(alpha)} confidence" + ", both sides" * (side == "two-sided" and not symbolic),
        counted(trials, trial_noun(experiment)),
    ]
    return SEPARATOR.join(parts)


def training_runs(experiment: Experiment) -> str:
    """How many training runs calibrate, and regress losses where sets move with the case.

    >>> training_runs(Experiment(variant="z-free")), training_runs(Experiment(variant="z-fixed"))
    ('k = 19 training runs', '2 x 19 training runs')
    >>> training_runs(Experiment(variant="z-fixed", calibration_share=0.2))
    '95 training runs, k = 19 to calibrate,'
    """
    sizes, parts = experiment.sizes, experiment.kind.n_parts
    runs = sizes.fits - sizes.n_test
    if runs != parts * sizes.k:
        return f"{counted(runs, 'training run')}, k = {sizes.k:,} to calibrate,"
    told = f"k = {counted(runs, 'training run')}"
    return f"{parts} x {counted(sizes.k, 'training run')}" if parts > 1 else told


def spent_words(experiment: Experiment) -> str:
    """How the cases of one trial are spent.

    >>> spent_words(Experiment())
    'Of 1,347 cases, 673 train each model and 673 calibrate its bound. 450 others test it.'
    >>> spent_words(Experiment(variant="z-free"))
    'Of 1,347 cases, each of k = 19 training runs takes m = 69 and one more to be judged at.'
    """
    sizes, n, b = experiment.sizes, experiment.n or 0, experiment.batch_size
    if experiment.algorithmic:
        held_out = b or experiment.n_evaluations
        judged = "one more" if held_out == 1 else f"{held_out:,} more"
        return (
            f"Of {n:,} cases, each of {training_runs(experiment)} takes m = {sizes.m:,} and "
            f"{judged} to be judged at."
        )
    if experiment.kind.symbolic:
        each = sizes.k == sizes.m
        found = (
            f"3 x {sizes.k:,}" if each else f"{3 * sizes.m:,}, of them {sizes.k:,} to calibrate,"
        )
        calibrate = f"{found} find its sets"
    else:
        calibrate = f"{sizes.k:,}{' batches' if b else ''} calibrate its bound"
    test = "tests" if sizes.n_test == 1 else "test"
    others = counted(sizes.n_test, "other batch" if b else "other")
    return f"Of {n:,} cases, {sizes.m:,} train each model and {calibrate}. {others} {test} it."


def waiting_words(others: int) -> str:
    """Why a run or a study stands still, after how far it is.

    >>> waiting_words(2)
    ', waits for its turn behind 2 other computations'
    """
    return f", waits for its turn behind {counted(others, 'other computation')}"


def late_words(limit: float, done: int, fits: int, left: float | None) -> str:
    """Why a study has ended that nobody asked for, and what asking for it costs.

    >>> print(late_words(120, 30, 300, 1080))
    Stopped after 2 min, with 30 of 300 training runs done. Run starts anew, for about 20 min.
    >>> print(late_words(120, 1, 2, None))
    Stopped after 2 min, with 1 of 2 training runs done. Run starts anew, for longer than that.
    """
    whole = "longer than that" if left is None else f"about {duration(limit + left)}"
    runs = f"{done:,} of {counted(fits, 'training run')}"
    return f"Stopped after {duration(limit)}, with {runs} done. Run starts anew, for {whole}."
