"""``python -m cpp_core run | check | list``."""

import sys

from cpp_core.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
