"""``AlgorithmCPP`` with a grid search as its estimator, on one core and on two."""

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import in_turns, timed
from cpp_core import AlgorithmCPP

K = 19


def rows() -> list[dict[str, Any]]:
    """The serial call beside the one with two workers, which must give the same losses."""
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]}, cv=3)

    def call(n_jobs: int) -> Any:
        cpp = AlgorithmCPP(search, "log_loss", n_sets=K, random_state=0, n_jobs=n_jobs)
        return cpp.conformalize(X, y)

    same = np.array_equal(call(1).losses_, call(2).losses_)
    found = in_turns(lambda: timed(lambda: call(1))[0], lambda: timed(lambda: call(2))[0])
    words = f"AlgorithmCPP(grid search).conformalize, k = {K}, 2 workers; the reference: 1 worker"
    return [{**found, "work": words, "agreement": "equal" if same else "DISAGREES"}]
