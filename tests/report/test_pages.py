"""The report: what it says, that no text of a user becomes markup, and that it opens offline."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape

import cpp_core.report.pdf as pdf
from cpp_core import Experiment, add_table
from cpp_core.catalog.datasets import forget
from cpp_core.catalog.loss_files import read_losses
from cpp_core.catalog.variants import VARIANTS
from cpp_core.cli.commands import main, parser
from cpp_core.cli.run_command import experiment_of
from cpp_core.figures.compare import first_picture
from cpp_core.report.document import prose
from cpp_core.report.export import to_json
from cpp_core.report.pages import SECTIONS, losses_report_html, report_html
from cpp_core.report.pdf import BROWSERS, find_browser, report_pdf
from cpp_core.report.reproduce import command_line, losses_digest, python_lines
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.answers import answers_from, answers_of
from cpp_core.verdicts.file_lines import pair_lines

EVIL = "<script>alert(1)</script>"
EVIL_NAMES = ("<script>alert(2)</script>", "</script><img src=x onerror=alert(3)>")


def results_of(trials=3, **settings):
    settings = {"dataset": "breast-cancer", "algorithms": ("naive-bayes", "dummy")} | settings
    experiment = Experiment(**settings)
    block, _ = run_block(experiment, 0, range(trials))
    return Results(experiment, 0, np.arange(trials), block, trials)


@pytest.fixture(scope="module")
def results():
    return results_of(trials=LEAST_TRIALS)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(60, 1)) + np.array([0.0, 0.3])
    head = ",".join(f'"{name}"' for name in EVIL_NAMES)
    rows = "\n".join(",".join(map(repr, row)) for row in losses.tolist())
    return read_losses(f"{head}\n{rows}".encode())


def visible(page):
    """The document without Plotly's own code."""
    return page[: page.rindex("</main>")]


def headings(page):
    return re.findall(r"<h2>(.*?)</h2>", visible(page))


def test_the_decision_comes_first_then_what_it_assumes(results):
    page = report_html(results, 0.1, "upper", "Which one?", "For the board.")
    found = headings(page)
    assert found[:2] == ["The answer", SECTIONS["comparison"]]
    assert found[2:4] == ["What this assumes", "What this does not say"]
    assert found[4:] == [SECTIONS[k] for k in ("details", "numbers", "appendix")]
    picture = page.index('data-figure="figure-answer-')
    assert page.index('class="cards"') < picture < page.index(SECTIONS["comparison"])
    answers = answers_from(results, 0.1, "upper")
    for verdict in (*answers.answer, *answers.bounds, *answers.comparison, *answers.typical):
        assert prose(verdict.text) in page
    assert page.index("Which one?") < page.index("For the board.") < page.index("The answer")
    assert losses_digest(results) in page
    assert len(page.encode()) < 6e6


def test_the_decision_is_the_title_unless_somebody_has_another(results, table):
    for page, answers in (
        (report_html(results), answers_from(results)),
        (losses_report_html(table), answers_of(table.columns)),
    ):
        strip = answers.strip
        title = str(prose(strip.title.removesuffix(".")))
        assert f"<h1>{title}</h1>" in page
        assert 'class="headline"' not in page
        for card in strip.cards:
            for text in (card.topic, card.text, card.detail, card.mark):
                assert prose(text) in page
    mine = report_html(results, title="Which one?")
    assert "<h1>Which one?</h1>" in mine
    headline = prose(answers_from(results).strip.title)
    assert f'<p class="headline">{headline}</p>' in mine


def test_a_report_has_the_day_and_nothing_else_depends_on_it(results, table):
    one, other = date(2026, 1, 31), date(2027, 2, 1)
    for written in (
        lambda day: report_html(results, audience="analyst", day=day),
        lambda day: losses_report_html(table, day=day),
    ):
        page = written(one)
        assert '<time datetime="2026-01-31">2026-01-31</time>' in page
        assert page.replace("2026-01-31", "2027-02-01") == written(other)
        before = date.today()
        days = {before.isoformat(), date.today().isoformat()}
        assert re.search(r"<time datetime=\"(.*?)\">", written(None)).group(1) in days
    assert "2026-01-31" not in written(other)


