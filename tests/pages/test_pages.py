"""Every page and every variant, as a visitor meets them (without a browser)."""

import json
import re
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cpp_core import ALGORITHMS, DATASETS, LOSSES
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS
from pages.parts import door, shell
from tests.builders import unmarked

APP = str(Path(__file__).parents[2] / "app.py")
ON_PAGE = {"overview": 'class="strip"', "case": "At this "}
"""What stands on the page that a start opens, and on no other."""
PAGES = ("overview", "compare", "case", "report")
NAMES = (*ALGORITHMS, *DATASETS, *LOSSES, *VARIANTS, *REGRESSORS, "two-sided")
IDS = {name for name in NAMES if "-" in name or "_" in name}
CHOSEN = "Digits: which SVM? · the model I have · log loss · 90 % confidence · 1,000 splits"


def open_page(name="overview", **query):
    at = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.switch_page(f"pages/{name}.py").run()


def settle(at, seconds=90):
    """Rerun, as the browser's fragments do, until no run is under way."""
    deadline = time.time() + seconds
    while time.time() < deadline:
        assert not at.exception, at.exception[0].message
        busy = [b for b in at.button if b.key and b.key.startswith("cancel-")]
        offers = [b for b in at.button if b.key and b.key.startswith("run-")]
        waiting = any("so far" in info.value for info in at.info)
        if not busy and not offers and not waiting:
            return at
        if offers and not busy:
            offers[0].click()
        time.sleep(0.1)
        at.run()
    raise AssertionError("still running")


def text_of(at):
    said = [e.value for e in [*at.markdown, *at.caption, *at.title] if e.value]
    told = "\n".join([*said, *(element.proto.body for element in at.get("html"))])
    return unmarked(told).replace("\u00a0", " ")


def plain(at):
    """The text without marks."""
    return re.sub("<[^>]*>", "", text_of(at))


def charts(at):
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


@pytest.mark.parametrize("name", PAGES)
def test_the_first_view_of_each_page(name):
    at = settle(open_page(name))
    assert charts(at) or name == "report"
    assert "SVM-rbf" in text_of(at) or name == "report"
    assert CHOSEN in plain(at)


def test_alpha_changes_the_answer_and_trains_nothing(monkeypatch):
    at = settle(open_page("compare"))
    before = charts(at)
    import cpp_core.trials.running

    def forbidden(*args, **kwargs):
        raise AssertionError("alpha must not train")

    monkeypatch.setattr(cpp_core.trials.running, "run_block", forbidden)
    at.slider(key="confidence").set_value(70).run()
    assert not at.exception
    assert charts(at) != before
    assert "70 %" in text_of(at)


LONG = {"z-variable", "symbolic"}  # quantile forests


@pytest.mark.parametrize(
    "variant",
    [pytest.param(v, marks=pytest.mark.slow) if v in LONG else v for v in VARIANTS],
)
def test_every_variant_on_every_page(variant):
    at = open_page(
        "compare",
        dataset="iris",
        algorithms=["naive-bayes", "dummy"][: 1 if variant == "symbolic" else 2],
        variant=variant,
        trials="20",
        k="10",
        alpha="0.2",
        **({"regressor": "linear"} if variant == "z-fixed" else {}),
    )
    at = settle(at)
    assert len(text_of(at)) > 100
    for name in ("overview", "case"):
        at.switch_page(f"pages/{name}.py").run()
        at = settle(at)
        assert len(text_of(at)) > 100
        assert not at.error


