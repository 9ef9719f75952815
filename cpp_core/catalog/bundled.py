"""The tables that come with scikit-learn: what is known of each without loading it.

To load the first one takes .6 s, nearly all of it imports, which who only lists them, or reads
losses that are stored, need not wait for. A test compares what stands here with the tables.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from numpy.typing import NDArray


class Bundled(NamedTuple):
    """A table: what it is called, where scikit-learn has it, how many cases, inputs, classes."""

    label: str
    loader: str
    size: int
    inputs: tuple[str, ...]
    classes: tuple[Any, ...] = ()
    unit: str = ""


_MEASURED = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"),
    *("concave points", "symmetry", "fractal dimension"),
)
_CELLS = (
    *(f"mean {own}" for own in _MEASURED),
    *(f"{own} error" for own in _MEASURED),
    *(f"worst {own}" for own in _MEASURED),
)
_WINE = (
    *("alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols"),
    *("flavanoids", "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue"),
    *("od280/od315_of_diluted_wines", "proline"),
)
_IRIS = tuple(f"{part} {way} (cm)" for part in ("sepal", "petal") for way in ("length", "width"))
_PERSON = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
_PIXELS = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))

BUNDLED: dict[str, Bundled] = {
    "digits": Bundled("Digits", "load_digits", 1797, _PIXELS, tuple(range(10))),
    "breast-cancer": Bundled(
        "Breast cancer", "load_breast_cancer", 569, _CELLS, ("benign", "malignant")
    ),
    "wine": Bundled("Wine", "load_wine", 178, _WINE, ("class_0", "class_1", "class_2")),
    "iris": Bundled("Iris", "load_iris", 150, _IRIS, ("setosa", "versicolor", "virginica")),
    "diabetes": Bundled("Diabetes", "load_diabetes", 442, _PERSON, unit="progression score"),
}
"""The tables by name."""


@lru_cache
def cases_of(name: str) -> tuple[NDArray, NDArray]:
    """All cases (X, y) of a table, with labels as words where scikit-learn has words."""
    from sklearn import datasets  # loads slowly: only where cases are used

    own = BUNDLED[name]
    raw = getattr(datasets, own.loader)()
    return raw.data, raw.target_names[raw.target] if own.classes else raw.target
