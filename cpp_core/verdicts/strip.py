"""The first thing that is told: which to use, and the few figures that it rests on.

Overview, Compare, the report and a file of losses show the same strip: a headline, one sentence,
and a card each for the average, for wins and for the next loss (``strip_cards``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS, About, about_results
from cpp_core.verdicts.bounds import expected_loss
from cpp_core.verdicts.choice import Choice, choose, choose_of
from cpp_core.verdicts.decisions import Decision, decisions_from
from cpp_core.verdicts.failing import failed_lines
from cpp_core.verdicts.held_out import average_of, held_out_losses, over_what
from cpp_core.verdicts.language import confidence, counted, listed, plural, sentence
from cpp_core.verdicts.luck import split_places
from cpp_core.verdicts.next_errors import ahead, ahead_of
from cpp_core.verdicts.selection import selection_safe, winner_of
from cpp_core.verdicts.strip_cards import (
    AVERAGES,
    Card,
    Entrant,
    average_card,
    bound_card,
    limit_cards,
    one_bound,
    pair_card,
    usual_card,
)
from cpp_core.verdicts.verdict import Verdict

NONE_OUT = "none can be ruled out"
"""What is said of one algorithm where any number of errors is possible."""


@dataclass(frozen=True)
class Strip:
    """A headline, one sentence and cards; ``names`` are those whom the headline names.

    ``bound`` has the sentences behind the headline where it is a bound, that of the headline first;
    ``pair`` names the two that the cards are about, the better one first; ``failed`` tells of whom
    training runs failed.
    """

    title: str
    text: str
    names: tuple[str, ...]
    cards: tuple[Card, ...]
    choice: Choice | None = None
    bound: tuple[Verdict, ...] = ()
    pair: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def behind(self) -> tuple[Verdict, ...]:
        """The sentences behind the headline."""
        return (self.choice,) if self.choice else self.bound

    @property
    def judged(self) -> Verdict | None:
        """Whose strength is that of the headline; None where it says itself that it is open."""
        if self.choice is not None:
            return self.choice if self.choice.claim == "yes" else None
        return self.bound[0] if self.bound else None

    @property
    def beside_table(self) -> "Strip":
        """The same without the figures that a table of all would say again."""
        cards = (c if c.apart is None else replace(c, detail=c.apart) for c in self.cards)
        return replace(self, cards=tuple(cards))


def strip_from(
    results: Results,
    alpha: Level = 0.1,
    side: str = "upper",
    margin: float | None = None,
    limits: Sequence[Decision] = (),
) -> Strip:
    """The strip of results, by trial 0; typical bounds over all trials stand beside its own.

    ``limits`` are the decisions about what was asked, for each algorithm in turn
    (``decisions_from``).
    """
    names, about = results.algorithms, about_results(results)
    if results.experiment.kind.symbolic:
        return _symbolic(results, alpha)
    entrants = []
    for i, name in enumerate(names):
        bound = ahead(results, name, alpha, side)
        losses, usual = held_out_losses(results, name), usual_bound(results, name, alpha, side)
        own = Entrant(name, ALGORITHMS[name].label, bound, average_of(losses), len(losses), usual)
        entrants.append(replace(own, limits=tuple(limits[i :: len(names)])))
    choice = choose(results, alpha, margin)
    more = safe_for(choice, None if choice is None else selection_safe(results, alpha))
    more += [] if about.errors else split_places(results, alpha, side)
    found = _strip(entrants, choice, alpha, about, over_what(results), tuple(more))
    return replace(found, failed=failed_lines(results))


def asked_strip(
    results: Results,
    alpha: Level = 0.1,
    side: str = "upper",
    margin: float | None = None,
    **question: Any,
) -> Strip:
    """The strip with the answers to what else was asked, as in ``decisions_from``."""
    if results.experiment.kind.symbolic:
        return _symbolic(results, alpha)
    return strip_from(results, alpha, side, margin, decisions_from(results, alpha, **question))


def strip_of(
    columns: Mapping[str, NDArray],
    alpha: Level,
    about: About,
    margin: float | None = None,
    limits: Sequence[Decision] = (),
) -> Strip:
    """The same for columns of losses on the same cases, as shown."""
    entrants = []
    for i, (name, losses) in enumerate(columns.items()):
        label = name if len(columns) > 1 else "model"
        bound = ahead_of(losses, alpha, about, label)
        own = Entrant(name, label, bound, average_of(losses), len(losses))
        entrants.append(replace(own, limits=tuple(limits[i :: len(columns)])))
    choice = choose_of(columns, alpha, about, margin)
    more = safe_for(choice, None if choice is None else winner_of(columns, alpha, about))
    return _strip(entrants, choice, alpha, about, "", tuple(more))


def safe_for(choice: Choice | None, safe: Verdict | None) -> list[Verdict]:
    """The bound that a pick keeps, where it is of the one that the decision names."""
    named = choice.brief.lead if choice is not None and len(choice.use) == 1 else ""
    chosen = None if safe is None else safe.facts.get("chosen")
    return [safe] if safe is not None and named == f"Use {chosen}" else []


def usual_bound(
    results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper"
) -> float | None:
    """The median of the bounds on the bad side over the trials; None where they are few."""
    if len(results.trials) < LEAST_TRIALS:
        return None
    end = about_results(results).bad_end
    return float(results.summary(alpha, side)[algorithm][f"{end}_median"])


def _strip(
    entrants: Sequence[Entrant],
    choice: Choice | None,
    alpha: Level,
    about: About,
    over: str,
    more: tuple[Verdict, ...],
) -> Strip:
    """``over`` says of what typical bounds are typical; ``more`` is told behind the bounds."""
    if choice is None:
        return _alone(entrants[0], alpha, about, over, more)
    ranked = _ranked(entrants, choice, about)
    best, rival = ranked[:2]
    solo = len(choice.use) == 1
    asked = next(
        own
        for own in choice.asked
        if {own.wins.facts["first"], own.wins.facts["second"]} == {best.label, rival.label}
    )
    named = best if solo else None
    open_ = not choice.use and all(map(one_bound, entrants))
    told = "" if choice.facts["n_needed"] is None else about.held_out
    cards = [
        pair_card(AVERAGES[False][0], asked.mean, named, told),
        pair_card(f"New {plural(about.new)}", asked.wins, named, told),
        bound_card(ranked if open_ else ranked[:2], solo, about, more),
        *limit_cards(ranked, about),
    ]
    names = choice.use or tuple(own.name for own in ranked[: 2 if len(entrants) == 2 else 0])
    names = () if choice.outcome == "undecided" else names
    text = choice.brief.detail
    least = min(entrants, key=lambda own: about.sign * own.average)
    if solo and about.worse(best.average, least.average):
        text += f", though {least.label} has a better average here"
    text += _kept_by(ranked, choice.use) if choice.use else ""
    if choice.outcome == "undecided" and not text:
        text = f"{' or '.join(own.label for own in ranked)}: more cases may tell"
        if not any(own.wins.facts["differing"] for own in choice.asked):
            of = counted(asked.wins.facts["k"], f"held-out {about.held_out}")
            failed = all(own.wins.facts["outcome"] == "both failed" for own in choice.asked)
            alike = "failed" if failed else "are equal"
            text = f"{listed(own.label for own in ranked)} {alike} on all of {of}"
    # A name from a file is written as it is there.
    as_named = text.startswith(tuple(f"{own.label} " for own in entrants))
    text = text if as_named else sentence(text)
    pair = best.name, rival.name
    return Strip(f"{choice.brief.lead}.", f"{text}.", names, tuple(cards), choice, pair=pair)


def _ranked(entrants: Sequence[Entrant], choice: Choice, about: About) -> list[Entrant]:
    """The best and its closest rival first: those to use, then by average."""
    pair: tuple[str, ...] = choice.facts["pair"] or ()

    def place(own: Entrant) -> tuple[bool, bool, float]:
        return own.label not in pair, own.name not in choice.use, about.sign * own.average

    return sorted(entrants, key=place)


def _kept_by(ranked: Sequence[Entrant], named: Sequence[str]) -> str:
    """Who keeps a limit that none of those who are named is shown to keep; empty otherwise."""
    for found in zip(*(own.limits for own in ranked), strict=True):
        shown = [own for own, it in zip(ranked, found, strict=True) if it.outcome == "shown"]
        if shown and not any(own.name in named for own in shown):
            are = "is" if len(shown) == 1 else "are"
            who = listed(own.label for own in shown)
            return f". But only {who} {are} shown to keep your limit"
    return ""


def _alone(own: Entrant, alpha: Level, about: About, over: str, more: tuple[Verdict, ...]) -> Strip:
    """One algorithm: no decision. Its bound is the headline; cards tell what that does not."""
    brief = own.bound.brief
    what = f"the {about.loss} of {about.of(own.label)} {about.on_next}"
    if about.errors:
        what = f"by {about.of(own.label)} {brief.rest}"
    text = f"{sentence(what)}, with {confidence(alpha)} confidence."
    if brief.claim != "yes":
        text = f"{sentence(what)}: {NONE_OUT if about.errors else brief.detail}."
    cards = [average_card(own, about)]
    if own.usual is not None and brief.claim == "yes" and not about.errors:
        cards.append(usual_card(own.usual, about, over, more))
    cards += limit_cards([own], about)
    title = f"{sentence(brief.lead)}."
    return Strip(title, text, (own.name,), tuple(cards), bound=(own.bound, *more))


def _symbolic(results: Results, alpha: Level) -> Strip:
    """Kinds of error: no decision; at how many cases only a correct answer is left."""
    cards = []
    for name in results.algorithms:
        verdict = expected_loss(results, name, alpha)
        brief = verdict.brief
        # A count of this split; what is promised is in the sentence above and behind "why?".
        own = Card(brief.subject, brief.lead, brief.detail, brief.claim, None, (verdict,))
        cards.append(own)
    title = "What kind of error, case by case."
    text = f"At a new case, what happens is in its set with {confidence(alpha)} confidence."
    if cards[0].claim != "yes":
        title = "No kind of error that the label allows can be ruled out."
        text = f"{sentence(cards[0].detail)}."
    return Strip(title, text, results.algorithms, tuple(cards), failed=failed_lines(results))
