"""Four tables to try things out with, each with a story that ends in a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "data"


@dataclass(frozen=True)
class ExampleTable:
    """A table in ``data/``: what it is about, and which columns play which part."""

    name: str
    label: str
    story: str
    target: str
    group: str | None = None
    time: str | None = None
    id: str | None = None
    loss: str | None = None
    costs: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the loss, as a link says them."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.csv"

    @property
    def content(self) -> bytes:
        """The file."""
        return (FOLDER / self.file).read_bytes()


_OFFERED = (
    ExampleTable(
        "houses",
        "House prices",
        "900 sales in five districts, with dates. Decide which model may quote a price, and how "
        "far off the next quote can be.",
        "price_thousand",
        time="sold",
        costs={"unit": "kEUR"},
    ),
    ExampleTable(
        "churn",
        "Churn of a phone company",
        "1,500 customers. One who leaves unseen costs 400 EUR, a needless call 30. Decide which "
        "model picks whom to call.",
        "churn",
        id="customer_id",
        loss="cost_matrix",
        costs={"costs": "0,400;30,0", "unit": "EUR"},
    ),
    ExampleTable(
        "deliveries",
        "Delivery times",
        "1,200 deliveries. A minute late costs 3 EUR, a minute early 1. Decide which model may "
        "promise a time at the door.",
        "minutes",
        time="ordered",
        loss="asymmetric_cost",
        costs={"under": 3.0, "over": 1.0, "unit": "EUR"},
    ),
    ExampleTable(
        "machines",
        "Machine failures",
        "60 machines, each seen about 20 times. A failure costs 2,000 EUR, a service 150. Decide "
        "which model says what is serviced.",
        "fails",
        group="machine",
        loss="cost_matrix",
        costs={"costs": "0,150;2000,0", "unit": "EUR"},
    ),
)
EXAMPLE_TABLES: dict[str, ExampleTable] = {example.name: example for example in _OFFERED}
"""The examples by name, in the order in which they are offered; all are simulated."""
