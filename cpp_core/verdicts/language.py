"""Numbers that stay true when rounded, nouns, lists.

A bound is rounded away from what it claims (an upper bound up, a lower bound down), and never
across a number that it is compared with: the printed sentence is true whenever the computed one is.
"""

import math
import re
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Literal

from cpp_core.checks import Level, alpha_of, exact_alpha, to_fraction

Direction = Literal["up", "down", "nearest"]

DIGITS = 3
"""Significant digits of a number in a sentence."""
DECIMALS = 12
LEVEL_DECIMALS = 4
"""Up to so many decimals of its percentage a confidence is told in full."""

NO_PLURAL = re.compile(".*([aiu]s|ss|ies)|lens|siemens", re.IGNORECASE)
"""Units that end in s and are, or may be, no plurals that lose it for one."""
PLURAL_END = re.compile("(?<=ss|ch|sh)es$|(?<=x)es$|s$")

ROUNDING = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "nearest": ROUND_HALF_EVEN}
WHOLE: dict[str, Callable[..., int]] = {"up": math.ceil, "down": math.floor, "nearest": round}


def number(
    value: float,
    direction: Direction = "nearest",
    against: float | tuple[float, ...] = (),
    digits: int = DIGITS,
) -> str:
    """A number with three significant digits, rounded in the stated direction.

    More digits are used where fewer would put it on another side of a number in ``against``, or
    onto it. A float32 is read as the shortest decimal that it stands for, like the losses that it
    bounds.

    >>> number(0.4071, "up"), number(0.49996, "up", against=0.5), number(12345.6), number(math.inf)
    ('0.408', '0.49996', '12,300', 'no finite bound')
    """
    exact = _decimal(value)
    if not exact or not exact.is_finite():
        return "0" if not exact else "undefined" if exact.is_nan() else "no finite bound"
    limits = [_decimal(other) for other in (against if isinstance(against, tuple) else (against,))]
    rounded = exact
    for places in range(digits, 20):
        unit = Decimal((0, (1,), exact.adjusted() - places + 1))
        rounded = exact.quantize(unit, rounding=ROUNDING[direction])
        if all(rounded.compare(limit) == exact.compare(limit) for limit in limits):
            break
    plain = rounded.normalize()
    return f"{plain:,f}" if -6 < plain.adjusted() < 7 else str(plain).replace("E", "e")


def typed(value: float) -> str:
    """A number as somebody types it, in full: for commands and code.

    >>> typed(0.1), typed(12000.0)
    ('0.1', '12000')
    """
    return number(value, digits=17).replace(",", "")


def _decimal(value: float) -> Decimal:
    return Decimal(str(value))


def percent(share: Level, direction: Direction = "nearest", against: Level | None = None) -> str:
    """A share of 0 to 1 in percent, with one decimal at most.

    More decimals are used where fewer would put it on another side of ``against``, or onto it.

    >>> percent(0.9), percent(Fraction(29, 30), "down"), percent(0.0001), percent(math.nan)
    ('90 %', '96.6 %', 'under 0.1 %', 'undefined')
    >>> percent(0.50004, "down", against=0.5)
    '50.004 %'
    >>> percent(0.89996, against=0.9), percent(0.9, against=0.9)
    ('89.996 %', '90 %')
    """
    if share != share:
        return "undefined"
    exact, limit = Fraction(share), None
    if against is not None:  # as decimals: 0.9 is nine tenths
        exact, limit = to_fraction(share, "share"), to_fraction(against, "against")
    if exact == limit:
        limit = None
    for decimals in range(1, DECIMALS):
        scale = 100 * 10**decimals
        shown = Fraction(WHOLE[direction](exact * scale), scale)
        if limit is None or (shown != limit and (shown > limit) == (exact > limit)):
            break
    if direction == "nearest" and (shown == 0 < exact or shown == 1 > exact):
        return "under 0.1 %" if shown == 0 else "over 99.9 %"
    text = f"{float(100 * shown):.{decimals}f}".rstrip("0").rstrip(".")
    return f"{text} %"


def about_percent(share: Level) -> str:
    """A share that is estimated, as neither none nor all unless it is.

    >>> about_percent(0.25), about_percent(1 / 3001), about_percent(3000 / 3001)
    ('about 25 %', 'about 0.03 %', 'about 99.97 %')
    """
    return f"about {percent(share, against=round(share))}"


def unbroken(text: str) -> str:
    """The text with every percentage on one line, in Markdown that is escaped or not."""
    return re.sub(r" (\\?%)", "\u00a0\\1", text)


