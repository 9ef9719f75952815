"""``python -m benchmarks.learn``: how long a lesson takes to answer, in a real browser.

In each lesson its main control is moved a few times on one page, from the key or the click until
the script is idle and the chart drawn anew: half a second is wanted. The server is fresh, so that a
first move computes what nobody has asked for before. It takes about two minutes.
"""

import os
import shutil
from typing import NamedTuple

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.browser import FLAGS, WATCH, waited
from benchmarks.visiting import PATIENCE, server
from cpp_core.lessons import LESSONS

WANTED = 0.5


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
    main = page.get_by_test_id("stMain")
    if own.click:
        main.get_by_text(own.click[number], exact=True).first.click()
    else:
        main.get_by_role("slider").first.press(own.press)
    return waited(page)[0]


def lesson(browser: Browser, address: str, name: str) -> list[float]:
    """The moves of one lesson."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{address}/learn?lesson={name}{CONTROLS[name].query}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=1000 * PATIENCE)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    taken = [move(page, CONTROLS[name], number) for number in range(CONTROLS[name].moves)]
    page.close()
    return taken


def main() -> None:
    """Measure every lesson and print a table."""
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| lesson | first move | median | slowest | |\n| --- | --- | --- | --- | --- |")
    with server() as own, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in LESSONS:
            taken = lesson(browser, own.address, name)
            said = "as wanted" if max(taken) <= WANTED else f"over {WANTED:g} s"
            median = float(np.median(taken))
            print(f"| {name} | {taken[0]:.2f} s | {median:.2f} s | {max(taken):.2f} s | {said} |")
        browser.close()
    print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
