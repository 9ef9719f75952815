"""One case: what retrained candidates may lose at it, and what they really lost."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from cpp_core import Experiment
from cpp_core.figures.case_figures import CaseBar, alpha_sweep, case_bars
from cpp_core.figures.class_figures import class_bars
from cpp_core.figures.symbol_figures import symbol_grid
from cpp_core.trials.case_study import (
    CONSTRUCTIONS,
    CaseStudy,
    Study,
    case_experiment,
    usual_construction,
)
from cpp_core.trials.class_study import class_bounds
from cpp_core.trials.gallery import gallery, symbol_gallery
from cpp_core.trials.symbol_study import SymbolStudy
from cpp_core.verdicts import case_sentences as said
from cpp_core.verdicts.about import About, about_experiment
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.loss_words import loss_label
from cpp_core.verdicts.texts import BEFORE_THE_LABEL
from pages.parts import door
from pages.parts.cases import choose_from, one_of, show_case
from pages.parts.changing import asked_values
from pages.parts.choices import Choice
from pages.parts.shell import page
from pages.parts.show import as_markdown, dark, show_panel, show_verdict
from pages.parts.studies import study_of

ALPHAS = np.round(np.arange(0.02, 0.51, 0.02), 2)
WIDTH = "_width_of_sidebar"
LARGE = "font-size:clamp(1.3rem,3vw,1.75rem);font-weight:600;line-height:1.25;padding:0;margin:0"


@dataclass(frozen=True)
class View:
    """One case of a study, as the visitor looks at it."""

    choice: Choice
    study: CaseStudy
    construction: str
    case: int

    @property
    def experiment(self) -> Experiment:
        return self.study.experiment

    @property
    def about(self) -> About:
        return about_experiment(self.experiment)

    def ends(self, study: CaseStudy, construction: str) -> dict[str, tuple[float, float]]:
        """Lower and upper end at the case, by algorithm."""
        asked = construction, self.choice.alpha, self.choice.side
        sets = {name: study.sets(name, *asked)[self.case] for name in self.experiment.algorithms}
        return {name: (float(lower), float(upper)) for name, (lower, upper) in sets.items()}


def show_bars(view: View) -> None:
    """The sets at the case, and what freshly trained candidates lost there."""
    study, choice, ends = view.study, view.choice, view.ends(view.study, view.construction)
    place = st.container()
    lost = study_of("losses at this case", view.experiment, choice.seed, 0, view.case)
    bars = [CaseBar(name, *pair, lost and lost[name]) for name, pair in ends.items()]
    settings: Any = {"side": choice.side, "about": view.about}
    with place:
        show_panel(case_bars(bars, loss_label(view.experiment), dark(), **settings))
        hint = said.end_of_range(study, [(bar.algorithm, bar.upper) for bar in bars], choice.alpha)
        if hint:
            st.caption(as_markdown(hint))


def show_what_if(view: View) -> None:
    """The case with other values, where it is a row of a table."""
    data, choice = view.experiment.data, view.choice
    if data.table is None or data.picture is not None or data.frame is not None:
        return
    asked = asked_values(view.study, view.case)
    if asked is None:
        return
    found = study_of("what if", view.experiment, choice.seed, 0, view.case, *asked)
    if found is None:
        return
    study, lost = found
    other = View(choice, study, view.construction, 0)
    before, after = view.ends(view.study, view.construction), other.ends(study, view.construction)
    st.markdown(f"**{as_markdown(said.what_if_finding(study, before, after, choice.side))}**")
    st.caption(said.MADE_UP)
    bars = [CaseBar(name, *pair, lost[name]) for name, pair in after.items()]
    settings: Any = {"side": choice.side, "about": view.about, "invented": True}
    show_panel(case_bars(bars, loss_label(view.experiment), dark(), **settings), "what-if")


def show_classes(view: View) -> None:
    """The median bound of each class, and one that is promised for it."""
    choice, groups = view.choice, None
    words = "A promise of its own for each label"
    if st.toggle(words, help=said.OWN_PROMISE, **door.own("own", (False, True), False)):
        groups = study_of("classes", view.experiment, choice.seed)
    asked = choice.alpha, choice.side, view.construction
    frame = class_bounds(view.study, groups, *asked)
    show_panel(class_bars(frame, loss_label(view.experiment), choice.side, view.about))


def show_sweep(view: View) -> None:
    """The set of the case at every confidence."""
    choice, curves = view.choice, {}
    alphas = np.union1d(ALPHAS, [choice.alpha])
    for name in view.experiment.algorithms:
        asked = name, view.construction, view.case, alphas.tolist(), choice.side
        curves[name] = (alphas, *view.study.curve(*asked).T)
    settings: Any = {"side": choice.side, "about": view.about}
    show_panel(alpha_sweep(curves, choice.alpha, loss_label(view.experiment), dark(), **settings))


def show_before(view: View) -> None:
    """What could be said before the label is known."""
    before: CaseStudy | None = study_of("before the label", view.experiment, view.choice.seed)
    if before is None:
        return
    lost = {name: before.losses[name][[view.case]] for name in view.experiment.algorithms}
    ends = view.ends(before, "variable")
    bars = [CaseBar(name, *pair, lost[name]) for name, pair in ends.items()]
    settings: Any = {"fresh": False, "side": view.choice.side, "about": view.about}
    show_panel(case_bars(bars, loss_label(view.experiment), dark(), **settings), "before")
    st.caption(BEFORE_THE_LABEL)


def places() -> list[DeltaGenerator]:
    """Where the finding goes, the gallery and the chosen case."""
    return [st.container(), *st.columns([1, 1.2], gap="medium")]


def tell(place: DeltaGenerator, finding: str, study: Study, alpha: float) -> None:
    """The finding in large type, and what is promised."""
    with place:
        st.html(f'<h2 style="{LARGE}">{escape(unbroken(finding))}</h2>')
        show_verdict(said.promise(study, alpha))


def width_of_sets(experiment: Experiment) -> str:
    """Which sets are looked at; the sidebar's, once it asks for others."""
    asked = usual_construction(experiment)
    if st.session_state.get(WIDTH, asked) != asked:
        door.forget_own("width")
    st.session_state[WIDTH] = asked
    return one_of("Width of the sets", tuple(CONSTRUCTIONS), "width", asked, help=said.WIDTHS)


