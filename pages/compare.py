"""Compare: the paper's figures over randomized trials, all algorithms side by side."""

from itertools import combinations

import streamlit as st

from cpp_core import Results
from cpp_core.figures.compare import PanelKind, panels_of
from cpp_core.verdicts.answers import compared
from cpp_core.verdicts.bounds import headline
from cpp_core.verdicts.texts import RE_SPLITS
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.rows import show_figures
from pages.parts.shell import page
from pages.parts.show import dark, kept, show_decisions, show_panel, show_verdict


def pair(results: Results) -> tuple[str, str]:
    """The two algorithms to compare directly, of two or more."""
    pairs = [f"{a} vs {b}" for a, b in combinations(results.algorithms, 2)]
    if len(pairs) == 1:
        return results.algorithms[0], results.algorithms[1]
    if st.session_state.get("pair") not in (None, *pairs):
        st.session_state["pair"] = pairs[0]
    chosen = st.selectbox("Pair", pairs, key="pair", bind="query-params")
    first, second = chosen.split(" vs ")
    return first, second


def show_comparison(results: Results, alpha: float, margin: float | None) -> None:
    """Who wins, pair by pair where there are several, and the choice that is safe."""
    found = kept(compared, results, alpha, margin)
    st.subheader("Who wins?")
    for verdict in (*filter(None, [found.choice]), *found.verdicts):
        show_verdict(verdict)
    if found.pairs:
        with st.expander("Every pair"):
            for verdict in found.pairs:
                show_verdict(verdict)
    st.subheader("If you pick the best one")
    show_verdict(found.safe)


def body(choice: Choice) -> None:
    st.title("Compare algorithms")

    def answer(results: Results) -> None:
        alpha, side = choice.alpha, choice.side
        panels = panels_of(results)
        two: tuple[str, ...] = ()

        def show(kind: PanelKind) -> None:
            arguments = kind.arguments(two, alpha, side)
            show_panel(kept(kind.draw, results, *arguments, dark=dark()))

        show_decisions(results, choice)
        show_verdict(kept(headline, results, alpha))
        show_figures(results, choice)
        for kind in panels:
            if kind.wide:
                show(kind)
        if any(kind.of_pair for kind in panels):
            two = pair(results)
        narrow = [kind for kind in panels if not kind.wide]
        places = [place for _ in narrow[::2] for place in st.columns(2)]
        for kind, place in zip(narrow, places, strict=False):
            with place:
                show(kind)
        if results.experiment.data.table is not None:
            st.caption(RE_SPLITS)
        if two:
            show_comparison(results, alpha, choice.asked.get("margin"))
        # Filled once opened: a thousand rows that nobody sees would be sent at each move.
        numbers = st.expander("The numbers", key="numbers", on_change="rerun")
        if numbers.open:
            frame = results.at(alpha, side)
            numbers.dataframe(frame, hide_index=True)
            numbers.download_button(
                "All rows as CSV",
                data=lambda: frame.to_csv(index=False),
                file_name="trials.csv",
                mime="text/csv",
            )
            if len(results.failures):
                numbers.caption("Training runs that raised an error")
                numbers.dataframe(results.failures, hide_index=True)

    live(choice.experiment, choice.trials, choice.seed, answer, "compare")


page(body)
