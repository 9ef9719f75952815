"""When the rows of a table were taken, as numbers that can be put in order."""

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.columns import plain
from cpp_core.learners.cells import is_number, numbers_of

AROUND = re.compile(r"(\D*)(\d+(?:\.\d+)?)(\D*)")
"""Words around one number, such as week 12."""


def moments(times: Any) -> NDArray[np.float64]:
    """A number for each row, greater where it was taken later; NaN where that is not known.

    Dates, numbers, ordered categories, and texts that are the same words around one number. The
    order of other words is not known: they are refused.

    >>> moments(["week 2", "week 10", None])
    array([ 2., 10., nan])
    """
    column = plain(pd.Series(times).reset_index(drop=True))
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        codes = column.cat.codes.to_numpy()
        return np.where(codes < 0, np.nan, codes)
    if is_number(column):
        return numbers_of(column)
    found, known = np.full(len(column), np.nan), column.notna().to_numpy()
    found[known] = _of_texts(column[known].map(str).str.strip())
    return found


def _of_texts(texts: pd.Series) -> NDArray[np.float64]:
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().all():
        return numbers_of(numbers)
    dates = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    if dates.notna().all():
        return numbers_of(dates)
    parts = [AROUND.fullmatch(text.lower()) for text in texts]
    if all(parts) and len({part.group(1, 3) for part in parts if part}) == 1:
        return np.array([float(part[2]) for part in parts if part])
    odd = next((text for text, own in zip(texts, parts, strict=True) if not own), texts.iloc[0])
    raise ValueError(
        f"The times are words such as {odd!r}, whose order is not known; name a column of dates "
        "or numbers as the time."
    )
