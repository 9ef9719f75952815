"""A case with other values: the same set where nothing is changed, another where it is."""

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment
from cpp_core.trials.case_study import case_experiment, case_study
from cpp_core.trials.fresh_candidates import case_losses
from cpp_core.trials.what_if import what_if
from cpp_core.verdicts.case_sentences import what_if_finding


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "city": rng.choice(["Oslo", "Rome"], 200)})
    frame.loc[:9, "city"] = None
    frame["price"] = 3 * frame["size"] + rng.normal(size=200) * np.where(frame["size"] > 0, 3, 0.1)
    asked = Experiment.from_table(frame, "price", algorithms=("ridge", "dummy"))
    return case_study(case_experiment(asked))


def test_values_that_are_not_changed_give_the_same_set_and_the_same_losses(study):
    case, name = 3, "ridge"
    same, lost = what_if(study.experiment, 0, 0, case, tuple(study.X[case]), study.y[case])
    for construction in ("variable", "fixed", "nested"):
        before, after = study.sets(name, construction)[case], same.sets(name, construction)[0]
        assert after == pytest.approx(before, rel=1e-5)
    assert lost[name] == pytest.approx(case_losses(study.experiment, 0, 0, case)[name], rel=1e-5)


def test_other_values_move_the_set_and_are_told(study):
    easy, hard = (
        what_if(study.experiment, 0, 0, 3, (size, np.nan), 3 * size)[0] for size in (-1.0, 1.0)
    )
    ends = [{n: tuple(s.sets(n, side="upper")[0]) for n in ("ridge",)} for s in (easy, hard)]
    assert ends[0]["ridge"][1] < ends[1]["ridge"][1]
    told = what_if_finding(hard, *ends, side="upper")
    assert told.startswith("With these values: Ridge at most ")
    assert "(before at most " in told
    assert "unchanged" in what_if_finding(hard, ends[0], ends[0], "upper")
    assert "between" in what_if_finding(hard, *ends, side="two-sided")
    assert "empty" in what_if_finding(hard, ends[0], {"ridge": (1.0, 0.0)}, "upper")
    with pytest.raises(ValueError, match="for 2 inputs"):
        what_if(study.experiment, 0, 0, 3, (1.0,), 0.0)
