"""scikit-learn's trees as a forest grows them, copied without looking at their parameters again.

A forest clones its tree for each one that it grows, and asks that clone three times which
parameters it has: a fifth of a small fit. These are the same trees, which know the answer.
"""

from inspect import signature
from typing import Any, ClassVar, Self

from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)


class _Quick:
    """Parameters, and nothing nested: neither copies nor look-ups need care."""

    _names: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._names = tuple(signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, which the forest knows by name."""
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        fresh = object.__new__(type(self))
        fresh.__dict__.update(self.get_params())
        return fresh


class _QuickClassifier(_Quick, DecisionTreeClassifier):
    pass


class _QuickRegressor(_Quick, DecisionTreeRegressor):
    pass


class _QuickExtraClassifier(_Quick, ExtraTreeClassifier):
    pass


class _QuickExtraRegressor(_Quick, ExtraTreeRegressor):
    pass


QUICK: dict[type, type] = {
    DecisionTreeClassifier: _QuickClassifier,
    DecisionTreeRegressor: _QuickRegressor,
    ExtraTreeClassifier: _QuickExtraClassifier,
    ExtraTreeRegressor: _QuickExtraRegressor,
}


def quick_tree(tree: Any) -> Any:
    """The same untrained tree, quick to copy."""
    return QUICK[type(tree)](**tree.get_params())
