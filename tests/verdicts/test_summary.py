"""The table of figures: what stands beside a bound is true."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment, Store, run
from cpp_core.catalog.datasets import OWN
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.summary import figures_table
from tests.builders import made, results_of

TYPICAL = "Typical: the median of 30 simulated data sets"
CARRIES = "This data set was fixed beforehand and carries the promise."


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


@pytest.mark.parametrize("variant", ["candidate", "z-fixed", "z-free"])
def test_a_caption_is_about_the_figures_that_are_there(variant):
    """Errors are those of trial 0 for every question; without trial 0 all figures are typical."""
    rng = np.random.default_rng(0)
    errors = (rng.random((2, 30, 12)) < 0.2).astype(float)
    found = results_of(errors, variant=variant, loss="zero_one")
    table = figures_table(found, 0.1, "upper")
    assert (table.head[1], table.caption) == ("Error rate", CARRIES)
    later = figures_table(replace(found, trials=found.trials + 1, _readers={}), 0.1, "upper")
    end = ", at one random case of each." if variant == "z-fixed" else "."
    assert (later.head[1:], later.caption) == (("Typical bound",), TYPICAL + end)
    losses = results_of(rng.random((2, 30, 12)), variant=variant)
    told = figures_table(losses, 0.1, "upper").caption
    assert told == (TYPICAL + end if variant == "z-fixed" else f"{CARRIES} {TYPICAL}.")


def test_a_set_without_any_finite_end_has_no_finite_bound():
    """Fits that always fail have infinite losses, hence two infinite ends."""
    failed, fine = np.full((20, 39), np.inf), np.tile(np.arange(39.0), (20, 1))
    rows = figures_table(made([failed, fine], [failed, fine]), 0.1).rows
    assert rows[0][1:3] == ("no finite bound", "no finite bound (20 of 20 not finite)")
    assert rows[1][1:3] == ("1 to 37", "1 to 37")
    few = np.tile(np.arange(9.0), (20, 1))
    rows = figures_table(made([few], [few]), 0.1).rows  # 9 losses give one side at most
    assert rows[0][1:3] == ("no finite bound", "no finite bound (20 of 20 not finite)")
