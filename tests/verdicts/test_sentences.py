"""Sentences: their numbers stay true, and what is never said."""

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.method.ranks import as_limit, as_stored
from cpp_core.report.export import strict
from cpp_core.verdicts.about import About
from cpp_core.verdicts.bounds import expected_loss, typical
from cpp_core.verdicts.choice import choose
from cpp_core.verdicts.decisions import decide, error_rate_at_most
from cpp_core.verdicts.language import about_percent, counted, number, ordinal, percent, with_unit
from cpp_core.verdicts.pairs import all_pairs, judged
from cpp_core.verdicts.selection import selection_safe
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.thresholds import under_threshold
from cpp_core.verdicts.verdict import STRENGTH_WORDS
from tests.builders import SIX, failing, results_of, symbolic

# Numbers


def test_rounding_stays_true():
    rng = np.random.default_rng(0)
    for value in rng.normal(size=300) * 10.0 ** rng.integers(-8, 8, 300):
        assert float(number(value, "up").replace(",", "")) >= value
        assert float(number(value, "down").replace(",", "")) <= value
        for near in (value * (1 + 1e-7), value * (1 - 1e-9), 0.0):
            for direction in ("up", "down", "nearest"):
                shown = float(number(value, direction, near).replace(",", ""))
                assert np.sign(shown - near) == np.sign(value - near)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (number(np.float32(0.1), "up"), "0.1"),  # the decimal that was stored, not its float64
        (number(0.41001, "up"), "0.411"),
        (number(-0.41001, "up"), "-0.41"),
        (number(0.5, "up", 0.5), "0.5"),
        (number(0.49999, "up", 0.5), "0.49999"),
        (number(0.00001234), "0.0000123"),
        (number(1.5e-9), "1.5e-9"),
        (number(-0.0), "0"),
        (number(math.inf), "no finite bound"),
        (percent(0.9), "90 %"),
        (percent(Fraction(29, 30), "down"), "96.6 %"),
        (percent(Fraction(1, 3), "up"), "33.4 %"),
        (percent(0.00001), "under 0.1 %"),
        (percent(0.99999), "over 99.9 %"),
        (percent(0), "0 %"),
        (counted(1, "batch"), "1 batch"),
        (counted(0, "batch"), "0 batches"),
        (counted(2, "loss"), "2 losses"),
        (" ".join(map(ordinal, (1, 2, 3, 4, 11, 112, 21))), "1st 2nd 3rd 4th 11th 112th 21st"),
        (with_unit(number(1), "nats"), "1 nat"),
        (with_unit(number(0.5), "nats"), "0.5 nats"),
        *((with_unit("1", own), f"1 {own}") for own in ("Celsius", "series", "loss", "lens")),
        *((with_unit("1", own), f"1 {own}") for own in ("bias", "siemens", "EUR", "ms", "dB")),
        *(
            (with_unit("-1", f"{own}{end}"), f"-1 {own}")
            for own, end in (("inch", "es"), ("loss", "es"), ("degree", "s"), ("token", "s"))
        ),
        (about_percent(0.0003), "about 0.03 %"),
        (about_percent(0.99967), "about 99.97 %"),
        (about_percent(0.0), "about 0 %"),
        (about_percent(1.0), "about 100 %"),
        (about_percent(0.2501), "about 25 %"),
    ],
)  # fmt: skip
def test_numbers_and_nouns(shown, expected):
    assert shown == expected


def test_ends_as_stored():
    inside = as_stored(0.1, 0.3)  # float32 rounds the first up and the second up
    assert inside[0] >= 0.1
    assert inside[1] <= 0.3
    assert as_stored(0.3 - 1e-12, 0.1 + 1e-12)[0] >= 0.3 - 1e-12
    assert as_stored(0.7, 0.7)[1] <= 0.7 <= as_stored(0.7, 0.7)[0]


# What is never said

WORDS = 25
"""As many words stand before "why?"."""

NEVER = [
    "overlap",
    "narrow",
    "wider",
    "signific",
    r"\brisk",
    "production",
    "safety",
    "drift",
    "shift",
    r"\bprove",
    "refit",
    "certain",
    "valid",
    "no difference",
    r"this (case|digit|image|particular)",
    r"\b(nan|inf|None)\b",
    r"\b1 (cases|batches|groups|errors|trials|pairs)\b",
    r"\s{2}|\.\.|,,| \.",
    r"\[|\]|\{|\}",
]


def shown_first(world, alpha):
    """What stands behind the strip."""
    strip = asked_strip(world, alpha)
    yield from (verdict for card in strip.cards for verdict in card.verdicts)


