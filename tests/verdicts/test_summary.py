"""The table of figures: what stands beside a bound is true."""

import warnings

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment, Store, run
from cpp_core.catalog.datasets import OWN
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.summary import figures_table


@pytest.mark.parametrize("size", [1e19, 1e25])
def test_large_losses_without_an_end_have_none(size):
    rng = np.random.default_rng(5)
    x = rng.normal(size=120)
    frame = pd.DataFrame({"x": x, "y": size * (x + rng.normal(size=120))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        experiment = Experiment.from_table(frame, target="y", algorithms=("ridge", "dummy"))
        results = run(experiment, 2, n_jobs=1, store=Store(None))
        asked_strip(results)
        rows = figures_table(results, 0.1, "upper").rows
    OWN.clear()
    assert not any("end of the range" in cell for row in rows for cell in row)
