"""The Losses page, as a visitor meets it (without a browser)."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from cpp_core import batch_errors, interval
from cpp_core.catalog.example_losses import (
    EXAMPLE_NAME,
    EXAMPLE_STORY,
    EXAMPLE_UNIT,
    example_losses,
)
from cpp_core.catalog.loss_files import read_losses
from cpp_core.verdicts.answers import answers_of
from tests.builders import unmarked
from tests.pages.test_pages import APP, charts, text_of

ROOT = Path(__file__).parents[2]
EVIL = "<script>alert(1)</script>"


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    at.switch_page("pages/losses.py").run()
    assert not at.exception
    return at


def upload(at, content, name="losses.csv"):
    content = content if isinstance(content, bytes) else content.encode()
    (asking,) = at.file_uploader
    asking.set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def losses(k=60, header="good,bad", seed=0):
    rng = np.random.default_rng(seed)
    hard, more = rng.exponential(size=k), 1 + 0.1 * rng.normal(size=k)
    return f"{header}\n" + "\n".join(f"{x},{x + y}" for x, y in zip(hard, more, strict=True))


def said(at):
    """What is told, without the escapes of Markdown."""
    return text_of(at).replace("\\", "")


def control(at, kind, name):
    """A control of the file that is held, by the start of its key."""
    (found,) = [own for own in at.get(kind) if own.key.startswith(f"{name}-")]
    return found


def test_an_empty_page_invites_and_an_example_answers_at_once():
    at = opened()
    assert [title.value for title in at.title] == ["Which model should you use?"]
    told = said(at)
    for words in ("CSV, TSV or Parquet", "a row per case, a column per model", EXAMPLE_STORY):
        assert words in told
    assert not charts(at)
    at.button(key="example").click().run()
    assert not at.exception
    assert not at.title
    table = read_losses(example_losses())
    strip = answers_of(table.columns, unit=EXAMPLE_UNIT).strip
    assert strip.choice.use == ("boosted_trees",)
    assert strip.cards[2].text.endswith(" min")
    told = said(at)
    assert "Use boosted_trees." in told
    for card in strip.cards:
        assert card.text in told
    assert f"{EXAMPLE_NAME}: 300 cases, 3 models." in told
    assert len(charts(at)) == 1


def test_the_strip_comes_first_then_picture_and_table_then_the_sentences_folded():
    at = upload(opened(), losses())
    text = said(at)
    assert text.index("Use good.") < text.index('class="found"')
    for model, bound in (("good", 0), ("bad", 1)):
        own = read_losses(losses().encode()).columns[model]
        quoted = answers_of({model: own}).bounds[0].facts["quoted"]
        assert f"</span> {model}</td>" in text
        assert f"<td>at most {quoted}</td>" in text
        assert interval(own, 0.1, "upper")[1] <= float(quoted), bound
    folded = [box.label for box in at.expander]
    assert folded[0].startswith("Columns")
    assert "Your limits" in folded
    assert any(label.startswith("Every statement in full") for label in folded)
    (inside,) = [box for box in at.expander if box.label.startswith("Every statement")]
    assert "so this trained good has the smaller loss" in unmarked(
        "".join(element.proto.body for element in inside.get("html"))
    )


def test_nothing_is_trained(monkeypatch):
    import cpp_core.trials.running

    def forbidden(*args, **kwargs):
        raise AssertionError("a file of losses must not train")

    monkeypatch.setattr(cpp_core.trials.running, "run_block", forbidden)
    upload(opened(), losses())


def test_two_files_one_after_the_other():
    """Of the first one nothing remains: models, limits, direction or name."""
    at = upload(opened(), losses(header="good,bad"), "first.csv")
    control(at, "multiselect", "models").set_value(["bad"]).run()
    control(at, "number_input", "at-most").set_value(100.0).run()
    control(at, "segmented_control", "direction").set_value("losses").run()
    assert "Your limit" in said(at)
    assert "first.csv: 60 cases, 1 model. Taken as losses, smaller is better, as was said." in said(
        at
    )
    at = upload(at, losses(40, "new_a,new_b", seed=1), "second.csv")
    assert not at.error
    assert control(at, "multiselect", "models").value == ["new_a", "new_b"]
    assert control(at, "number_input", "at-most").value is None
    told = said(at)
    assert "second.csv: 40 cases, 2 models." in told
    assert "because the column names say nothing else" in told
    assert "Your limit" not in told
    assert "Use new_a." in told
    for old in ("first.csv", "good", "bad"):
        assert f">{old}<" not in told
        assert f"</span> {old}</td>" not in told
    assert "second.csv" in at.code[-1].value


def test_what_the_numbers_are_is_guessed_told_and_can_be_said():
    at = upload(opened(), losses(header="accuracy_a,accuracy_b"))
    told = said(at)
    assert "Taken as scores, greater is better, because of the column name 'accuracy_a'." in told
    assert "say --" not in told
    assert "Use accuracy_b." in told
    assert "<td>at least " in told
    control(at, "number_input", "at-least").set_value(-1.0).run()
    assert "Your limit" in said(at)
    assert "--greater-is-better" in at.code[-1].value
    assert "--at-least=-1" in at.code[-1].value
    control(at, "segmented_control", "direction").set_value("losses").run()
    told = said(at)
    assert "Taken as losses, smaller is better, as was said." in told
    assert "Use accuracy_a." in told
    assert "--smaller-is-better" in at.code[-1].value


def test_columns_of_both_kinds_can_be_said():
    at = upload(opened(), losses(header="accuracy,loss"))
    assert "'accuracy' sounds like scores" in at.error[0].value.replace("\\", "")
    assert "--greater-is-better" not in at.error[0].value.replace("\\", "")
    control(at, "segmented_control", "direction").set_value("losses").run()
    assert not at.error
    assert "Use accuracy." in said(at)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3\n", "Line 3 of bad.csv has 1 cells"),
        (b"PK\x03\x04rest", "bad.csv is an Excel workbook"),
        (b"name\nx\n", "Pick a model"),
    ],
)
def test_a_bad_file_gets_a_sentence_and_the_next_one_works(content, says):
    at = upload(opened(), content, "bad.csv")
    told = [*at.error, *at.info]
    assert says in told[0].value.replace("\\", "")
    at = upload(at, losses())
    assert not at.error
    assert "Use good." in said(at)


def test_a_table_of_cases_is_shown_the_way_to_your_data_and_still_taken_where_asked():
    at = upload(opened(), (ROOT / "data" / "deliveries.csv").read_bytes(), "deliveries.csv")
    (warned,) = at.warning
    told = warned.value.replace("\\", "")
    assert told.startswith("deliveries.csv looks like a table of cases, not a file of losses")
    assert "page Your data" in told
    assert told.endswith("pick them under Columns.")
    assert [link.label for link in at.get("page_link") if link.label.startswith("Your data →")]
    assert not charts(at)
    control(at, "multiselect", "models").set_value(["minutes"]).run()
    assert not at.warning
    assert "deliveries.csv: 1,200 cases, 1 model." in said(at)


def test_a_bad_cell_leaves_the_other_columns():
    at = upload(opened(), b"a,b\n1,2\n3,oops\n4,5\n")
    assert "oops" in at.error[0].value
    control(at, "multiselect", "models").set_value(["a"]).run()
    assert not at.error
    control(at, "multiselect", "models").set_value([]).run()
    assert "Pick a model" in at.info[0].value


def test_limits_that_cannot_be_are_refused_in_a_sentence():
    at = upload(opened(), losses())
    control(at, "number_input", "low").set_value(0.5).run()
    assert "lie outside the declared range" in at.error[0].value
    control(at, "number_input", "low").set_value(0.0).run()
    assert not at.error
    control(at, "number_input", "margin").set_value(-1.0).run()
    assert "margin must be a positive number" in at.error[0].value


def test_a_limit_a_margin_and_a_range_are_answered_and_in_the_command():
    at = upload(opened(), losses())
    control(at, "number_input", "at-most").set_value(100.0).run()
    told = said(at)
    assert "good: shown" in told
    assert "<td>shown</td>" in told
    control(at, "slider", "sure").set_value(0.99).run()
    assert "with 99 % confidence" in said(at)
    control(at, "number_input", "margin").set_value(50.0).run()
    assert "No real difference." in said(at)
    assert "--delta=0.01 --margin=50" in at.code[-1].value


def test_a_unit_can_be_said():
    at = upload(opened(), losses())
    assert control(at, "text_input", "unit").value == ""
    control(at, "text_input", "unit").set_value("EUR").run()
    assert not at.error
    assert re.search(r"at most [\d.]+ EUR", said(at))
    assert "--unit=EUR" in at.code[-1].value
    control(at, "text_input", "unit").set_value("12").run()
    assert "short word such as EUR" in at.error[0].value


def test_errors_are_asked_about_by_their_rate():
    rows = "\n".join(["wrong_a,wrong_b", *["1,0"] * 10, *["0,1"] * 40, *["0,0"] * 150])
    at = upload(opened(), rows)
    most = [batch_errors(200, errors, 100, 0.1, "upper")[1] for errors in (10, 40)]
    told = said(at)
    assert "Use wrong_a." in told
    assert f"<td>5 %</td><td>at most {most[0]} errors</td>" in told
    assert f"<td>20 %</td><td>at most {most[1]} errors</td>" in told
    first = unmarked("".join(element.proto.body for element in at.get("html")[:2]))  # and table
    assert "error rate 5" in first
    assert "at most 0" not in re.sub(r"<details.*?</details>", "", first)
    assert not [own for own in at.number_input if own.key.startswith(("at-most", "low", "high"))]
    control(at, "number_input", "rate").set_value(0.1).run()
    assert not at.error  # the next 100 cases, unless another number is said
    assert "wrong_a: shown" in said(at)
    assert "--error-rate-at-most=0.1 --batch-size=100" in at.code[-1].value


def test_groups_get_bounds_of_their_own():
    lines = losses().splitlines()
    grouped = [f"{line},{'big' if i < 50 else 'few'}" for i, line in enumerate(lines[1:])]
    at = upload(opened(), "\n".join([f"{lines[0]},site", *grouped]))
    control(at, "selectbox", "group").set_value("site").run()
    assert not at.error
    assert "Within each group" in said(at)
    assert "<td>big</td>" in said(at)
    assert "--group=site" in at.code[-1].value


def test_the_confidence_is_in_the_link():
    at = upload(opened(alpha="0.2"), losses())
    assert "bound (80 %)" in said(at)
    at.slider(key="confidence-losses").set_value(95).run()
    assert "bound (95 %)" in said(at)
    assert dict(at.query_params) == {"alpha": "0.05"}  # of the file there is nothing


def test_downloads_are_made_when_clicked_and_the_command_is_shown():
    at = upload(opened(), losses(), "my losses.csv")
    labels = [button.label for button in at.get("download_button")]
    assert "Report (HTML)" in labels
    assert "JSON" in labels
    assert at.code[-1].value.startswith("python -m cpp_core check 'my losses.csv' --column=good")


def test_names_in_a_file_stay_names():
    image = "![x](http://example.org/x.png)"
    at = upload(opened(), losses(header=f'"{image}","{EVIL}"'), f"{EVIL}.csv")
    assert not [e for e in [*at.markdown, *at.caption] if image in e.value]
    html = "".join(element.proto.body for element in at.get("html"))
    assert EVIL not in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in json.dumps(charts(at))


def test_what_asks_for_another_file_starts_empty_and_a_file_can_be_forgotten():
    """A file that gives way would say so first, on a page that has nobody to take the new one."""
    at = upload(opened(), losses())
    (asking,) = at.file_uploader
    assert not asking.value
    at.button(key="forget-losses").click().run()
    assert [title.value for title in at.title] == ["Which model should you use?"]


def test_a_file_never_reaches_another_session():
    """Equal content under another name is told by that name, and a fresh visitor has no file."""
    first = upload(opened(), losses(), "mine.csv")
    second = upload(opened(), losses(), "yours.csv")
    for at, name, other in ((first, "mine.csv", "yours.csv"), (second, "yours.csv", "mine.csv")):
        assert name in said(at)
        assert name in at.code[-1].value
        assert other not in said(at) + at.code[-1].value
    assert [title.value for title in opened().title] == ["Which model should you use?"]


def test_the_file_is_still_there_after_another_page():
    at = upload(opened(), losses())
    control(at, "multiselect", "models").set_value(["bad"]).run()
    at.switch_page("pages/report.py").run()
    at.switch_page("pages/losses.py").run()
    assert not at.exception
    assert "losses.csv: 60 cases, 1 model." in said(at)
