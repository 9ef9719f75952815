"""The Report page, as a visitor meets it (without a browser)."""

import json
from pathlib import Path

import numpy as np

from cpp_core.report import pdf
from tests.pages.test_pages import charts, open_page, settle, text_of

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
    at.slider(key="confidence").set_value(80).run()
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
    assert {"HTML", "CSV", "JSON", "PARQUET"} <= set(labels)
    code = [block.value for block in at.code]
    assert any("Experiment.from_dict" in lines for lines in code)
    assert any("--dataset iris --algorithms naive-bayes dummy" in lines for lines in code)
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    at.run()
    assert not [button for button in at.button if button.key == "print-results"]
    assert "No PDF here: it needs Chromium" in text_of(at)


def test_a_pdf_is_offered_or_a_sentence_says_why_not(monkeypatch):
    def failing(*args, **kwargs):
        raise OSError("no such browser")

    monkeypatch.setattr(pdf, "find_browser", lambda: "chromium")
    monkeypatch.setattr("cpp_core.report.pdf.subprocess.run", failing)
    at = opened()
    at.button(key="print-results").click().run()
    assert not at.exception
    assert "could not print the report" in at.error[0].value

    def printing(command, **settings):
        name = next(word for word in command if word.startswith("--print-to-pdf="))
        Path(name.removeprefix("--print-to-pdf=")).write_bytes(b"%PDF")

    monkeypatch.setattr("cpp_core.report.pdf.subprocess.run", printing)
    at.button(key="print-results").click().run()
    assert not at.error
    assert "Save the PDF" in [button.label for button in at.get("download_button")]


def test_limits_of_the_sidebar_are_in_the_report():
    at = opened(limit="30", margin="0.5")
    (page,) = previews(at)
    assert page.index("hown") < page.index("What this assumes")
    code = [block.value for block in at.code]
    assert any("at_most=30.0, delta=0.05, margin=0.5" in lines for lines in code)
    assert any("--at-most=30 --delta=0.05 --margin=0.5" in lines for lines in code)
    at.slider(key="sure").set_value(0.99).run()
    assert "with 99&nbsp;% confidence" in previews(at)[0]
    assert any("--delta=0.01" in block.value for block in at.code)


def test_groups_of_a_file_get_bounds_of_their_own():
    lines = losses().splitlines()
    grouped = [f"{line},{'big' if i < 50 else 'few'}" for i, line in enumerate(lines[1:])]
    at = upload(opened(), "\n".join([f"{lines[0]},site", *grouped]).encode())
    at.selectbox(key="group").set_value("site").run()
    assert not at.exception
    assert not at.error
    assert "Within each group" in text_of(at)
    assert "Within each group" in previews(at)[1]


def test_a_file_of_losses_is_judged_without_training(monkeypatch):
    at = opened()
    import cpp_core.trials.running

    def forbidden(*args, **kwargs):
        raise AssertionError("a file of losses must not train")

    monkeypatch.setattr(cpp_core.trials.running, "run_block", forbidden)
    upload(at, losses().encode())
    assert "so this trained good has the smaller loss" in text_of(at).replace("\\", "")
    assert len(charts(at)) == 2
    assert len(previews(at)) == 2
    at.number_input(key="at-most").set_value(100.0).run()
    told = text_of(at).replace("\\", "")
    assert "Shown: for this trained good, at least 90" in told
    assert "of new cases have a loss of at most 100, with 95" in told
    at.slider(key="file-sure").set_value(0.99).run()
    assert "with 99&nbsp;% confidence" in previews(at)[1]
    at.multiselect(key="models").set_value(["bad"]).run()
    assert not at.exception
    assert len(charts(at)) == 1
    at.multiselect(key="models").set_value([]).run()
    assert "Pick at least one model" in at.info[0].value


def test_a_file_of_scores_is_taken_as_scores_and_said_so():
    at = upload(opened(), losses(header="accuracy_a,accuracy_b").encode())
    told = text_of(at).replace("\\", "")
    assert "Taken as scores, greater is better, because of the column name 'accuracy_a'" in told
    assert "; choose smaller is better if not." in told
    assert "so this trained accuracy_b has the larger score" in told
    at.number_input(key="at-least").set_value(-1.0).run()
    assert "have a score of at least -1" in text_of(at).replace("\\", "")
    assert any("--greater-is-better" in block.value for block in at.code)
    at.segmented_control(key="direction").set_value("losses, smaller is better").run()
    told = text_of(at).replace("\\", "")
    assert "so this trained accuracy_a has the smaller loss" in told
    assert any("--smaller-is-better" in block.value for block in at.code)
    at = upload(opened(), losses(header="accuracy,loss").encode())
    assert "'accuracy' sounds like scores" in at.error[0].value.replace("\\", "")


def test_what_is_wrong_with_a_file_is_said():
    at = upload(opened(), b"a,b\n1,2\n3,oops\n4,5\n")
    assert "oops" in at.error[0].value
    at.multiselect(key="models").set_value(["a"]).run()
    assert not at.error  # the other column can be used
    at = upload(at, b"", "empty.csv")
    assert "is empty" in at.error[0].value.replace("\\", "")
    at = upload(at, losses().encode())
    assert not at.error
    at.number_input(key="low").set_value(0.5).run()
    assert "lie outside the declared range" in at.error[0].value
    at.number_input(key="low").set_value(None).run()
    at.number_input(key="file-rate").set_value(0.1).run()
    assert "give both the rate and the batch size" in at.error[0].value


def test_names_in_a_file_stay_names():
    image = "![x](http://example.org/x.png)"
    at = upload(opened(), losses(header=f'"{image}","{EVIL}"').encode())
    assert not [e for e in [*at.markdown, *at.caption] if image in e.value]
    assert EVIL not in text_of(at)  # nor in HTML, which has no images in Markdown
    page = previews(at)[1]
    assert EVIL not in page[: page.index("plotly.js v")]
    specs = json.dumps(charts(at))
    assert "<script>" not in specs
