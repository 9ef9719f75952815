"""The words that pages, report and command line share."""

from typing import Any

from cpp_core.catalog.losses import make_loss
from cpp_core.verdicts.language import number, with_unit

TAGLINE = (
    "Forecast the next loss, of the model you have and of the one you will retrain, with a stated "
    "guarantee."
)

STEPS = (
    "**Draw** data, **split** them at random, **train**, **lose** (compute the loss of every "
    "held-out case), **sort** the losses, **read off** the bound: its rank alone makes the promise."
)

RE_SPLITS = (
    "These trials re-split one table. Given the table, and where losses do not tie, the counts of "
    "covered losses follow the exact law drawn here: agreement checks the arithmetic, and would "
    "hold on a table that drifts too. Ends, widths and mean losses describe re-splitting this "
    "table, not new tables."
)

BEFORE_THE_LABEL = (
    "While the label is still unknown, only the inputs can move the bar, and the promise is about "
    "one model that is trained already (on a third of the cases), not about retraining."
)


def loss_words(name: str, **settings: Any) -> str:
    """What a loss measures, with its range and unit.

    >>> loss_words("log_loss", clip=0.001)[-24:], loss_words("squared_error")[-28:]
    ('(range: 0 to 6.908 nats)', '(range: 0 to no upper limit)')
    """
    loss = make_loss(name, **settings)
    top = "no upper limit" if loss.high == float("inf") else number(loss.high, digits=4)
    return f"{loss.words} (range: {with_unit(f'{number(loss.low)} to {top}', loss.unit)})"
