"""The sidebar: all controls together, and what they amount to."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from cpp_core import LOSSES, Experiment, load_dataset
from cpp_core.catalog.variants import Variant
from cpp_core.trials.preset_runs import preset_of
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.loss_words import loss_words
from cpp_core.verdicts.texts import limit_words, spent_words
from pages.parts import controls, door, own, settings
from pages.parts.controls import SURE, checked_with, helped, number
from pages.parts.door import control
from pages.parts.entries import FEW_TRIALS, TRIALS


@dataclass(frozen=True)
class Choice:
    """What the visitor has chosen."""

    experiment: Experiment
    alpha: float
    side: str
    trials: int
    seed: int
    question: tuple[tuple[str, Any], ...] = ()
    """What is asked beyond the bounds: ``at_most``, ``margin`` ... as ``answers_from`` takes it."""

    @property
    def asked(self) -> dict[str, Any]:
        """The question as arguments."""
        return dict(self.question)


@dataclass(frozen=True)
class Refused:
    """That there is nothing to answer: ``say`` tells why."""

    say: Callable[[], Any]


def _limit_words() -> None:
    st.caption(unbroken(limit_words(controls.chosen_alpha())))


def _limits(kind: Variant, loss: str, several: bool) -> dict[str, Any]:
    """Ask for a limit that the visitor has in mind, and for what counts as equal."""
    criterion, asked = LOSSES[loss], dict[str, Any]()
    what = "values at least" if criterion.greater_is_better else "losses at most"
    asked["at_most"] = number(f"Are new {what}", "limit", None, placeholder="no limit")
    door.follow(st.container(), _limit_words)
    delta = checked_with(**control("sure", SURE))
    asked["delta"] = None if asked["at_most"] is None else delta
    if criterion.errors and kind.retrains is False:
        label = "Is the error rate at most"
        asked["error_rate_at_most"] = number(label, "rate", None, placeholder="no limit")
        size = number("on this many next cases", "next", 100)
        if asked["error_rate_at_most"] is not None:
            asked["batch_size"] = size
    if several:
        label = "Averages are equal within"
        asked["margin"] = number(label, "margin", None, placeholder="no margin") or None
    return {name: value for name, value in asked.items() if value is not None}


def _drop_the_file() -> None:
    st.info(
        "This link is about a table that is not here, or no longer since a reload. Drop the same "
        "file to open it."
    )
    st.page_link("pages/data.py", label="Drop the file →", query_params=door.link())


def sidebar() -> Choice | Refused:
    """Draw all controls; where they do not fit together, what the page says of that."""
    if own.absent(door.value_of("dataset", None)):
        st.session_state[own.WANTED] = st.session_state[door.WHERE]
        return Refused(_drop_the_file)
    with st.sidebar:
        door.follow(st.container(key="first"), partial(controls.confidence_control, "confidence"))
        begun = st.container(key="starts")
        dataset, simulated = controls.data()
        data = load_dataset(dataset, **simulated)
        rivals, kind = controls.algorithms(data.task), controls.asked_kind(data.task)
        tuned = settings.algorithm_settings(rivals)
        loss, described = controls.loss(data.task, kind, rivals)
        costs = settings.loss_settings(loss, data.classes)
        retrained = controls.question(data.task)
        side = controls.bound(kind)
        with st.expander("How the cases are spent"):
            spent = st.empty()
            sizes = controls.spending(kind, retrained, data, loss)
        if loss is not None:
            sizes["loss_settings"] = {**costs, **sizes.get("loss_settings", {})}
            described.caption(loss_words(loss, **sizes["loss_settings"]))
        limits: dict[str, Any] = {}
        if loss is not None:
            with st.expander("Your limits"):
                limits = _limits(kind, loss, len(rivals) > 1)
        few = [own for own in FEW_TRIALS if own == door.value_of("trials", None)]
        told = helped("trials", TRIALS[-1], (*few, *TRIALS))
        trials = st.segmented_control(
            "Trials", (*few, *TRIALS), format_func="{:,}".format, required=True, **told
        )
        seed = number("Seed", "seed", 0)
    chosen = {name: value for name, value in sizes.items() if value is not None}
    experiment = described_experiment(
        dataset=dataset,
        dataset_settings=simulated,
        algorithm_settings=tuned,
        algorithms=tuple(rivals),
        loss=loss,
        variant=kind.name,
        **chosen,
    )
    with begun:
        controls.starts(preset_of(experiment) if isinstance(experiment, Experiment) else None)
    if isinstance(experiment, Refused):
        return experiment
    spent.caption(spent_words(experiment))
    asked = side, int(trials or 20), int(seed), tuple(limits.items())
    return Choice(experiment, controls.chosen_alpha(), *asked)


def described_experiment(**chosen: Any) -> Experiment | Refused:
    """The experiment that was chosen, or why there is none."""
    if not chosen["algorithms"]:
        return Refused(partial(st.info, "Pick at least one algorithm in the sidebar."))
    try:
        return Experiment(**chosen)
    except ValueError as error:
        said = str(error).replace("n_sets", "k")
        return Refused(partial(st.warning, f"This combination cannot be computed: {said}"))
