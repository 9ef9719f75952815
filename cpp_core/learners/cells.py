"""The cells of a column as numbers or texts, before anything is learned from them.

Apart from the encoder, because who types a table, or judges a file of losses, need not wait for
scikit-learn.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

DAY = np.timedelta64(1, "D")


def as_frame(X: Any) -> pd.DataFrame:
    """A pandas frame, of a polars one or of an array of objects too."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    return pd.DataFrame(X).infer_objects()


def has_columns(X: Any) -> bool:
    """Whether the columns of X may be of different kinds: a frame, or an array of objects."""
    return hasattr(X, "columns") or getattr(getattr(X, "dtype", None), "kind", "") == "O"


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, truth values, dates or durations."""
    return column.dtype.kind in "biufmM" or isinstance(column.dtype, pd.DatetimeTZDtype)


def numbers_of(column: pd.Series) -> NDArray[np.float64]:
    """A column as float64: dates and durations in days, infinite and missing values as NaN.

    >>> numbers_of(pd.Series(pd.to_datetime(["1970-01-02 12:00", None])))
    array([1.5, nan])
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if column.dtype.kind == "M":
        column = column - pd.Timestamp(0)
    if column.dtype.kind == "m":
        values = column.to_numpy()
        days = values.astype("timedelta64[us]").astype(np.float64) / DAY.astype("m8[us]").astype(
            int
        )
        return np.where(np.isnat(values), np.nan, days)
    if not is_number(column):
        column = pd.to_numeric(column, errors="coerce")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def texts_of(column: pd.Series) -> pd.Series:
    """The values of a category as text, missing ones as None."""
    texts = column.astype(object)
    return texts.map(str, na_action="ignore").where(texts.notna(), None)
