"""What the tests of pages share."""

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