@pytest.mark.parametrize("variant", ["symbolic", "batch"])
def test_kinds_of_error_and_batches_after_retraining(variant):
    query = {"dataset": "iris", "algorithms": ["naive-bayes"], "trials": "20", "k": "10"}
    at = settle(open_page("case", variant=variant, retrained="true", **query))
    assert "sees m =" in text_of(at)
    assert not [info for info in at.info if "Nothing to look at" in info.value]


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["digits-instance", "quadnoise-candidate"])
def test_the_papers_runs_are_one_click(preset):
    start = PRESETS[preset]
    at = open_page("overview", alpha="0.2", n="500", seed="3", trials="20")
    at.button(key=f"preset-{preset}").click().run()
    assert active(at) == [start.label, start.description]
    assert at.session_state[door.WHERE] == start.opens
    at = settle(at.switch_page(f"pages/{start.opens}.py").run())  # where AppTest runs it again
    expected = "z-variable" if preset == "digits-instance" else "candidate"
    assert at.selectbox(key="variant").value == expected
    assert at.selectbox(key="side").value == ("upper" if start.automatic else "two-sided")
    assert at.number_input(key="seed").value == 0
    assert ON_PAGE[start.opens] in text_of(at)
    assert f"{start.label} · " in plain(at)
    assert ("90 % confidence, both sides" in plain(at)) != start.automatic


def active(at):
    """What stands in the marked row of the starts."""
    rows = [block for block in blocks(at.sidebar) if block.proto.id.endswith("active-start")]
    return [
        e.label if e.type == "button" else e.value for row in rows for e in row.children.values()
    ]


def blocks(block):
    inner = [child for child in block.children.values() if hasattr(child, "children")]
    return [*inner, *(own for child in inner for own in blocks(child))]


def test_the_start_that_is_chosen_is_marked():
    at = open_page()
    assert active(at)[0] == "Digits: which SVM?"
    at.multiselect(key="algorithms").set_value(["svm-rbf", "svm-lin"]).run()
    assert active(at)[0] == "Digits: which SVM?"
    at.multiselect(key="algorithms").set_value(["svm-rbf"]).run()
    assert active(at) == []
    assert "Digits: SVM-rbf · the model I have" in plain(at)


@pytest.mark.parametrize(
    "query",
    [
        {"alpha": "7"},
        {"alpha": "abc"},
        {"dataset": "none"},
        {"seed": "text"},
        {"trials": "5"},
        {"algorithms": ["gd"]},
        {"algorithms": ["nonsense"]},
        {"variant": "nonsense"},
        {"loss": "rmse"},
        {"side": "left"},
        {"k": "-3"},
    ],
)
def test_nonsense_in_the_url_falls_back(query):
    at = open_page("compare", **query)
    assert not at.exception
    assert not at.error
    assert len(text_of(at)) > 100


def test_what_does_not_fit_says_why():
    at = open_page("compare", dataset="iris", variant="z-free", k="1000")
    assert any("cannot be computed" in w.value for w in at.warning)
    at = open_page("compare")
    at.multiselect(key="algorithms").set_value([]).run()
    assert "Pick at least one algorithm" in at.info[0].value
    at = open_page("compare", dataset="diabetes")
    assert "kinds of error need classes" in text_of(at)


def test_changing_the_data_keeps_the_page_alive():
    at = settle(open_page("compare", trials="20"))
    for dataset in ("quadnoise", "iris"):
        at.selectbox(key="dataset").set_value(dataset).run()
        at = settle(at)
        assert not at.warning


def test_too_few_cases_say_how_many_would_do():
    at = settle(
        open_page(
            "compare", dataset="diabetes", algorithms=["ridge"], n="20", trials="20", alpha="0.05"
        )
    )
    assert "no finite bound" in text_of(at)


def test_a_limit_and_a_margin_are_answered():
    query = {"dataset": "iris", "algorithms": ["naive-bayes", "dummy"], "trials": "20"}
    at = settle(open_page("compare", limit="30", margin="0.5", **query))
    told = text_of(at)
    assert "Your limit" in told
    assert "new cases have a log loss of at most 30 nats" in told
    assert "if you picked it here" in told
    at.selectbox(key="loss").set_value("zero_one").run()
    at.number_input(key="rate").set_value(0.9).run()
    at = settle(at)
    assert "the error rate on the next 100 cases is at most 90 %" in text_of(at)
    at.switch_page("pages/overview.py").run()
    assert "the error rate on the next 100 cases" in text_of(settle(at))


