"""How long commands take that train nothing, beside an import that every such script has."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import in_turns, timed

REFERENCE = ("-c", "import pandas, sklearn.linear_model")
LIMITS = {"check": 1.0, "--help": 0.3}


def seconds(*words: str) -> float:
    """Wall time of a process."""
    command = [sys.executable, *words]
    return timed(lambda: subprocess.run(command, capture_output=True, check=False))[0]


def rows() -> list[dict[str, Any]]:
    """``check`` of a file and ``--help``."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "losses.csv")
        file.write_text("loss\n" + "".join(f"{i / 60}\n" for i in range(60)), encoding="utf-8")
        check = ("check", str(file), "--column", "loss", "--at-most", "2")
        for words in (check, ("--help",)):
            seconds(*REFERENCE)
            turns = in_turns(
                lambda: seconds(*REFERENCE), lambda words=words: seconds("-m", "cpp_core", *words)
            )
            share = turns["ours_seconds"] / turns["reference_seconds"]
            told = f"{share:.2f} times the reference (at most {LIMITS[words[0]]})"
            work = f"python -m cpp_core {words[0]}; the reference: {REFERENCE[1]}"
            found.append({**turns, "work": work, "agreement": told})
    return found
