"""The constructions as a user asks for them: the question, its words, and what it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cpp_core.method.constructions import Part, modulated, plain, symbolic
from cpp_core.method.modulation import Modulation


@dataclass(frozen=True)
class Variant:
    """A question about losses, with the construction that answers it.

    Attributes
    ----------
    name : str
        As in ``Experiment.variant``.
    label, technical, explanation : str
        The question in plain words, the paper's name, the question in full.
    width : str
        Tells apart variants that answer the same question, and hence have the same label.
    retrains : bool or None
        Whether the promise is about retraining; None where ``n_sets`` decides.
    layout : callable
        The construction: ``layout(n, n_sets, n_held_out, calibration_share)`` says who trains
        where.
    n_parts : int
        How many parts it has; one candidate is trained on a further one.
    modulation : "regression", "quantile" or None
        How the set moves with the case.
    symbolic : bool
        Whether it is a set of symbols instead of an interval of losses.
    batch : bool
        Whether the loss is a metric on a batch.
    grouped : bool
        Whether each training subset may have several evaluation points.
    holds_out : bool
        Whether the latest rows of a table can be held out: a retrained candidate would need as many
        again.
    """

    name: str
    label: str
    technical: str
    explanation: str
    retrains: bool | None
    layout: Callable[[int, int | None, int, float], tuple[Part, ...]]
    width: str = ""
    n_parts: int = 1
    modulation: Modulation | None = None
    symbolic: bool = False
    batch: bool = False
    grouped: bool = False
    holds_out: bool = False

    @property
    def regresses(self) -> Modulation | None:
        """What kind of regression it needs, if any."""
        return "quantile" if self.symbolic else self.modulation

    def divides(self, retrained: bool) -> bool:
        """Whether calibration shares cases with another part, so that there is a share to fix.

        Where every loss has a training run of its own, k and m are all that there is to choose.
        """
        return not retrained or self.n_parts > 1

    @property
    def moves(self) -> bool:
        """Whether sets depend on the case: then the upper rank alone serves both sides."""
        return self.regresses is not None


_CPP = "conformal performance prediction"
_moved = partial(Variant, retrains=True, layout=modulated, n_parts=2)
_OFFERED = (
    Variant(
        *("candidate", "The model I have", f"candidate {_CPP}"),
        "Training is complete: what loss can I expect on a new case?",
        retrains=False,
        layout=plain,
        holds_out=True,
    ),
    Variant(
        *("z-free", "After retraining", f"algorithm {_CPP}, Z-free"),
        "I have an algorithm: once trained on fresh data, what loss can I expect?",
        retrains=True,
        layout=plain,
        grouped=True,
    ),
    _moved(
        "z-fixed",
        "At one case, after retraining",
        f"algorithm {_CPP}, Z-modulated, fixed width",
        "Retrained on fresh data, what loss at this very case? All sets are equally wide.",
        width="fixed",
        modulation="regression",
    ),
    _moved(
        "z-variable",
        "At one case, after retraining",
        f"algorithm {_CPP}, Z-modulated, variable width",
        "Retrained on fresh data, what loss at this very case? Hard cases get wider sets.",
        width="variable",
        modulation="quantile",
    ),
    Variant(
        *("symbolic", "What kind of error", f"symbolic {_CPP}"),
        "Will the next case be correct, a false positive or a false negative?",
        retrains=None,
        layout=symbolic,
        n_parts=3,
        symbolic=True,
    ),
    Variant(
        *("batch", "On the next batch", f"sample-based {_CPP}"),
        "What error rate, accuracy or other metric on the next b cases?",
        retrains=None,
        layout=plain,
        batch=True,
    ),
)
VARIANTS: dict[str, Variant] = {variant.name: variant for variant in _OFFERED}
"""The variants by name, in the order in which they are offered."""
