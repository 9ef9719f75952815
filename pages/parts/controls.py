"""The controls of the sidebar, one by one: what each offers, in words, and why not more."""

from collections.abc import Collection
from typing import Any

import streamlit as st

from cpp_core import ALGORITHMS, DATASETS, LOSSES, load_dataset
from cpp_core.catalog.algorithms import Task
from cpp_core.catalog.datasets import SETTINGS, Dataset, Setting
from cpp_core.catalog.losses import CLIPS, is_clipped, suits
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS, Variant
from cpp_core.checks import alpha_of
from cpp_core.method.splits import HALF
from cpp_core.trials.experiment_checks import MAX_ALGORITHMS, SHARES
from cpp_core.trials.usual_sizes import usual_n, usual_sets
from cpp_core.verdicts.language import alpha_of_points, confidence_points, unbroken
from cpp_core.verdicts.loss_words import (
    clip_words,
    instead_words,
    lacking_words,
    loss_choice,
)
from cpp_core.verdicts.spending import (
    finite_words,
    run_words,
    runs_offered,
    share_words,
    trade_off,
)
from cpp_core.verdicts.terms import explain
from cpp_core.verdicts.texts import alpha_words
from pages.parts import door, own
from pages.parts.door import control
from pages.parts.entries import NUMBERS, SIDES
from pages.parts.show import show_table

BUILT_IN = tuple(DATASETS)
ALPHA, SURE = 0.1, 0.95
INSTEAD = "_instead_of_loss"
"""In the session: the loss that was chosen and does not fit, and the one that is asked about."""

HELP = {
    "alpha": ("confidence", "alpha"),
    "dataset": ("case",),
    "algorithms": ("algorithm",),
    "loss": ("loss",),
    "variant": ("candidate", "retraining"),
    "retrained": ("retraining",),
    "width": ("fixed width", "variable width"),
    "side": ("bound", "two-sided"),
    "n": ("n", "calibration"),
    "share": ("calibration",),
    "k": ("k", "m"),
    "b": ("batch",),
    "regressor": ("regressor",),
    "positive": ("positive class",),
    "clip": ("clip",),
    "limit": ("loss", "confidence"),
    "sure": ("tolerance",),
    "rate": ("batch",),
    "margin": ("margin",),
    "trials": ("trial", "split"),
    "seed": ("seed",),
}
"""The terms that the help of a control explains, by its key in a link."""


