"""Panels of losses that a test chooses, and what holds for every panel."""

import json

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment, Results
from cpp_core.trials import run_block


def made(calibration, test):
    """Results with losses that a test chooses: (algorithms, trials, k) and (..., T)."""
    names = ("ridge", "knn", "dummy")[: len(calibration)]
    n_test = np.shape(test)[2]
    n = 2 * np.shape(calibration)[2]
    experiment = Experiment(dataset="diabetes", algorithms=names, n=n, test_size=n_test)
    trials = np.shape(calibration)[1]
    arrays = {
        name: {
            "calibration": np.asarray(calibration[i], dtype=np.float32),
            "test": np.asarray(test[i], dtype=np.float32),
            "failed": np.zeros(trials, dtype=np.int32),
            "failure": np.zeros(trials, dtype="S200"),
        }
        for i, name in enumerate(names)
    }
    return Results(experiment, 0, np.arange(trials), arrays, trials)


def drawn(k=39, trials=200, n_test=30, factors=(1.0, 2.0)):
    """Independent exponential losses with the given means."""
    rng = np.random.default_rng(1)
    calibration = [factor * rng.exponential(size=(trials, k)) for factor in factors]
    return made(calibration, [f * rng.exponential(size=(trials, n_test)) for f in factors])


def infinite(algorithms=("ridge",), trials=4):
    experiment = Experiment(dataset="diabetes", algorithms=algorithms, n=20, test_size=50)
    block, _ = run_block(experiment, 0, range(trials))
    return Results(experiment, 0, np.arange(trials), block, trials)


def check(panel):
    """What holds for every panel: strict JSON, small, nothing left to a theme, words in hovers."""
    content = panel.figure.to_json()
    assert len(content) < 30_000
    figure = json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert "bdata" not in content.replace(json.dumps(figure["layout"].get("template", {})), "")
    for trace in figure["data"]:
        assert None not in [*trace.get("x", []), *trace.get("y", [])]
        assert "<extra></extra>" in trace.get("hovertemplate", "<extra></extra>")
    layout = figure["layout"]
    assert not {"title", "font", "paper_bgcolor", "plot_bgcolor"} & set(layout)
    assert panel.title
    assert panel.caption.endswith((".", "law."))
    assert panel.alt
    assert isinstance(panel.data, pd.DataFrame)
    assert "nan" not in (panel.title + panel.caption + panel.alt).lower().replace("nanc", "")
    return figure


def bars(panel, **wanted):
    return [
        trace
        for trace in panel.figure.data
        if trace.type == "bar" and all(trace[name] == value for name, value in wanted.items())
    ]
