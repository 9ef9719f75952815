"""One case: what retrained candidates may lose at it, and what they really lost."""

import base64
import io
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from PIL import Image

from cpp_core import Experiment
from cpp_core.figures.case_figures import CaseBar, ClassBar, alpha_sweep, case_bars, class_bars
from cpp_core.figures.panels import loss_label
from cpp_core.figures.symbol_figures import symbol_grid
from cpp_core.trials import case_study as cases
from cpp_core.trials import class_study as class_cases
from cpp_core.trials import symbol_study as symbol_cases
from cpp_core.trials.watching import Watched
from cpp_core.verdicts.about import about_experiment
from cpp_core.verdicts.case_sentences import end_of_range, promise, training_sizes
from cpp_core.verdicts.texts import BEFORE_THE_LABEL, NOT_FOR_ONE_CASE
from pages.parts.choices import Choice
from pages.parts.live import awaited, students
from pages.parts.shell import page
from pages.parts.show import dark, show_panel, show_verdict

ALPHAS = np.round(np.arange(0.02, 0.51, 0.02), 2)
SHOWN, CASE = 60, "_case"
ORDERS = {
    "random": "as drawn: what is promised shows on average over these",
    "hardest": "largest predicted loss first",
    "widest": "widest set first",
    "surprising": "where the algorithms differ most",
}


def per_trial(experiment: Experiment) -> int:
    """Training runs of each algorithm in a trial."""
    return experiment.sizes.fits


def per_case(experiment: Experiment) -> int:
    """Training runs of each algorithm that are fresh to one case."""
    if experiment.data.table is None:
        return cases.N_FRESH
    return ((experiment.test_size or 0) - 1) // experiment.sizes.m


STUDIES: dict[str, tuple[Callable[..., Any], Callable[[Experiment], int]]] = {
    "sets": (cases.case_study, per_trial),
    "symbols": (symbol_cases.symbol_study, per_trial),
    "before the label": (cases.x_study, lambda experiment: 1),
    "classes": (class_cases.class_study, class_cases.n_groups),
    "losses at this case": (cases.case_losses, per_case),
    "outcomes at this case": (symbol_cases.case_symbols, per_case),
}  # what can be asked of a trial's test cases, and how many training runs that takes


@st.cache_resource(max_entries=64, show_spinner=False)
def studied(of: str, key: str, args: tuple[int, ...], _experiment: Experiment) -> Watched[Any]:
    """What one trial's test cases show that does not depend on alpha, on its way."""
    return Watched(students(), STUDIES[of][0], _experiment, *args)


def study_of(of: str, experiment: Experiment, *args: int) -> Any:
    """What a study with these arguments (seed, trial, case) finds; None while it is on its way."""
    key = "-".join(experiment.key(name, args[0]) for name in experiment.algorithms)
    asked = of, key, args, experiment
    fits = STUDIES[of][1](experiment) * len(experiment.algorithms)
    return awaited(studied(*asked), lambda: studied.clear(*asked), of.capitalize(), fits, of)


def enlarged(picture: NDArray, size: int) -> Image.Image:
    """The picture of a case, so many pixels wide."""
    return Image.fromarray(picture).resize((size, size), Image.Resampling.NEAREST)


