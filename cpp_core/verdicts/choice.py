"""Which algorithm to use: one decision from two answers, who wins more often and on average.

Each answer is asked at alpha / 2, over all pairs jointly, so that all that the decision rests on
holds together with confidence 1 - alpha. The rule is in docs/method.md, section 6.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, exact_alpha
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results
from cpp_core.verdicts.averages import mean_of
from cpp_core.verdicts.comparisons import Pair, enough, wins_of
from cpp_core.verdicts.language import confidence, counted, listed, number
from cpp_core.verdicts.pairs import condition_of, decided, judged
from cpp_core.verdicts.verdict import INDEPENDENT, Badge, Brief, Verdict

Outcome = Literal["use", "no difference", "depends", "undecided"]
Strength = Literal["exact", "approximate"]
Relation = set[tuple[str, str]]
"""Who is better than whom."""
Said = tuple[str, Strength, Relation]
"""The decision in words, its strength, and the averages that it may rest on."""


@dataclass(frozen=True)
class Asked:
    """The two answers on a pair, each at alpha / 2 over the number of pairs."""

    wins: Verdict
    mean: Verdict

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """Both."""
        return self.wins, self.mean


@dataclass(frozen=True)
class Choice(Verdict):
    """A decision: whom to use, and how strong what it rests on is.

    ``use`` holds one name, or those that cannot be told apart while each other is beaten by one of
    them; it is empty unless the outcome is *use*. ``asked`` are the answers that it was read from,
    pair by pair.
    """

    outcome: Outcome
    use: tuple[str, ...]
    strength: Strength
    asked: tuple[Asked, ...]


def choose(results: Results, alpha: Level = 0.1, margin: float | None = None) -> Choice | None:
    """Which algorithm to use, by trial 0; None for one alone and for kinds of error."""
    names = results.algorithms
    if len(names) == 1 or results.experiment.kind.symbolic:
        return None
    half = exact_alpha(alpha) / 2
    asked = [
        Asked(
            judged(results, first, second, half, "wins"),
            judged(results, first, second, half, "average", margin),
        )
        for first, second in combinations(names, 2)
    ]
    labels = {ALGORITHMS[name].label: name for name in names}
    return _choice(labels, asked, alpha, about_results(results))


def choose_of(
    columns: Mapping[str, NDArray], alpha: Level, about: About, margin: float | None = None
) -> Choice | None:
    """The same for columns of losses on the same cases."""
    if len(columns) == 1:
        return None
    half, asked = exact_alpha(alpha) / 2, []
    for a, b in combinations(columns, 2):
        d, pair = columns[a] - columns[b], Pair(a, b, about, margin)
        asked.append(Asked(wins_of(d, half, pair), mean_of(d, half, pair)))
    return _choice({name: name for name in columns}, asked, alpha, about)


@dataclass(frozen=True)
class _Answers:
    """What the two answers say of all pairs of labels."""

    labels: tuple[str, ...]
    less: str  # what the better one does: loses less, or scores higher
    means: list[dict[str, Any]]
    equal: Relation  # inside the margin that was set: there wins tell nothing that matters
    wins: Relation
    exact: Relation  # better on average, guaranteed
    average: Relation  # better on average, in either way

    @property
    def unbeaten(self) -> tuple[str, ...]:
        beaten = {worse for _, worse in self.wins | self.average}
        return tuple(label for label in self.labels if label not in beaten)


def _read(labels: Iterable[str], asked: list[Asked], about: About) -> _Answers:
    means = [own.mean.facts for own in asked]
    equal = {_pair(mean) for mean in means if mean["outcome"] == "practically equal"}
    wins = _found(own.wins.facts for own in asked if _pair(own.mean.facts) not in equal)
    exact = _found(mean for mean in means if mean["strength"] == "exact")
    average = _closed(_found(means), equal)
    less = "scores higher" if about.greater_is_better else "loses less"
    return _Answers(tuple(labels), less, means, equal, wins, _closed(exact, equal), average)


def _pair(facts: dict[str, Any]) -> tuple[str, str]:
    """Who is better than whom, or the pair in its order."""
    return decided(facts) or (facts["first"], facts["second"])


def _found(facts: Iterable[dict[str, Any]]) -> Relation:
    return {pair for pair in map(decided, facts) if pair is not None}


def _closed(better: Relation, equal: Relation) -> Relation:
    """With what follows: an average below one that is below a third's is below it too."""
    while True:
        more = {(a, d) for a, b in better for c, d in better if b == c}
        more -= better | equal | {(b, a) for a, b in equal}
        if not more:
            return better
        better = better | more


