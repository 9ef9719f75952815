"""What a user can pick, with its label, colour, words and needs; and a user's file of losses.

May import ``method`` and ``learners``.
"""
