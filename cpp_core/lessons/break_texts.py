"""The ways to break the promise: what is done, how far it falls, why, and what would be right.

Figures in braces are filled in from the averages that are kept: ``{break-cv/cv-median}``.
"""

from cpp_core.lessons import break_ways as ways
from cpp_core.lessons import breaks
from cpp_core.lessons.break_form import Break, Rows, code_of, listed_values
from cpp_core.lessons.break_ways import kept_way, tried_way
from cpp_core.lessons.drawing import rows_of
from cpp_core.lessons.lesson import Check
from cpp_core.lessons.stored import stored
from cpp_core.method.constructions import plain

N = 16
ALL = range(N)
FOLDS: Rows = [([i for i in range(8) if i != j], [j]) for j in range(8)]
HALVES, DISJOINT = rows_of(plain(N)), rows_of(plain(N, 4))
OWN_HALVES: Rows = [(range(i, i + 2), range(i + 2, i + 4)) for i in range(0, N, 4)]
CHOSEN: Rows = [(range(6), range(6, 11))] * 2 + [(range(6), range(11, N))]

LOWEST_CODE = """\
from scipy import integrate, stats
from cpp_core import coverage_law

law = stats.beta(*coverage_law(19, 0.1, side="upper"))
print(integrate.quad(lambda u: law.sf(u) ** {value}, 0, 1, limit=200)[0])
"""
DRIFT_CODE = """\
from cpp_core.lessons.break_ways import drift

print(drift("{value}").share)  # 2 Phi(1.645 / factor) - 1 for the noise
"""

CROSS_VALIDATION = Break(
    name="cross-validation",
    label="Naive cross-validation",
    lead="The losses of the folds of a cross-validation are reused, as if they calibrated.",
    control="Folds",
    values=listed_values(breaks.FOLDS),
    start=100,
    way=kept_way("break-cv", "cv-{}"),
    setting=(
        "100 prices around 10, 2 % of them typed a hundred times too large. The learner is the "
        "mean; later it has as many fresh rows as each fold left it. With the median "
        "instead: {break-cv/cv-median}."
    ),
    why=(
        "Each of these losses has the right law, but the folds share their rows: all of them "
        "carry the luck of one sample. A table with few typos gives small losses throughout, "
        "and a bound that fresh tables with more typos exceed. More folds share more rows."
    ),
    right=(
        "Disjoint groups share nothing: {break-cv/cv-right} with 9 groups of 91 rows. The price "
        "is 819 rows."
    ),
    check=Check(
        "No price is typed wrong. Does it still fall?",
        (
            "Not here: {break-cv/cv-clean-100}. All tables are then much alike, and to share one "
            "costs little. But nothing promises that."
        ),
    ),
    code=code_of("cross_validation", "break-cv", "cv-{value}", 2000),
    rows=FOLDS,
    rows_say="Every row trains all models but one: they share one sample's luck.",
    right_rows=DISJOINT,
)

TRAINING_DATA = Break(
    name="training-data",
    label="Calibrate on training data",
    lead="The errors on the training rows are at hand. Why not sort them?",
    control="Inputs of the model",
    values=listed_values(breaks.TRAINED_INPUTS),
    start=50,
    way=kept_way("break-training", "training-{}"),
    setting="Least squares on 100 rows, Normal inputs and noise; absolute errors on the same rows.",
    why=(
        "The model has bent towards these rows, so their errors are smaller than those of new "
        "cases. With as many inputs as rows it fits them perfectly: the bound is 0, and no new "
        "case stays below it."
    ),
    right="Judge at rows that training never saw: then any model keeps 90 %.",
    check=Check(
        "A nearest neighbour is judged at its own training rows. Its bound?",
        "0: every row is its own nearest neighbour. The bound covers no new case.",
    ),
    code=code_of("on_training_data", "break-training", "training-{value}", 200),
    rows=[(ALL, ()), ((), ALL)],
    rows_say="The same rows train and judge.",
    right_rows=HALVES,
)

DUPLICATES = Break(
    name="duplicates",
    label="Duplicated rows",
    lead="Rows stand several times in the table, and are split at random.",
    control="Copies of each row",
    values=listed_values(breaks.COPIES),
    start=3,
    way=kept_way("break-copies", "copies-{}"),
    setting="Nearest neighbour; 200 different rows, each in so many copies, in random halves.",
    why=(
        "Copies of one row fall on both sides of the split: a calibration row then finds itself "
        "among the training rows, and its loss is 0. New cases have no copy there."
    ),
    right="Remove copies before splitting, or keep all copies of a row on one side.",
    check=Check(
        "New cases are copies of rows as well, just as often. Still broken?",
        (
            "No: then calibration rows are like new cases again, and {break-feared/copies} stay "
            "inside."
        ),
    ),
    code=code_of("duplicates", "break-copies", "copies-{value}", 200),
    kept={1: "Every row stands once in the table."},
    rows=[(range(10), ()), ((), range(4, N))],
    rows_say="Row one trains, row two is judged: where they overlap stand copies.",
    right_rows=HALVES,
)

