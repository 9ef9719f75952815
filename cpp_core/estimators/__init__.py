"""CandidateCPP, AlgorithmCPP and SymbolicCPP: the constructions as scikit-learn knows them.

May import ``method``, ``learners`` and ``catalog``.
"""
