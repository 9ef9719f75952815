"""``python -m cpp_core list``: what can be asked for."""

import argparse

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import DATASETS, load_dataset
from cpp_core.catalog.losses import LOSSES
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.cli.printing import say

BOTH = "classification or regression"


def list_command(given: argparse.Namespace) -> int:
    """Print it."""
    say(listing().split("\n"))
    return 0


def listing() -> str:
    """What can be asked for."""
    lines = ["presets:", *(f"  {name}" for name in PRESETS)]
    lines += ["variants:", *(f"  {name}" for name in VARIANTS), "datasets:"]
    lines += [f"  {name:15} {load_dataset(name).description}" for name in DATASETS]
    lines.append("algorithms:")
    lines += [f"  {a.name:15} {a.description} ({', '.join(a.tasks)})" for a in ALGORITHMS.values()]
    lines.append("losses:")
    for name, loss in LOSSES.items():
        kind = "on a batch" if loss.batch else "per case"
        lines.append(f"  {name:15} [{loss.low:g}, {loss.high:.4g}] {kind}, {loss.task or BOTH}")
    return "\n".join(lines)
