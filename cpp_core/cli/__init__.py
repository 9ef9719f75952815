"""``python -m cpp_core``: run, check, list.

May import every other room.
"""
