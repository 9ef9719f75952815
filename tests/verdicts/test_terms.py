"""The glossary: short definitions, none of which leads back to itself, and marks in a text."""

import re

import pytest

from cpp_core.verdicts.terms import STYLE, TERMS, define, explain, terms_in, with_terms

ASKED = (
    *("candidate", "algorithm", "loss", "log loss", "calibration", "held-out", "exchangeable"),
    *("coverage", "cover rate", "width", "marginal", "conditional", "trial", "split"),
    *("confidence", "alpha", "exact guarantee", "approximate", "bound", "two-sided", "tolerance"),
    *("margin", "retraining", "m", "k", "group-calibrated", "fixed width", "variable width"),
    *("clip", "typical", "nats", "test case"),
)


def used_by(name):
    """The other terms that a definition uses; its own name would be circular too."""
    return {found for found, _, _ in terms_in(TERMS[name].definition)}


@pytest.mark.parametrize("name", TERMS)
def test_a_definition_is_one_short_sentence(name):
    told = define(name)
    assert told[0].isupper()
    assert told.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", told)
    assert len(told.split()) <= 30


def test_no_definition_leads_back_to_its_term():
    left = {name: used_by(name) for name in TERMS}
    while left:
        plain = [name for name, used in left.items() if not used & left.keys()]
        assert plain, f"these define each other: {left}"
        for name in plain:
            del left[name]


def test_circles_would_be_noticed():
    assert used_by("candidate") == {"algorithm"}
    assert "loss" in used_by("bound")


def test_every_word_that_pages_use_is_defined():
    assert set(ASKED) <= TERMS.keys()
    with pytest.raises(ValueError, match="There is no term called 'alfa'; did you mean 'alpha'"):
        define("alfa")
    with pytest.raises(ValueError, match="no term called"):
        explain("alpha", "beta-binomial")


def test_each_spelling_belongs_to_one_term():
    forms = [form for term in TERMS.values() for form in term.spellings]
    assert len(set(forms)) == len(forms)
    assert all(form == form.lower() for form in forms)


def test_terms_are_found_as_words_the_longest_first():
    def found(text):
        return [name for name, _, _ in terms_in(text)]

    assert found("The log loss of a held-out case") == ["log loss", "held-out", "case"]
    assert found("Losses, not glosses; lossless; Alpha") == ["loss", "alpha"]
    assert found("k against m, K and M, sd-k") == ["k", "m"]


def test_the_first_occurrence_is_marked_and_all_else_is_escaped():
    html = with_terms('A loss <b> & another loss at "alpha"')
    assert html.count("<span") == 2
    assert html.startswith('A <span class="term" tabindex="0"')
    assert html.endswith('alpha</span>"')
    assert "</span> &lt;b&gt; &amp; another loss at " in html
    for name in ("loss", "alpha"):
        assert f'data-means="{define(name)}"' in html
    assert with_terms("nothing here < 1") == "nothing here &lt; 1"


def test_the_definition_shows_for_mouse_and_finger():
    assert ".term:hover::after" in STYLE
    assert ".term:focus::after" in STYLE
    assert "attr(data-means)" in STYLE