def in_full(share: Level) -> str:
    """A share in percent as it is, for what was asked.

    >>> in_full(0.05), in_full(0.99951)
    ('5 %', '99.951 %')
    """
    return f"{number(float(100 * to_fraction(share, 'share')), digits=17)} %"


def confidence(alpha: Level, direction: Direction = "down") -> str:
    """1 - alpha in percent: in full where that takes four decimals at most, else rounded.

    Never more than it is, for what is claimed; "up", never less, for what is refused or would do.

    >>> confidence(0.1), confidence(0.0005), confidence(Fraction(1, 30))
    ('90 %', '99.95 %', '96.6 %')
    >>> confidence(Fraction(1, 30), "up"), confidence(Fraction(1, 3000), "up")
    ('96.7 %', '99.97 %')
    """
    level = 1 - exact_alpha(alpha)
    short = (level * 100 * 10**LEVEL_DECIMALS).denominator == 1
    return in_full(level) if short else percent(level, direction, against=1)


def confidence_points(alpha: Level) -> float:
    """1 - alpha in percent, as the number that a control shows.

    >>> confidence_points(0.1), confidence_points(0.0123)
    (90.0, 98.77)
    """
    return float(100 * (1 - exact_alpha(alpha)))


def alpha_of_points(points: float) -> float:
    """The alpha that belongs to a confidence in percent, without the rounding of ``1 - 0.9``.

    >>> alpha_of_points(90), alpha_of_points(98.77)
    (0.1, 0.0123)
    """
    return float(alpha_of(to_fraction(points, "confidence") / 100))


def counted(n: int, noun: str) -> str:
    """A number with its noun in the singular or plural.

    >>> counted(1, "case"), counted(3000, "batch")
    ('1 case', '3,000 batches')
    """
    return f"1 {noun}" if n == 1 else f"{n:,} {plural(noun)}"


def next_of(n: int, noun: str) -> str:
    """What comes next.

    >>> next_of(1, "case"), next_of(3000, "case")
    ('the next case', 'the next 3,000 cases')
    """
    return f"the next {noun if n == 1 else counted(n, noun)}"


def among_next(n: int, noun: str) -> str:
    """Where something is counted.

    >>> among_next(1, "case"), among_next(7, "case")
    ('on the next case', 'among the next 7 cases')
    """
    return f"{'on' if n == 1 else 'among'} {next_of(n, noun)}"


def plural(noun: str) -> str:
    """Several of a noun; what it is of follows it.

    >>> plural("log loss"), plural("batch"), plural("cost of errors"), plural("accuracy")
    ('log losses', 'batches', 'costs of errors', 'accuracies')
    """
    head = re.split(" of | under ", noun)[0]
    many = f"{head}es" if head.endswith(("ch", "s")) else f"{head}s"
    many = re.sub("([^aeiou])ys$", r"\1ies", many)
    return many + noun[len(head) :]


def possessive(label: str) -> str:
    """A label as the owner of something.

    >>> possessive("SVM-rbf"), possessive("Naive Bayes")
    ("SVM-rbf's", "Naive Bayes'")
    """
    return f"{label}'" if label.endswith("s") else f"{label}'s"


def with_article(noun: str) -> str:
    """A noun after "a" or "an".

    >>> with_article("log loss"), with_article("accuracy"), with_article("F1 score")
    ('a log loss', 'an accuracy', 'an F1 score')
    """
    return f"{'an' if re.match('[aeioAEIO]|[FHLMNRSX][A-Z0-9]', noun) else 'a'} {noun}"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st, 1,001st."""
    last = n % 10 if n % 100 not in (11, 12, 13) else 0
    return f"{n:,}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def listed(words: Iterable[str]) -> str:
    """Words with commas and an 'and'.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def sentence(text: str) -> str:
    """The same with a capital at the start."""
    return text[0].upper() + text[1:]


def clause(text: str) -> str:
    """A sentence as a part of another: with a small letter at the start."""
    return text[0].lower() + text[1:]


def with_unit(text: str, unit: str) -> str:
    """A number with its unit, in the singular for one.

    >>> with_unit("1", "nats"), with_unit("1", "inches"), with_unit("1", "s")
    ('1 nat', '1 inch', '1 s')
    >>> with_unit("1", "Celsius"), with_unit("1", "km/s")
    ('1 Celsius', '1 km/s')
    """
    if not unit:
        return text
    plural_unit = unit.isalpha() and len(unit) > 3 and not NO_PLURAL.fullmatch(unit)
    one = text in ("1", "-1") and plural_unit
    return f"{text} {PLURAL_END.sub('', unit) if one else unit}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(0.4), duration(55), duration(200), duration(9000)
    ('under a second', '55 s', '3 min', '2.5 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
