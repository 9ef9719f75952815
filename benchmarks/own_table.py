"""``python -m benchmarks.own_table``: a user's large table, beside the plain ways.

A million rows by 20 with two mixed columns: peak memory and time of one trial of candidate CPP,
beside the loop that a scikit-learn user writes (column transformer, logistic regression, one
quantile). And a CSV of 10 MB in a real browser, from the drop to the first chart, as a multiple of
a bare page that reads the same file with pandas and draws one chart.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.visiting import server

MILLION, BROWSER_ROWS = 1_000_000, 125_000
MADE = """
import numpy as np, pandas as pd
rng, n = np.random.default_rng(0), {rows}
frame = pd.DataFrame(rng.standard_normal((n, 18)), columns=[f"x{{i}}" for i in range(18)])
frame["city"] = pd.Categorical(rng.choice(["Oslo", "Rome", "Paris"], n))
frame["size"] = np.where(rng.random(n) < 0.05, np.nan, rng.standard_normal(n))
y = np.where(frame["x0"] + (frame["city"] == "Rome") + rng.standard_normal(n) > 0, "yes", "no")
"""
OURS = """
from cpp_core import Experiment, Store, run
frame["y"] = y
experiment = Experiment.from_table(frame, "y", algorithms=("logistic",), loss="brier")
del frame, y
results = run(experiment, 1, n_jobs=1, store=Store(None))
upper = float(results.at(0.1, "upper")["upper"].iloc[0])
"""
PLAIN = """
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
order = rng.permutation(n)
train, calibrate, test = np.split(order, [n * 3 // 8, n * 3 // 4])
numbers = make_pipeline(SimpleImputer(), StandardScaler())
others = [column for column in frame if column != "city"]
columns = ColumnTransformer([("n", numbers, others), ("c", OneHotEncoder(), ["city"])])
model = make_pipeline(columns, LogisticRegression(max_iter=1000))
model.fit(frame.iloc[train], y[train])
def brier(rows):
    p = model.predict_proba(frame.iloc[rows])[:, 1]
    return (p - (y[rows] == "yes")) ** 2
losses, tested = np.sort(brier(calibrate)), brier(test)
upper = float(losses[int(np.ceil((len(losses) + 1) * 0.9)) - 1])
"""
MEASURED = """
import json, resource, time
{made}
start = time.perf_counter()
{code}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, peak, upper]))
"""
BARE = """
import pandas as pd, plotly.graph_objects as go, streamlit as st
file = st.file_uploader("A table")
if file is not None:
    frame = pd.read_csv(file)
    st.plotly_chart(go.Figure(go.Histogram(x=frame.iloc[:, -1])))
"""


def measured(code: str) -> tuple[float, float, float]:
    """Seconds, peak bytes and the bound, in a process of its own."""
    script = MEASURED.format(made=MADE.format(rows=MILLION), code=code)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    seconds, peak, upper = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak, upper


def million() -> None:
    """One trial on a million rows."""
    for name, code in (("plain scikit-learn", PLAIN), ("cpp_core", OURS)):
        seconds, peak, upper = measured(code)
        print(f"{name}: {seconds:.1f} s, peak {peak / 2**30:.2f} GiB, bound {upper:.4f}")


def upload(script: Path, path: str, file: Path, chart: str, again: str | None) -> float:
    """Seconds from the drop to the first chart; ``again`` names the button on the way to it."""
    from playwright.sync_api import sync_playwright

    from tests.browser.visits import CHROMIUM, FLAGS

    with server(script) as running, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        times = []
        for _ in range(2):  # the first visit warms the server, as every server is
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.goto(f"{running.address}/{path}")
            page.locator("input[type=file]").wait_for(state="attached", timeout=60_000)
            start = time.perf_counter()
            page.locator("input[type=file]").set_input_files(str(file))
            if again:
                page.get_by_role("button", name=again).wait_for(timeout=120_000)
            page.locator(chart).first.wait_for(timeout=120_000)
            times.append(time.perf_counter() - start)
            page.close()
        browser.close()
    return times[-1]


def browsing() -> None:
    """A CSV of 10 MB: the preview and the bar of how its cases are spent, beside a bare page."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((BROWSER_ROWS, 8)).round(6))
    frame.columns = [f"x{i}" for i in range(8)]
    frame["city"] = rng.choice(["Oslo", "Rome", "Paris"], len(frame))
    frame["y"] = (frame["x0"] + rng.standard_normal(len(frame))).round(4)
    with tempfile.TemporaryDirectory() as folder:
        file, bare = Path(folder, "own.csv"), Path(folder, "bare.py")
        frame.to_csv(file, index=False)
        bare.write_text(BARE, encoding="utf-8")
        plain = upload(bare, "", file, ".js-plotly-plot .barlayer", None)
        ours = upload(
            Path(__file__).parents[1] / "app.py", "data", file, ".spent", "Which one should I use?"
        )
        size = file.stat().st_size / 1e6
    print(f"{size:.1f} MB: bare page {plain:.2f} s, ours {ours:.2f} s, {ours / plain:.2f} times")


def main() -> None:
    """Measure one or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("million", "browser"))
    asked = parser.parse_args().part
    if asked != "browser":
        million()
    if asked != "million":
        browsing()


if __name__ == "__main__":
    main()
