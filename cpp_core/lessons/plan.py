"""A lecture of 45 minutes: lessons and the paper's four runs in order, a question for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpp_core.catalog.presets import PRESETS
from cpp_core.lessons.break_texts import BREAKS
from cpp_core.lessons.charts import ALPHA
from cpp_core.lessons.enough_cases import facts_at
from cpp_core.lessons.shelf import LESSONS
from cpp_core.verdicts.language import number, percent

MINUTES = 45


@dataclass(frozen=True)
class Step:
    """A part of the lecture: a lesson at some settings, or one of the paper's runs.

    Without a question of its own, a step asks what its lesson asks and answers with its finding,
    after the word that it ``begins`` with.
    """

    name: str
    minutes: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: str = ""
    answered: str | Callable[[], str] = ""
    begins: str = ""

    @property
    def is_lesson(self) -> bool:
        """Whether it opens a lesson, and not a run."""
        return self.name in LESSONS

    @property
    def title(self) -> str:
        """What it is called where it opens."""
        if self.is_lesson:
            return f"{list(LESSONS).index(self.name) + 1}. {LESSONS[self.name].title}"
        return PRESETS[self.name].label

    @property
    def question(self) -> str:
        """What to ask before it is opened."""
        return self.asked or LESSONS[self.name].question

    @property
    def answer(self) -> str:
        """What is found."""
        if self.answered:
            return self.answered if isinstance(self.answered, str) else self.answered()
        shown = LESSONS[self.name].play(**self.settings)
        return f"{self.begins}{shown.finding} {shown.said}"


def _guessed() -> str:
    shown = LESSONS["guess-the-bound"].play(stage="deals")
    return f"At the tenth dot, not at the ninth. {shown.finding} {shown.said}"


def _small(label: str) -> str:
    return label[0].lower() + label[1:]


def _falls() -> str:
    left = {name: min(map(own.covers, own.values)) for name, own in BREAKS.items()}
    worst = ", ".join(f"{_small(BREAKS[name].label)} {percent(left[name])}" for name in _ASKED)
    return f"What the strongest setting of some switches leaves of 90 %: {worst}."


def _apart() -> str:
    facts = LESSONS["why-two-numbers"].play(looks=200).numbers
    return (
        f"The largest of 200 is {number(facts['ratio'], digits=2)} times the lowest, in this "
        f"table. Over tables, the lowest catches {percent(facts['lowest'])} of new cases."
    )


def _rarer() -> str:
    few, many = (facts_at(k, ALPHA, 0.05) for k in (9, 1000))
    return (
        f"No: {percent(few['short'])} of calibrations with 9 losses, {percent(many['short'])} with "
        f"1,000. Only the shortfall shrinks: one in 20 catches less than {percent(few['low'])}, or "
        f"{percent(many['low'])}."
    )


_ASKED = ("cross-validation", "duplicates", "seed", "lowest", "clipped")
PLAN: tuple[Step, ...] = (
    Step("guess-the-bound", 5, answered=_guessed),
    Step("quantile-lemma", 4, begins="No. "),
    Step("coverage-is-random", 4),
    Step(
        "digits-candidate",
        3,
        asked="Two machines have a bound each. Which of them is better?",
        answered="The two bounds do not say. The page compares the losses on the same images.",
    ),
    Step("candidate-or-algorithm", 4),
    Step(
        "quadnoise-candidate",
        2,
        asked="For whom is this promise: for the trained line, or for the way it was trained?",
        answered="For the trained line: it was judged itself, and stays as it is.",
    ),
    Step(
        "quadnoise-algorithm",
        2,
        asked="Now it is for the way of training. Where have most of the cases gone?",
        answered="Into training: each of 1,000 losses has a model of its own, with 74 fresh cases.",
    ),
    Step("fixed-or-variable-width", 3),
    Step(
        "digits-instance",
        3,
        asked="The bar belongs to one image. Is it a promise for that image?",
        answered="No. Bars move with the image, but what is promised is the average over images. "
        "(It opens with larger training subsets than the paper's, whose bars fill the range.)",
    ),
    Step("marginal-is-not-conditional", 3),
    Step("overlap-trap", 3, {"rho": 0.99}),
    Step("break-it", 5, answered=_falls),
    Step("why-two-numbers", 2, {"looks": 200}, answered=_apart),
    Step("how-many-are-enough", 2, answered=_rarer),
)
"""The parts of the lecture in their order."""
