"""How often what the package says is false, where the truth is known."""

import os

# Before NumPy loads: the rows run in parallel already, threads below them only get in the way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
