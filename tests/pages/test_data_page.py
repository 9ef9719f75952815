"""Your data: from a file to a verdict, and what stays with its visitor."""

import gc
import re
import time

import pytest

from cpp_core.catalog.datasets import OWN
from cpp_core.catalog.example_tables import EXAMPLE_TABLES
from pages.parts import controls, door, live, own, room
from tests.pages.test_pages import open_page, plain, settle


@pytest.fixture(scope="module", autouse=True)
def _ended():
    """What the page has begun to time ends with its tests."""
    yield
    live.jobs().close()


def opened(name):
    at = open_page("data")
    return at.button(key=f"example-{name}").click().run()


def test_an_empty_page_invites():
    at = open_page("data")
    assert at.title[0].value.startswith("Which algorithm suits your table?")
    assert "Forgotten 30 minutes after you leave" in plain(at)
    assert "a reload asks for the file again" in plain(at)
    for example in EXAMPLE_TABLES.values():
        assert example.story in plain(at)


@pytest.mark.parametrize("name", EXAMPLE_TABLES)
def test_an_example_is_understood_and_checked(name):
    at = opened(name)
    assert not at.exception
    assert not at.error
    assert at.title[0].value.replace("\\", "").endswith("columns, understood")
    said = plain(at).replace("\\", "")
    assert f"Predict {EXAMPLE_TABLES[name].target}" in said
    assert "S1" in said
    assert "train" in said


def test_from_an_example_to_a_verdict():
    at = opened("churn")
    key = next(box.key for box in at.multiselect if box.key.startswith("rivals-"))
    at.multiselect(key=key).set_value(["logistic", "naive-bayes"]).run()
    at.button(key="go").click().run()
    assert not [button for button in at.button if button.key == "go"]
    at = settle(at.switch_page("pages/overview.py").run())  # a rerun would be of the first page
    assert at.selectbox(key="dataset").value.startswith("table-")
    assert "Your table: churn.csv" in at.selectbox(key="dataset").options
    assert 'class="strip"' in "".join(element.proto.body for element in at.get("html"))
    assert at.query_params["dataset"] == at.selectbox(key="dataset").value
    assert not any("customer" in str(value) for value in at.query_params.values())
    for page in ("compare", "case", "report"):
        at = settle(at.switch_page(f"pages/{page}.py").run())
        assert not at.error
        assert not at.warning


def test_coming_back_the_browser_is_told_what_was_set():
    at = opened("deliveries")
    at.number_input(key="random-forest.n_estimators").set_value(30).run()
    at.run()  # by now the browser knows it
    at.button(key="go").click().run()
    at = settle(at.switch_page("pages/overview.py").run())
    at.switch_page("pages/data.py").run()
    for key, value in {"under": 3, "over": 1, "random-forest.n_estimators": 30}.items():
        shown = at.number_input(key=key).proto
        assert (shown.set_value, shown.value) == (True, value)
    assert at.text_input(key="unit").proto.value == "EUR"
    assert at.button(key="go")
    assert 'class="alone"' in "".join(element.proto.body for element in at.get("html"))


def brought(lines):
    at = open_page("data")
    at.session_state["_data_file"] = ("a.csv", "\n".join(lines).encode(), None)
    return at.run()


def test_a_date_leads_to_the_latest_rows():
    rows = [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02};{i % 7};{i * 37 % 11},5" for i in range(120)]
    at = brought(["day;x;y", *rows])
    assert "Random splits hide drift" in plain(at)
    at = settle(at.button(key="hold-out").click().run())
    assert not at.exception
    assert next(iter(at.session_state[own.HELD].values())).source.roles.time == "day"
    assert next(toggle for toggle in at.toggle if toggle.key.startswith("latest-")).value
    assert "Random splits hide drift" not in plain(at)
    assert "no bound is promised" in plain(at)


def test_names_of_rows_are_shown_at_their_cases():
    at = brought(["Nr;x;y", *(f"A-{i};{i % 7};{i * 37 % 11},5" for i in range(120))])
    held = next(iter(at.session_state[own.HELD].values()))
    assert held.source.roles.id == "Nr"  # by itself: it names each row
    at.session_state[controls.INSTEAD] = "log_loss", "log_loss"  # of the data before
    at.button(key="go").click().run()
    at = settle(at.switch_page("pages/overview.py").run())
    assert "does not fit this choice" not in plain(at)
    at = settle(at.switch_page("pages/case.py").run())
    assert re.search(r"Case \d+: A-\d+", plain(at))
    at = settle(at.switch_page("pages/report.py").run())
    assert "--data a.csv --target=y" in "".join(code.value for code in at.code)


