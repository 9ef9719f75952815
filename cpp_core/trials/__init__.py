"""Randomized trials of an experiment: computed, stored, watched, and read at any alpha.

May import all rooms before it.
"""
