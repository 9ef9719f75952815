"""Peak memory of large runs, each in a process of its own, and growth of time with trials."""

import json
import subprocess
import sys
from typing import Any

LIMIT = 2 * 2**30

CODES = {
    "quadnoise-algorithm, 1000 trials": """
from cpp_core import Experiment, Store, run
run(Experiment.preset("quadnoise-algorithm"), 1000, store=Store(None))
""",
    "quadnoise-algorithm, 10000 trials": """
from cpp_core import Experiment, Store, run
run(Experiment.preset("quadnoise-algorithm"), 10000, store=Store(None))
""",
    "a table of 1,000,000 rows x 20, candidate CPP, logistic regression, 2 trials": """
import numpy as np
from cpp_core import Experiment, Store, add_table, run
rng = np.random.default_rng(0)
X = rng.standard_normal((1_000_000, 20))
y = (X[:, 0] + rng.standard_normal(1_000_000) > 0).astype(int)
table = add_table(X, y, "classification")
del X, y
run(Experiment(dataset=table.name, algorithms=("logistic",)), 2, n_jobs=1, store=Store(None))
""",
}
MEASURE = """
import json, resource, time
start = time.perf_counter()
{code}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([peak, time.perf_counter() - start]))
"""


def rows() -> list[dict[str, Any]]:
    """Peak bytes and seconds of each run."""
    found = []
    for work, code in CODES.items():
        done = subprocess.run(
            [sys.executable, "-c", MEASURE.format(code=code)],
            capture_output=True,
            text=True,
            check=True,
        )
        peak, seconds = json.loads(done.stdout.splitlines()[-1])
        fits = "under" if peak < LIMIT else "ABOVE"
        agreement = f"peak {peak / 2**30:.2f} GiB, {fits} 2 GiB"
        found.append(
            {
                "work": work,
                "reference_seconds": None,
                "ours_seconds": seconds,
                "ratio": None,
                "agreement": agreement,
            }
        )
    return found
