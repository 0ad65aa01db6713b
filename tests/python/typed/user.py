"""A user's file, as ``mypy --strict`` and pyright read it. Each line with an ``ignore`` must be an
error."""

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import assert_type

import certree
from certree import (
    Certificate,
    DemographicParity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Progress,
    ThresholdBinarizer,
    ThresholdGuesser,
    Tree,
    frontier,
    scorers,
)
from certree.options import Route, Status


def stop(now: Progress) -> bool:
    return now.seconds < 1


X = pl.DataFrame({"age": [1, 2, 3, 4], "sex": ["f", "m", "f", "m"]})
y = [0, 0, 1, 1]
model = OptimalTreeClassifier("f1", thresholds="guess", callback=stop).fit(X, y)
for thresholds in (ThresholdBinarizer(), ThresholdGuesser()):
    OptimalTreeClassifier(thresholds=thresholds, constraints=(DemographicParity("sex", 0.1),))
OptimalTreeClassifier(thresholds={"age": [1.5, 2.5], "sex": ["f"]})
OptimalTreeRegressor("squared_error", thresholds=4).fit(X, [1.0, 2.0, 3.0, 4.0])
OptimalCostTree(thresholds="guess", random_state=1)
OptimalCostTree(thresholds={"age": 3}).fit(X, np.ones((4, 2)))
OptimalPolicyTree(thresholds="all").fit(X, rewards=np.ones((4, 2)))

OptimalTreeClassifier("acuracy")  # type: ignore[arg-type]
OptimalTreeRegressor(objective="absolut_error")  # type: ignore[arg-type]
OptimalTreeClassifier(thresholds="gues")  # type: ignore[arg-type]
OptimalSurvivalTree(thresholds="guess")  # type: ignore[arg-type]
if model.status_ == "optmal":  # type: ignore[comparison-overlap]
    print("never")

assert_type(model.status_, Status)
assert_type(model.certificate_.route, Route)
assert_type(model.certificate_, Certificate)
assert_type(model.tree_, Tree)
assert_type(model.objective_, float)
front: pl.DataFrame = frontier(model, X, y)
assert_type(certree.frontier(model, X, y, axes=("loss", "leaves")).certificate, str | None)
assert_type(scorers.objective(model, X, y), float)
assert_type(scorers.Objective(sample_weight="w")(model, X), float)
importances: NDArray[np.float64] = model.feature_importances_
output: Literal["label", "leaf", "proba"] = "leaf"
scored: pl.LazyFrame = X.lazy().with_columns(model.tree_.to_polars(output))
picture: str = model.tree_.to_svg(names={"age": "Age"}, labels=["no", "yes"], max_depth=2)
model.tree_.to_svg(names=3)  # type: ignore[arg-type]
query: str = model.tree_.to_sql("proba", dialect="postgres")
model.tree_.to_sql(dialect="oracle")  # type: ignore[arg-type]
code: str = model.tree_.to_python(output, name="score")
code = model.tree_.to_c("proba", name="score") + model.tree_.to_rust(output)
code = model.tree_.to_javascript(name="score", module=False) + model.tree_.to_pmml("ill")
cart = Tree.from_sklearn(model.tree_.to_sklearn("label"), columns=model.tree_.encoded_names)
matrix: NDArray[np.float32] = model.tree_.encode(X)
model.tree_.to_sklearn("leaf")  # type: ignore[arg-type]
blob: bytes = cart.to_onnx(missing="?").SerializeToString()
certree.report(model, X, y, sensitive="sex", path="report.html", dialect="sqlite").exists()
certree.plot_frontier(frontier(model, X, y))
certree.plot_anytime({"one": model, "other": model.certificate_}, log_time=True)
certree.plot_importances(model, max_columns=5)