@pytest.mark.parametrize("audience", ["decision-maker", "analyst"])
def test_a_sentence_is_told_once(results, audience):
    """What is behind the strip and in a section of its own stands in the section."""
    answers = answers_from(results, 0.1, "upper", at_most=0.5)
    asked = {"alpha": 0.1, "side": "upper", "at_most": 0.5, "audience": audience}
    page, short = report_html(results, **asked), report_html(results, sections=[], **asked)
    for verdict in (*answers.answer, *answers.who_wins):
        assert page.count(f'<p class="said">{prose(verdict.text)}</p>') == 1
    for card in answers.strip.cards:
        for verdict in card.verdicts:
            assert short.count(f'<p class="said">{prose(verdict.text)}</p>') == 1


def test_more_than_two_are_told_pair_by_pair(results):
    three = results_of(algorithms=("naive-bayes", "dummy", "logistic"))
    lines = pair_lines(answers_from(three).strip)
    page = report_html(three)
    assert len(lines) == 3
    assert all(f"<li>{prose(line)}</li>" in page for line in lines)
    lines = pair_lines(answers_from(results).strip)
    assert prose(lines[0]) not in report_html(results)  # of two, the strip has said it


def test_sections_and_audience(results):
    short = report_html(results, sections=[])
    assert headings(short) == ["The answer", "What this assumes", "What this does not say"]
    assert "data-figure=" not in visible(short)
    analyst = report_html(results, audience="analyst")
    usual = report_html(results)
    assert visible(analyst).count("data-figure=") > visible(usual).count("data-figure=")
    assert '<details class="why" open>' in analyst
    assert '<details class="why" open>' not in usual


def test_few_trials_have_no_rates():
    few = report_html(results_of(trials=2), audience="analyst")
    assert re.findall(r'data-figure="figure-\w+-([\w-]+)"', few) == ["next-loss", "paired"]
    assert "Typical" not in visible(few)


def test_the_picture_follows_the_side_and_the_loss(results):
    """The picture is that of Overview: two sides where they were asked for, errors as errors."""
    for side, words in (("upper", "at most"), ("two-sided", "between")):
        picture = first_picture(results, 0.1, side, draws=False)
        assert words in picture.alt
        assert str(escape(picture.alt)) in report_html(results, 0.1, side)
    wrong = report_html(results_of(loss="zero_one"), 0.1, "upper")
    assert "errors-ahead" in wrong
    assert "(no error)" not in visible(wrong)


@pytest.mark.parametrize("greater", [False, True])
def test_the_pick_that_loses_confidence_is_named(greater):
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{a},{b}" for a, b in rng.random((60, 2)))
    table = read_losses(f"a,b\n{rows}".encode(), greater_is_better=greater)
    best, worst = ("highest", "lowest") if greater else ("lowest", "highest")
    page = losses_report_html(table)
    assert f"Picking the {best} of several bounds" in page
    assert f"Picking the {worst}" not in page


def test_the_headline_has_its_strength():
    rng = np.random.default_rng(0)
    better = rng.random(200)
    rows = "\n".join(f"{a},{b}" for a, b in zip(better, better + 0.2, strict=True))
    page = visible(losses_report_html(read_losses(f"a,b\n{rows}".encode())))
    lead = re.search(r'<p class="lead">.*?</p>', page).group()
    assert '<span class="mark exact">✓ exact guarantee</span>' in lead


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_a_report_and_verdicts(every_variant, variant):
    found = every_variant[variant]
    page = report_html(found, 0.2, "two-sided", audience="analyst")
    assert headings(page)[0] == "The answer"
    content = json.dumps(to_json(found, 0.2), allow_nan=False)
    verdicts = json.loads(content)["verdicts"]
    assert {"text", "badge", "facts"} <= set(verdicts[0])
    assert verdicts[0]["text"] == answers_from(found, 0.2).answer[0].text
    retrained = "trained anew on" in page
    assert retrained == (variant in ("z-free", "z-fixed", "z-variable"))