def _choice(names: Mapping[str, str], asked: list[Asked], alpha: Level, about: About) -> Choice:
    """The decision among labels, which stand for names."""
    found = _read(names, asked, about)
    outcome, use = _decide(found, len(asked))
    out = [label for label in found.labels if use and label not in use]
    text, strength, rests_on = {
        "use": _use,
        "depends": _depends,
        "no difference": _equal,
        "undecided": _undecided,
    }[outcome](found, use, out)
    needed = None
    if outcome == "undecided":
        needed = _needed(found, asked, about)
        cases = "" if needed is None else enough(needed, f"held-out {about.held_out}")
        text += f": about {cases} would do if all stays as it is." if cases else "."
    else:
        near = [mean for mean in found.means if _pair(mean) in rests_on]
        unless = condition_of(near) if strength == "approximate" else ""
        text += f" ({strength}, {confidence(alpha)} confidence){unless}."
    why = (
        f"Wins and averages were asked at alpha / 2 = {number(float(exact_alpha(alpha) / 2))} each,"
        f" over {counted(len(asked), 'pair')} jointly. One is named where at least one of the two "
        "answers favours it over every other and neither speaks against it; several where each "
        "other is beaten by one of them, and none of them by anyone. A pair inside the margin that "
        "was set does not differ. The decision is as strong as the weaker part that it rests on: "
        "exact where wins, or averages that hold for every law, suffice."
    )
    facts = about.facts(alpha, found.means[0]["k"], outcome=outcome, n_needed=needed)
    facts |= {"use": [names[own] for own in use], "out": [names[own] for own in out]}
    turned = _turned(found) if outcome == "depends" else None
    facts |= {"strength": strength, "pair": turned}
    badge: Badge = "guaranteed" if strength == "exact" else "approximate"
    # An exact decision gives exact reasons only.
    reasons = replace(found, average=found.exact) if strength == "exact" else found
    brief = _brief(outcome, reasons, use, out, needed, about)
    use = tuple(names[own] for own in use)
    rest = outcome, use, strength, tuple(asked)
    return Choice(text, badge, INDEPENDENT, facts, why, brief, *rest)


def _decide(found: _Answers, n_pairs: int) -> tuple[Outcome, tuple[str, ...]]:
    """The outcome, and the labels to use."""
    unbeaten, either = found.unbeaten, found.wins | found.average
    out = [own for own in found.labels if own not in unbeaten]
    if unbeaten and out:
        # Each that is out must be beaten by one that is named: those that are beaten only by one
        # another may all be better. They are beaten, so that they cannot be named either.
        favoured = all(any((own, other) in either for own in unbeaten) for other in out)
        return ("use", unbeaten) if favoured else ("undecided", ())
    if len(found.equal) == n_pairs:
        return "no difference", ()
    return ("depends" if either else "undecided"), ()


def _use(found: _Answers, use: tuple[str, ...], out: list[str]) -> Said:
    one = len(use) == 1

    def over(better: Relation) -> list[str]:
        """Those out that are beaten by one that is named."""
        beaten = {worse for own, worse in better if own in use}
        return [label for label in out if label in beaten]

    exact = over(found.wins | found.exact) == out
    wins, means = over(found.wins), over(found.exact if exact else found.average)
    text = f"Use {' or '.join(use)}, which cannot be told apart; {listed(out)} "
    text += f"{'is' if len(out) == 1 else 'are'} beaten"
    if one:
        reasons = [f"wins more often than {listed(wins)}"] if wins else []
        reasons += [f"is better on average than {listed(means)}"] if means else []
        if wins == means:
            reasons = [f"wins more often and is better on average than {listed(wins)}"]
        text = f"Use {use[0]}: it {' and '.join(reasons)}"
    # What follows from others rests on those.
    direct = _found(found.means)
    rests_on = {(a, b) for a, b in found.average if a in use}
    rests_on = rests_on if rests_on <= direct else found.average
    return text, "exact" if exact else "approximate", rests_on


def _turned(found: _Answers) -> tuple[str, str] | None:
    """A pair of which one wins more often and the other is better on average, exactly if any."""
    turned = sorted((a, b) for a, b in found.wins if (b, a) in found.average)
    exact = [pair for pair in turned if pair[::-1] in found.exact]
    return next(iter([*exact, *turned]), None)


