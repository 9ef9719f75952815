"""The sidebar: the same on every page, everything in the URL."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from cpp_core import ALGORITHMS, DATASETS, LOSSES, Experiment, load_dataset
from cpp_core.catalog.datasets import SETTINGS, Dataset, Setting
from cpp_core.catalog.losses import is_clipped
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS, Variant
from cpp_core.checks import alpha_of
from cpp_core.trials.experiment import MAX_ALGORITHMS, usual_n, usual_sets
from cpp_core.verdicts.language import confidence, unbroken
from cpp_core.verdicts.texts import loss_words

TRIALS = (20, 100, 300, 1000)
BUILT_IN = tuple(DATASETS)
CLIPS = {"machine": None, "1e-6": 1e-6, "0.001": 1e-3}
STARTS: dict[str, Any] = {
    **dict.fromkeys(("limit", "rate", "margin")),
    **{"clip": "machine", "next": 100, "b": 10, "retrained": False, "sure": 0.95},
}
"""Where controls start that no preset names, by their keys in a link."""


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


def apply_preset(name: str) -> None:
    """Set every control to one of the paper's runs, or to where it starts."""
    start, preset = PRESETS[name], PRESETS[name].settings
    simulations = {own.key: own.default for settings in SETTINGS.values() for own in settings}
    state: dict[str, Any] = (
        STARTS
        | simulations
        | {
            "dataset": preset["dataset"],
            "algorithms": list(preset["algorithms"]),
            "loss": preset["loss"],
            "variant": preset["variant"],
            "side": "two-sided",
            "alpha": 0.1,
            "trials": start.trials,
            "seed": 0,
            "n": None if load_dataset(preset["dataset"]).size else preset["n"],
            "k": preset.get("n_sets"),
            **preset.get("dataset_settings", {}),
        }
    )
    st.session_state.update(state)


def _keep(key: str, options: list[Any], default: Any) -> None:
    """Replace a chosen value that the other choices have made impossible."""
    if key not in st.session_state:
        return
    value = st.session_state[key]
    if isinstance(value, list):
        kept = [v for v in value if v in options]
        if kept != value:
            st.session_state[key] = kept or default
    elif value not in options:
        st.session_state[key] = default


def _select(label: str, options: list[str], key: str, **more: Any) -> str:
    _keep(key, options, options[0])
    return st.selectbox(label, options, key=key, bind="query-params", **more)


def chips(names: list[str]) -> str:
    """The chosen algorithms in their colours, as small marks with their labels."""
    marks = "".join(
        f'<span style="white-space:nowrap;margin-right:.8em"><span aria-hidden="true" '
        f'style="display:inline-block;width:.75em;height:.75em;border-radius:2px;background:'
        f'{ALGORITHMS[name].color}"></span> {ALGORITHMS[name].label}</span>'
        for name in names
    )
    return f'<div style="font-size:.85rem;line-height:1.7">{marks}</div>'


def _setting(setting: Setting) -> Any:
    """A setting of a simulation: a choice, a whole number or a slider."""
    if setting.options:
        return _select(setting.label, list(setting.options), setting.key)
    kind = st.number_input if isinstance(setting.default, int) else st.slider
    limits = setting.low, setting.high, setting.default, setting.step
    return kind(setting.label, *limits, key=setting.key, bind="query-params")


def _dataset() -> tuple[str, dict[str, Any]]:
    name = _select("Data", list(BUILT_IN), "dataset")
    settings: dict[str, Any] = {}
    if name in SETTINGS:
        with st.expander("Settings of the simulation"):
            settings = {setting.name: _setting(setting) for setting in SETTINGS[name]}
    st.caption(load_dataset(name, **settings).description)
    return name, settings