def helped(key: str, start: Any, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Arguments of a widget: what it shows and tells, and its help."""
    return control(key, start, options) | {"help": explain(*HELP[key])}


def number(label: str, key: str, start: float | None, **more: Any) -> Any:
    """Ask for a number, which may be left out where it has no start."""
    low, high = NUMBERS[key].ends
    optional: dict[str, Any] = {"value": None} if start is None else {}
    told = helped(key, start) if key in HELP else control(key, start)
    return st.number_input(label, low, high, **optional, **told, **more)


def chosen_alpha() -> float:
    """Alpha as it is chosen at present."""
    return float(door.shown("alpha", ALPHA))


def confidence_control(place: str, words: bool = True) -> float:
    """Ask for the confidence; gives alpha.

    A page may have several of these controls, each with a ``place`` of its own: alpha is one.
    """
    alpha, ends = chosen_alpha(), NUMBERS["alpha"]
    points = confidence_points(alpha)
    st.slider(
        "Confidence",
        *(confidence_points(ends.high), confidence_points(ends.low), points, 1.0),
        format="%g %%",
        help=explain(*HELP["alpha"]) if words else None,
        **door.twin("alpha", place, points, alpha_of_points, door.answer_alone),
    )
    if words:
        st.caption(alpha_words(alpha))
    return alpha


def starts(active: str | None) -> None:
    """The paper's runs, each one click away; the active one is marked and described."""
    st.markdown("Start from")
    for name, start in PRESETS.items():
        with st.container(key="active-start" if name == active else f"start-{name}", gap=None):
            st.button(
                start.label,
                key=f"preset-{name}",
                type="tertiary",
                on_click=begin,
                args=(name,),
                help=None if name == active else start.description,
                width="stretch",
            )
            if name == active:
                st.caption(start.description)


def settings_of(name: str) -> dict[str, Any]:
    """What the controls say in one of the paper's runs, where they do not stay as they start."""
    start, run = PRESETS[name], PRESETS[name].settings
    values = {
        **{key: run[key] for key in ("dataset", "loss", "variant")},
        **run.get("dataset_settings", {}),
        "algorithms": list(run["algorithms"]),
        "side": "upper" if start.automatic else "two-sided",
        "trials": start.trials,
    }
    if load_dataset(run["dataset"]).size is None:
        values["n"] = run["n"]
    if "n_sets" in run and not start.automatic:
        values["k"] = run["n_sets"]
    return values


def begin(name: str) -> None:
    """Set every control to one of the paper's runs, or to where it starts, and open its page."""
    st.session_state.pop(INSTEAD, None)
    door.start_anew(settings_of(name), PRESETS[name].opens)


def data() -> tuple[str, dict[str, Any]]:
    """Ask for the data, and for the settings of a simulation."""
    tables = own.held()
    names = (*tables, *BUILT_IN)
    name = st.selectbox(
        "Data",
        names,
        format_func=lambda name: (
            f"Your table: {tables[name].source.file}"
            if name in tables
            else load_dataset(name).label
        ),
        **helped("dataset", BUILT_IN[0], names),
    )
    described, settings = st.empty(), {}
    if name in SETTINGS:
        with st.expander("Settings of the simulation"):
            settings = {setting.name: _setting(setting) for setting in SETTINGS[name]}
    described.caption(load_dataset(name, **settings).description)
    return name, settings


def _setting(setting: Setting) -> Any:
    """A setting of a simulation: a choice, a whole number or a slider."""
    if setting.options:
        options = list(setting.options)
        told = control(setting.key, setting.default, options)
        return st.selectbox(setting.label, options, format_func=setting.options.__getitem__, **told)
    kind = st.number_input if isinstance(setting.default, int) else st.slider
    told = control(setting.key, setting.default)
    return kind(setting.label, setting.low, setting.high, step=setting.step, **told)


def algorithms(task: Task) -> list[str]:
    """Ask which algorithms compete."""
    options = [a.name for a in ALGORITHMS.values() if task in a.tasks]
    return st.multiselect(
        "Algorithms",
        options,
        format_func=lambda name: ALGORITHMS[name].label,
        max_selections=MAX_ALGORITHMS,
        placeholder=f"Pick 1 to {MAX_ALGORITHMS}",
        **helped("algorithms", options[:2], options),
    )


def loss(task: Task, kind: Variant, rivals: list[str]) -> tuple[str | None, Any]:
    """Ask for a loss that fits, and say why others do not; also gives a place to describe it."""
    place = st.container(gap="small")
    if kind.symbolic:
        place.caption("No loss: this question is about the kind of error itself.")
        return None, place
    suited, why_not = [], []
    for name, offered in LOSSES.items():
        if not suits(offered, task, kind.batch):
            continue
        lacking = [
            ALGORITHMS[rival].label
            for rival in rivals
            if offered.response and not ALGORITHMS[rival].answers(offered.response, task)
        ]
        if lacking:
            why_not.append(lacking_words(name, lacking))
        else:
            suited.append(name)
    told = helped("loss", suited[0], suited)
    chosen = place.selectbox("Loss", suited, format_func=loss_choice, **told)
    described = place.empty()
    for line in [*_instead(chosen, suited), *why_not]:
        place.caption(line)
    return chosen, described


def _instead(chosen: str, suited: Collection[str]) -> list[str]:
    """Say that the loss was changed by another choice, as long as it stays so."""
    before, now = st.session_state.get(INSTEAD, (chosen, chosen))
    if chosen != now:  # changed by the visitor, or because it does not fit
        before = chosen if now in suited else now
    st.session_state[INSTEAD] = before, chosen
    return [instead_words(before, chosen)] if before != chosen else []


def kinds_for(task: Task) -> list[Variant]:
    """The questions that can be asked of a task."""
    return [kind for kind in VARIANTS.values() if not kind.symbolic or task == "classification"]


def asked_kind(task: Task) -> Variant:
    """The question that is asked."""
    names = [kind.name for kind in kinds_for(task)]
    return VARIANTS[door.shown("variant", names[0], names)]


def question(task: Task) -> bool:
    """Ask for the question and what it leaves open; gives whether it is about retraining."""
    kinds, chosen = kinds_for(task), asked_kind(task)
    names = [kind.name for kind in kinds]
    # One entry for each question: the variant that is chosen, or else the last that answers it.
    entries = {kind.label: kind.name for kind in kinds} | {chosen.label: chosen.name}
    st.selectbox(
        "Question",
        [name for name in names if name in entries.values()],
        format_func=lambda name: VARIANTS[name].label,
        **helped("variant", names[0], names),
    )
    same = [kind.name for kind in kinds if kind.label == chosen.label]
    if len(same) > 1:
        st.segmented_control(
            "Width of the sets",
            same,
            default=chosen.name,
            format_func=lambda name: VARIANTS[name].width,
            required=True,
            help=explain(*HELP["width"]),
            **door.twin("variant", "variant-width", chosen.name, str),
        )
    retrained = chosen.retrains
    if retrained is None:
        retrained = st.checkbox("After retraining", **helped("retrained", False))
    st.caption(f"{chosen.explanation} In the paper: {chosen.technical}.")
    if len(kinds) < len(VARIANTS):
        st.caption("Not asked here: kinds of error need classes.")
    return retrained


def bound(kind: Variant) -> str:
    """Ask for the sides of the bound, where there is one."""
    if kind.symbolic:
        return next(iter(SIDES))
    told = helped("side", next(iter(SIDES)), SIDES)
    return st.selectbox("Bound", list(SIDES), format_func=SIDES.__getitem__, **told)


def spending(kind: Variant, retrained: bool, cases: Dataset, loss: str | None) -> dict[str, Any]:
    """Ask how many cases go where, and for what else the construction needs."""
    chosen: dict[str, Any] = {}
    usual = usual_n(cases)
    label, hint = "Cases to train and calibrate with (n)", f"automatic: {usual:,}"
    chosen["n"] = number(label, "n", None, placeholder=hint)
    if kind.batch:
        chosen["batch_size"] = number("Cases in a batch (b)", "b", 10)
    if kind.divides(retrained):
        chosen["calibration_share"] = _share(retrained)
    if retrained:
        share = chosen.get("calibration_share", HALF)
        chosen["n_sets"] = _runs(kind, chosen["n"] or usual, chosen.get("batch_size", 1), share)
    if kind.regresses is not None:
        chosen["regressor"] = _regressor(kind)
    if kind.symbolic:
        labels = own.class_ids(cases)
        ids = list(labels)[::-1]
        told = helped("positive", ids[0], ids)
        words = {name: str(label) for name, label in labels.items()}
        picked = st.selectbox("Positive class", ids, format_func=words.__getitem__, **told)
        chosen["positive_class"] = labels[picked]
    if loss is not None and is_clipped(loss):
        clips = list(CLIPS)
        told = helped("clip", clips[0], clips)
        clip = st.selectbox("Smallest probability (clip)", clips, format_func=clip_words, **told)
        if clip != clips[0]:
            chosen["loss_settings"] = {"clip": CLIPS[clip]}
    return chosen


def _share(retrained: bool) -> float:
    """Ask which share calibrates; what it takes from depends on the construction."""
    share = st.slider(
        "Share that calibrates",
        *SHARES,
        step=0.05,
        format="percent",
        **helped("share", HALF),
    )
    st.caption(share_words(retrained))
    return round(share, 2)


def _runs(kind: Variant, n: int, held_out: int, share: float) -> int:
    """Ask for k, each with the m that it leaves, and say where ends become infinite."""
    sets = usual_sets(kind.name, n, held_out, share)
    asked = int(door.shown("k", sets))
    offered = runs_offered(kind, n, held_out, share, (sets, asked))
    if len(offered) < 2:  # a slider needs two ends
        return sets
    told = helped("k", sets, offered)
    label = "Training runs (k), with the cases of each (m)"
    k = st.select_slider(
        label, list(offered), format_func=lambda k: run_words(k, offered[k]), **told
    )
    side = door.value_of("side", next(iter(SIDES)), SIDES)
    st.caption(unbroken(finite_words(kind, k, side)))
    with st.popover("What a confidence needs", width="stretch"):
        show_table(trade_off(kind, n, held_out, share, side))
    return int(k)


def _regressor(kind: Variant) -> str:
    suited = [r.name for r in REGRESSORS.values() if r.modulation == kind.regresses]
    name = st.selectbox(
        "What predicts the loss at a case",
        suited,
        format_func=lambda name: REGRESSORS[name].label,
        **helped("regressor", suited[0], suited),
    )
    st.caption(
        f"{REGRESSORS[name].description.capitalize()}. Any keeps the guarantee; a good one makes "
        "narrow sets."
    )
    return name


def checked_with(key: str, **told: Any) -> float:
    """Ask how sure it must be that a limit is kept; how often it may be wrong."""
    st.session_state.setdefault(key, SURE)
    level = st.slider(
        "Confidence of the check",
        *(NUMBERS["sure"].low, NUMBERS["sure"].high),
        step=0.01,
        format="percent",
        key=key,
        **told,
        help="How sure it must be, over the data, before the limit counts as shown.",
    )
    return float(alpha_of(level))