def test_one_and_many_algorithms():
    one = report_html(results_of(algorithms=("dummy",)))
    assert SECTIONS["comparison"] not in headings(one)
    three = results_of(algorithms=("naive-bayes", "dummy", "logistic"))
    page = report_html(three, audience="analyst")
    assert "Every pair" in page
    assert "for all 3 pairs jointly" in page


def test_results_without_trial_0_promise_nothing(results):
    n = len(results.trials)
    later = Results(results.experiment, 0, np.arange(1, n + 1), results.arrays, n + 1)
    assert to_json(later, 0.1)["verdicts"] == []
    with pytest.raises(ValueError, match="quote trial 0"):
        report_html(later)


def test_too_little_data_is_said():
    found = results_of(dataset="diabetes", algorithms=("ridge", "dummy"), n=10)
    page = report_html(found, audience="analyst")
    assert "more calibration cases would give one" in page
    few = read_losses(b"a,b\n1,2\n3,5\n")
    page = losses_report_html(few, 0.1)
    assert "7 more calibration cases would give one" in page
    assert "Infinity" not in visible(page)
    assert "NaN" not in visible(page)


def test_texts_of_a_user_stay_texts(results, table):
    for page in (
        report_html(results, title=EVIL, note=EVIL),
        losses_report_html(table, title=EVIL, note=EVIL, low=0.0, at_most=2.0),
    ):
        body = visible(page)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
        assert not re.search(r"<script>alert|<img", page[: page.index("plotly.js v")])
        tags = re.findall(r"<script[^>]*>", body)
        assert set(tags) == {
            tag
            for tag in tags
            if re.fullmatch(r'<script type="application/json" id="[\w-]+">', tag)
        }
        for spec in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', body, re.S):
            assert "<" not in spec
            json.loads(spec)


def test_losses_report(table):
    page = losses_report_html(table, 0.1, low=0.0, at_most=2.0)
    answers = answers_of(table.columns, 0.1, at_most=2.0, low=0.0)
    for verdict in (*answers.answer, *answers.bounds, *answers.comparison):
        assert prose(verdict.text) in page
    assert table.sha256 in page
    assert "alpha=0.1, low=0.0, at_most=2.0)" in page
    assert "say --" not in page  # a reader of the report types nothing
    errors = read_losses(b"wrong\n" + b"1\n0\n0\n0\n" * 20)
    page = losses_report_html(errors, 0.1, error_rate_at_most=0.4, batch_size=50)
    assert "the error rate on the next 50 cases" in page
    assert "--error-rate-at-most=0.4 --batch-size=50" in page
    assert SECTIONS["comparison"] not in headings(page)


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment.preset("digits-candidate"),
        Experiment.preset("quadnoise-algorithm", algorithms=("sgd",)),
        Experiment(dataset="iris", algorithms=("dummy",), variant="batch", batch_size=5),
        Experiment(dataset="wine", algorithms=("knn", "dummy"), variant="z-fixed", n_sets=9),
        Experiment(
            dataset="wine", algorithms=("knn",), variant="symbolic", positive_class="class_1"
        ),
        Experiment(
            dataset="two-classes", dataset_settings={"bayes_error": 0.2}, algorithms=("knn",)
        ),
    ],
)
def test_the_command_and_the_python_reproduce_it(experiment):
    command = command_line(experiment, 7, 3, 0.15, "upper")
    said = not (experiment.variant == "symbolic" or experiment.dataset == "two-classes")
    assert (command is not None) == said
    if command:
        given = parser().parse_args(command.replace("'", "").split()[3:])
        assert experiment_of(given) == experiment
        assert (given.trials, given.seed, given.alpha, given.side) == (7, 3, 0.15, "upper")
    lines = python_lines(Results(experiment, 3, np.arange(7), {}, 7), 0.15, "upper")
    names = {}
    exec(lines[: lines.index("results =")], names)
    assert names["experiment"] == experiment
    assert "trials=7, seed=3" in lines


