"""One case, as a visitor meets it (without a browser): the link, the orders, what is said."""

import json
import time

import pytest

from cpp_core.trials import case_study, fresh_candidates
from pages.parts.keeping import STUDIED
from pages.parts.studies import STUDIES, begin_first
from tests.builders import unmarked
from tests.pages.test_pages import charts, open_page, plain, settle, text_of

SMALL = {"dataset": "iris", "algorithms": ["naive-bayes"], "trials": "20"}


@pytest.mark.parametrize("case", ["999999", "-1", "²", "9" * 5000, "x"])
def test_a_case_that_is_not_there(case):
    at = settle(open_page("case", case=case, **SMALL))
    assert any("There is no test case" in info.value for info in at.info)
    assert charts(at)


def captions(at):
    """How charts are read."""
    told = [own.proto.body for own in at.get("html") if 'class="caption"' in own.proto.body]
    return unmarked(" ".join([*told, *(own.value for own in at.caption)]))


def walls(at):
    """What the wall, or the table, of cases was told."""
    return [json.loads(wall.proto.json) for wall in at.get("bidi_component")]


def test_the_link_keeps_the_case():
    at = settle(open_page("case", case="5", **SMALL))
    assert "<b>Case 5</b>" in text_of(at)
    (wall,) = walls(at)
    assert wall["chosen"] == 5
    at.switch_page("pages/overview.py").run()
    at.switch_page("pages/case.py").run()
    at = settle(at)
    assert "<b>Case 5</b>" in text_of(at)
    assert at.query_params["case"] == "5"


def test_what_one_case_shows_first_is_studied_beforehand():
    STUDIED.clear()
    begin_first()
    at = settle(open_page("case"))
    assert "SVM-rbf" in text_of(at)
    assert STUDIED.made == 2  # only what candidates lose at the case was missing


def test_alpha_keeps_the_case_although_it_changes_the_order():
    at = settle(open_page("case", order="hardest", alpha="0.3", **SMALL))
    (before,) = walls(at)
    first = before["items"][0]["case"]
    assert before["chosen"] == first
    for confidence in (80, 60, 50):
        at.slider(key="confidence").set_value(confidence).run()
        at = settle(at)
        assert walls(at)[0]["chosen"] == first


def test_another_order_or_label_shows_its_first_case():
    at = settle(open_page("case", case="5", **SMALL))
    at.segmented_control(key="order").set_value("hardest").run()
    at = settle(at)
    (wall,) = walls(at)
    first = wall["items"][0]["case"]
    assert wall["chosen"] == first
    assert first != 5
    assert f"<b>Case {first}</b>" in text_of(at)
    assert at.query_params["case"] == str(first)
    at.selectbox(key="label").set_value("virginica").run()
    at = settle(at)
    (wall,) = walls(at)
    assert wall["chosen"] == wall["items"][0]["case"]
    assert "label <b>virginica</b>" in text_of(at)
    assert {item["cells"][2] for item in wall["items"]} == {"virginica"}


def test_the_page_says_which_question_it_answers():
    at = settle(open_page("case", **SMALL))
    assert "The sidebar asks about “The model I have”. One case answers: the log loss" in text_of(
        at
    )
    at = settle(open_page("case", variant="z-variable", **SMALL))
    assert "The sidebar asks" not in text_of(at)
    assert "at one case, after retraining on 5 cases" in plain(at)  # above, as it was chosen


def test_the_width_is_that_of_the_sidebar_until_another_is_asked_for():
    at = settle(open_page("case", variant="z-fixed", regressor="linear", **SMALL))
    assert at.segmented_control(key="width").value == "fixed"
    at.segmented_control(key="width").set_value("nested").run()
    assert settle(at).segmented_control(key="width").value == "nested"
    linked = settle(open_page("case", variant="z-fixed", width="variable", **SMALL))
    assert linked.segmented_control(key="width").value == "variable"


def test_a_confidence_that_needs_more_says_how_many():
    at = settle(open_page("case", alpha="0.01", **SMALL))
    told = text_of(at)
    assert "No bound at 99 % confidence: that takes 99 training subsets, and there are 9" in told
    assert "90 more calibration groups" in told


def test_an_upper_bound_offers_no_widest():
    at = settle(open_page("case", order="widest", **SMALL))
    order = at.segmented_control(key="order")
    assert "widest" not in order.options
    assert order.value == "as drawn"
    at.selectbox(key="side").set_value("two-sided").run()
    assert "widest" in settle(at).segmented_control(key="order").options


def test_widths_classes_and_the_time_before_the_label():
    at = settle(open_page("case", **SMALL))
    bars = charts(at)
    assert "promise of its own" not in captions(at)
    at.segmented_control(key="width").set_value("fixed").run()
    assert charts(settle(at)) != bars
    at.toggle(key="own").set_value(True).run()
    at = settle(at)
    assert "promise of its own for each class" in captions(at)
    assert "Between" not in text_of(at)


def test_bars_are_there_while_candidates_are_trained(monkeypatch, tmp_path):
    """A visitor who waits is not told that none was trained."""
    release = tmp_path / "go on"

    def slow(*args):
        deadline = time.monotonic() + 60
        while not release.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return fresh_candidates.case_losses(*args)

    study = (slow, fresh_candidates.fits_per_case)
    monkeypatch.setitem(STUDIES, "losses at this case", study)
    try:
        at = open_page("case", seed="77", **SMALL)
        for _ in range(100):
            if charts(at):
                break
            at.run()
        written = json.dumps(charts(at))
        assert "not there yet" in written
        assert "stayed inside" not in written
        assert any(b.key == "cancel-losses at this case" for b in at.button)
    finally:
        release.touch()
    assert "stayed inside" in json.dumps(charts(settle(at)))


def test_a_study_that_takes_long_is_asked_for(monkeypatch, tmp_path):
    asked_for = tmp_path / "asked for"

    def slow(*args):
        while not asked_for.exists():
            time.sleep(0.05)
        return case_study.case_study(*args)

    monkeypatch.setattr("pages.parts.studies.FIRST_SECONDS", 1.0)
    monkeypatch.setitem(STUDIES, "sets", (slow, STUDIES["sets"][1]))
    at, deadline = open_page("case", seed="78", **SMALL), time.monotonic() + 60
    while not any(b.key == "run-sets" for b in at.button):
        assert time.monotonic() < deadline
        at.run()
    assert any("Stopped after 1 s, with 0 of" in words.value for words in at.markdown)
    assert not charts(at)
    asked_for.touch()
    monkeypatch.setattr("pages.parts.studies.FIRST_SECONDS", 0.0)  # who asks has no limit
    at.button(key="run-sets").click().run()
    assert charts(settle(at))


def test_a_label_without_a_case():
    at = settle(open_page("case", n="148", label="setosa", variant="symbolic", **SMALL))
    told = [info.value for info in at.info]
    assert any("None of the 2 test cases has this label" in words for words in told)
    assert not walls(at)
