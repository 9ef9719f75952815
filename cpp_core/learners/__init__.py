"""Estimators of our own, each with the reason why it is ours.

May import ``method``.
"""