def test_a_users_own_table_is_told():
    rng = np.random.default_rng(0)
    data = add_table(rng.normal(size=(60, 2)), rng.integers(0, 2, 60), "classification", EVIL)
    try:
        page = report_html(results_of(dataset=data.name))
    finally:
        forget(data.name)
    assert "add_table(X, y, task)" in page
    assert "The command line cannot say" in page
    assert EVIL not in visible(page)


def test_the_command_line_writes_reports(tmp_path, capsys):
    path = tmp_path / "run.html"
    quick = ["run", "--dataset", "iris", "--algorithms", "dummy", "--jobs", "1", "--trials", "2"]
    assert main([*quick, "--html", str(path)]) == 0
    assert "<h2>The answer</h2>" in path.read_text(encoding="utf-8")
    losses = tmp_path / "l.csv"
    losses.write_text("a,b\n" + "1,2\n2,3\n" * 20)
    assert main(["check", str(losses), "--all", "--html", str(path)]) == 0
    page = path.read_text(encoding="utf-8")
    assert "l.csv: 40 cases, 2 models" in page
    assert f"wrote {path}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"sections": ["pictures"]}, "did you mean 'picture'"),
        ({"audience": "managers"}, "no audience called 'managers'"),
        ({"alpha": 10}, "if you mean 10 %"),
        ({"side": "lower"}, "side must be"),
    ],
)
def test_bad_input(results, settings, says):
    with pytest.raises(ValueError, match=says):
        report_html(results, **settings)


def test_pdf_without_a_browser_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert find_browser() is None
    with pytest.raises(ValueError, match="A PDF needs Chromium or Chrome"):
        report_pdf("<p>x", tmp_path / "x.pdf")


def test_a_browser_that_fails_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/false" if name in BROWSERS else None)
    with pytest.raises(ValueError, match="could not print the report"):
        report_pdf("<p>x", tmp_path / "x.pdf")
    with pytest.raises(ValueError, match="does not exist; make it first"):
        report_pdf("<p>x", tmp_path / "no" / "x.pdf")


def test_starting_the_command_line_does_not_load_charts():
    code = "import sys, cpp_core.__main__; print('plotly' in sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout == "False\n"


# In a real browser


@pytest.fixture(scope="module")
def browser():
    chromium = find_browser()
    if chromium is None and os.environ.get("CI") != "true":
        pytest.skip("no chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


def test_it_opens_offline_from_a_file_and_draws_its_charts(browser, results, table, tmp_path):
    pages = (
        (1200, report_html(results, title=EVIL, note=EVIL, audience="analyst")),
        (390, losses_report_html(table, title=EVIL, low=0.0, at_most=2.0)),
    )
    for width, content in pages:
        path = tmp_path / f"{width}.html"
        path.write_text(content, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, offline=True)
        faults, asked = [], []
        page.on("console", lambda m, f=faults: f.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error, f=faults: f.append(str(error)))
        page.on("dialog", lambda d, f=faults: (f.append(d.message), d.dismiss()))
        page.on("request", lambda request, a=asked: a.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('[data-figure]')].every(p => p.querySelector('.trace'))"
        )
        assert page.locator("[data-figure]").count() > 2
        assert page.locator("h1").inner_text() == EVIL
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert faults == []
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0
        term = page.locator("figcaption .term, li .term").first
        term.focus()  # explained where it stands, in the words of the list at the end
        means = term.evaluate("e => getComputedStyle(e, '::after').content")
        words = page.locator(".words dd").all_inner_texts()
        assert means.strip('"') in [text.replace("\xa0", " ") for text in words]
        if width == 390:
            assert EVIL_NAMES[0] in page.locator("[data-figure]").first.inner_text()
        page.close()


@pytest.mark.slow
def test_pdf(browser, results, monkeypatch, tmp_path):
    monkeypatch.setattr(pdf, "PDF_SECONDS", 600)  # however busy the machine
    path = tmp_path / "report.pdf"
    report_pdf(report_html(results), path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 8
