"""``python -m benchmarks.learn``: how long a lesson takes to answer, in a real browser.

In each lesson its main control is moved a few times on one page, from the key or the click until
the script is idle and the chart drawn anew: half a second is wanted. The server is fresh, so that a
first move computes what nobody has asked for before. Beside it stands a bare page with a slider and
one chart, which tells how busy the machine is. It takes about two minutes.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.browser import BARE, FLAGS, WATCH, waited
from benchmarks.visiting import PATIENCE, server
from cpp_core.lessons import LESSONS

WANTED = 0.5
SHAPES = [({"height": 340, "margin": {"t": 62}}, [("bar", 50), ("line", 50)])]
"""What the bare page draws: as much as a lesson does."""


class Moved(NamedTuple):
    """What is moved in a lesson: from where, by which key or on which options, how often."""

    query: str = ""
    press: str = "ArrowRight"
    click: tuple[str, ...] = ()
    moves: int = 6


CONTROLS = {
    "guess-the-bound": Moved(),
    "quantile-lemma": Moved(),
    "coverage-is-random": Moved("&k=9"),
    "candidate-or-algorithm": Moved(),
    "fixed-or-variable-width": Moved(press="ArrowLeft", moves=4),
    "marginal-is-not-conditional": Moved("&data=simulated"),
    "overlap-trap": Moved("&rho=0.0"),
    "break-it": Moved(
        click=(
            *("Duplicated rows", "Refit on all the data", "One shared seed"),
            *("Drop failed fits", "Lowest of K", "Drift"),
        )
    ),
    "why-two-numbers": Moved("&looks=1"),
    "how-many-are-enough": Moved("&k=9"),
}


def move(page: Page, own: Moved, number: int) -> float:
    """Seconds from one move until all is drawn."""
    main = page.get_by_test_id("stApp")
    if own.click:
        main.get_by_text(own.click[number], exact=True).first.click()
    else:
        main.get_by_role("slider").first.press(own.press)
    return waited(page)[0]


def moves(browser: Browser, address: str, own: Moved) -> list[float]:
    """The moves on one page."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(address)
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=1000 * PATIENCE)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    taken = [move(page, own, number) for number in range(own.moves)]
    page.close()
    return taken


def told(name: str, taken: list[float]) -> None:
    """A line of the table."""
    said = "as wanted" if max(taken) <= WANTED else f"over {WANTED:g} s"
    figures = (taken[0], float(np.median(taken)), max(taken))
    print(f"| {name} | {' | '.join(f'{s:.2f} s' for s in figures)} | {said} |", flush=True)


def main() -> None:
    """Measure every lesson and print a table."""
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| lesson | first move | median | slowest | |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        script = Path(folder) / "bare.py"
        script.write_text(BARE.format(shapes=SHAPES), encoding="utf-8")
        with server(script) as bare, server() as own:
            told("a bare page", moves(browser, bare.address, Moved(press="ArrowLeft")))
            for name in LESSONS:
                address = f"{own.address}/learn?lesson={name}{CONTROLS[name].query}"
                told(name, moves(browser, address, CONTROLS[name]))
            told("a bare page", moves(browser, bare.address, Moved(press="ArrowLeft")))
        browser.close()
    print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
