"""Every page and every variant, as a visitor meets them (without a browser)."""

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cpp_core.catalog.variants import VARIANTS

APP = str(Path(__file__).parents[2] / "app.py")
PAGES = ("overview", "compare", "case", "report")


@pytest.fixture(autouse=True)
def _in_a_thread(monkeypatch):
    """Runs in a thread of this process: to start another one takes longer than these runs."""
    monkeypatch.setattr("cpp_core.trials.jobs.works_in_threads", lambda experiment: True)


def open_page(name="overview", **query):
    at = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    if name != "overview":
        at.switch_page(f"pages/{name}.py").run()
    return at


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
    return told.replace("\u00a0", " ")


def charts(at):
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


@pytest.mark.parametrize("name", PAGES)
def test_the_first_view_of_each_page(name):
    at = settle(open_page(name))
    assert charts(at) or name == "report"
    assert "SVM-rbf" in text_of(at) or name == "report"


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


@pytest.mark.parametrize("preset", ["digits-instance", "quadnoise-candidate"])
def test_the_papers_runs_are_one_click(preset):
    at = open_page()
    at.button(key=f"preset-{preset}").click().run()
    at = settle(at)
    expected = "z-variable" if preset == "digits-instance" else "candidate"
    assert at.selectbox(key="variant").value == expected
    assert at.selectbox(key="side").value == "two-sided"


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
    at = open_page("compare", alpha="0.0123", dataset="iris", trials="20")
    assert "98.7 % confidence" in text_of(at)
