"""The glossary: every term of the product with its one definition, and the lessons that use it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cpp_core.lessons.lesson import Lesson, Pick
from cpp_core.lessons.shelf import LESSONS
from cpp_core.verdicts.terms import TERMS, terms_in


@dataclass(frozen=True)
class Entry:
    """A term, what it means, and the names of the lessons in which it stands."""

    name: str
    definition: str
    lessons: tuple[str, ...]


def views(lesson: Lesson) -> Iterator[dict[str, Any]]:
    """Settings at which, taken together, every option of every choice is seen."""
    for control in lesson.controls:
        if isinstance(control, Pick):
            where = {control.when[0]: control.when[1][0]} if control.when else {}
            yield from ({**where, control.key: option} for option in control.options)


def texts_of(lesson: Lesson) -> str:
    """All that a lesson says, at every option of every choice, but for its formula and its code."""
    own = [lesson.title, lesson.question, lesson.opening]
    for control in lesson.controls:
        own += [control.label, *(control.options.values() if isinstance(control, Pick) else ())]
    for view in views(lesson):
        shown = lesson.play(**view)
        check = shown.check or lesson.check
        own += [shown.said, *(panel.caption for panel in shown.panels)]
        own += [drawing.caption for drawing in shown.layouts]
        own += [shown.words or lesson.words, check.question, check.answer]
        own += [shown.caveat or lesson.caveat]
    return " ".join(dict.fromkeys(own))


@lru_cache(maxsize=1)
def glossary() -> tuple[Entry, ...]:
    """Every term in the order of the alphabet."""
    texts = {name: f"{texts_of(own)} {own.formula}" for name, own in LESSONS.items()}
    used = {name: {term for term, _, _ in terms_in(text)} for name, text in texts.items()}
    return tuple(
        Entry(name, TERMS[name].definition, tuple(own for own in LESSONS if name in used[own]))
        for name in sorted(TERMS)
    )
