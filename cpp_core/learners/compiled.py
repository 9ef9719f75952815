"""Compiled functions, kept on disk where some folder can be written.

Numba keeps what it has compiled beside the module, or in the user's cache folder. Where it may
write to neither it would refuse to compile at all; then every process compiles for itself.
"""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function, without the interpreter lock."""

    def make(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no folder to keep it in
            return njit(nogil=True, **options)(function)

    return make
