"""The glossary: every term of the product with its one definition, and the lessons that use it."""

from dataclasses import dataclass

from cpp_core.lessons.lesson import Lesson
from cpp_core.lessons.shelf import LESSONS
from cpp_core.verdicts.terms import TERMS, terms_in


@dataclass(frozen=True)
class Entry:
    """A term, what it means, and the names of the lessons in which it stands."""

    name: str
    definition: str
    lessons: tuple[str, ...]


def texts_of(lesson: Lesson) -> str:
    """All that a lesson says where it starts, but for its formula and its code."""
    shown = lesson.play()
    check = shown.check or lesson.check
    own = [lesson.title, lesson.question, lesson.opening, shown.said]
    own += [panel.caption for panel in shown.panels] + [
        drawing.caption for drawing in shown.layouts
    ]
    own += [shown.words or lesson.words, check.question, check.answer, lesson.caveat]
    return " ".join(own)


def glossary() -> tuple[Entry, ...]:
    """Every term in the order of the alphabet."""
    used = {name: {term for term, _, _ in terms_in(texts_of(own))} for name, own in LESSONS.items()}
    return tuple(
        Entry(name, TERMS[name].definition, tuple(own for own in LESSONS if name in used[own]))
        for name in sorted(TERMS)
    )