def numeric(choice: Choice) -> None:
    """Bars that move with the case."""
    experiment = case_experiment(choice.experiment)
    question = said.question(choice.experiment, experiment)
    if question:
        st.caption(question)
    study: CaseStudy | None = study_of("sets", experiment, choice.seed)
    if study is None:
        return
    head, left, right = places()
    with right:  # first: what is chosen here changes the gallery
        chosen = st.container()
        width = width_of_sets(experiment)
    with left:
        asked = choice.alpha, choice.side, width
        case = choose_from(
            study, choice.side, lambda by, label: gallery(study, by, *asked, label=label)
        )
    if case is None:
        return
    view = View(choice, study, width, case)
    tell(head, said.finding(study, case, view.ends(study, width), *asked[:2]), study, choice.alpha)
    with chosen:
        drawn = experiment.data.picture is not None
        picture, bars = st.columns([1, 3]) if drawn else (st.container(), st.container())
        with picture:
            show_case(study, case)
        with bars:
            show_bars(view)
        show_what_if(view)
    if experiment.data.classes:
        with right:
            show_classes(view)
    early = f"Before the {said.label_noun(experiment)} is known"
    sweep, before = st.tabs(["At other confidences", early], key="more", on_change="rerun")
    for tab, show in ((sweep, show_sweep), (before, show_before)):
        if tab.open:
            with tab:
                show(view)


def happened(study: SymbolStudy, case: int, seed: int) -> dict[str, NDArray]:
    """What trained candidates did at the case, by algorithm."""
    names = study.experiment.algorithms
    if study.experiment.algorithmic:
        found = study_of("outcomes at this case", study.experiment, seed, 0, case) or {}
        return {name: found.get(name, np.empty(0)) for name in names}
    return {name: study.happened_at(name, case) for name in names}


def symbolic(choice: Choice) -> None:
    """The set of symbols at one case."""
    experiment, alpha = choice.experiment, choice.alpha
    study: SymbolStudy | None = study_of("symbols", experiment, choice.seed)
    if study is None:
        return
    head, left, right = places()
    with left:
        case = choose_from(
            study, choice.side, lambda by, label: symbol_gallery(study, by, alpha, label)
        )
    if case is None:
        return
    tell(head, said.symbol_finding(study, case, alpha), study, alpha)
    with right:
        show_case(study, case)
        place = st.container()
        seen = happened(study, case, choice.seed)
        sets = {name: study.sets(name, alpha)[case] for name in experiment.algorithms}
        with place:
            show_panel(symbol_grid(study.symbols, sets, seen, dark()))


def body(choice: Choice) -> None:
    try:
        (symbolic if choice.experiment.kind.symbolic else numeric)(choice)
    except ValueError as error:
        st.info(f"Nothing to look at here: {error}")


page(body)