def test_many_algorithms_are_compared_jointly():
    three = ["naive-bayes", "dummy", "knn"]
    at = settle(open_page("compare", dataset="iris", algorithms=three, trials="20"))
    assert text_of(at).count("for all 3 pairs jointly") >= 3
    assert "of 3 pairs decided" in text_of(at)


def test_confidence_is_the_same_in_the_sidebar():
    at = open_page("compare", alpha="0.0123", **SMALL)
    assert "98.77 % confidence" in plain(at)
    assert "alpha 0.0123. Moving it trains nothing." in text_of(at)
    assert at.slider(key="confidence").value == 98.77
    assert at.query_params["alpha"] == "0.0123"


SMALL = {"dataset": "iris", "algorithms": ["naive-bayes"], "trials": "20"}


def test_sidebar_and_phone_ask_for_one_confidence():
    at = open_page("compare", **SMALL)
    at.slider(key="confidence-phone").set_value(80).run()
    assert "80 % confidence" in plain(at)
    assert at.query_params["alpha"] == "0.2"
    assert [s.value for s in at.slider if s.label == "Confidence"] == [80, 80]
    at.switch_page("pages/overview.py").run()
    assert [s.value for s in at.slider if s.label == "Confidence"] == [80, 80]
    (moved,) = [s for s in at.sidebar.slider if s.label == "Confidence"]
    moved.set_value(85).run()
    assert [s.value for s in at.slider if s.label == "Confidence"] == [85, 85]
    assert at.query_params["alpha"] == "0.15"


@pytest.mark.parametrize("variant", VARIANTS)
def test_controls_show_labels_and_links_have_ids(variant):
    at = open_page("report", variant=variant, **SMALL)
    kinds = [*at.sidebar.selectbox, *at.sidebar.multiselect, *at.sidebar.get("button_group")]
    offered = {option for widget in kinds for option in widget.options}
    assert not offered & IDS
    assert not [word for word in IDS if re.search(rf"(?<!\w){word}(?!\w)", plain(at))]
    at.selectbox(key="dataset").set_value("wine").run()
    assert at.query_params["dataset"] == "wine"
    assert at.query_params["algorithms"] == "naive-bayes"
    if variant != "symbolic":
        at.selectbox(key="side").set_value("two-sided").run()
        assert at.query_params["side"] == "two-sided"


def test_controls_come_in_the_order_of_a_thought():
    at = open_page("report", **SMALL)
    order = [e.label for e in walk(at.sidebar) if getattr(e, "label", None)]
    order = [label for label in order if label in ORDER]
    assert order == list(ORDER)


ORDER = (
    *("Confidence", "Digits: which SVM?", "Data", "Algorithms", "Loss", "Question", "Bound"),
    *("How the cases are spent", "Your limits", "Trials", "Seed"),
)


