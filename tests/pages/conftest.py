"""What the tests of pages share."""

import sys
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="package", autouse=True)
def _packages_are_scanned_once():
    """Streamlit looks through all installed packages for components, anew for each AppTest."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True)
def _main_is_what_it_was():
    """Streamlit makes a page ``__main__``, which processes that a later test spawns would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
