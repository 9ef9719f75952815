"""One file to forward, and files for other programs.

May import ``figures`` and what comes before it. Charts load slowly: what draws them is loaded when
it is asked for, so that commands which draw nothing start without them.
"""

from importlib import import_module
from typing import Any

SECTIONS = {
    "picture": "In one picture",
    "comparison": "Who is better",
    "details": "Details",
    "numbers": "The numbers",
    "appendix": "How to reproduce it",
    "columns": "Names of your table's columns and groups",
}
"""Sections that may be left out, in their order; names of columns stand in the appendix, those
of groups in the details."""

AUDIENCES = {
    "decision-maker": "the answer in words, computations folded away",
    "analyst": "every computation and every chart",
}

_HOMES = {"losses_report_html": "pages", "report_html": "pages", "report_pdf": "pdf"}
__all__ = ["AUDIENCES", "SECTIONS", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
