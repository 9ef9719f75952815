"""Links that say nonsense: each page reads what it can, and nothing is red."""

import pytest

from tests.pages.test_pages import open_page, settle, text_of

QUICK = {"dataset": "iris", "algorithms": ["naive-bayes", "dummy", "knn"], "trials": "20"}
OWN = {
    "compare": ("tab", "pair"),
    "case": ("order", "label", "width", "own", "case"),
    "report": ("audience",),
    "overview": ("limit", "n", "alpha"),
}


@pytest.mark.parametrize("page", OWN)
@pytest.mark.parametrize("said", ["", "1e999", ["inf", "nan"], "x" * 5000])
def test_controls_pass_over_what_they_cannot_read(page, said):
    at = open_page(page, **QUICK, **dict.fromkeys(OWN[page], said), **{"": "1", "x": "y"})
    settle(at)
    assert not at.exception
    assert "Naive Bayes" in text_of(at) or page == "report"


@pytest.mark.parametrize("lesson", ["coverage-is-random", "", "shelf", "glossary"])
def test_links_of_lessons_may_have_keys_that_streamlit_keeps_for_itself(lesson):
    odd = {"embed": "true", "embed_options": "x", "": "1", "k": ["inf", "7"], "lecture": ""}
    at = open_page("learn", lesson=lesson, **odd)
    assert not at.exception
    assert not at.run().exception


def test_a_choice_of_one_page_stands_in_its_link_unless_it_starts_there():
    at = settle(open_page("report", **QUICK, audience="analyst"))
    assert at.segmented_control(key="audience").value == "analyst"
    assert at.query_params["audience"] in ("analyst", ["analyst"])
    at.segmented_control(key="audience").set_value("decision-maker").run()
    assert "audience" not in at.query_params
    at.segmented_control(key="audience").set_value("analyst").run()
    assert at.query_params["audience"] in ("analyst", ["analyst"])