def produced():
    """Sentences of every function, on every construction, at many sizes and truths."""
    rng = np.random.default_rng(7)
    worlds = [failing(), symbolic(20), symbolic(5), symbolic(20, 1), symbolic(20, 3)]
    metric = {"variant": "batch", "loss": "accuracy", "batch_size": 4}
    for settings in (
        *({}, {"loss": "zero_one"}, {"loss": "brier"}, metric, metric | {"batch_size": 1}),
        *({"variant": v} for v in ("z-free", "z-fixed", "z-variable")),
    ):
        for k in (1, 12, 200):
            for K, spread in ((1, 1.0), (2, 0.0), (2, 1.0), (3, 0.5)) + ((6, 1.0),) * (k == 200):
                base = rng.random((2, k))
                losses = [
                    np.clip(0.5 * base + spread * 0.1 * j * rng.random((2, k)), 0, 1)
                    for j in range(K)
                ]
                if settings.get("loss") == "zero_one":
                    losses = [(own > 0.4).astype(float) for own in losses]
                worlds.append(results_of(losses, losses, **settings))
    for world in worlds:
        numeric = world.experiment.variant != "symbolic"
        for alpha in (0.1, 0.3) if len(world.algorithms) < 3 else (0.1,):
            yield from shown_first(world, alpha)
            yield typical(world, world.algorithms[0], alpha)
            yield typical(world, world.algorithms[0], alpha, "two-sided")
            for name in world.algorithms[:2]:
                yield expected_loss(world, name, alpha)
                if numeric:
                    yield under_threshold(world, name, 0.25, alpha)
                    yield decide(world, name, 0.25, alpha)
            if numeric:
                yield selection_safe(world, alpha)
            if numeric and len(world.algorithms) > 1:
                first, second = world.algorithms[:2]
                for one, other in ((first, second), (second, first)):
                    yield judged(world, one, other, alpha)
                    yield judged(world, one, other, alpha, aspect="wins")
                    yield judged(world, one, other, alpha, aspect="average")
                    yield judged(world, one, other, alpha, margin=0.05, aspect="average")
                yield choose(world, alpha)
                yield choose(world, alpha, margin=0.05)
                for aspect in ("next case", "wins", "average"):
                    every = all_pairs(world, alpha, aspect)
                    yield every.summary
                    yield from every.pairs
    for e in range(0, 20, 3):
        for rate in (0, 0.05, 0.3, 1):
            yield error_rate_at_most(20, e, 10, rate)


def test_what_is_never_said():
    count = 0
    for verdict in produced():
        count += 1
        text = verdict.text
        for pattern in NEVER:
            for said in (text, verdict.why):
                assert not re.search(pattern, said), (pattern, said)
        line = verdict.brief.line
        for pattern in [own for own in NEVER if own != "no difference"]:
            assert not re.search(pattern, line), (pattern, line)
        short = line.removeprefix(f"{verdict.brief.subject}: ")
        for label in (ALGORITHMS[name].label for name in SIX):
            short = short.replace(label, "X")  # the length of a name is not ours
        assert len(short.split()) <= WORDS, line
        assert line[0].isupper() or line[0].isdigit() or verdict.brief.subject
        assert (verdict.mark in STRENGTH_WORDS.values()) == (verdict.claim == "yes")
        assert text[0].isupper()
        assert text.endswith(".")
        assert {"k", "m", "alpha", "n_algorithms"} <= set(verdict.facts)
        assert verdict.assumptions
        json.dumps(strict(verdict.facts), allow_nan=False)
        if verdict.badge == "guaranteed":
            # An average is guaranteed where bets or wins decide it for every law.
            words = "typical|approximate"
            words += "" if verdict.facts.get("strength") == "exact" else "|average"
            assert not re.search(words, text, re.IGNORECASE), text
        else:
            assert not re.search("probability at least", text), text
        # A promise over cases is never attached to the one case that is quoted.
        for part in text.split(". "):
            if "one random test case" in part and " %" in part and "Typical" not in text:
                assert re.search("by a rule|by rules|no bound|neither|none", part), text
        # The best of several is named only where the choice was paid for.
        if re.search(r"\b(best|chosen|winner)\b", text, re.IGNORECASE):
            assert "that the choice never saw" in text, text
    assert count > 1000


@pytest.mark.parametrize(
    ("limit", "sign", "kept"),
    [
        (0.41, 1, np.float32(0.41)),  # the same decimal
        (0.99999999, 1, np.nextafter(np.float32(1), np.float32(0))),
        (0.99999999, -1, np.float32(1)),
        (-1e-50, 1, -np.nextafter(np.float32(0), np.float32(1))),
        (1e39, 1, np.finfo(np.float32).max),
        (1e39, -1, np.float32(np.inf)),
        (-1e39, -1, -np.finfo(np.float32).max),
    ],
)
def test_limits_are_never_eased(limit, sign, kept):
    assert as_limit(limit, np.dtype(np.float32), sign) == kept
    assert as_limit(limit, np.dtype(np.float64), sign) == limit


def test_percentages_stay_on_their_side():
    assert percent(0.50004, "down", 0.5) == "50.004 %"
    assert percent(Fraction(49996, 100000), "up", 0.5) == "49.996 %"
    assert percent(0.5, "down", 0.5) == "50 %"
    assert percent(0.7619, "up", 0.5) == "76.2 %"


def test_ends_are_rounded_outwards_and_stay_in_the_range():
    rng = np.random.default_rng(1)
    about = About(low=-2.0, high=36.04365338911715)
    for shown in [*rng.uniform(-2, about.high, 300).tolist(), about.high - 1e-9, -2 + 1e-9]:
        for end in (shown, np.float32(shown), float(np.float32(shown))):
            exact = float(str(np.float32(end))) if float(np.float32(end)) == float(end) else end
            assert float(about.upper_end(end)) >= exact or about.upper_end(end) == "36.04"
            assert float(about.lower_end(end)) <= exact
            assert -2 <= float(about.lower_end(end)) <= float(about.upper_end(end)) < 36.0437
    assert about.upper_end(about.high) == about.upper_end(np.float32(about.high)) == "36.04"
    near = float(about.upper_end(about.high - 1e-9))
    assert about.high - 1e-9 <= near < about.high  # below the end, and says so
    assert about.lower_end(-2.0) == "-2"
    assert about.upper_end(0.49996, 0.5) == "0.49996"
    assert About(unit="nats", high=1.0, low=0.0, greater_is_better=True).end(0.9996) == "0.999 nats"
    assert about.difference.upper_end(about.high + 2) == "38.04"
    assert float(About().upper_end(1e300)) == 1e300
    assert About().upper_end(math.inf) == "no finite bound"
