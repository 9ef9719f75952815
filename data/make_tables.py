"""Makes the four example tables in this folder: simulated, always the same.

    python data/make_tables.py

Each is written the way such files arrive: with decimal commas, dates, gaps, or repeated machines.
"""

from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def houses(rng: np.random.Generator, n: int = 900) -> pd.DataFrame:
    """Prices by district, size and age; they rise over the two years of sales."""
    districts = np.array(["Harbour", "Hill", "North", "Old town", "Park"])
    level = np.array([4.1, 5.6, 2.9, 5.0, 3.8])
    where = rng.choice(5, n, p=[0.2, 0.12, 0.33, 0.15, 0.2])
    area = rng.gamma(9.0, 11.0, n) + 25
    built = rng.integers(1900, 2022, n)
    garden = rng.random(n) < 0.25 + 0.3 * (where == 2)
    days = np.sort(rng.integers(0, 730, n))
    price = area * level[where] * (1 + 0.1 * days / 730) * np.exp(rng.normal(0, 0.12, n))
    price += 45 * garden - 0.35 * (2022 - built) * (where != 3)
    sold = pd.Timestamp("2023-01-02") + pd.to_timedelta(days, unit="D")
    return pd.DataFrame(
        {
            "sold": sold.strftime("%Y-%m-%d"),
            "district": districts[where],
            "area_m2": area.round(1),
            "rooms": np.clip((area / 26 + rng.normal(0, 0.6, n)).round(), 1, None).astype(int),
            "built": built,
            "garden": np.where(garden, "yes", "no"),
            "price_thousand": np.maximum(price, 40).round(1),
        }
    )


def churn(rng: np.random.Generator, n: int = 1500) -> pd.DataFrame:
    """Who leaves a phone company within a quarter; some answers are missing."""
    contract = rng.choice(["monthly", "one year", "two years"], n, p=[0.55, 0.25, 0.2])
    months = rng.geometric(1 / 26, n)
    calls = rng.poisson(0.9, n)
    fee = (12 + rng.gamma(3.0, 7.0, n)).round(2)
    payment = rng.choice(["card", "debit", "transfer", "cheque"], n, p=[0.4, 0.3, 0.2, 0.1])
    gigabytes = rng.gamma(2.0, 6.0, n).round(1)
    pull = -1.6 + 1.3 * (contract == "monthly") - 0.03 * months + 0.6 * calls + 0.03 * (fee - 33)
    left = rng.random(n) < 1 / (1 + np.exp(-pull))
    frame = pd.DataFrame(
        {
            "customer_id": [f"C{i:05d}" for i in rng.permutation(n) + 10_000],
            "contract": contract,
            "months": months,
            "monthly_fee": fee,
            "service_calls": calls,
            "payment": payment,
            "gigabytes": gigabytes,
            "age_group": rng.choice(["under 30", "30 to 50", "over 50"], n),
            "churn": np.where(left, "left", "stayed"),
        }
    )
    frame.loc[rng.random(n) < 0.07, "gigabytes"] = np.nan
    frame.loc[rng.random(n) < 0.11, "age_group"] = None
    frame.loc[rng.random(n) < 0.03, "payment"] = None
    return frame


def deliveries(rng: np.random.Generator, n: int = 1200) -> pd.DataFrame:
    """Minutes from the depot to the door, slower in the rush hour and in the rain."""
    when = pd.Timestamp("2025-03-01 08:00") + pd.to_timedelta(
        np.sort(rng.integers(0, 92 * 24 * 60, n)), unit="m"
    )
    hour = when.hour.to_numpy()
    rush = np.isin(hour, (8, 9, 17, 18))
    km, stops = rng.gamma(5.0, 0.9, n), rng.integers(1, 6, n)
    rain = rng.random(n) < 0.3
    vehicle = rng.choice(["bike", "van", "e-bike"], n, p=[0.3, 0.45, 0.25])
    pace = 3.0 + 1.6 * rush * (vehicle == "van") + 0.7 * rain * (vehicle != "van")
    jam = np.where(rng.random(n) < 0.02, rng.exponential(25.0, n), 0.0)
    minutes = 6 + pace * km + 2.2 * stops + rng.normal(0, 1.5 + 0.3 * km) + jam
    return pd.DataFrame(
        {
            "ordered": when.strftime("%Y-%m-%d %H:%M"),
            "vehicle": vehicle,
            "distance_km": km.round(2),
            "stops_before": stops,
            "hour": hour,
            "rain": np.where(rain, "yes", "no"),
            "minutes": np.maximum(minutes, 4).round(1),
        }
    )


def machines(rng: np.random.Generator, n: int = 1200, many: int = 60) -> pd.DataFrame:
    """Which machine fails within a week; sixty machines, each seen about twenty times."""
    machine = np.sort(rng.integers(0, many, n))
    wear, load = rng.normal(0, 0.9, many)[machine], rng.uniform(30, 100, n)
    temperature = 45 + 0.3 * load + 3 * wear + rng.normal(0, 4, n)
    vibration = np.exp(0.3 + 0.35 * wear + rng.normal(0, 0.25, n))
    hours = rng.integers(5, 900, n)
    pull = -5.4 + 0.05 * (temperature - 65) + 1.1 * vibration + 0.002 * hours
    fails = rng.random(n) < 1 / (1 + np.exp(-pull))
    return pd.DataFrame(
        {
            "machine": [f"M{i + 1:02d}" for i in machine],
            "plant": np.array(["east", "west", "south"])[machine % 3],
            "load_percent": load.round(1),
            "temperature": temperature.round(1),
            "vibration": vibration.round(2),
            "hours_since_service": hours,
            "fails": np.where(fails, "yes", "no"),
        }
    )


def main() -> None:
    houses(np.random.default_rng(1)).to_csv(
        HERE / "houses.csv", sep=";", decimal=",", index=False, lineterminator="\n"
    )
    for seed, make in ((2, churn), (3, deliveries), (4, machines)):
        frame = make(np.random.default_rng(seed))
        frame.to_csv(HERE / f"{make.__name__}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
