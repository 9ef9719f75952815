"""Overview: the answer for the current choice, and the paper's two questions."""

from dataclasses import replace

import streamlit as st

from cpp_core import Experiment, Results
from cpp_core.catalog.variants import VARIANTS
from cpp_core.figures.interval_figures import overview_bars
from cpp_core.verdicts.bounds import headline
from cpp_core.verdicts.texts import STEPS, TAGLINE
from pages.parts import door
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.rows import show_places
from pages.parts.shell import page
from pages.parts.show import kept, show_chart, show_decisions, show_panel, show_verdict


def as_variant(experiment: Experiment, variant: str) -> Experiment:
    """The same data, algorithms and loss, asked another question."""
    pointwise = None if experiment.kind.batch else experiment.loss
    keep_n = experiment.n if experiment.data.table is None else None
    return replace(
        experiment,
        variant=variant,
        loss=pointwise,
        loss_settings=experiment.loss_settings if pointwise else (),
        n=keep_n,
        n_sets=experiment.n_sets if VARIANTS[variant].retrains else None,
        n_evaluations=1,
        batch_size=None,
        test_size=None,
        regressor=None,
        positive_class=None,
    )


def card(choice: Choice, variant: str, link: str) -> None:
    """One of the two questions with its live answer, from trial 0 alone."""
    with st.container(border=True, height="stretch"):
        st.markdown(f"#### {VARIANTS[variant].explanation}")
        try:
            experiment = as_variant(choice.experiment, variant)
        except ValueError as error:
            st.info(f"Not for this choice: {error}")
            return

        def answer(results: Results) -> None:
            show_verdict(kept(headline, results, choice.alpha))
            show_chart(kept(overview_bars, results, choice.alpha, "upper"), variant)

        live(experiment, 1, choice.seed, answer, f"card-{variant}")
        st.page_link(link, label="In depth →", query_params=door.link())


def body(choice: Choice) -> None:
    st.title("What will the next loss be?")
    st.caption(TAGLINE)

    def answer(results: Results) -> None:
        show_decisions(results, choice)
        show_verdict(kept(headline, results, choice.alpha), large=True)
        if not results.experiment.kind.symbolic:
            show_panel(kept(overview_bars, results, choice.alpha, choice.side))
            show_places(results, choice.alpha)

    live(choice.experiment, choice.trials, choice.seed, answer, "overview")
    st.subheader("Two questions")
    left, right = st.columns(2)
    with left:
        card(choice, "candidate", "pages/compare.py")
    with right:
        card(choice, "z-free", "pages/case.py")
    st.caption(STEPS)


page(body)