def walk(block):
    """Everything in a block, in the order of the page."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from walk(child)


def test_one_question_may_have_two_widths():
    at = open_page("report", variant="z-fixed", **SMALL)
    labels = at.selectbox(key="variant").options
    assert labels.count("At one case, after retraining") == 1
    (width,) = [group for group in at.get("button_group") if group.label == "Width of the sets"]
    width.set_value("z-variable").run()
    assert at.query_params["variant"] == "z-variable"
    assert at.selectbox(key="variant").value == "z-variable"
    at.selectbox(key="variant").set_value("z-free").run()
    assert at.query_params["variant"] == "z-free"
    assert "Width of the sets" not in [group.label for group in at.get("button_group")]


def test_what_cannot_apply_is_not_asked():
    at = open_page("report", variant="symbolic", **SMALL)
    told = text_of(at)
    assert "No loss: this question is about the kind of error itself." in told
    labels = [e.label for e in at.sidebar.selectbox]
    assert "Bound" not in labels
    assert "Loss" not in labels
    assert "Positive class" in labels
    at = open_page("report", dataset="iris", algorithms=["naive-bayes"], trials="20")
    assert "No hinge loss: Naive Bayes gives no decision values." in text_of(at)


FIRST = """
import streamlit as st
from pages.parts.shell import page
page(lambda choice: st.title(f"chosen {choice.experiment.dataset}"))
"""
BARE = """
import streamlit as st
from pages.parts.controls import confidence_control
from pages.parts.shell import page
page(lambda: st.title(f"alpha {confidence_control('own')}"), sidebar=False)
"""


def test_a_page_may_have_no_sidebar(tmp_path, monkeypatch):
    known = {"overview": shell.Page("Overview"), "bare": shell.Page("Bare", sidebar=False)}
    monkeypatch.setattr(shell, "PAGES", known)
    (tmp_path / "pages").mkdir()
    (tmp_path / "app.py").write_text("from pages.parts.shell import frame\nframe()\n")
    for name, text in (("overview", FIRST), ("bare", BARE)):
        (tmp_path / "pages" / f"{name}.py").write_text(text)
    at = AppTest.from_file(tmp_path / "app.py", default_timeout=60)
    at.query_params["dataset"] = "iris"
    at.run()
    assert at.title[0].value == "chosen iris"
    at.switch_page("pages/bare.py").run()
    at.query_params.clear()  # the link of such a page is its own
    assert not at.exception
    assert at.title[0].value == "alpha 0.1"
    assert not at.sidebar.children
    at.slider(key="own").set_value(80).run()
    assert at.title[0].value == "alpha 0.2"
    assert at.query_params == {"alpha": "0.2"}
    monkeypatch.setattr(door, "by_history", lambda: True)
    at.run()  # back to this page, whose link does not tell of the data
    monkeypatch.undo()
    monkeypatch.setattr(shell, "PAGES", known)
    at.switch_page("pages/overview.py").run()
    assert at.title[0].value == "chosen iris"
    assert "80 % confidence" in plain(at)


def test_how_the_cases_are_spent():
    query = {"dataset": "iris", "algorithms": ["naive-bayes"], "trials": "20"}
    at = settle(open_page("overview", share="0.25", **query))
    assert at.slider(key="share").value == 0.25
    assert "84 train each model and 28 calibrate" in plain(at)
    at = settle(at.slider(key="share").set_value(0.5).run())
    assert "56 train each model and 56 calibrate" in plain(at)
    at = settle(open_page("overview", variant="z-free", share="0.25", k="11", **query))
    assert not [slider for slider in at.slider if slider.key == "share"]
    runs = at.select_slider(key="k")
    assert runs.value == 11
    assert "11 runs of 9 cases" in runs.options
    assert "Finite ends up to 91.6 % confidence." in plain(at)
    at = settle(runs.set_value(20).run())
    assert at.query_params["k"] == "20"
    assert "k = 20 training runs takes m = 4" in plain(at)


def test_a_loss_that_another_choice_changes_is_told():
    at = open_page("report", dataset="iris", algorithms=["naive-bayes", "dummy"], trials="20")
    note = "Now about the error rate: log loss does not fit this choice."
    assert note not in text_of(at)
    at.selectbox(key="variant").set_value("batch").run()
    assert note in text_of(at)
    assert note in text_of(at.run())  # as long as it stays so
    at.selectbox(key="loss").set_value("accuracy").run()
    assert "does not fit this choice" not in text_of(at)


def test_a_pair_starts_with_the_one_that_is_told():
    rivals = ["dummy", "naive-bayes", "knn"]
    at = settle(open_page("compare", dataset="iris", algorithms=rivals, trials="20"))
    assert at.selectbox(key="pair").value == "Naive Bayes and Nearest neighbours"
