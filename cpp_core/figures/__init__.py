"""Results and facts to Plotly figures.

May import ``verdicts`` and what comes before it.
"""
