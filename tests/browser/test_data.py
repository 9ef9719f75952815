"""A table of one's own in a real browser: from the file to the verdict, and on to a colleague."""

import os

import pytest

from benchmarks.hostile import rows_of, xlsx
from cpp_core import load_dataset, run
from cpp_core.trials.experiment import Experiment
from cpp_core.verdicts.summary import figures_table
from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

import pandas as pd

pytestmark = pytest.mark.slow
WRITERS = {
    "csv": lambda frame: frame.to_csv(index=False).encode(),
    "parquet": lambda frame: frame.to_parquet(index=False),
    "xlsx": lambda frame: xlsx(s=rows_of([[*frame], *frame.to_numpy().tolist()])),
}


def dropped(visit, name, content):
    page = visit.page
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    go = page.get_by_role("button", name="Which one should I use?")
    go.wait_for(timeout=60_000)
    return go


def test_from_a_file_to_a_verdict_and_the_same_for_who_gets_the_link(browser, shared):
    data = load_dataset("wine")
    frame = pd.DataFrame(data.table[0], columns=data.feature_names).assign(cultivar=data.table[1])
    file = frame.to_csv(index=False, sep=";", decimal=",").encode("cp1252")
    visit = Visit(browser, shared, "data", width=390, height=844, scheme="dark")
    go = dropped(visit, "wine.csv", file)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    go.click()
    visit.page.locator(".strip").first.wait_for(timeout=60_000)
    asked = visit.page.url.partition("?")[2]
    assert "cultivar" not in asked
    visit.close()
    other = Visit(browser, shared, f"compare?{asked}")
    other.page.get_by_role("link", name="Drop the file").click()
    other.page.get_by_text("drop the same file").wait_for(timeout=60_000)
    other.page.locator("input[type=file]").set_input_files(
        {"name": "wine.csv", "mimeType": "text/csv", "buffer": file}
    )
    other.page.locator(".strip").first.wait_for(timeout=60_000)
    assert other.page.url == f"{shared}/compare?{asked}"
    other.close()


def test_every_format_gives_the_numbers_of_the_built_in_table(browser, shared):
    data = load_dataset("diabetes")
    chosen = {"algorithms": ("ridge", "random-forest"), "loss": "absolute_error"}
    experiment = Experiment(dataset="diabetes", **chosen)
    expected = figures_table(run(experiment, 1, n_jobs=1), 0.1, "upper").rows[0][1]
    frame = pd.DataFrame(data.table[0], columns=data.feature_names).assign(target=data.table[1])
    for kind, write in WRITERS.items():
        visit = Visit(browser, shared, "data")
        dropped(visit, f"own.{kind}", write(frame)).click()
        strip = visit.page.locator(".strip").first
        strip.wait_for(timeout=60_000)
        assert expected.split(" (")[0] in strip.inner_text()
        visit.close()
