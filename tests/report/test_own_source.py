"""The report of a user's own table: what is predicted, and lines that run as they are printed."""

import shlex

import numpy as np
import pandas as pd

from cpp_core import Experiment, run
from cpp_core.catalog.roles import Roles, Source
from cpp_core.cli.commands import parser
from cpp_core.cli.own_table import brought_table
from cpp_core.cli.run_command import experiment_of
from cpp_core.report import SECTIONS, report_html
from cpp_core.report.reproduce import NO_COMMAND, command_line, python_lines


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["size", "age", "Kosten X"])
    return frame.assign(code=[f"A-{i}" for i in range(80)])


def test_a_report_of_an_own_table_says_what_is_predicted_and_how_to_repeat_it(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    table().to_csv("orders.csv", index=False)
    about = {"loss": "asymmetric_cost", "loss_settings": {"under": 3, "unit": "EUR"}}
    roles = {"target": "Kosten X", "id": "code", "drop": ("age",)}
    experiment = Experiment.from_table(
        table(),
        **roles,
        algorithms=("ridge", "knn"),
        algorithm_settings={"knn": {"n_neighbors": 3}},
        **about,
    )
    results = run(experiment, trials=2, seed=0)
    source = Source(
        "orders.csv", Roles(task="regression", **roles), warnings=("“day” <b> tells when.",)
    )

    page = report_html(results, source=source)
    assert "orders.csv, predicting “Kosten X”" in page
    assert "3 for each unit predicted too low, 1 for each too high, in EUR" in page
    check = "A check of the file: “day” &lt;b&gt; tells when."
    assert page.count(check) == 1
    # It stands with the decision, before the picture and what else is assumed.
    assert page.index('class="cards"') < page.index(check) < page.index("<figure>")
    assert page.index(check) < page.index("What this assumes")
    assert NO_COMMAND not in page
    hidden = report_html(results, source=source, sections=[s for s in SECTIONS if s != "columns"])
    assert "Kosten X" not in hidden
    assert "A check of the file" not in hidden

    told = command_line(experiment, 2, 0, 0.1, "upper", None, source)
    given = parser().parse_args(shlex.split(told)[3:])
    assert experiment_of(given, brought_table(given)) == experiment

    scope: dict = {}
    exec(python_lines(results, 0.1, "upper", None, source), scope)
    assert scope["experiment"] == experiment
    assert "Kosten X" in (tmp_path / "report.html").read_text(encoding="utf-8")
