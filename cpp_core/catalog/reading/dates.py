"""Columns of text as dates: the year first or last, a time of day, an offset from UTC."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .limits import Found

TIME = (
    r"(?:[T ](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,6})[0-9]*)?)?)?"
    r" ?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
YEAR_FIRST = (
    r"^(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})" + TIME
)
YEAR_LAST = (
    r"^(?P<day>[0-9]{1,2})(?P<mark>[-/.])(?P<month>[0-9]{1,2})[-/.](?P<year>[0-9]{4})" + TIME
)
HEAD = 1000
Times = NDArray[np.datetime64]


def dates(
    texts: pa.ChunkedArray, name: str, day_first: bool | None, likely: bool, found: Found
) -> pa.ChunkedArray | None:
    """A column as dates, or None where a cell is none.

    ``day_first`` is what was asked for; where that is None and the column does not tell, ``likely``
    is taken and the user is asked.
    """
    head = texts.slice(0, HEAD).drop_null()
    for pattern in (YEAR_FIRST, YEAR_LAST):
        if not pc.all(pc.match_substring_regex(head, pattern)).as_py():
            continue
        parts = pc.extract_regex(pa.concat_arrays(texts.chunks), pattern)
        if parts.null_count != texts.null_count:
            continue
        days = _days(parts, "day", "month")
        if pattern == YEAR_LAST:
            other = _days(parts, "month", "day")
            days = _order(parts, days, other, texts, name, day_first, likely, found)
        clock = _clock(parts)
        if days is not None and clock is not None:
            if pc.any(pc.greater(pc.binary_length(parts.field("zone")), 0)).as_py():
                found.tell("Times turned to UTC", name)
            gaps = parts.is_null().to_numpy(zero_copy_only=False)
            return pa.chunked_array([pa.array(days + clock, mask=gaps)])
    return None


def _order(
    parts: pa.StructArray,
    days: Times | None,
    other: Times | None,
    texts: pa.ChunkedArray,
    name: str,
    day_first: bool | None,
    likely: bool,
    found: Found,
) -> Times | None:
    """The reading with the day first, or the other one where that is possible, asked or likely."""
    if days is None or other is None:
        if other is not None:
            found.tell("Dates read with the month first", name)
        return days if other is None else other
    differ = np.flatnonzero(days != other)
    if not differ.size:
        return days
    if pc.all(pc.equal(parts.field("mark"), ".")).as_py():
        day_first = True
    if day_first is None:
        day_first, i = likely, int(differ[0])
        answers = [(True, _said(days[i])), (False, _said(other[i]))]
        text = f"Is {texts[i].as_py()!r} in column {name!r} {answers[0][1]} or {answers[1][1]}?"
        found.ask("day_first", text, answers, day_first)
    found.tell(f"Dates read with the {'day' if day_first else 'month'} first", name)
    return days if day_first else other


def _said(day: np.datetime64) -> str:
    """A date that can be read in one way only.

    >>> _said(np.datetime64("2024-04-03"))
    '3 April 2024'
    """
    own = day.astype("M8[D]").item()
    return f"{own.day} {own:%B} {own.year}"


def _days(parts: pa.StructArray, day: str, month: str) -> Times | None:
    """Midnight of each date, or None where one does not exist; the start of 1970 for gaps."""
    gaps = parts.is_null().to_numpy(zero_copy_only=False)
    years, months, days = (_whole(parts.field(own)) for own in ("year", month, day))
    years, months, days = (np.where(gaps, *own) for own in ((1970, years), (1, months), (1, days)))
    if (months < 1).any() or (months > 12).any() or (days < 1).any():
        return None
    first = (years - 1970).astype("M8[Y]").astype("M8[M]") + (months - 1)
    dates = first.astype("M8[D]") + (days - 1)
    return dates.astype("M8[us]") if (dates.astype("M8[M]") == first).all() else None


def _clock(parts: pa.StructArray) -> NDArray[np.timedelta64] | None:
    """The time of day, in UTC where an offset is told; None where one does not exist."""
    hours, minutes, seconds = (_whole(parts.field(own)) for own in ("hour", "minute", "second"))
    if (hours > 23).any() or (minutes > 59).any() or (seconds > 59).any():
        return None
    part = pc.utf8_rpad(parts.field("part"), 6, "0")
    zone = pc.replace_substring(pc.replace_substring(parts.field("zone"), ":", ""), "Z", "+0000")
    sign = np.where(pc.fill_null(pc.starts_with(zone, "-"), False), -1, 1)
    ahead = sign * (60 * _whole(pc.utf8_slice_codeunits(zone, 1, 3)))
    ahead += sign * _whole(pc.utf8_slice_codeunits(zone, 3, 5))
    whole = 3600 * hours + 60 * (minutes - ahead) + seconds
    return (1_000_000 * whole + _whole(part)).astype("m8[us]")


def _whole(texts: pa.StringArray) -> NDArray[np.int64]:
    """Digits as numbers; 0 for none."""
    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    return pc.fill_null(pc.cast(filled, pa.int64()), 0).to_numpy(zero_copy_only=False)
