"""The glossary: every term of the product with its one definition, and the lessons that use it."""

from dataclasses import dataclass

from cpp_core.lessons.lesson import Lesson, Pick
from cpp_core.lessons.shelf import LESSONS
from cpp_core.verdicts.terms import TERMS, terms_in


@dataclass(frozen=True)
class Entry:
    """A term, what it means, and the names of the lessons in which it stands."""

    name: str
    definition: str
    lessons: tuple[str, ...]


def texts_of(lesson: Lesson) -> str:
    """All that a lesson says, at each option of a list, but for its formula and its code."""
    own = [lesson.title, lesson.question, lesson.opening]
    lists = [control for control in lesson.controls if control.kind == "list"]
    views = [{c.key: name} for c in lists if isinstance(c, Pick) for name in c.options] or [{}]
    for view in views:
        shown = lesson.play(**view)
        check = shown.check or lesson.check
        own += [shown.said, *(panel.caption for panel in shown.panels)]
        own += [drawing.caption for drawing in shown.layouts]
        own += [shown.words or lesson.words, check.question, check.answer]
        own += [shown.caveat or lesson.caveat]
    return " ".join(own)


def glossary() -> tuple[Entry, ...]:
    """Every term in the order of the alphabet."""
    texts = {name: f"{texts_of(own)} {own.formula}" for name, own in LESSONS.items()}
    used = {name: {term for term, _, _ in terms_in(text)} for name, text in texts.items()}
    return tuple(
        Entry(name, TERMS[name].definition, tuple(own for own in LESSONS if name in used[own]))
        for name in sorted(TERMS)
    )