REFIT = Break(
    name="refit",
    label="Refit on all the data",
    lead="The bound is calibrated. Then the model is fitted again, on all rows.",
    control="Inputs of the model",
    values=listed_values(breaks.REFIT_INPUTS),
    start=40,
    way=kept_way("break-refit", "refit-{}"),
    setting=(
        "Least squares, 20 rows to train and 20 to calibrate; then refitted on all 40. With "
        "more inputs than rows it takes the shortest weights that fit."
    ),
    why=(
        "The bound is about the model that was judged; the refitted one is another. Often it is "
        "better, and then the bound is too high. But near as many inputs as rows least squares "
        "is wild: here twice the rows make it worse."
    ),
    right="Keep the model that was judged: {break-refit/refit-kept-40}.",
    check=Check(
        "Two inputs, and more than 90 % inside. Is refitting safe there?",
        (
            "It did no harm in that setting, but nothing promises it: the model in use was never "
            "judged."
        ),
    ),
    code=code_of("refitted", "break-refit", "refit-{value}", 400),
    rows=[(range(8), range(8, N)), (ALL, ())],
    rows_say="The model of row two was never judged.",
    right_rows=HALVES,
)

SWAPPING = Break(
    name="swapping",
    label="Naive swapping",
    lead="The new case joins the fit, and the losses of the others give the bound.",
    control="Inputs of the model",
    values=listed_values(breaks.SWAP_INPUTS),
    start=25,
    way=kept_way("break-swap", "swap-{}"),
    setting="Least squares on 50 rows and the new case; the model in use has the 50 rows alone.",
    why=(
        "These losses are of a model that has seen the new case, and for that model the "
        "promise holds: {break-swap/swap-saw-25} with 25 inputs. The model in use has not seen "
        "it, and errs more."
    ),
    right="Judge a model at rows that it has not seen, as it has not seen the new case.",
    check=Check(
        "For which model is the promise true?",
        (
            "For the one that was trained with the new case among its rows. Nobody has that model "
            "before the new case is known."
        ),
    ),
    code=code_of("swapped", "break-swap", "swap-{value}", 400),
    rows=[(ALL, ()), ((), ALL)],
    rows_say="The rows that train, the new case among them, are judged as well.",
    right_rows=HALVES,
)

SEED = Break(
    name="seed",
    label="One shared seed",
    lead="An algorithm is retrained 99 times to calibrate, always from the same random start.",
    control="Seeds",
    values={"shared": "one for all", "own": "one each"},
    start="shared",
    way=kept_way("break-seed", "seed-{}", "calibration"),
    setting="Gradient descent, five updates, 20 rows, y = 1 + 0.1 N; used later with a new start.",
    why=(
        "The start is part of the luck of a training run. If all runs share it, their losses "
        "do not show how much it matters; the next run starts elsewhere."
    ),
    right="A seed of its own for every run: {break-seed/seed-own}.",
    check=Check(
        "The same seed in calibration and in use: broken?",
        (
            "No: {break-seed/seed-same}. Then the start is the same everywhere, and part of the "
            "algorithm."
        ),
    ),
    code=code_of("shared_seed", "break-seed", "seed-{value}", 400),
    kept={"own": "An algorithm is retrained 99 times to calibrate, each time from a new start."},
    rows=DISJOINT,
    rows_say="The layout is right; the runs still share their start.",
)

FAILED = Break(
    name="failed",
    label="Drop failed fits",
    lead="Training fails when a sample has one class only. Such runs are left out.",
    control="Rows of each training",
    values=listed_values(breaks.FAILING),
    start=5,
    way=tried_way(breaks.dropped, ways.dropped, "calibration"),
    setting=(
        "A minority of 20 %; 49 runs that did not fail calibrate. A run that fails has no "
        "model, so nothing bounds its loss."
    ),
    why=(
        "The next training run may fail too, and nobody can leave it out: the promise holds "
        "only for runs that succeed."
    ),
    right=(
        "Count a failed run with the worst loss. Where more than one in ten fail, that is then "
        "the bound, and it is the truth."
    ),
    check=Check(
        "Samples of 20 rows fail in 1.2 % of runs. How much is left?",
        "90 % of the 98.8 % that succeed: 89 %.",
    ),
    code="m = {value}\nprint(0.9 * (1 - 0.8**m - 0.2**m))\n",
    rows=[*DISJOINT[:2], ((), ()), *DISJOINT[3:]],
    rows_say="The third run failed, and nothing of it is left.",
    right_rows=DISJOINT,
)

