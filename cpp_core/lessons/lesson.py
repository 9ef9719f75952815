"""What a lesson is: a question, something to move, and what happens then."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cpp_core.checks import lookup
from cpp_core.figures.panels import Panel
from cpp_core.lessons.drawing import Drawing

Values = Mapping[str, Any]
"""What the controls of a lesson say, by their keys."""
When = tuple[str, tuple[Any, ...]]
"""Another control's key, and its values at which a control has something to move."""


@dataclass(frozen=True)
class Slider:
    """A number that is moved; a whole one if its step is."""

    key: str
    label: str
    low: float
    high: float
    default: float
    step: float = 1
    when: When | None = None
    kind: ClassVar[str] = "slider"

    def read(self, text: str) -> float:
        """The number that a link means, on the nearest step; an error where there is none."""
        value = float(text)
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueError(f"{self.label}: {text} is not between {self.low} and {self.high}")
        steps = self.low + round((value - self.low) / self.step) * self.step
        return round(steps) if isinstance(self.step, int) else round(steps, 10)


@dataclass(frozen=True)
class Pick:
    """One of several options, as buttons in a row, as steps of a slider, or as a list.

    ``stages`` are buttons that a lecture goes through one after the other.
    """

    key: str
    label: str
    options: Mapping[Any, str]
    default: Any
    kind: str = "buttons"  # or "stages", "steps", "list"
    when: When | None = None

    def read(self, text: str) -> Any:
        """The option that a link means, 0 as well as 0.0; an error where there is none."""
        known = {str(option): option for option in self.options}
        short = {f"{option:g}": option for option in self.options if isinstance(option, float)}
        if text not in short | known:
            raise ValueError(f"{self.label}: {text} is none of {', '.join(known)}")
        return (short | known)[text]


@dataclass(frozen=True)
class Again:
    """A button that draws anew: it counts, and the count is the seed."""

    key: str
    label: str
    default: int = 0
    most: int = 9999
    when: When | None = None
    kind: ClassVar[str] = "again"

    def read(self, text: str) -> int:
        """The count that a link means; an error where it is none."""
        value = int(text)
        if not 0 <= value <= self.most:
            raise ValueError(f"{self.label}: {text} is not between 0 and {self.most}")
        return value


Control = Slider | Pick | Again


def applies(control: Control, values: Values) -> bool:
    """Whether a control has something to move at these values of the others."""
    if control.when is None:
        return True
    key, options = control.when
    return values[key] in options


@dataclass(frozen=True)
class Check:
    """A question at the end, and its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Shown:
    """What happens at some settings of the controls.

    ``finding`` is a figure in large type, ``said`` the sentence under it; ``panels`` are charts,
    ``layouts`` drawings of who trains on which cases and who is judged where. ``code`` are lines of
    Python that print the figure; ``numbers`` are the facts behind the words, unrounded. Where there
    are ``words``, a ``check`` or a ``caveat`` here, they take the place of the lesson's own. A bar
    that has fallen was ``fell`` times as long before.
    """

    finding: str
    said: str
    panels: tuple[Panel, ...]
    code: str
    numbers: Mapping[str, float]
    layouts: tuple[Drawing, ...] = ()
    words: str = ""
    check: Check | None = None
    caveat: str = ""
    fell: float = 1.0


@dataclass(frozen=True)
class Lesson:
    """One idea: one picture, one thing to move, one surprise.

    ``scene`` draws what happens, given the values of all controls and whether the page is dark;
    ``cover`` is a small drawing of the same. ``words``, ``formula``, ``check`` and ``caveat`` are
    texts in Markdown.
    """

    name: str
    title: str
    question: str
    opening: str
    controls: tuple[Control, ...]
    scene: Callable[[Values, bool], Shown]
    cover: Callable[[bool], Drawing]
    words: str
    formula: str
    check: Check
    caveat: str

    def play(self, dark: bool = False, **settings: Any) -> Shown:
        """What happens at these settings; a control that is not named stands where it starts."""
        for key in settings:
            lookup(key, {control.key: control for control in self.controls}, "control")
        values = {control.key: control.default for control in self.controls} | settings
        return self.scene({c.key: c.read(str(values[c.key])) for c in self.controls}, dark)
