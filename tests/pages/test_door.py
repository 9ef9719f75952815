"""The door between the link and the controls: what is read, what is kept, what is written."""

import pytest

from cpp_core import ALGORITHMS, DATASETS, LOSSES, load_dataset
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.verdicts.terms import explain
from pages.parts.controls import HELP
from pages.parts.door import is_choice, is_held, merged, possible, wanted
from pages.parts.entries import ENTRIES, SIDES, written
from tests.pages.test_pages import open_page, plain

KEYS = (
    *("dataset", "algorithms", "loss", "variant", "side", "alpha", "trials", "seed", "n", "k", "b"),
    *("regressor", "positive", "clip", "limit", "sure", "rate", "next", "margin", "retrained"),
)
NONSENSE = (
    *("", " ", "nonsense", "inf", "-inf", "nan", "1e999", "-1e999", "1_0", "0x1", "²", "٣", "1,5"),
    *("9" * 5000, "1e", "--1", "None", "true1", "[1]", "<b>", "\x00"),
)


def read(key, *texts):
    return ENTRIES[key].read(texts)


def test_links_keep_their_keys():
    assert set(KEYS) <= ENTRIES.keys()


@pytest.mark.parametrize(
    ("key", "known", "label"),
    [
        ("dataset", DATASETS, lambda name: load_dataset(name).label),
        ("algorithms", ALGORITHMS, lambda name: ALGORITHMS[name].label),
        ("loss", LOSSES, lambda name: LOSSES[name].label),
        ("regressor", REGRESSORS, lambda name: REGRESSORS[name].label),
        ("side", SIDES, lambda name: SIDES[name]),
    ],
)
def test_ids_and_labels_are_read_and_ids_are_written(key, known, label):
    for name in known:
        value = [name] if key == "algorithms" else name
        for text in (name, label(name), label(name).upper()):
            assert read(key, text) == value
        assert written(value) == (name,)


def test_every_question_is_read_by_its_id_and_by_its_words():
    for name, kind in VARIANTS.items():
        assert read("variant", name) == name
        assert VARIANTS[read("variant", kind.label)].label == kind.label


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("alpha", 0.0123), ("alpha", 0.1), ("limit", -3.5), ("limit", 1e-7), ("margin", 0.0)),
        *(("n", 2), ("seed", 2**31 - 1), ("trials", 300), ("retrained", True)),
        *(("retrained", False), ("algorithms", ["gd", "sgd"]), ("algorithms", [])),
        *(("positive", "versicolor"), ("noise", "student"), ("bayes", 0.25)),
        *(("costs", "0,5;1.5,0"), ("unit", "EUR"), ("knn.n_neighbors", 9), ("ridge.alpha", 0.5)),
        ("roles", "2.r.x.1.x.0~10"),
    ],
)
def test_what_is_written_is_read_again(key, value):
    again = read(key, *written(value))
    assert again == value
    assert type(again) is type(value)


def test_nothing_is_written_for_what_is_left_out():
    assert written(None) == ()


@pytest.mark.parametrize(
    ("value", "held"), [("upper", True), (None, True), ("two-sided", False), (["two-sided"], False)]
)
def test_a_choice_counts_while_the_page_is_drawn_unless_the_browser_may_hold_it(value, held):
    doubts = {"side": ["upper", None, []], "n": None}
    assert is_held("side", value, doubts) == held
    assert is_held("n", value, doubts)
    assert not is_held("loss", value, doubts)  # the browser has its value


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_never_a_value(text):
    words = {"positive", "unit", "costs"}  # texts, which are checked where they are used
    link = {key: (text,) for key in ENTRIES if key not in words}
    nothing = {} if text else {"algorithms": []}  # an empty choice is one
    assert merged({}, {}, link, whole=True) == nothing