LOWEST = Break(
    name="lowest",
    label="Lowest of K",
    lead="Several equally good models have their bounds. The lowest one is quoted.",
    control="Models",
    values=listed_values(breaks.LOWEST),
    start=20,
    way=tried_way(breaks.lowest_of, ways.lowest, "choice"),
    setting="Equally good models, each with 19 calibration cases of its own.",
    why=(
        "The lowest bound is the one with the easiest calibration cases. To pick it is to pick "
        "luck."
    ),
    right=(
        "Choose on other cases, then calibrate the winner: {break-feared/chosen}. Or divide "
        "alpha by the number of models."
    ),
    check=Check(
        "Two models only. Is the lower bound nearly safe?",
        "It covers 86.4 % instead of 90 %.",
    ),
    code=LOWEST_CODE,
    rows=OWN_HALVES,
    rows_say="Every model has a bound of its own; the lowest is quoted.",
    right_rows=CHOSEN,
)

DRIFT = Break(
    name="drift",
    label="Drift",
    lead="New cases are no longer like those of the calibration.",
    control="What changes",
    values={f"noise-{s:g}": f"noise × {s:g}" for s in breaks.DRIFTS}
    | {f"shift-{s}": f"inputs + {s}" for s in breaks.SHIFTS},
    start="noise-2",
    way=ways.drift,
    setting=(
        "Noise: exact for Normal errors. Inputs: a straight line fitted to x + x² + noise on "
        "100 rows, 99 calibrate; then all x move by so many standard deviations."
    ),
    why=(
        "The promise is about cases drawn like the calibration cases. Nothing in a rank can "
        "know that the world has changed."
    ),
    right="Watch new losses for drift, and calibrate again on cases of the new kind.",
    check=Check(
        "Suppose the line is right, and only the inputs move by 3. How bad?",
        (
            "{break-shift/shift-right-3} stay inside: a model that is right everywhere suffers "
            "little."
        ),
    ),
    code=DRIFT_CODE,
    rows=HALVES,
    rows_say="The layout is right; the next case comes from elsewhere.",
)

CLIPPED = Break(
    name="clipped",
    label="Clip the rank",
    lead="Too few losses for a 90 % bound: the largest is taken instead of infinity.",
    control="Losses (k)",
    values=listed_values(breaks.CLIPPED),
    start=5,
    way=tried_way(breaks.clipped, ways.clipped, "calibration"),
    setting="Any continuous loss.",
    why=(
        "A new loss exceeds the largest of k with chance 1/(k + 1). Below nine losses that is "
        "more than one in ten."
    ),
    right="Say that there is no finite bound, and that 9 losses would give one.",
    check=Check(
        "There is only one loss. What does it cover, taken as a bound?",
        "Every second new case: 1/2.",
    ),
    code="k = {value}\nprint(k / (k + 1))\n",
    rows=HALVES,
    rows_say="The layout is right; the rank is not.",
    caveat="Exact for every loss without ties, whatever the model and the data.",
)

TUNED = Break(
    name="tuned",
    label="Tune alpha",
    lead="Look at the sorted losses, and put the bound under the widest gap.",
    control="Losses (k)",
    values=listed_values(breaks.TUNED),
    start=19,
    way=kept_way("break-tuned", "tuned-{}", "calibration"),
    setting=(
        "Uniform losses; ranks from 80 % upwards are tried. The one below the widest gap is "
        "quoted, with the confidence that it would have if it had been fixed beforehand."
    ),
    why=(
        "Just below a wide gap a loss is a little lower than losses of its rank usually are. "
        "The harm is mild, but the figure is no longer a promise."
    ),
    right="Choose the confidence before looking.",
    check=Check(
        "A confidence of 90 % was chosen by habit. Is that tuning?",
        "No. What matters is that the losses had no say in it.",
    ),
    code=code_of("tuned", "break-tuned", "tuned-{value}", 2000),
    rows=HALVES,
    rows_say="The layout is right; the rank was chosen after looking.",
    caveat=(
        "Sizes belong to this setting, where the harm is mild. What is claimed is not 90 % here: "
        "each calibration claims what its rank would promise, and the mark is their average."
    ),
    promise=lambda k: stored("break-tuned")[f"tuned-claims-{k}"].mean,
)

BREAKS: dict[str, Break] = {
    own.name: own
    for own in (
        CROSS_VALIDATION,
        TRAINING_DATA,
        DUPLICATES,
        REFIT,
        SWAPPING,
        SEED,
        FAILED,
        LOWEST,
        DRIFT,
        CLIPPED,
        TUNED,
    )
}
"""Every way to break it by name, in the order of the list."""


def harmless() -> dict[str, float]:
    """What people fear and what does no harm, with what is covered."""
    feared, shift, seed = (stored(f"break-{name}") for name in ("feared", "shift", "seed"))
    return {
        "losses with wild tails (Cauchy)": feared["wild"].mean,
        "a model that is off by 1,000": feared["off"].mean,
        "a perfect fit, fresh calibration": feared["interpolates"].mean,
        "losses of 0 and 1, which tie": breaks.errors_only(),
        "copies, also among new cases": feared["copies"].mean,
        "one seed, also in use": seed["seed-same"].mean,
        "choosing, on other cases": feared["chosen"].mean,
        "not promised: inputs + 3, right model": shift["shift-right-3"].mean,
    }
