"""The Report page, as a visitor meets it (without a browser)."""

import json

import numpy as np

from cpp_core import document
from tests.test_pages import charts, open_page, settle, text_of

EVIL = "<script>alert(1)</script>"
QUICK = {"dataset": "iris", "algorithms": ["naive-bayes", "dummy"], "trials": "20"}


def opened(**query):
    return settle(open_page("report", **(QUICK | query)))


def previews(at):
    return [frame.proto.srcdoc for frame in at.get("iframe")]


def upload(at, content, name="losses.csv"):
    at.file_uploader(key="losses-file").set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def losses(k=60, header="good,bad"):
    hard = np.random.default_rng(0).exponential(size=k)
    return f"{header}\n" + "\n".join(f"{x},{x + 1}" for x in hard)


def test_the_preview_follows_title_audience_sections_and_alpha():
    at = opened()
    (first,) = previews(at)
    assert "What will the next loss be?" in first
    assert "90&nbsp;% confidence" in first
    at.text_input(key="title").set_value(EVIL).run()
    at.text_area(key="note").set_value("For the board").run()
    at.segmented_control(key="audience").set_value("analyst").run()
    at.multiselect(key="sections").set_value(["picture"]).run()
    at.slider(key="alpha").set_value(0.2).run()
    assert not at.exception
    (page,) = previews(at)
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in page
    assert "For the board" in page
    assert '<details class="why" open>' in page
    assert "How to reproduce it" not in page
    assert "80&nbsp;% confidence" in page


def test_downloads_and_the_lines_that_reproduce_it(monkeypatch):
    at = opened()
    labels = [button.label for button in at.get("download_button")]
    assert {"HTML", "CSV", "JSON"} <= set(labels)
    assert ("PDF" in labels) == (document.find_browser() is not None)
    code = [block.value for block in at.code]
    assert any("Experiment.from_dict" in lines for lines in code)
    assert any("--dataset iris --algorithms naive-bayes dummy" in lines for lines in code)
    monkeypatch.setattr(document.shutil, "which", lambda name: None)
    at.run()
    assert "PDF" not in [button.label for button in at.get("download_button")]
    assert "No PDF here: it needs Chromium" in text_of(at)


def test_a_file_of_losses_is_judged_without_training(monkeypatch):
    at = opened()
    import cpp_core.runs

    def forbidden(*args, **kwargs):
        raise AssertionError("a file of losses must not train")

    monkeypatch.setattr(cpp_core.runs, "run_block", forbidden)
    upload(at, losses().encode())
    assert "so this trained good has the smaller loss" in text_of(at).replace("\\", "")
    assert len(charts(at)) == 2
    assert len(previews(at)) == 2
    at.number_input(key="at-most").set_value(100.0).run()
    assert "Shown: for a new case" in text_of(at).replace("\\", "")
    at.multiselect(key="models").set_value(["bad"]).run()
    assert not at.exception
    assert len(charts(at)) == 1
    at.multiselect(key="models").set_value([]).run()
    assert "Pick at least one model" in at.info[0].value


def test_what_is_wrong_with_a_file_is_said():
    at = upload(opened(), b"a,b\n1,2\n3,oops\n4,5\n")
    assert "oops" in at.error[0].value
    at = upload(at, b"", "empty.csv")
    assert "is empty" in at.error[0].value.replace("\\", "")
    at = upload(at, losses().encode())
    assert not at.error
    at.number_input(key="low").set_value(0.5).run()
    assert "lie outside the declared range" in at.error[0].value
    at.number_input(key="low").set_value(None).run()
    at.number_input(key="rate").set_value(0.1).run()
    assert "give both the rate and the batch size" in at.error[0].value


def test_names_in_a_file_stay_names():
    image = "![x](http://example.org/x.png)"
    at = upload(opened(), losses(header=f'"{image}","{EVIL}"').encode())
    assert image not in text_of(at)
    page = previews(at)[1]
    assert EVIL not in page[: page.index("plotly.js v")]
    specs = json.dumps(charts(at))
    assert "<script>" not in specs
