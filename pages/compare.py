"""Compare: the paper's figures over randomized trials, all algorithms side by side."""

from collections.abc import Callable
from itertools import combinations

import streamlit as st

from cpp_core import Results
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.figures.panels import Panel
from cpp_core.figures.symbol_figures import symbol_bars
from cpp_core.verdicts.answers import QUESTIONS
from cpp_core.verdicts.bounds import headline
from cpp_core.verdicts.pairs import all_pairs, better_on_average, next_case, share_of_wins
from cpp_core.verdicts.selection import selection_safe
from cpp_core.verdicts.texts import RE_SPLITS
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.rows import show_figures
from pages.parts.shell import page
from pages.parts.show import dark, kept, show_decisions, show_panel, show_verdict

PANELS = (
    width_histograms,
    width_differences,
    cover_rates,
    coverage_histograms,
    calibration_curve,
    paired_difference,
)
OF_PAIRS = (width_differences, paired_difference)


def pair(results: Results) -> tuple[str, str] | None:
    """The two algorithms to compare directly."""
    pairs = [f"{a} vs {b}" for a, b in combinations(results.algorithms, 2)]
    if not pairs:
        return None
    if len(pairs) == 1:
        return results.algorithms[0], results.algorithms[1]
    if st.session_state.get("pair") not in (None, *pairs):
        st.session_state["pair"] = pairs[0]
    chosen = st.selectbox("Pair", pairs, key="pair", bind="query-params")
    first, second = chosen.split(" vs ")
    return first, second


def body(choice: Choice) -> None:
    st.title("Compare algorithms")

    def answer(results: Results) -> None:
        alpha, side = choice.alpha, choice.side

        def show(draw: Callable[..., Panel], *two: str) -> None:
            theme = {} if draw is width_histograms else {"dark": dark()}
            both = "two-sided" if draw is paired_difference else side  # as in the sentences
            show_panel(kept(draw, results, *two, alpha, both, **theme))

        show_decisions(results, choice)
        show_verdict(kept(headline, results, alpha))
        show_figures(results, choice)
        if results.experiment.kind.symbolic:
            show_panel(kept(symbol_bars, results, alpha))
        else:
            show(interval_histograms)
        two = None if results.experiment.kind.symbolic else pair(results)
        drawn = [draw for draw in PANELS if two or draw not in OF_PAIRS]
        places = [place for _ in drawn[::2] for place in st.columns(2)]
        for draw, place in zip(drawn, places, strict=False):
            with place:
                show(draw, *(two if two and draw in OF_PAIRS else ()))
        if results.experiment.data.table is not None:
            st.caption(RE_SPLITS)
        if two:
            st.subheader("Who wins?")
            margin = choice.asked.get("margin")
            if len(results.algorithms) > 2:
                joint = [kept(all_pairs, results, alpha, q, margin) for q in QUESTIONS]
                for verdicts in joint:
                    show_verdict(verdicts.summary)
                with st.expander("Every pair"):
                    for verdict in (own for verdicts in joint for own in verdicts.pairs):
                        show_verdict(verdict)
            else:
                show_verdict(kept(next_case, results, *two, alpha))
                show_verdict(kept(share_of_wins, results, *two, alpha))
                show_verdict(kept(better_on_average, results, *two, alpha, margin))
            st.subheader("If you pick the best one")
            show_verdict(kept(selection_safe, results, alpha))
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
