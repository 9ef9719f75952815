"""A table of cases that is brought as a file of losses is told from one."""

from pathlib import Path

import numpy as np
import pytest

from cpp_core.catalog.example_losses import example_losses
from cpp_core.catalog.loss_files import column_names, raw_table, read_losses

DATA = Path(__file__).parents[2] / "data"
RNG = np.random.default_rng(0)
N = 30
LOSS = [f"{value:.2f}" for value in RNG.exponential(size=N)]
COUNT = [str(value) for value in RNG.integers(1, 24, N)]
WORD = [str(value) for value in RNG.choice(["x", "y"], N)]
NAME = [f"c-{i}" for i in range(N)]
DAY = [f"2025-03-{i % 28 + 1:02d}" for i in range(N)]
NUMBER = [str(value) for value in RNG.permutation(10_000)[:N]]


def file_of(**columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *map(",".join, rows)]).encode()


@pytest.mark.parametrize("path", sorted(DATA.glob("*.csv")), ids=lambda path: path.stem)
def test_the_example_tables_are_refused_unless_columns_are_named(path):
    with pytest.raises(ValueError, match=f"{path.name} looks like a table of cases") as told:
        read_losses(path)
    for words in ("page Your data", "run --data FILE --target COLUMN", "columns with --column"):
        assert words in str(told.value)
    number = column_names(path)[1][0]
    assert read_losses(path, [number]).size > 100


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"a": LOSS, "p": WORD, "q": WORD, "r": WORD}, "'p', 'q', 'r' hold words"),
        ({"when": DAY, "where": WORD, "a": LOSS}, "'when' holds dates, and 'where' words"),
        ({"where": WORD, "when": DAY, "a": LOSS}, "'when' holds dates, and 'where' words"),
        ({"km": LOSS, "hour": COUNT, "minutes": LOSS}, "'hour' holds times or ages"),
        ({"age": COUNT, "start_year": COUNT, "b": LOSS}, "'age', 'start_year' hold times or ages"),
        ({"a": LOSS, "rooms": COUNT, "stops": COUNT}, "'rooms', 'stops' hold whole numbers, and"),
    ],
)
def test_what_no_file_of_losses_has_is_told(columns, why):
    content = file_of(**columns)
    assert why in raw_table(content)
    with pytest.raises(ValueError, match="looks like a table of cases"):
        read_losses(content)
    own = list(columns)[-1]
    assert list(read_losses(content, [own] if columns[own] is LOSS else ["a"]).columns)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": LOSS, "b": LOSS},
        {"note": WORD, "a": LOSS, "b": LOSS},
        {"day": DAY, "a": LOSS, "b": LOSS},
        {"case": NAME, "site": WORD, "a": LOSS},
        {"guess_of_the_median": COUNT, "a": LOSS},
        {"a": COUNT, "b": COUNT},
        {"wrong_a": ["0", "1"] * 15, "wrong_b": ["1"] * N, "wrong_c": ["0"] * N, "loss": LOSS},
        {"hour": LOSS, "a": LOSS},
    ],
)
def test_files_of_losses_are_read(columns):
    content = file_of(**columns)
    assert raw_table(content) == ""
    assert {"a", "loss"} & set(read_losses(content).columns)


def test_the_example_of_losses_is_read():
    assert raw_table(example_losses()) == ""
    assert len(read_losses(example_losses()).columns) == 3


def test_named_cases_and_groups_are_no_words_of_a_table():
    content = file_of(when=DAY, where=WORD, a=LOSS)
    assert raw_table(content, None, "where") == ""
    assert list(read_losses(content, group="where").columns) == ["a"]
    three = file_of(p=WORD, q=WORD, r=WORD, a=LOSS)
    assert "'p', 'q', 'r' hold words" in raw_table(three)
    assert raw_table(three, None, "p") == ""


def test_numbers_of_rows_are_no_model():
    content = file_of(customer_id=NUMBER, a=LOSS)
    table = read_losses(content)
    assert list(table.columns) == ["a"]
    assert "'customer_id' numbers the rows and was left out" in table.notes[0]
    assert list(read_losses(content, ["customer_id"]).columns) == ["customer_id"]
