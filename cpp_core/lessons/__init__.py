"""What Learn shows: short lessons, each with its numbers and figures; no widgets.

>>> shown = LESSONS["coverage-is-random"].play(k=99)
>>> shown.finding
'84.7 % to 94.4 %'

``shown.panels[0].figure`` is its chart, for a notebook.
"""

from cpp_core.lessons.shelf import LESSONS

__all__ = ["LESSONS"]
