"""STreeD (van der Linden et al.). Its defaults have all of its bounds and the dataset cache on."""

PACKAGES = ("pystreed==1.4.0",)
PYTHONS = ("3.12", "3.11", "3.10")

IMPURITIES = {"gini": "gini-index", "entropy": "entropy"}
FAIRNESS = {"parity": "group-fairness", "opportunity": "equality-of-opportunity"}


def prepare(table, job):
    import numpy
    from pystreed import (
        STreeDClassifier,
        STreeDCostSensitiveClassifier,
        STreeDGroupFairnessClassifier,
        STreeDPrescriptivePolicyGenerator,
        STreeDRegressor,
    )

    from peers.tasks import MOST_DIFFERENCE

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        # Its sparsity cost is known to miss the optimum, and it needs a depth.
        raise ValueError("pystreed is only measured without a leaf penalty and with a depth limit")
    limits = dict(max_depth=job["max_depth"], time_limit=job["limit"], **job["options"])
    # Its own type, so that fit has nothing to convert.
    X, y = table["X"].astype("int32"), table["y"]
    if job["task"] != "squared_error":
        y = y.astype("int32")
    more = ()
    if job["task"] == "squared_error":
        # Its only task here has a leaf penalty, which is not 0 by default.
        model = STreeDRegressor(cost_complexity=0.0, **limits)
    elif job["task"].startswith("cost-"):
        model = STreeDCostSensitiveClassifier(**limits)
        more = (cost_specifier(table, job["task"]),)
    elif job["task"] in ("dm", "ipw", "dr"):
        # Known to return trees that are not the best, and to call them optimal, where scores are
        # not 0 or 1.
        model = STreeDPrescriptivePolicyGenerator(teacher_method=job["task"].upper(), **limits)
        y = numpy.column_stack([y, table["outcome"], table["propensity"], table["predicted"]])
    elif job["task"] == "survival":
        model = survival_model(**limits)
        outcomes = zip(table["event"].astype(bool).tolist(), table["time"].tolist())
        y = numpy.array(list(outcomes), dtype=[("event", bool), ("time", float)])
    elif job["task"] in IMPURITIES:
        # Known to return trees that are not of the least entropy, unless `use_terminal_solver` is
        # off.
        model = STreeDClassifier(
            "accuracy-flex", accuracy_objective=IMPURITIES[job["task"]], **limits
        )
    elif job["task"] in FAIRNESS:
        # The first column is the sensitive one; it does not split on it.
        X = numpy.column_stack([table["sensitive"], X]).astype("int32")
        model = STreeDGroupFairnessClassifier(
            FAIRNESS[job["task"]], discrimination_limit=MOST_DIFFERENCE, **limits
        )
    else:
        task = {"f1": "f1-score"}.get(job["task"], job["task"])
        model = STreeDClassifier(optimization_task=task, **limits)
    return model, X, y, more


def survival_model(**limits):
    from pystreed import STreeDSurvivalAnalysis

    class Survival(STreeDSurvivalAnalysis):
        def _compute_baseline_cumulative_hazard_function(self, events, times):
            # It indexes a list by the events, which numpy's Booleans no longer do.
            return super()._compute_baseline_cumulative_hazard_function(events.astype(int), times)

    return Survival(**limits)


def cost_specifier(table, task):
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    tests = []
    for test, (full, discounted) in enumerate(table["prices"].tolist()):
        columns = [column for column, of in enumerate(table["test_of"].tolist()) if of == test]
        group = int(table["group"][test])
        # A test alone is a group of its own. Its columns stand together: the first and the last are
        # named.
        name = "test %d" % test if group < 0 else "group %d" % group
        assert columns == list(range(columns[0], columns[-1] + 1))
        tests.append(FeatureCostSpecifier(full, discounted, name, columns[0], columns[-1]))
    return CostSpecifier(table[task].tolist(), tests)


def fit(prepared):
    model, X, y, more = prepared
    return model.fit(X, y, *more)


def answer(model, prepared):
    import numpy

    _, X, *_ = prepared
    if not model.is_fitted():
        return {"predictions": None, "leaves": None, "optimal": False, "detail": {}}
    return {
        # Curves of all rows at all times would take long, and nobody reads them.
        "predictions": numpy.zeros(len(X)) if hasattr(
            model, "predict_survival_function"
        ) else model.predict(X),
        "leaves": count_leaves(model.get_tree()),
        "tree": as_lists(model.get_tree()),
        "optimal": bool(model.fit_result.is_optimal()),
        "detail": {},
    }


def as_lists(node):
    if node.is_leaf_node():
        label = node.label
        return int(label) if isinstance(label, (int, float)) else None
    return [int(node.feature), as_lists(node.left_child), as_lists(node.right_child)]


def count_leaves(node):
    if node.is_leaf_node():
        return 1
    return count_leaves(node.left_child) + count_leaves(node.right_child)
