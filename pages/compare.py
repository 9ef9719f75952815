"""Compare: who wins, the bounds, whether the promise is kept, and the paper's figures in tabs."""

from itertools import combinations

import streamlit as st

from cpp_core import ALGORITHMS, Results
from cpp_core.figures.compare import WHO_WINS, PanelKind, panels_of
from cpp_core.report.export import csv_text, results_name
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.answers import compared
from cpp_core.verdicts.file_lines import own_group_table
from cpp_core.verdicts.groups import no_group_bounds
from cpp_core.verdicts.promise import promise_kept
from cpp_core.verdicts.strip import asked_strip, safe_for
from cpp_core.verdicts.texts import RE_SPLITS
from pages.parts import door
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.named import show_named
from pages.parts.rows import show_figures
from pages.parts.shell import page
from pages.parts.show import (
    as_markdown,
    dark,
    kept,
    show_frame,
    show_panel,
    show_strip,
    show_verdict,
)

NUMBERS = "The numbers"
MANY, LONG = 12, 480
"""More rows of groups than this scroll, in so many pixels."""


def pair(results: Results, choice: Choice) -> tuple[str, str]:
    """The two algorithms to compare directly, of two or more: first those that the strip tells."""
    labels = {
        f"{ALGORITHMS[a].label} and {ALGORITHMS[b].label}": (a, b)
        for a, b in combinations(results.algorithms, 2)
    }
    if len(labels) == 1:
        return next(iter(labels.values()))
    told = kept(asked_strip, results, choice.alpha, choice.side, **choice.asked).pair
    start = next(label for label, two in labels.items() if set(two) == set(told))
    return labels[st.selectbox("Pair", list(labels), **door.own("pair", labels, start))]


def show_comparison(results: Results, choice: Choice) -> None:
    """What the strip has not said yet of who wins, and the choice that is safe."""
    found = kept(compared, results, choice.alpha, choice.asked.get("margin"))
    said = {own.text for own in (*found.choice.asked[0].verdicts, found.choice)}
    for verdict in (*found.verdicts, *safe_for(found.choice, found.safe)):
        if verdict.text not in said:
            show_verdict(verdict)
    if found.pairs:
        with st.expander("Every pair"):
            for verdict in found.pairs:
                show_verdict(verdict)


def show_numbers(results: Results, choice: Choice) -> None:
    """A row for each trial and algorithm, and what went wrong in training."""
    frame = results.at(choice.alpha, choice.side)
    show_frame(frame)
    st.download_button(
        "All rows as CSV",
        data=lambda: csv_text(frame),
        file_name=f"{results_name(results, choice.alpha)}-trials.csv",
        mime="text/csv",
    )
    if len(results.failures):
        st.caption("Training runs that raised an error")
        show_frame(results.failures)


def show_tab(results: Results, choice: Choice, name: str, kinds: list[PanelKind]) -> None:
    """The panels of one tab, two in a row where they are not wide."""
    two = pair(results, choice) if any(kind.of_pair for kind in kinds) else ()
    places = [place for _ in kinds[::2] for place in st.columns(2)] if len(kinds) > 1 else []
    for i, kind in enumerate(kinds):
        with places[i] if places else st.container():
            arguments = kind.arguments(two, choice.alpha, choice.side)
            show_panel(kept(kind.draw, results, *arguments, dark=dark()), beside=bool(places))
    if name == WHO_WINS:
        show_comparison(results, choice)
    elif results.experiment.data.table is not None:
        st.caption(RE_SPLITS)


def show_groups(results: Results, choice: Choice) -> None:
    """The bound of each group of a table's cases, where groups were named; or why there is none."""
    if results.experiment.data.groups is None:
        return
    with st.container(border=True):
        st.markdown("**Within each group**")
        why_not = no_group_bounds(results)
        if why_not:
            st.caption(why_not)
            return
        table = kept(own_group_table, results, choice.alpha)
        with st.container(height=LONG if len(table.rows) > MANY else "content", border=False):
            colors = {ALGORITHMS[n].label: ALGORITHMS[n].color for n in results.algorithms}
            show_named(table, colors)


def body(choice: Choice) -> None:
    def answer(results: Results) -> None:
        strip = kept(asked_strip, results, choice.alpha, choice.side, **choice.asked)
        show_strip(strip.beside_table)
        show_figures(results, choice)
        show_groups(results, choice)
        told = kept(promise_kept, results, choice.alpha, choice.side)
        if told:
            st.markdown(as_markdown(told))
        if len(results.trials) < min(LEAST_TRIALS, results.asked):
            st.caption(f"The charts follow once {LEAST_TRIALS} trials are there.")
            return
        panels = panels_of(results, choice.side)
        # Only what is open is drawn: what nobody sees would be sent at each move.
        names = [*panels, NUMBERS]
        tabs = st.tabs(names, **door.own("tab", names, names[0]))
        for tab, name in zip(tabs, names, strict=True):
            if tab.open:
                with tab:
                    if name == NUMBERS:
                        show_numbers(results, choice)
                    else:
                        show_tab(results, choice, name, panels[name])

    live(choice.experiment, choice.trials, choice.seed, answer, "compare")


page(body)