def _algorithms(task: str) -> list[str]:
    options = [a.name for a in ALGORITHMS.values() if task in a.tasks]
    default = options[:2]
    _keep("algorithms", options, default)
    chosen = st.multiselect(
        "Algorithms",
        options,
        default,
        key="algorithms",
        max_selections=MAX_ALGORITHMS,
        placeholder="Pick 1 to 6",
        help="They compete on the same samples; each keeps its colour everywhere.",
        bind="query-params",
    )
    st.html(chips(chosen))
    return chosen


def _losses(task: str, batch: bool, algorithms: list[str]) -> tuple[list[str], list[str]]:
    """Losses that fit, and why others do not."""
    suited, why_not = [], []
    for name, loss in LOSSES.items():
        if loss.task != task or loss.batch != batch:
            continue
        lacking = [
            ALGORITHMS[a].label
            for a in algorithms
            if loss.response and not hasattr(ALGORITHMS[a].make(task), loss.response)  # type: ignore[arg-type]
        ]
        if lacking:
            why_not.append(f"No {name}: {', '.join(lacking)} gives no {loss.response}.")
        else:
            suited.append(name)
    return suited, why_not


def _variant(task: str) -> str:
    options = [v.name for v in VARIANTS.values() if not v.symbolic or task == "classification"]
    chosen = _select(
        "Question (CPP variant)",
        options,
        "variant",
        help="What the promise is about: the trained model, the algorithm once retrained, one "
        "case, the kind of error, or a whole batch.",
    )
    kind = VARIANTS[chosen]
    st.caption(f"**{kind.label}** ({kind.technical}). {kind.explanation}")
    if task != "classification":
        st.caption("No symbolic variant: kinds of error need classes.")
    return chosen


def _sizes(kind: Variant, data: Dataset, loss: str | None) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    with st.expander("Sizes and details"):
        retrained = kind.retrains
        if retrained is None:
            retrained = st.checkbox("After retraining", key="retrained", bind="query-params")
        chosen["n"] = st.number_input(
            "Cases for training and calibration (n)",
            *(2, 10_000_000, None),
            key="n",
            placeholder="automatic",
            bind="query-params",
        )
        if retrained:
            k = st.number_input(
                "Training subsets (k)",
                *(1, 100_000, None),
                key="k",
                placeholder="automatic",
                help="More subsets make finer ranks, and smaller training samples m.",
                bind="query-params",
            )
        if kind.batch:
            chosen["batch_size"] = st.number_input(
                "Cases of a batch (b)", 1, 10_000, 10, key="b", bind="query-params"
            )
        if retrained:
            n, held_out = chosen["n"] or usual_n(data), chosen.get("batch_size", 1)
            chosen["n_sets"] = k or usual_sets(kind.name, n, held_out)
        if kind.regresses is not None:
            names = [r.name for r in REGRESSORS.values() if r.modulation == kind.regresses]
            chosen["regressor"] = _select(
                "Regression of the loss on the case",
                names,
                "regressor",
                help="Any keeps the guarantee; a good one makes narrow sets.",
            )
            st.caption(REGRESSORS[chosen["regressor"]].description)
        if kind.symbolic:
            texts = [str(c) for c in data.classes]
            picked = _select("Positive class", texts[::-1], "positive")
            chosen["positive_class"] = data.classes[texts.index(picked)]
        if loss is not None and is_clipped(loss):
            clip = _select(
                "Smallest probability (clip)",
                list(CLIPS),
                "clip",
                help="A class that training never saw has probability 0; the clip decides its "
                "loss: 36 nats at machine precision, 6.9 at 0.001.",
            )
            if CLIPS[clip] is not None:
                chosen["loss_settings"] = {"clip": CLIPS[clip]}
    return chosen


def checked_with(key: str, **bound: Any) -> float:
    """Ask how sure it must be that a limit is kept; how often it may be wrong."""
    level = st.slider(
        "Confidence of the check",
        *(0.80, 0.99, 0.95, 0.01),
        format="percent",
        key=key,
        help="How sure it must be, over the data, before the limit counts as shown.",
        **bound,
    )
    return float(alpha_of(level))


