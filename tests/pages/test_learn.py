"""The page Learn, without a browser: every lesson opens, moves, and keeps its state in the link."""

from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from cpp_core.catalog.presets import PRESETS
from cpp_core.lessons import LESSONS
from cpp_core.lessons.plan import PLAN
from cpp_core.report.sheets import plan_html
from pages.parts import controls, door, lesson_link
from tests.builders import unmarked
from tests.pages.test_pages import open_page

APP = str(Path(__file__).parents[2] / "app.py")


def learn(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.switch_page("pages/learn.py")
    for key, value in query.items():
        at.query_params[key] = str(value)
    at.run()
    assert not at.exception, at.exception[0].message
    return at


def text_of(at):
    said = [e.value for e in [*at.markdown, *at.caption] if e.value]
    told = "\n".join([*said, *(element.proto.body for element in at.get("html"))])
    return unmarked(told).replace("\N{NO-BREAK SPACE}", " ")


def test_the_shelf_has_every_lesson_and_no_sidebar():
    at = learn()
    told = text_of(at)
    assert "Learn it by playing" in told
    links = [link.proto.label for link in at.get("page_link")]
    for i, lesson in enumerate(LESSONS.values(), 1):
        assert f"{i}. {lesson.title}" in links
        assert lesson.question in told
    assert not at.sidebar.children
    assert told.count('class="drawing"') == len(LESSONS)


@pytest.mark.parametrize("name", list(LESSONS))
def test_every_lesson_opens_and_tells(name):
    at, lesson = learn(lesson=name), LESSONS[name]
    told = text_of(at)
    shown = lesson.play()
    assert shown.finding in told
    assert (shown.caveat or lesson.caveat) in told
    assert at.get("plotly_chart")
    for part, expected in (
        ("Why?", "words"),
        ("The formula", "$"),
        ("In Python", "print"),
        ("Check yourself", "Show the answer"),
    ):
        parts = next(group for group in at.get("button_group") if group.key == f"{name}-told")
        parts.set_value(part).run()
        assert not at.exception
        shown = text_of(at) + "".join(code.value for code in at.code)
        assert expected in shown
    assert at.query_params["open"] == "check"


def test_a_link_opens_a_lesson_in_its_state():
    at = learn(lesson="coverage-is-random", k=99)
    assert "84.7 % to 94.4 %" in text_of(at)
    assert at.select_slider[0].value == 99
    at = learn(lesson="break-it", switch="lowest", lowest=5)
    assert "81.6 %" in text_of(at)
    assert at.radio[0].value == "lowest"
    at = learn(lesson="break-it", open="formula")
    assert "exchangeable" in text_of(at)
    at.radio[0].set_value("seed").run()
    assert "56.7 %" in text_of(at)
    assert "exchangeable" in text_of(at)  # stays open


def test_a_control_moves_the_finding_and_the_link():
    at = learn(lesson="coverage-is-random")
    at.select_slider[0].set_value(999).run()
    assert "88.4 % to 91.5 %" in text_of(at)
    assert at.query_params["k"] == "999"
    at = learn(lesson="quantile-lemma")
    at.slider[0].set_value(9).run()
    assert "9th of 9" in text_of(at)
    assert at.query_params["k"] == "9"
    assert at.query_params["alpha"] == "0.1"


def test_an_unknown_lesson_in_the_link_is_told():
    (told,) = learn(lesson="nonsense*").info
    assert "names a lesson that is not here, “nonsense\\*”" in told.value
    assert not learn().info


def test_a_button_draws_anew():
    at = learn(lesson="why-two-numbers")
    at.button(key="why-two-numbers-table").click().run()
    assert at.query_params["table"] == "209"


@pytest.mark.parametrize(
    "query",
    [
        {"lesson": "nonsense"},
        {"lesson": "coverage-is-random", "k": "20"},
        {"lesson": "coverage-is-random", "k": "x" * 500},
        {"lesson": "quantile-lemma", "k": "1e999", "alpha": "-1"},
        {"lesson": "break-it", "switch": "all", "lecture": "yes"},
        {"lesson": "guess-the-bound", "line": "nan", "deal": "9" * 30},
    ],
)
def test_nonsense_in_the_link_falls_back(query):
    at = learn(**query)
    assert len(text_of(at)) > 100
    lesson = LESSONS.get(query["lesson"])
    for control in lesson.controls if lesson else ():  # the link is mended
        if control.key in at.query_params:
            control.read(at.query_params[control.key])


def test_the_code_of_a_view_is_short_and_opens_it():
    lesson = LESSONS["break-it"]
    values = {c.key: c.default for c in lesson.controls} | {"switch": "lowest", "lowest": 5}
    link = lesson_link.shortest(lesson, values | {"seed": "own"})  # which has nothing to move here
    assert link == {"lesson": "break-it", "switch": "lowest", "lowest": "5"}
    at = learn(**link)
    assert "81.6 %" in text_of(at)
    assert "lesson=break-it&switch=lowest&lowest=5" in at.code[-1].value


def test_lecturers_mode_has_large_type_keys_and_a_code():
    at = learn(lesson="quantile-lemma", lecture=1)
    told = text_of(at)
    assert "font-size: 125%" in told
    assert 'class="qr"' in told
    going = {button.label: button.proto.shortcut for button in at.button if button.proto.shortcut}
    assert set(going) == {"1. Guess the bound", "3. Coverage is random too"}  # Streamlit adds ←, →
    keys = {button.proto.shortcut for button in at.button if button.proto.shortcut}
    assert keys == {"left", "right", "pageup", "pagedown"}  # the last two of a remote control
    at.button(key="go-coverage-is-random").click().run()
    assert at.query_params["lesson"] == "coverage-is-random"
    assert at.query_params["lecture"] == "1"
    at.button(key="lecture-end").click().run()
    assert "lecture" not in at.query_params
    assert "font-size: 125%" not in text_of(at)


def test_a_lecture_goes_through_the_stages_of_a_lesson():
    at, ways = learn(lesson="quantile-lemma", lecture=1), []

    def press(shortcut):
        next(own for own in at.button if own.proto.shortcut == shortcut).click().run()
        ways.append((at.query_params.get("lesson"), at.query_params.get("stage")))

    for shortcut in ("left", "pageup", "left", "right", "pagedown", "right", "left"):
        press(shortcut)
    stages = [("guess-the-bound", stage) for stage in ("guess", "answer", "deals")]
    back = [stages[2], stages[1], stages[0]]
    assert ways == [*back, *stages[1:], ("quantile-lemma", None), stages[2]]
    assert "P plays the picture" in text_of(at)
    assert "P plays" not in text_of(learn(lesson="candidate-or-algorithm", lecture=1))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("glossary", "The share of misses that is accepted"),
        ("plan", "45 minutes"),
        ("exercises", "The 23rd"),
        ("summary", "Set "),
    ],
)
def test_what_stands_beside_the_lessons(name, expected):
    assert expected in text_of(learn(lesson=name))