def test_a_link_to_a_table_asks_for_the_file():
    at = opened("machines")
    name = next(iter(at.session_state[own.HELD]))
    assert name in OWN
    other = open_page("overview", dataset=name)
    assert "not here" in other.info[0].value
    assert not [box for box in other.selectbox if box.key == "dataset"]
    other.switch_page("pages/data.py").run()
    assert "drop the same file" in other.info[0].value


def test_what_nobody_uses_is_forgotten():
    at = opened("machines")
    name = next(iter(at.session_state[own.HELD]))
    own.sweep(own._seen[name] + 60 * own.MINUTES - 1)
    assert name in OWN
    own.sweep(own._seen[name] + 60 * own.MINUTES + 1)
    assert name not in OWN
    at.run()
    assert name in OWN


@pytest.mark.parametrize("content", [b"", b"a,b\n", b"\x89PNG\r\n\x1a\n" + bytes(500), b"y\n1\n"])
def test_a_file_that_cannot_be_used_gets_a_sentence(content):
    at = open_page("data")
    at.session_state["_data_file"] = ("odd.csv", content, None)
    at.run()
    assert not at.exception
    said = at.error[0].value
    assert isinstance(at.session_state["_data_file"][1], ValueError)  # nothing else is kept
    assert at.run().error[0].value == said
    at.button(key="another").click().run()
    assert not at.error


def test_another_target_is_another_question():
    at = opened("houses")
    box = next(box for box in at.selectbox if box.key.startswith("target-"))
    first = next(iter(at.session_state[own.HELD]))
    box.set_value("district").run()
    assert not at.exception
    assert "Predict district, 5 classes" in plain(at).replace("\\", "")
    assert next(iter(at.session_state[own.HELD])) != first


def test_no_more_files_are_held_than_there_is_room_for(monkeypatch):
    gc.collect()  # sessions of other tests
    before = room.held_bytes()
    first = opened("houses")
    held = room.held_bytes()
    assert held > before + 10**5
    monkeypatch.setenv("CPP_CORE_MEMORY", str((held + 1) / 2**30))
    other = opened("houses")
    assert "as many files as it may" in other.error[0].value
    first.button(key="another").click().run()
    assert room.held_bytes() <= before
    other.button(key="another").click().run()
    assert "understood" in other.button(key="example-houses").click().run().title[0].value


def test_tables_that_were_replaced_are_forgotten_soon(monkeypatch):
    at = opened("houses")
    first = next(iter(at.session_state[own.HELD]))
    next(box for box in at.selectbox if box.key.startswith("target-")).set_value("district").run()
    second = next(iter(at.session_state[own.HELD]))
    own.sweep(time.monotonic() + 61)
    assert first not in OWN
    assert second in OWN
    OWN[first] = OWN[second]
    own._seen[first] = own._seen[second] - 1
    monkeypatch.setenv("CPP_CORE_MEMORY", str(1000 / 2**30))
    own.trim()
    assert first not in OWN
    assert second in OWN


def test_the_latest_rows_are_trained_on_in_another_process():
    at = opened("houses")
    toggle = next(own for own in at.toggle if own.key.startswith("latest-"))
    at = settle(toggle.set_value(True).run())
    assert not at.exception
    assert "no bound is promised" in plain(at)


def test_a_tour_goes_from_page_to_page_and_can_be_left():
    at = open_page("data")
    at.button(key="tour").click().run()
    assert "1 of 5" in plain(at)
    assert at.title[0].value.startswith("deliveries")
    at.button(key="tour-end").click().run()
    assert "1 of 5" not in plain(at)


def test_costs_spending_and_settings_are_asked_here_and_stand_in_the_link():
    at = opened("deliveries")
    assert at.number_input(key="under").value == 3
    assert at.text_input(key="unit").value == "EUR"
    at.number_input(key="ridge.alpha").set_value(4.0).run()
    at.selectbox(key="variant").set_value("z-free").run()
    assert "Each retraining sees" in plain(at)
    assert "fits" in plain(at)
    at.button(key="go").click().run()
    told = {"variant": "z-free", "under": 3.0, "unit": "EUR", "ridge.alpha": 4.0}
    known = at.session_state[door.KNOWN]
    assert {key: known[key] for key in told} == told
    assert known["roles"] == "6.r.x.0.x"
    at.switch_page("pages/data.py").run()
    at.button(key="another").click().run()
    assert not {"roles", "under", "dataset"} & set(at.session_state[door.KNOWN])
    assert not at.info
