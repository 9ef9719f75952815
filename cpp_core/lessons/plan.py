"""A lecture of 45 minutes: lessons and the paper's four runs in order, a question for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cpp_core.catalog.presets import PRESETS
from cpp_core.lessons.shelf import LESSONS

MINUTES = 45


@dataclass(frozen=True)
class Step:
    """A part of the lecture: a lesson at some settings, or one of the paper's runs.

    Without a question of its own, a step asks what its lesson asks and answers with its finding.
    """

    name: str
    minutes: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: str = ""
    answered: str = ""

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
            return self.answered
        shown = LESSONS[self.name].play(**self.settings)
        return f"{shown.finding} {shown.said}"


PLAN: tuple[Step, ...] = (
    Step("guess-the-bound", 5, {"stage": "deals"}),
    Step("quantile-lemma", 4),
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
        answered="No. Bars move with the image, but what is promised is the average over images.",
    ),
    Step("marginal-is-not-conditional", 3),
    Step("overlap-trap", 3, {"rho": 0.99}),
    Step("break-it", 5),
    Step("why-two-numbers", 2, {"looks": 200}),
    Step("how-many-are-enough", 2),
)
"""The parts of the lecture in their order."""