def test_the_plan_links_to_each_lesson_and_run():
    links = {link.proto.label: link.proto for link in learn(lesson="plan").get("page_link")}
    for step in PLAN:
        link = links[step.title if step.is_lesson else f"Run: {step.title}"]
        said = {key: tuple(texts) for key, texts in parse_qs(link.query_string).items()}
        if step.is_lesson:
            assert said["lesson"] == (step.name,)
            assert link.page == "learn"
        else:  # whoever opens the address has what the button of the sidebar sets
            assert door.merged({}, {}, said, whole=True) == controls.settings_of(step.name)
            assert link.page == {"overview": "", "case": "case"}[PRESETS[step.name].opens]


def test_a_link_from_learn_tells_all():
    """What was moved before must not change one of the paper's runs."""
    query = {"dataset": "iris", "algorithms": ["naive-bayes", "dummy"], "trials": "20"}
    at = open_page("report", **query, alpha="0.2")
    assert at.session_state[door.KNOWN]["alpha"] == 0.2
    for page, said in (("learn", {"lesson": "plan"}), ("report", query)):
        at.switch_page(f"pages/{page}.py")
        at.query_params.clear()
        at.query_params.update(said)
        at.run()
    assert at.session_state[door.KNOWN].keys() == query.keys()


def test_the_plan_to_print_has_addresses():
    known = {"guess-the-bound": "https://class.example/learn?lesson=guess-the-bound&x=<1>"}
    page = plan_html(known)
    assert page.count("lesson=guess-the-bound&amp;x=&lt;1&gt;") == 2  # to click and to read
    assert page.count("<a href=") == 1


@pytest.mark.parametrize("name", [*LESSONS, "plan", "exercises", "summary"])
def test_the_glossary_is_one_click_away(name):
    links = [link.proto for link in learn(lesson=name).get("page_link")]
    (own,) = (link for link in links if link.label == "Glossary")
    assert own.query_string == "lesson=glossary"


def test_the_glossary_stands_once_on_the_shelf_and_does_not_lead_to_itself():
    for query, times in (({"lesson": "glossary"}, 0), ({}, 1)):
        labels = [link.proto.label for link in learn(**query).get("page_link")]
        assert labels.count("Glossary") == times


def test_the_keys_of_a_lesson_are_not_those_of_other_pages():
    at = learn(lesson="quantile-lemma", k=7, alpha=0.2)
    assert not at.session_state[door.KNOWN]
