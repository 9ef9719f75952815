"""One file to forward, and files for other programs.

May import ``figures`` and what comes before it. Charts load slowly: the names below are loaded when
they are asked for, so that commands which draw nothing start without them.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "AUDIENCES": "document",
    "SECTIONS": "document",
    "losses_report_html": "pages",
    "report_html": "pages",
    "report_pdf": "pdf",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
