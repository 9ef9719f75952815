"""``python -m benchmarks.links``: hostile links on every page of one server.

Every key that a page reads is there empty, infinite, repeated or nonsense by itself, then many keys
together, reserved ones too. A page answers with what it can read, or a sentence. In parts, each on
a server of its own: ``--part 1 3``, ``--part 2 3``, ``--part 3 3``.
"""

import argparse
import asyncio
import time
from urllib.parse import urlencode

import numpy as np

from benchmarks.visiting import Resident, Server, Visitor, server
from cpp_core.lessons import LESSONS
from pages.parts.entries import ENTRIES, OneOf
from pages.parts.shell import PAGES

LINKS, MINUTES = 300, 30.0
"""So many links on each page, and how long they may take in all."""
LIMIT = 1.5 * 2**30
SECONDS, LOOKS, EVERY = 60.0, 20, 50
VALUES = (
    *("", " ", "inf", "-inf", "nan", "1e999", "-1e999", "1e308", "-1e308", "1e-400", "0", "-1"),
    *("-0.0", "0x10", "1_000", "٣", "१२", "1e5", "1.5", "10000000", "9" * 20, "9" * 5000),
    *("true", "false", "null", "None", "undefined", "[]", "{}", "[1,2]", "../../etc/passwd"),
    *("%00", "\x00", "\x1b[31m", "\u202e", "<script>alert(1)</script>", "'; DROP TABLE x; --"),
    *("=1+1", "$x$", "a" * 5000, "{{7*7}}", "😀", "shelf", "guess", "Who wins", "The numbers"),
    *("hardest first", "all labels"),
)
ODD_KEYS = (
    *("", "embed", "embed_options", "EMBED", "Embed_Options", "_known", "confidence", "page"),
    *("confidence-1", "preset-digits-candidate", "losses-file-0", "constructor", "__proto__"),
    *("x" * 500, "é", "a b"),
)
OWN_KEYS = {
    "compare": ("tab", "pair"),
    "case": ("case", "order", "label", "width", "own", "more"),
    "report": ("audience", "title", "note", "sections"),
    "learn": ("lesson", "lecture"),
}
BASE = [("dataset", "iris"), ("trials", "20"), ("algorithms", "naive-bayes")]
BASE += [("algorithms", "dummy"), ("algorithms", "knn")]
LARGE = tuple(f"dataset=quadnoise&n=10000000&d=50{more}" for more in ("", "&variant=z-free&k=99"))


def keys_of(page: str) -> list[str]:
    """What a page reads in its link: its own keys first."""
    if PAGES[page].own_link:
        controls = {own.key for lesson in LESSONS.values() for own in lesson.controls}
        return [*OWN_KEYS[page], *sorted(controls)]
    return [*OWN_KEYS.get(page, ()), *(ENTRIES if PAGES[page].sidebar else ("alpha", "sure"))]


def value(key: str, rng: np.random.Generator) -> str:
    """A hostile value; for a choice, half the time one of its own."""
    entry = ENTRIES.get(key)
    if isinstance(entry, OneOf) and rng.random() < 0.5:
        return str(rng.choice(list(entry.labels)))
    return VALUES[int(rng.integers(len(VALUES)))]


def around(page: str, rng: np.random.Generator) -> list[tuple[str, str]]:
    """What a link says beside its hostile key: a short run, or a lesson."""
    if PAGES[page].own_link:
        return [("lesson", str(rng.choice(list(LESSONS))))]
    return list(BASE)


def every(page: str, rng: np.random.Generator) -> list[str]:
    """Each key that a page reads: empty, infinite, repeated, and something else; then odd keys."""
    found = []
    for key in keys_of(page):
        hostile = [[(key, "")], [(key, "1e999")], [(key, "inf"), (key, value(key, rng))]]
        said = [pair for pair in around(page, rng) if pair[0] != key]
        wanted = hostile if key in OWN_KEYS.get(page, ()) else [hostile[int(rng.integers(3))]]
        found += [urlencode([*said, *pairs]) for pairs in [*wanted, [(key, value(key, rng))]]]
    return found + [urlencode([*around(page, rng), (key, "1")]) for key in ODD_KEYS]


def mixed(page: str, rng: np.random.Generator) -> str:
    """Several hostile keys at once, some repeated."""
    said = around(page, rng) if rng.random() < 0.7 else []
    keys = [*keys_of(page), *ODD_KEYS]
    for key in rng.choice(keys, int(rng.integers(2, 6))):
        repeats = 1 if rng.random() < 0.8 else int(rng.integers(2, 12))
        said += [(str(key), value(str(key), rng)) for _ in range(repeats)]
    return urlencode(said)


def links(count: int, seed: int, part: int, parts: int) -> list[tuple[str, str]]:
    """For each page: every key, the largest runs that were ever asked for, then mixed ones.

    All in an order of chance, of which this is one part of so many.
    """
    rng, found = np.random.default_rng(seed), list[tuple[str, str]]()
    for page in PAGES:
        own = [*LARGE, "=1", *every(page, rng)]
        own += [mixed(page, rng) for _ in range(count - len(own))]
        found += [(page, query) for query in own[:count]]
    return [found[i] for i in rng.permutation(len(found))][part - 1 :: parts]


async def follows(own: Server, page: str, query: str) -> list[str]:
    """Open a link, look again until nothing is on its way, and leave; what went wrong."""
    visitor = Visitor(own.address, page, query)
    try:
        async with asyncio.timeout(SECONDS), visitor.there():
            await visitor.rerun()
            for _ in range(LOOKS):
                await visitor.rerun()
                if not visitor.fragment:
                    break
                await asyncio.sleep(0.3)
    except (TimeoutError, OSError) as error:
        visitor.errors.append(type(error).__name__)
    return [f"/{page}?{query[:200]}: {error[:60]}" for error in dict.fromkeys(visitor.errors)]


async def follow_all(
    own: Server, asked: list[tuple[str, str]], minutes: float
) -> tuple[list[str], list[Resident]]:
    """Links one after the other: what went wrong, and the memory at first and after each."""
    errors, resident, until = list[str](), [own.resident], time.monotonic() + 60 * minutes
    for page, query in asked:
        if time.monotonic() > until:
            break
        errors += await follows(own, page, query)
        resident.append(own.resident)
        if not len(resident) % EVERY:
            print(f"{len(resident)} links: {resident[-1]}", flush=True)
    return errors, resident


def main() -> int:
    """Print what went wrong; the exit code is 1 where anything did."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.links", description=__doc__)
    parser.add_argument("--links", type=int, default=LINKS, metavar="N", help="on each page")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M", help="at most")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--part", type=int, nargs=2, default=(1, 1), metavar=("I", "OF"))
    given = parser.parse_args()
    with server() as own:
        asked = links(given.links, given.seed, *given.part)
        errors, resident = asyncio.run(follow_all(own, asked, given.minutes))
        log = own.log.read_text(encoding="utf-8", errors="replace")
    done, most = len(resident) - 1, max(resident)
    if most is not resident[0]:
        page, query = asked[resident.index(most) - 1]
        print(f"most memory: {most} after /{page}?{query[:200]}")
    for error in errors:
        print(error)
    told = log.count("Traceback")
    if told:
        print(log[log.index("Traceback") :][:4000])
    print(
        f"{done} of {len(asked)} hostile links over {len(PAGES)} pages: {len(errors)} red boxes "
        f"or silences, {told} exceptions in the log, at most {most} resident (at most "
        f"{LIMIT / 2**20:.0f})"
    )
    return int(bool(errors or told or most.all > LIMIT))


if __name__ == "__main__":
    raise SystemExit(main())
