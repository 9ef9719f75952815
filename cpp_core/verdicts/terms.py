"""The words that have a meaning of their own here: one table, one plain sentence each.

Pages take their help texts from it, and mark its words in a text, so that a definition stands where
its word is used. A definition may use other words of the table, but none that leads back to it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from cpp_core.checks import lookup


@dataclass(frozen=True)
class Term:
    """A word with its definition, and other ways to write the word."""

    name: str
    definition: str
    forms: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """All ways to write it."""
        return self.name, *self.forms


_TABLE = (
    # What is given
    Term("case", "One example, such as one image together with its digit.", ("cases",)),
    Term("label", "The class that is true of a case, such as the digit of an image.", ("labels",)),
    Term("target", "The true number that a model tries to predict at a case.", ("targets",)),
    Term(
        *("algorithm", "A way of learning: it takes cases and returns a trained model."),
        ("algorithms",),
    ),
    Term("candidate", "One model that an algorithm has trained.", ("candidates",)),
    Term(
        *("retraining", "Using an algorithm again, on fresh cases from the same source."),
        ("retrained", "retrain"),
    ),
    Term("positive class", "The class that counts as an alarm: a wrong one is a false positive."),
    Term(
        "seed",
        "The number that starts all random draws: the same one gives the same results again.",
    ),
    # What is measured
    Term(
        *("loss", "A number that says how wrong a model was at a case; smaller is better."),
        ("losses",),
    ),
    Term("nats", "The unit of natural logarithms: 0.7 stands for a chance of one half.", ("nat",)),
    Term(
        "log loss",
        "How surprised a model is by what is true, in nats: 0 if it was certain of it, large if it "
        "thought it impossible.",
        ("log losses",),
    ),
    Term("zero-one loss", "It is 1 where the model was wrong and 0 where it was right."),
    Term("squared error", "The squared distance between a prediction and its target."),
    Term("absolute error", "The distance between a prediction and its target."),
    Term(
        "clip",
        "The smallest probability that is counted with, so that no single loss is infinite.",
        ("clipped",),
    ),
    Term(
        *("batch", "Several cases that are judged together, by one number such as an error rate."),
        ("batches",),
    ),
    Term("average loss", "The mean over many cases of how wrong a model was."),
    Term("margin", "A difference in average loss that is too small to matter to you."),
    # How the cases are spent
    Term("held-out", "Set aside: no model was trained on it.", ("held out",)),
    Term(
        "calibration",
        "Sorting the losses of held-out cases to learn how large the next one may be.",
        ("calibrate", "calibrates", "calibrated"),
    ),
    Term("test case", "A case that is kept back to see what really happens.", ("test cases",)),
    Term(
        *("split", "One random division of a table: cases to train, to calibrate and to test."),
        ("splits", "re-split", "re-splits"),
    ),
    Term(
        *("trial", "One repetition of everything, from drawing the data to counting the hits."),
        ("trials",),
    ),
    Term(
        "cross-validation",
        "Training on all parts of a table but one and judging at that one, each part in turn.",
    ),
    Term("n", "How many cases are spent on training and calibration together."),
    Term("k", "How many losses calibration sorts: more of them make finer steps."),
    Term("m", "How many cases one training run takes: more of them make better models."),
    Term(
        "regressor",
        "A second model, which predicts the loss at a case so that hard cases get larger bounds.",
    ),
    # How models learn, and how numbers are told
    Term("least squares", "Fitting a line so that its squared distances to the data are smallest."),
    Term("gradient descent", "Improving a model step by step, each time towards smaller errors."),
    Term("nearest neighbour", "A model that answers with the most similar example it has seen."),
    Term(
        "regularised",
        "Held back while it learns, so that it follows its own examples less closely.",
        ("regularisation",),
    ),
    Term("rank", "The place of a number in a sorted list, counted from the smallest.", ("ranks",)),
    Term("median", "The middle one of sorted numbers."),
    Term("quantile", "The number that a given share of all numbers stays below.", ("quantiles",)),
    Term("standard deviation", "A usual distance from the average."),
    Term("correlation", "How closely two numbers move together: 0 for not at all, 1 for exactly."),
    # What is promised
    Term("alpha", "The share of misses that is accepted, such as 0.10 for one in ten."),
    Term(
        "confidence",
        "How often, at least, such a statement comes true: one minus alpha, chosen before looking.",
    ),
    Term(
        "exchangeable",
        "Without an order that matters: the next case could have been any of those before.",
    ),
    Term(
        "exact guarantee",
        "It holds for every model and at every sample size, as long as the cases are exchangeable, "
        "or independent where that is said.",
        ("guarantee", "guaranteed"),
    ),
    Term(
        "share of wins",
        "Of the cases on which two models differ, the part at which one of them loses less.",
        ("wins",),
    ),
    Term("approximate", "It leans on an assumption, which is named beside it."),
    Term(
        *("bound", "A limit on the next loss, read off the losses sorted in calibration."),
        ("bounds", "upper bound", "upper bounds", "conformal bound"),
    ),
    Term("interval", "All values between a lower and an upper end.", ("intervals",)),
    Term("two-sided", "With a lower and an upper end, not with an upper one alone."),
    Term("width", "How far apart the two ends of an interval are.", ("widths",)),
    Term("fixed width", "All cases get an interval of the same width, moved up or down."),
    Term("variable width", "Hard cases get a wider interval than easy ones."),
    Term("coverage", "The share of new losses that lie within their bound or interval."),
    Term(
        "cover rate",
        "The share of trials in which one new loss, drawn at random, lies within its bound.",
        ("cover rates",),
    ),
    Term("typical", "The middle value over all trials: it describes, and promises nothing."),
    Term("marginal", "On average over all cases, not for each case or group by itself."),
    Term("conditional", "For one case or one group by itself, not on average over all."),
    Term(
        "group-calibrated",
        "With a calibration of its own in each group, so that the promise holds in each.",
        ("group calibration",),
    ),
    Term(
        "tolerance",
        "A larger bound: with a stated confidence over the calibration, at least the promised "
        "share of new cases stays within it.",
        ("tolerance bound",),
    ),
    Term("drift", "A change of the source: new examples are no longer like the old ones."),
    Term(
        "conformal performance prediction",
        "Forecasting the next loss from the ranks of the losses so far, with an exact guarantee.",
    ),
)
TERMS: dict[str, Term] = {term.name: term for term in _TABLE}
"""Every term by name."""

STYLE = """\
.term {border-bottom: 1px dotted currentColor; cursor: help; position: relative}
.term:hover::after, .term:focus::after {
  content: attr(data-means); position: absolute; left: 0; top: 1.6em; z-index: 1000;
  width: max-content; max-width: 20rem; padding: .5em .7em; border-radius: .4rem;
  background: #2b2d3a; color: #ffffff; font-size: .8rem; font-weight: 400; line-height: 1.35;
  white-space: normal; text-align: left}
