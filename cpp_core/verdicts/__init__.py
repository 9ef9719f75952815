"""Results to facts to sentences, each with its badge.

May import ``trials`` and what comes before it; draws nothing.
"""
