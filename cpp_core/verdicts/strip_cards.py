"""The cards of the strip: one figure each, how strong it is, and the sentences behind it.

A card has at most 25 words; the sentences behind it, with all their conditions, are a click away.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cpp_core.verdicts.about import About
from cpp_core.verdicts.choice import Strength
from cpp_core.verdicts.comparisons import needed_words
from cpp_core.verdicts.decisions import Decision
from cpp_core.verdicts.language import counted, listed, number, percent, with_unit
from cpp_core.verdicts.next_errors import NEXT_CASES
from cpp_core.verdicts.verdict import Claim, Verdict

STRENGTHS: dict[str, Strength] = {"guaranteed": "exact", "approximate": "approximate"}
"""The strength of a claim by its badge."""

AVERAGE_BEYOND = "the average lies beyond it"
"""What is said where the average is worse than the bound."""

BEYOND = ", beyond the bound"
"""The same behind an average."""

AVERAGES = {False: ("On average", "average"), True: ("Error rate", "error rate")}
"""The topic of an average, and its noun; by whether it is of errors."""

FIXED = "if fixed beforehand"
"""The bound of one that was picked here would be the lowest of several: it covers less often."""


@dataclass(frozen=True)
class Card:
    """One figure of the strip, with the sentences behind it."""

    topic: str
    text: str  # in large type
    detail: str
    claim: Claim
    strength: Strength | None  # None where nothing is claimed
    verdicts: tuple[Verdict, ...]  # that of the figure first; none behind a mere description
    provided: str = ""  # under which condition the claim has its strength
    apart: str | None = None  # the detail where a table beside it has the figures of all
    line: str = ""  # the same as a part of a line, where a line of text tells it

    @property
    def mark(self) -> str:
        """How strong the claim is, or the outcome where there is none."""
        if self.claim == "yes" and self.strength is None:
            return ""  # a description
        mark = self.verdicts[0].mark if self.verdicts else ""
        return f"{mark} {self.provided}" if self.provided and self.claim == "yes" else mark


@dataclass(frozen=True)
class Entrant:
    """What is known of one algorithm or column."""

    name: str
    label: str
    bound: Verdict
    average: float
    n: int  # losses in that average
    usual: float | None = None  # the median of its bounds over splits, where there are enough
    limits: tuple[Decision, ...] = ()


def pair_card(topic: str, verdict: Verdict, best: Entrant | None, told: str = "") -> Card:
    """A card on a pair; whom it is about is said unless it is the one that the headline names.

    How many would do for this pair is not said where the headline has ``told`` it of all; that is
    the noun of what it counts.
    """
    brief = verdict.brief
    named = brief.subject and (best is None or brief.subject != best.label)
    text = f"{brief.subject}: {brief.lead}" if named else brief.lead
    detail = brief.detail.replace(f" {topic.lower()}", "", 1)  # what the topic says already
    if told and "n_needed" in verdict.facts:
        detail = detail.removesuffix(needed_words(verdict.facts["n_needed"], told))
    return Card(topic, text, detail, brief.claim, _strength(verdict), (verdict,))


def _strength(verdict: Verdict) -> Strength | None:
    return STRENGTHS[verdict.badge] if verdict.claim == "yes" else None


def bound_card(two: Sequence[Entrant], solo: bool, about: About, more: tuple[Verdict, ...]) -> Card:
    """How bad the next loss can be: the bound with the average, and that of the rival.

    Typical bounds stand in the picture and in the table, where each is beside its own.
    """
    best, *others = two
    own = best.bound.brief
    if len(two) > 2:
        return _bounds_card(two, about, more)
    text = own.lead if solo else f"{best.label}: {own.lead}"
    parts = [own.detail] if own.claim != "yes" and not about.errors else []
    if far_worse(best, about):
        parts.append(AVERAGE_BEYOND)
    apart = "; ".join(parts)
    parts.append(_average(best, about)[1])
    for x in others:
        beyond = BEYOND if far_worse(x, about) else ""
        parts.append(f"{x.label}: {x.bound.brief.lead}, {_average(x, about)[1]}{beyond}")
    verdicts = *(x.bound for x in two), *more
    strength, told = _strength(best.bound), "; ".join(parts)
    return Card(_next(about), text, told, own.claim, strength, verdicts, FIXED, apart)


def _next(about: About) -> str:
    """What the bounds are about."""
    topic = "The next batch" if about.batch_size else f"The next {about.noun}"
    return f"{f'The next {NEXT_CASES} cases' if about.errors else topic}, each separately"


def one_bound(own: Entrant) -> bool:
    """Whether it has a bound on the bad side, which is the same at every case."""
    facts = own.bound.facts
    return facts["outcome"] == "bound" and "bound" in facts and not facts["at_case"]


def _bounds_card(all_: Sequence[Entrant], about: About, more: tuple[Verdict, ...]) -> Card:
    """Where none of three or more is named: from the lowest bound to the highest, and whose.

    Of two sides it tells the ends on the bad side, which are no one-sided bounds.
    """
    ranked = sorted(all_, key=lambda own: about.sign * own.bound.facts["bound"])
    ends = [own.bound.facts["bound"] for own in (ranked[0], ranked[-1])]
    low, high = (about.rounded(about.bad_end, end) for end in ends)
    one_sided = ranked[0].bound.facts["side"] == "upper"
    span = with_unit(low if low == high else f"{low} to {high}", about.unit)
    text = f"{about.at_most if one_sided else f'{about.bad_end} ends at'} {span}"
    least, most = ("highest", "lowest") if about.greater_is_better else ("lowest", "highest")
    whose = f"{least} for {ranked[0].label}, {most} for {ranked[-1].label}" * (low != high)
    detail = "; ".join(filter(None, (whose, _averages(ranked, about))))
    verdicts = *(own.bound for own in ranked), *more
    strength = _strength(ranked[0].bound)
    return Card(_next(about), text, detail, "yes", strength, verdicts, FIXED, whose)


def _averages(all_: Sequence[Entrant], about: About) -> str:
    """From the lowest average to the highest, and whose lie beyond their bounds."""
    known = [own.average for own in all_ if np.isfinite(own.average)]
    span = " to ".join(dict.fromkeys(number(find(known)) for find in (min, max))) if known else ""
    told = [f"averages {span}" if known else "no finite average"]
    told += [f"{len(all_) - len(known)} not finite"] if 0 < len(known) < len(all_) else []
    beyond = [own.label for own in all_ if far_worse(own, about)]
    if beyond:
        whose = listed(beyond) if len(beyond) < 3 else f"{len(beyond)} of {len(all_)}"
        told.append(f"beyond the bound for {whose}")
    return ", ".join(told)


def far_worse(own: Entrant, about: About) -> bool:
    """Whether the average is beyond the bound: then the bound alone would mislead."""
    return one_bound(own) and about.worse(own.average, own.bound.facts["bound"])


def _average(own: Entrant, about: About, unit: str = "") -> tuple[str, str]:
    """The average loss and the same with its noun: of errors, the error rate."""
    noun = AVERAGES[about.errors][1]
    if about.errors:
        wrong = 1 - own.average if about.greater_is_better else own.average
        return percent(wrong), f"{noun} {percent(wrong)}"
    if not np.isfinite(own.average):
        return f"no finite {noun}", f"no finite {noun}"
    shown = with_unit(number(own.average), unit)
    return shown, f"{noun} {shown}"


def _limit_words(limit: Decision, about: About) -> str:
    """What was asked for."""
    if "rate" in limit.facts:
        return f"error rate, at most {number(100 * limit.facts['rate'], digits=17)} %"
    at = with_unit(number(limit.facts["threshold"], digits=17), about.unit)
    return f"limit, {about.at_most} {at}"


def limit_cards(ranked: Sequence[Entrant], about: About) -> list[Card]:
    """Whether each limit that was set is kept, by the best and in short by the others."""
    cards = []
    for found in zip(*(own.limits for own in ranked), strict=True):
        first, *others = found
        named = f"{ranked[0].label}: {first.outcome}" if others else first.outcome
        rest = [f"{own.label}: {it.outcome}" for own, it in zip(ranked[1:], others, strict=True)]
        if len(others) > 1:
            by_outcome: dict[str, list[str]] = {}
            for own, it in zip(ranked[1:], others, strict=True):
                by_outcome.setdefault(it.outcome, []).append(own.label)
            rest = [f"{outcome}: {', '.join(names)}" for outcome, names in by_outcome.items()]
        detail = "; ".join([first.brief.detail, *rest])
        topic = f"Your {_limit_words(first, about)}"
        cards.append(Card(topic, named, detail, first.claim, _strength(first), found))
    return cards


def average_card(own: Entrant, about: About) -> Card:
    """The average, a description; that it is beyond the bound is said."""
    shown, named = _average(own, about, about.unit)
    beyond = BEYOND if far_worse(own, about) else ""
    over = f"over {counted(own.n, f'held-out {about.held_out}')}{beyond}"
    topic = AVERAGES[about.errors][0]
    return Card(topic, shown, over, "yes", None, (), line=f"{named}{beyond}")


def usual_card(usual: float, about: About, over: str, places: tuple[Verdict, ...]) -> Card:
    """The bound that is typical of other splits, and where that of this one lies among them."""
    facts = places[0].facts if places else {}
    detail = f"{facts['this']}'s is {facts['place']}" if facts else "the median"
    return Card(f"Typical of {over}", about.bound(usual), detail, "yes", None, places)
