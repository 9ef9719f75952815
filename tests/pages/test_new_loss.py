"""From a new loss to its first chart: one for both tasks is offered wherever losses are."""

import numpy as np
import pytest

from cpp_core import LOSSES, Loss
from pages.parts import live
from tests.pages.test_data_page import opened
from tests.pages.test_pages import charts, open_page, settle


@pytest.fixture(scope="module", autouse=True)
def _ended():
    yield
    live.jobs().close()


@pytest.fixture
def mine(monkeypatch):
    """Whether the answer is another than the label: it asks for nothing but ``predict``."""

    def function(candidate, X, y):
        return (np.asarray(candidate.predict(X)) != y).astype(float)

    loss = Loss("mine", function, response="predict", low=0.0, high=1.0, words="1 for a miss")
    monkeypatch.setitem(LOSSES, loss.name, loss)
    return loss


@pytest.mark.parametrize(
    ("dataset", "algorithms"),
    [("iris", ["naive-bayes", "dummy"]), ("diabetes", ["ridge", "dummy"])],
)
def test_a_loss_for_both_tasks_gets_a_chart(mine, dataset, algorithms):
    at = settle(open_page("compare", dataset=dataset, algorithms=algorithms, trials="20"))
    at.selectbox(key="loss").set_value(mine.name).run()
    at = settle(at)
    assert at.query_params["loss"] == mine.name
    assert charts(at)


def test_a_loss_for_both_tasks_is_offered_for_a_table_of_ones_own(mine):
    at = opened("churn")
    offered = next(box for box in at.selectbox if box.key.startswith("loss-")).options
    assert any(option.startswith(mine.label) for option in offered)
    batches = [loss.label for loss in LOSSES.values() if loss.batch]
    assert not any(option.startswith(label) for option in offered for label in batches)
