"""What holds for every lesson: it plays at all its settings, says little, and its code is true."""

import contextlib
import io
import itertools
import re
import time
from xml.etree import ElementTree

import pytest

from cpp_core.lessons import LESSONS
from cpp_core.lessons.lesson import Pick, Slider, applies

WORDS = 25
"""A sentence on a first screen has at most so many."""
EVERY = [pytest.param(lesson, id=name) for name, lesson in LESSONS.items()]


def moved(lesson):
    """The lesson at its start, at every option, and with each slider at its ends and in between."""
    yield {}
    for control in lesson.controls:
        if isinstance(control, Pick):
            values = list(control.options)
        elif isinstance(control, Slider):
            values = [
                control.low,
                control.read(str((control.low + control.high) / 2)),
                control.high,
            ]
        else:
            values = [0, 1]
        first = {}
        if control.when:  # something to move only where another control says so
            key, options = control.when
            first = {key: options[0]}
        yield from ({**first, control.key: value} for value in values)


def settings(lesson):
    for chosen in moved(lesson):
        values = {c.key: c.default for c in lesson.controls} | chosen
        if all(applies(c, values) for c in lesson.controls if c.key in chosen):
            yield chosen


ALL = [
    pytest.param(lesson, chosen, id=f"{name}-{'-'.join(map(str, chosen.values()))}")
    for name, lesson in LESSONS.items()
    for chosen in settings(lesson)
]


def sentences(text):
    return [part for part in re.split(r"(?<=[.?!:])\s+", text) if part]


@pytest.mark.parametrize(("lesson", "chosen"), ALL)
def test_a_lesson_at_a_setting(lesson, chosen):
    shown = lesson.play(**chosen)
    assert shown.finding
    assert shown.panels
    for said in sentences(f"{lesson.opening} {shown.said}"):
        assert len(said.split()) <= WORDS, said
    assert "nan" not in f"{shown.finding} {shown.said}".lower()
    for panel in shown.panels:
        for frame in panel.sketch.frames:
            assert len(frame["data"]) == len(frame["traces"])
            assert max(frame["traces"]) < len(panel.sketch.data)


@pytest.mark.parametrize(("lesson", "chosen"), ALL)
def test_the_code_prints_what_the_lesson_says(lesson, chosen):
    shown, out = lesson.play(**chosen), io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(shown.code, {})
    printed = [float(text) for text in out.getvalue().split()]
    assert printed
    known = list(shown.numbers.values())
    for value in printed:
        assert any(value == pytest.approx(own, rel=1e-9, abs=1e-12) for own in known), value


@pytest.mark.parametrize("lesson", EVERY)
def test_plotly_takes_the_figures(lesson):
    for chosen, dark in itertools.product(itertools.islice(settings(lesson), 2), (False, True)):
        for panel in lesson.play(dark, **chosen).panels:
            assert panel.figure.data
            assert panel.alt
            assert panel.caption
            assert len(panel.data)


@pytest.mark.parametrize("lesson", EVERY)
def test_a_control_answers_at_once(lesson):
    lesson.play()
    for chosen in settings(lesson):
        start = time.process_time()
        lesson.play(**chosen)
        assert time.process_time() - start < 0.4


@pytest.mark.parametrize("lesson", EVERY)
def test_a_cover_is_a_small_picture(lesson):
    for dark in (False, True):
        drawing = lesson.cover(dark)
        ElementTree.fromstring(drawing.svg)
        assert len(drawing.svg) < 30_000
        assert drawing.alt
    assert len(lesson.question.split()) <= 12


def test_a_number_may_be_written_short():
    lesson = LESSONS["overlap-trap"]
    assert lesson.play(rho=0).numbers == lesson.play(rho=0.0).numbers
    assert lesson.play(rho=1).finding == "100 %"


@pytest.mark.parametrize("lesson", EVERY)
def test_nonsense_is_refused(lesson):
    for control in lesson.controls:
        for text in ("", "x", "-1e9", "nan", "inf", "9" * 40):
            with pytest.raises(ValueError):  # noqa: PT011
                control.read(text)
        assert control.read(str(control.default)) == control.default
    with pytest.raises(ValueError, match="control"):
        lesson.play(nonsense=1)
