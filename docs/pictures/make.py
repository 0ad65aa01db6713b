"""Makes the pictures of the documentation: ``python docs/pictures/make.py`` writes them beside this
file, and a test fails where one of them is not what the code draws."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sklearn.datasets import load_diabetes, load_iris

from certree import OptimalTreeClassifier, OptimalTreeRegressor, frontier, notebook

FOLDER = Path(__file__).parent


def iris() -> str:
    data = load_iris()
    X = pl.DataFrame(data.data, schema=data.feature_names)
    model = OptimalTreeClassifier(max_depth=2).fit(X, data.target_names[data.target])
    return model.tree_.to_svg()


def diabetes() -> str:
    data = load_diabetes(scaled=False)
    X = pl.DataFrame(data.data, schema=data.feature_names)
    y = pl.Series("progression", data.target)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    return model.tree_.to_svg(names={"s5": "log triglycerides", "bmi": "body mass index"})


def diabetes_frontier() -> str:
    """The SVG chart that a notebook shows of a frontier: matplotlib's depends on its release."""
    data = load_diabetes(scaled=False)
    X = pl.DataFrame(data.data, schema=data.feature_names)
    front = frontier(OptimalTreeRegressor(max_depth=3, thresholds=8), X, data.target)
    return notebook.frontier_chart(front)


PICTURES = {"iris.svg": iris, "diabetes.svg": diabetes, "frontier.svg": diabetes_frontier}

if __name__ == "__main__":
    for name, make in PICTURES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