def _brief(
    outcome: Outcome,
    found: _Answers,
    use: tuple[str, ...],
    out: list[str],
    needed: int | None,
    about: About,
) -> Brief:
    """The decision as a headline, and in one short sentence why."""
    everyone = f"all {len(found.labels)}" if len(found.labels) > 2 else listed(found.labels)
    if outcome == "depends":
        turned = _turned(found)
        rest = "each of them is beaten by another"
        if turned is not None:
            rest = f"{turned[0]} wins more often, {turned[1]} {found.less} when it matters"
        return Brief("", "It depends", f": {rest}")
    if outcome == "no difference":
        rest = f": on average {everyone} differ by less than the margin that was set"
        return Brief("", "No real difference", rest)
    if outcome == "undecided":
        cases = "" if needed is None else enough(needed, f"held-out {about.held_out}")
        rest = f": about {cases} would do, if all stays as it is" if cases else ""
        return Brief("", "Not decided by this data", rest, "open")
    named = f"Use {' or '.join(use)}"
    if len(use) > 1:
        others = listed(out) if len(out) < 3 else f"the {len(out)} others"
        beaten = f"{others} {'is' if len(out) == 1 else 'are'} beaten"
        same = all(
            pair in found.equal or pair[::-1] in found.equal for pair in combinations(use, 2)
        )
        how = "they are equal within the margin" if same else "this data cannot tell them apart"
        return Brief("", named, f": {how}; {beaten}")
    return Brief("", named, f": it {_reasons(found, use[0], out, about)}")


def _reasons(found: _Answers, best: str, out: list[str], about: About) -> str:
    """By what one is better than all others: wins, averages, or some by either."""

    def over(better: Relation) -> list[str]:
        return [label for label in out if (best, label) in better]

    def named(labels: list[str]) -> str:
        return f"each of the {len(labels)} others" if len(labels) > 2 else listed(labels)

    less = found.less
    wins, means = over(found.wins), over(found.average)
    if about.errors and out in (wins, means):
        return f"errs less often than {named(out)}"
    if wins == means == out:
        return f"{less} than {named(out)}, on average and more often"
    if wins == out:
        return f"wins more often than {named(out)}"
    if means == out:
        return f"{less} on average than {named(out)}"
    return f"wins more often or {less} on average, against each of the {len(out)} others"


def _depends(found: _Answers, use: tuple[str, ...], out: list[str]) -> Said:
    turned = _turned(found)
    if turned is None:
        weak = found.average - found.exact
        text = "It depends on what counts: each of them is beaten by another"
        return text, "approximate" if weak else "exact", found.average
    a, b = turned
    text = f"It depends: {a} wins more often than {b}, {b} {found.less} when it matters"
    return text, "exact" if (b, a) in found.exact else "approximate", {(b, a)}


def _equal(found: _Answers, use: tuple[str, ...], out: list[str]) -> Said:
    exact = all(mean["strength"] == "exact" for mean in found.means)
    text = f"Use any of {listed(found.labels)}: they are practically equal, inside the margin that "
    return text + "was set", "exact" if exact else "approximate", found.equal


def _undecided(found: _Answers, use: tuple[str, ...], out: list[str]) -> Said:
    text = f"Not decided by this data which to use, {' or '.join(found.labels)}"
    return text, "approximate", set()


def _needed(found: _Answers, asked: list[Asked], about: About) -> int | None:
    """About how many cases would name one: the fewest with which one is favoured over all.

    A pair that is decided needs none, and whom it speaks against is named with none.
    """
    needed: dict[tuple[str, str], float] = {}
    for wins, mean in ((own.wins.facts, own.mean.facts) for own in asked):
        first, second = wins["first"], wins["second"]
        leads = wins["losses"] - wins["wins"], about.sign * mean.get("mean", 0.0)
        for lead, facts in zip(leads, (wins, mean), strict=True):
            if lead:
                pair = (first, second) if lead < 0 else (second, first)
                more = facts.get("n_needed", math.inf)
                needed[pair] = min(needed.get(pair, math.inf), more)
    known = found.wins | found.average
    needed |= dict.fromkeys(known, 0)
    needed |= dict.fromkeys(((worse, better) for better, worse in known), math.inf)
    labels = found.labels
    fewest = min(max(needed.get((a, b), math.inf) for b in labels if b != a) for a in labels)
    return int(fewest) if math.isfinite(fewest) else None
