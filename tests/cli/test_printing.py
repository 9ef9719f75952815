"""What is printed to a terminal."""

from contextlib import suppress

import pytest

from cpp_core.cli.commands import main
from cpp_core.cli.printing import aligned, printable
from cpp_core.verdicts.summary import Table


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\x9b", "\n", "\r", "\u202e", "\u2066"])
def test_nothing_that_steers_a_terminal_is_printed(char):
    shown = printable(f"a{char}b")
    assert char not in shown
    assert shown.startswith("a\\")


def test_letters_of_all_kinds_stay():
    for text in ("ü 90 %", "模型", "модель", "≈ 0.5"):
        assert printable(text) == text


def test_figures_stand_under_each_other_and_words_begin_together():
    table = Table(("model", "cases", "bound"), [("模型", "9", "at most 1"), ("b", "1,000", "none")])
    assert aligned(table) == [
        "model  cases  bound",
        "模型       9  at most 1",
        "b      1,000  none",
    ]


def test_what_was_typed_wrongly_cannot_steer_the_terminal(capsys):
    for arguments in (["run", "--\x1b[31mred"], ["\x1b[31m"], ["check", "no\x1b[31m.csv"]):
        with suppress(SystemExit):
            main(arguments)
        told = capsys.readouterr()
        assert "\x1b" not in told.out + told.err
        assert "x1b[31m" in told.err