def _question(variant: str, loss: str | None, several: bool) -> dict[str, Any]:
    """A limit that the visitor has in mind, and what counts as equal."""
    asked: dict[str, Any] = {}
    if loss is None:
        return asked
    measure = LOSSES[loss]
    with st.expander("Good enough? Your limits"):
        asked["at_most"] = st.number_input(
            f"Are new {'values at least' if measure.greater_is_better else 'losses at most'}",
            value=None,
            key="limit",
            placeholder="no limit",
            help="Asked of a share of 1 - alpha of new cases; fixed before looking at the results. "
            "The answer is shown, not shown or too little data.",
            bind="query-params",
        )
        asked["delta"] = checked_with("sure", bind="query-params")
        if measure.errors and VARIANTS[variant].retrains is False:
            asked["error_rate_at_most"] = st.number_input(
                "Is the error rate at most",
                *(0.0, 1.0, None),
                key="rate",
                placeholder="no limit",
                bind="query-params",
            )
            asked["batch_size"] = st.number_input(
                "on this many next cases", 1, 100_000, 100, key="next", bind="query-params"
            )
        if several:
            asked["margin"] = st.number_input(
                "Averages are equal within",
                *(0.0, None, None),
                key="margin",
                placeholder="no margin",
                help="Two algorithms whose average losses differ by less than this are practically "
                "equal.",
                bind="query-params",
            )
    if asked["at_most"] is None:
        asked.pop("delta")
    if asked.get("error_rate_at_most") is None:
        asked.pop("batch_size", None)
    if not asked.get("margin"):
        asked.pop("margin", None)
    return {name: value for name, value in asked.items() if value is not None}


def sidebar() -> Choice | None:
    """Draw all controls; None, with a sentence on the page, where they do not fit together."""
    with st.sidebar:
        st.caption("Start from one of the paper's runs")
        for name, start in PRESETS.items():
            st.button(
                start.label,
                key=f"preset-{name}",
                on_click=apply_preset,
                args=(name,),
                width="stretch",
            )
        dataset, settings = _dataset()
        data = load_dataset(dataset, **settings)
        algorithms = _algorithms(data.task)
        variant = _variant(data.task)
        loss = None
        kind = VARIANTS[variant]
        if not kind.symbolic:
            options, why_not = _losses(data.task, kind.batch, algorithms)
            loss = _select("Loss", options, "loss")
            described = st.empty()
            for line in why_not:
                st.caption(line)
        sizes = _sizes(kind, data, loss)
        if loss is not None:
            described.caption(loss_words(loss, **sizes.get("loss_settings", {})))
        side = _select(
            "Bound",
            ["upper", "two-sided"],
            "side",
            help="An upper bound guards against the bad side alone; two sides also say how small "
            "the loss will not be, as in the paper.",
        )
        alpha = st.slider(
            "Alpha",
            *(0.01, 0.50, 0.10, 0.01),
            key="alpha",
            help="The accepted share of misses, chosen before looking at the results.",
            bind="query-params",
        )
        level = unbroken(confidence(alpha))
        st.caption(f"{level} confidence. Moving alpha never trains anything.")
        question = _question(variant, loss, len(algorithms) > 1)
        trials = st.segmented_control(
            "Trials", TRIALS, default=1000, key="trials", required=True, bind="query-params"
        )
        seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params")
    if not algorithms:
        st.info("Pick at least one algorithm in the sidebar.")
        return None
    try:
        experiment = Experiment(
            dataset=dataset,
            dataset_settings=settings,
            algorithms=tuple(algorithms),
            loss=loss,
            variant=variant,
            **{name: value for name, value in sizes.items() if value is not None},
        )
    except ValueError as error:
        said = str(error).replace("n_sets", "k")
        st.warning(f"This combination cannot be computed: {said}")
        return None
    return Choice(experiment, alpha, side, int(trials or 20), int(seed), tuple(question.items()))