@pytest.mark.parametrize(
    ("key", "text"),
    [
        *(("alpha", "0.001"), ("alpha", "7"), ("n", "1"), ("n", "2.0"), ("seed", "-1")),
        *(("rate", "1.01"), ("margin", "-0.1"), ("trials", "7"), ("sure", "1"), ("d", "51")),
    ],
)
def test_what_lies_outside_is_passed_over(key, text):
    assert merged({key: 1}, {}, {key: (text,)}, whole=True) == {}


def test_one_value_where_one_is_asked_for():
    assert merged({}, {}, {"alpha": ("0.2", "0.3"), "loss": ("brier", "hinge")}, whole=True) == {}
    assert read("algorithms", "gd", "none", "gd", "SGD") == ["gd", "sgd"]
    assert len(read("algorithms", *ALGORITHMS)) == 6


def test_a_link_that_is_opened_is_the_whole_truth():
    known = {"alpha": 0.2, "dataset": "iris"}
    assert merged(known, {}, {"alpha": ("0.3",)}, whole=True) == {"alpha": 0.3}
    assert merged(known, {}, {}, whole=True) == {}


def test_a_link_to_another_page_loses_nothing():
    known, left = {"alpha": 0.2, "dataset": "iris"}, {"alpha": ("0.2",), "dataset": ("iris",)}
    assert merged(known, left, {}, whole=False) == known
    assert merged(known, left, left, whole=False) == known
    # changed while the link was on its way: the session is newer
    assert merged(known | {"alpha": 0.4}, left, left, whole=False)["alpha"] == 0.4
    # another link than the one that was left: it is meant
    assert merged(known, left, {"alpha": ("0.3",)}, whole=False) == known | {"alpha": 0.3}


def test_what_other_choices_made_impossible_goes():
    assert possible("gd", ["gd", "sgd"]) == "gd"
    assert possible("svm-lin", ["gd", "sgd"]) is None
    assert possible(["svm-lin", "gd"], ["gd", "sgd"]) == ["gd"]
    assert possible(["svm-lin"], ["gd", "sgd"]) is None
    assert possible([], ["gd", "sgd"]) == []


def test_the_link_says_what_is_not_where_controls_start():
    shown = {"alpha": 0.1, "dataset": "digits", "n": None}
    assert wanted({}, shown, {}) == {}
    assert wanted({"alpha": 0.1}, shown, {}) == {}
    assert wanted({"alpha": 0.2, "k": 5}, shown, {}) == {"alpha": ("0.2",), "k": ("5",)}
    # what it says already, it goes on to say, rightly
    assert wanted({}, shown, {"alpha": ("abc",)}) == {"alpha": ("0.1",)}
    assert wanted({"n": None}, shown, {"n": ("7",)}) == {"n": ()}


def test_what_was_shown_is_not_a_choice_when_it_comes_back():
    starts = {"clip": "machine", "loss": "log_loss"}
    assert not is_choice("clip", "machine", {"loss": "brier"}, starts)
    assert is_choice("clip", "0.001", {}, starts)
    assert is_choice("loss", "log_loss", {"loss": "brier"}, starts)
    assert not is_choice("loss", "brier", {"loss": "brier"}, starts)
    assert is_choice("limit", None, {}, {})


def test_every_control_has_its_terms():
    assert set(HELP) <= ENTRIES.keys() | {"width"}
    for terms in HELP.values():
        assert explain(*terms).count("**") == 2 * len(terms)


HOSTILE = {
    **dict.fromkeys(("limit", "margin", "rate", "alpha", "n", "k", "b", "seed"), "1e999"),
    **{"next": "inf", "sure": "nan", "": "1", "embed_options": "x", "positive": "<b>"},
}


@pytest.mark.parametrize("variant", ["candidate", "z-free", "symbolic"])
def test_a_hostile_link_gives_the_first_view(variant):
    at = open_page("compare", variant=variant, dataset="iris", trials="20", **HOSTILE)
    assert not at.exception
    assert not at.error
    assert "90 % confidence" in plain(at)


def test_a_link_without_algorithms_asks_for_one():
    at = open_page("compare", algorithms="")
    assert not at.exception
    assert "Pick at least one algorithm" in at.info[0].value
