"""Does a file that was brought as one of losses hold the cases themselves, to be learned from?

Told by columns that losses of models do not come with: more words than names of the cases and their
groups, and numbers of several kinds, such as hours beside distances.
"""

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cpp_core.catalog.reading.dates import HEAD, YEAR_FIRST, YEAR_LAST
from cpp_core.catalog.reading.limits import short, some

PERIODS = re.compile(r"(?i)(^|[\s_.-])(hour|day|weekday|week|month|quarter|year|age)s?$")
"""Whole numbers of such a name say when, or how old."""
NAMES = 2
"""Columns of words that losses may come with: names of the cases, and their groups."""
FEW_CASES = 10
"""In fewer cases a loss may be a whole number by chance."""


def looks_raw(
    name: str,
    words: Mapping[str, pa.ChunkedArray],
    numbers: Mapping[str, NDArray[np.float64]],
) -> str:
    """Why a file looks like a table of cases and what to do, or nothing.

    Parameters
    ----------
    name : str
        The file's name.
    words, numbers : mapping
        The columns that hold no numbers and were not named as cases or groups; those of numbers.

    Examples
    --------
    >>> texts = {name: pa.chunked_array([["x", "y"]]) for name in ("who", "where", "how")}
    >>> looks_raw("a.csv", texts, {}).split(";")[0]
    "a.csv looks like a table of cases, not a file of losses: 'who', 'where', 'how' hold words"
    """
    why = _words_that_tell(words) or _numbers_that_tell(numbers)
    if not why:
        return ""
    return (
        f"{short(name)} looks like a table of cases, not a file of losses: {why}; take it to the "
        "page Your data, or use python -m cpp_core run --data FILE --target COLUMN. If it holds "
        "losses of models, name their columns with --column."
    )


def _words_that_tell(words: Mapping[str, pa.ChunkedArray]) -> str:
    """Words beyond names and groups, or dates beside other words."""
    if len(words) > NAMES:
        return f"{some(list(words))} hold words"
    dates = [name for name, column in words.items() if _holds_dates(column)]
    if dates and len(words) > 1:
        others = [name for name in words if name not in dates[:1]]
        return f"{some(dates[:1])} holds dates, and {some(others)} words"
    return ""


def _holds_dates(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_string(column.type):
        return bool(pa.types.is_temporal(column.type))
    head = column.slice(0, HEAD).drop_null()
    return len(head) > 0 and any(
        pc.all(pc.match_substring_regex(head, pattern)).as_py()
        for pattern in (YEAR_FIRST, YEAR_LAST)
    )


def _numbers_that_tell(numbers: Mapping[str, NDArray[np.float64]]) -> str:
    """Hours or years, or several columns of counts beside one that is measured."""
    counts = [name for name, own in numbers.items() if _counts(own)]
    periods = [name for name in counts if PERIODS.search(name)]
    if periods and len(numbers) > 1:
        return f"{some(periods)} {'hold' if len(periods) > 1 else 'holds'} times or ages"
    measured = [name for name, own in numbers.items() if not _whole(own).all()]
    if len(counts) > 1 and measured:
        return f"{some(counts)} hold whole numbers, and {some(measured)} decimals"
    return ""


def _whole(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which are whole numbers; what is missing may be one."""
    return np.isnan(values) | (values == np.floor(values))


def _counts(values: NDArray[np.float64]) -> bool:
    """Whether all are whole numbers, more than two different ones."""
    if len(values) < FEW_CASES or not _whole(values).all():
        return False
    return len(np.unique(values[np.isfinite(values)])) > 2
