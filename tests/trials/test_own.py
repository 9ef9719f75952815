"""What this process alone knows, told to another one."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

from cpp_core import ALGORITHMS, LOSSES, Experiment, Loss, add_table
from cpp_core.catalog.datasets import OWN
from cpp_core.catalog.own_algorithms import read_algorithms
from cpp_core.trials import own
from cpp_core.trials.own import own_of, packed, unpacked
from cpp_core.trials.trial_entry import table_gram

MODELS = """
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

class Zero(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self
    def predict(self, X):
        return np.zeros(len(X))

ALGORITHMS = {"zero": Zero()}
"""
CHILD = """
import sys
from cpp_core import ALGORITHMS, LOSSES, load_dataset
from cpp_core.trials.own import unpacked
unpacked(sys.stdin.buffer.read())
X, y = load_dataset(sys.argv[1]).table
print(LOSSES["twice"].function(ALGORITHMS["zero"].make().fit(X, y), X, y).sum())
"""


def twice(candidate, X, y):
    return 2 * np.abs(y - candidate.predict(X))


@pytest.fixture
def experiment(tmp_path):
    """A table, a class of a file and a loss that no other process knows."""
    before, losses = dict(ALGORITHMS), dict(LOSSES)
    file = tmp_path / "my_models.py"
    file.write_text(MODELS)
    (algorithm,) = read_algorithms(file)
    LOSSES["twice"] = Loss("twice", twice, low=0)
    rng = np.random.default_rng(0)
    table = add_table(rng.normal(size=(60, 2)), rng.normal(size=60), "regression")
    yield Experiment(dataset=table.name, algorithms=(algorithm.name,), loss="twice")
    for known, kept in ((ALGORITHMS, before), (LOSSES, losses), (OWN, {})):
        known.clear()
        known.update(kept)
    own._tables.clear()
    own._losses.clear()


def test_built_in_things_are_known_everywhere():
    assert own_of(Experiment(dataset="iris", algorithms=("dummy",))) is None


def test_what_is_known_stays_and_what_was_told_is_replaced(experiment):
    told, table, zero = packed(own_of(experiment)), experiment.data, ALGORITHMS["zero"]
    unpacked(told)
    unpacked(packed(None))
    assert OWN[table.name] is table
    assert ALGORITHMS["zero"] is zero
    assert LOSSES["twice"].function is twice
    for known in (ALGORITHMS, LOSSES):
        known.pop("zero", None), known.pop("twice", None)
    OWN.clear()
    unpacked(told)
    assert (OWN[table.name].table[1] == table.table[1]).all()
    assert ALGORITHMS["zero"].digest == zero.digest
    other = add_table(np.zeros((60, 1)), np.arange(60.0), "regression")
    LOSSES["twice"] = Loss("twice", lambda candidate, X, y: 3 * y, low=0)
    again = packed(own_of(Experiment(dataset=other.name, algorithms=("zero",), loss="twice")))
    OWN.pop(other.name)
    unpacked(again)
    assert list(OWN) == [other.name]  # no older table is kept
    assert LOSSES["twice"].function(None, None, 1.0) == 3.0


def test_nothing_of_a_table_is_left_once_it_is_forgotten(experiment):
    told = packed(own_of(experiment))
    OWN.clear()
    unpacked(told)
    table, gram = weakref.ref(experiment.data), weakref.ref(table_gram(experiment.data))
    own.unlearn()
    gc.collect()
    assert (table(), gram()) == (None, None)


@pytest.mark.slow
def test_a_process_that_cannot_import_them(experiment):
    child = [sys.executable, "-c", CHILD, experiment.dataset]
    done = subprocess.run(child, input=packed(own_of(experiment)), capture_output=True, check=True)
    assert float(done.stdout) == pytest.approx(2 * np.abs(experiment.data.table[1]).sum())
