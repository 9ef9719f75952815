"""The paper and beyond, as pure functions of arrays, from losses to ranks to sets.

Imports nothing of this package but ``checks``.
"""
