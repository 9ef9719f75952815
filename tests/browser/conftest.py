"""What the tests in a real browser share: the browser itself, and servers."""

import pytest

from tests.browser.visits import CHROMIUM, FLAGS, serving


@pytest.fixture(scope="package")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shared(tmp_path_factory):
    """A server for the tests that need no fresh one."""
    with serving(tmp_path_factory.mktemp("shared")) as address:
        yield address


@pytest.fixture
def server(tmp_path):
    """A fresh server with an empty store; gives its address."""
    with serving(tmp_path) as address:
        yield address
