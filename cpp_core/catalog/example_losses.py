"""A small file of losses to try things out with: simulated, always the same."""

import numpy as np

CASES = 300
EXAMPLE_NAME = "minutes_off.csv"
EXAMPLE_UNIT = "min"
EXAMPLE_STORY = (
    "A courier forecasts how long each delivery takes. Three ways to do it, the same 300 "
    "deliveries, minutes off: a rule of thumb, a linear model and boosted trees. Simulated."
)


def example_losses(seed: int = 0) -> bytes:
    """Minutes by which three forecasts of 300 deliveries were off, as a CSV file.

    How long a delivery takes depends on its distance, more so in the rush hour, and now and then on
    a traffic jam that nobody foresees. The rule of thumb knows the distance, the linear model the
    hour too, and the boosted trees how the two belong together, if with some noise of their own.

    >>> example_losses().decode().splitlines()[0]
    'delivery,area,rule_of_thumb,linear_model,boosted_trees'
    """
    rng = np.random.default_rng(seed)
    km, rush, suburb = rng.gamma(6.0, 0.75, CASES), rng.random(CASES) < 0.3, rng.random(CASES) < 0.4
    jam = np.where(rng.random(CASES) < 0.02, rng.exponential(25.0, CASES), 0.0)
    expected = 8 + 3 * km + rush * 3 * km
    minutes = expected + rng.normal(0, 1 + 0.3 * km) + jam
    forecasts = {
        "rule_of_thumb": 10 + 3.6 * km,
        "linear_model": 4 + 3.9 * km + 13.5 * rush,
        "boosted_trees": expected + rng.normal(0, 0.8, CASES),
    }
    off = [np.abs(minutes - forecast) for forecast in forecasts.values()]
    lines = [",".join(("delivery", "area", *forecasts))]
    for case in range(CASES):
        area = "suburb" if suburb[case] else "city"
        lines.append(",".join([f"D-{case + 1:03d}", area, *(f"{own[case]:.1f}" for own in off)]))
    return "\n".join([*lines, ""]).encode()
