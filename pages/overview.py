"""Overview: which to use, one picture that explains the bound, and where to go from here."""

import streamlit as st

from cpp_core import Results
from cpp_core.catalog.variants import VARIANTS
from cpp_core.figures.compare import first_picture
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.table_words import check_lines
from cpp_core.verdicts.texts import STEPS
from pages.parts.brought import source_told
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.shell import link_to, page
from pages.parts.show import dark, kept, literal, show_panel, show_strip

QUESTIONS = {"candidate": "compare", "z-variable": "case"}
"""The two questions of the paper, and the page that answers each in depth."""


def card(variant: str, goal: str) -> None:
    """One of the two questions, with the way to its answer."""
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{VARIANTS[variant].explanation}**")
        link_to(goal, "In depth →")


def body(choice: Choice) -> None:
    def answer(results: Results) -> None:
        show_strip(kept(asked_strip, results, choice.alpha, choice.side, **choice.asked))
        for line in check_lines(source_told(results.experiment, choice.alpha, choice.side)):
            st.caption(literal(line))
        show_panel(kept(first_picture, results, choice.alpha, choice.side, dark=dark()))

    live(choice.experiment, choice.trials, choice.seed, answer, "overview")
    for place, (variant, goal) in zip(st.columns(2), QUESTIONS.items(), strict=True):
        with place:
            card(variant, goal)
    st.caption(STEPS)


page(body)