@media (max-width: 768px) {
  .term:hover::after, .term:focus::after {
    position: fixed; left: 1rem; right: 1rem; top: auto; bottom: 1rem; width: auto;
    max-width: none}}
"""
"""The CSS of a marked term: its definition shows while mouse, finger or focus is on it."""


def define(term: str) -> str:
    """The definition of a term; an unknown one is answered with the nearest known.

    >>> define("alpha")
    'The share of misses that is accepted, such as 0.10 for one in ten.'
    """
    return lookup(term, TERMS, "term").definition


def explain(*terms: str) -> str:
    """Terms with their definitions, in Markdown: the help of a control.

    >>> explain("m")
    '**m**: How many cases one training run takes: more of them make better models.'
    """
    return "  \n".join(f"**{term}**: {define(term)}" for term in terms)


@lru_cache(maxsize=1)
def _pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds every spelling, the longest first, and which term a spelling is of.

    Single letters are terms in small letters only: M may be anything.
    """
    owner = {form: term.name for term in TERMS.values() for form in term.spellings}
    found = sorted(owner, key=len, reverse=True)
    any_case = "|".join(re.escape(form) for form in found if len(form) > 1)
    letters = "|".join(form for form in found if len(form) == 1)
    return re.compile(rf"(?<![\w-])(?:(?i:{any_case})|{letters})(?![\w-])"), owner


def terms_in(text: str) -> Iterator[tuple[str, int, int]]:
    """The terms of a text in their order, each with where it starts and ends."""
    pattern, owner = _pattern()
    for match in pattern.finditer(text):
        word = match.group()
        yield owner[word if len(word) == 1 else word.lower()], match.start(), match.end()


def with_terms(text: str, seen: set[str] | None = None) -> str:
    """The text as HTML in which each term is marked where it stands first.

    Hovering over it, tapping on it or moving the focus to it shows the definition; ``STYLE`` must
    be on the page. Terms that were ``seen`` in texts before this one are not marked again, and
    those of this one are noted there.

    >>> with_terms("alpha < 1")[-14:]
    '</span> &lt; 1'
    """
    html, end = "", 0
    seen = set() if seen is None else seen
    for name, start, stop in terms_in(text):
        if name in seen:
            continue
        seen.add(name)
        means = escape(define(name))
        html += (
            f'{escape(text[end:start], quote=False)}<span class="term" tabindex="0" role="note" '
            f'data-means="{means}" aria-description="{means}">'
            f"{escape(text[start:stop], quote=False)}</span>"
        )
        end = stop
    return html + escape(text[end:], quote=False)