def as_uri(image: Image.Image) -> str:
    """The image inside a table cell, without a request."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def described(experiment: Experiment, X: NDArray, y: NDArray, order: NDArray) -> pd.DataFrame:
    """The gallery: an image, or the inputs, of each case."""
    frame = pd.DataFrame({"case": order})
    picture = experiment.data.picture
    if picture is not None:
        frame["image"] = [as_uri(enlarged(picture(X[i]), 40)) for i in order]
    frame["label"] = [str(y[i]) if experiment.data.classes else f"{y[i]:.3g}" for i in order]
    if picture is None:
        for j, name in enumerate(experiment.data.feature_names[:8]):
            frame[name] = X[order, j]
    return frame


def asked_case(n_cases: int) -> int | None:
    """The case that the link names, with a word where there is no such case."""
    text = st.query_params.get("case", "")
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < n_cases:
        return int(text)
    if text:
        st.info(f"There is no test case {text[:20]!r}: they are numbered 0 to {n_cases - 1}.")
    return None


def gallery(experiment: Experiment, X: NDArray, y: NDArray, order: NDArray) -> int | None:
    """Draw the gallery; the chosen case, which the link keeps, or None where there is no case."""
    if not len(order):
        st.info(
            f"None of the {len(y)} test cases has this label; choose another one, or a smaller n."
        )
        return None
    frame = described(experiment, X, y, order[:SHOWN])
    # A tick stays at its place in the table: another table needs a new name.
    event: Any = st.dataframe(
        frame,
        hide_index=True,
        height=420,
        row_height=44 if "image" in frame else None,
        on_select="rerun",
        selection_mode="single-row",
        column_config={"image": st.column_config.ImageColumn("image", width="small")},
        key=f"gallery-{experiment.dataset}-{zlib.crc32(order.tobytes())}",
    )
    st.caption(f"{min(SHOWN, len(order))} of {len(order)} test cases. Tick a row to look at it.")
    asked = asked_case(len(y))
    known = st.session_state.get(CASE, (None, None))
    if event.selection.rows:
        asked = int(frame["case"].iloc[event.selection.rows[0]])
    elif asked is None and known[0] == experiment.dataset:
        asked = known[1]  # chosen before another page was looked at
    if asked not in order:
        asked = int(order[0])
    elif st.query_params.get("case") != str(asked):
        st.query_params["case"] = str(asked)
    st.session_state[CASE] = experiment.dataset, asked
    return asked


def order_filter() -> str:
    """How the gallery is ordered."""
    by = st.selectbox("Order", list(ORDERS), key="order", bind="query-params")
    st.caption(ORDERS[by])
    return by


def label_filter(experiment: Experiment) -> Any:
    """Which class the gallery shows; None for all."""
    if not experiment.data.classes:
        return None
    texts = ["all", *map(str, experiment.data.classes)]
    if st.session_state.get("label") not in (None, *texts):
        st.session_state["label"] = "all"
    label = st.selectbox("Label", texts, key="label", bind="query-params")
    return None if label == "all" else experiment.data.classes[texts.index(label) - 1]


def show_case(experiment: Experiment, X: NDArray, y: NDArray, case: int) -> None:
    """The case itself."""
    label = str(y[case]) if experiment.data.classes else f"{y[case]:.3g}"
    picture = experiment.data.picture
    if picture is not None:
        st.image(enlarged(picture(X[case]), 160), caption=f"Case {case}, label {label}")
        return
    st.markdown(f"**Case {case}**, label **{label}**")
    names = experiment.data.feature_names
    st.dataframe(pd.DataFrame({"input": names, "value": X[case]}), hide_index=True, height=200)


def class_bar(row: dict[Any, Any]) -> ClassBar:
    """A row of ``class_bounds`` as a bar."""
    covered = row["covered"] / row["tested"] if row["tested"] else np.nan
    bound = None if row["more"] else row["bound"]
    ends = row["lower"], row["upper"]
    return ClassBar(str(row["label"]), row["algorithm"], *ends, covered, bound, row["k"])


def header(experiment: Experiment) -> None:
    """How many cases a training sees, in large type."""
    large, why = training_sizes(experiment)
    st.markdown(f"## {large}")
    st.caption(why)


def numeric(choice: Choice) -> None:
    """Bars that move with the case."""
    experiment = cases.case_experiment(choice.experiment)
    alpha, side, seed = choice.alpha, choice.side, choice.seed
    header(experiment)
    study: cases.CaseStudy | None = study_of("sets", experiment, seed)
    if study is None:
        return
    show_verdict(promise(study, alpha))
    left, right = st.columns([1, 1.5])
    with left:
        by, label = order_filter(), label_filter(experiment)
        order = cases.gallery_order(study, by, alpha, side, label=label)
        case = gallery(experiment, study.X, study.y, order)
    if case is None:
        return
    unit, about = loss_label(experiment), about_experiment(experiment)
    names = experiment.algorithms

    def bar(of: cases.CaseStudy, name: str, words: str, kind: str, at: int, lost: Any) -> CaseBar:
        lower, upper = of.sets(name, kind, alpha, side)[at]
        return CaseBar(name, words, float(lower), float(upper), lost)

    with right:
        show_case(experiment, study.X, study.y, case)
        widths = st.segmented_control(
            "Width",
            ("variable", "fixed", "both"),
            default="variable",
            required=True,
            key="width",
            bind="query-params",
        )
        chosen = ("variable", "fixed") if widths == "both" else (widths,)
        lost = study_of("losses at this case", experiment, seed, 0, case) or {}
        bars = [
            bar(study, name, f"{kind} width", kind, case, lost.get(name, np.empty(0)))
            for name in names
            for kind in chosen
        ]
        show_panel(case_bars(bars, unit, dark(), side=side, about=about))
        st.caption(NOT_FOR_ONE_CASE)
        hint = end_of_range(study, [(bar.algorithm, bar.upper) for bar in bars], alpha)
        if hint:
            st.info(hint)
    left, right = st.columns(2)
    with left:
        curves, alphas = {}, np.union1d(ALPHAS, [alpha])
        for name in names:
            ends = study.curve(name, chosen[0], case, alphas.tolist(), side)
            curves[name] = (alphas, ends[:, 0], ends[:, 1])
        show_panel(alpha_sweep(curves, alpha, unit, dark(), side=side, about=about))
    with right:
        st.markdown("**What could be said before the label is known**")
        before: cases.CaseStudy | None = study_of("before the label", experiment, seed)
        if before is not None:
            words, one = "from the inputs alone", [case]
            bars = [
                bar(before, name, words, "variable", case, before.losses[name][one])
                for name in names
            ]
            show_panel(case_bars(bars, unit, dark(), fresh=False, side=side, about=about), "before")
            st.caption(BEFORE_THE_LABEL)
    if experiment.data.classes:
        classes: class_cases.ClassStudy | None = study_of("classes", experiment, seed)
        if classes is not None:
            frame = class_cases.class_bounds(study, classes, alpha, side, chosen[0])
            rows = [class_bar(row) for row in frame.to_dict("records")]
            show_panel(class_bars(rows, unit, dark(), about=about))


def symbolic(choice: Choice) -> None:
    """The set of symbols at one case."""
    experiment, seed = choice.experiment, choice.seed
    header(experiment)
    study: symbol_cases.SymbolStudy | None = study_of("symbols", experiment, seed)
    if study is None:
        return
    show_verdict(promise(study, choice.alpha))
    left, right = st.columns([1, 1.5])
    with left:
        label = label_filter(experiment)
        order = np.arange(len(study.y)) if label is None else np.flatnonzero(study.y == label)
        case = gallery(experiment, study.X, study.y, order)
    if case is None:
        return
    with right:
        show_case(experiment, study.X, study.y, case)
        if experiment.algorithmic:
            found = study_of("outcomes at this case", experiment, seed, 0, case) or {}
            happened = {name: found.get(name, np.empty(0)) for name in experiment.algorithms}
        else:
            at = int(np.flatnonzero(study.tested == case)[0])  # one candidate: all are tested
            happened = {
                name: np.array([study.symbols[int(study.happened[name][at])]])
                for name in experiment.algorithms
            }
        sets = {name: study.sets(name, choice.alpha)[case] for name in experiment.algorithms}
        show_panel(symbol_grid(study.symbols, sets, happened, dark()))
        st.caption(NOT_FOR_ONE_CASE)


def body(choice: Choice) -> None:
    st.title("One case")
    try:
        if choice.experiment.kind.symbolic:
            symbolic(choice)
        else:
            numeric(choice)
    except ValueError as error:
        st.info(f"Nothing to look at here: {error}")


page(body)
