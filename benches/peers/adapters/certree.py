"""certree itself, from the interpreter given by `--certree-python`: nothing is installed for it."""

PACKAGES = ()
PYTHONS = ()


def prepare(table, job):
    import polars

    estimator, given = estimator_of(table, job["task"])
    fair = job["task"] in ("parity", "opportunity")
    costs = job["task"].startswith("cost-")
    called = "accuracy" if fair or costs else {"entropy": "log_loss"}.get(job["task"], job["task"])
    model = estimator(
        *([] if job["task"] == "survival" else [called]),
        leaf_penalty=job["leaf_penalty"],
        max_depth=job["max_depth"],
        time_limit=float(job["limit"]),
        # The bench stops the process at this size, libraries and data included: leave room for
        # them.
        memory_limit=0.9 * job["memory"],
        **job["options"],
    )
    if "reference" in table:
        model.set_params(reference=table["reference"])
    X = polars.DataFrame({name: table["X"][:, i] for i, name in enumerate(table["names"])})
    if costs:
        model.set_params(cost_matrix=table[job["task"]], feature_costs=feature_costs(table))
    if fair:
        X = X.with_columns(sensitive=polars.Series(table["sensitive"]))
        model.set_params(constraints=(constraint(job["task"]),))
    return model, X, given


def estimator_of(table, task):
    """The estimator, whose first parameter is the task if it has several, and what it is fitted
    to."""
    from certree import (
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

    if task == "survival":
        return OptimalSurvivalTree, [table["time"], table["event"]]
    if task == "squared_error":
        return OptimalTreeRegressor, [table["y"]]
    if task in ("dm", "ipw", "dr"):
        return OptimalPolicyTree, [
            table[name] for name in ("y", "outcome", "propensity", "predicted")
        ]
    return OptimalTreeClassifier, [table["y"]]


def feature_costs(table):
    from certree import FeatureCost

    costs = {}
    for test, (full, discounted) in enumerate(table["prices"].tolist()):
        columns = tuple(name for name, of in zip(table["names"], table["test_of"]) if of == test)
        group = int(table["group"][test])
        costs[columns] = FeatureCost(full) if group < 0 else FeatureCost(
            full, str(group), discounted
        )
    return costs


def as_lists(tree, at):
    node = tree.nodes[at]
    if node.split is None:
        return None if tree.task == "survival" else list(tree.labels).index(node.label)
    return [
        node.split.column_index, as_lists(tree, node.split.left), as_lists(tree, node.split.right)
    ]


def constraint(task):
    from certree import DemographicParity, EqualOpportunity

    from peers.tasks import MOST_DIFFERENCE

    kind = DemographicParity if task == "parity" else EqualOpportunity
    return kind("sensitive", MOST_DIFFERENCE)


def fit(prepared):
    model, X, given = prepared
    return model.fit(X, *given)


def answer(model, prepared):
    _, X, _ = prepared
    certificate = model.certificate_
    return {
        "predictions": model.predict(X),
        "leaves": int(model.get_n_leaves()),
        # Test costs are read off it, and which rows share a leaf; means are no labels.
        "tree": as_lists(model.tree_, 0) if model.tree_.task in (
            "classification", "costs", "survival"
        ) else None,
        "optimal": model.status_ in ("optimal", "optimal_given_guess"),
        "detail": {
            "status": model.status_,
            "objective": float(model.objective_),
            "lower_bound": float(model.lower_bound_),
            "nodes": int(certificate.nodes),
            "kernel_calls": int(certificate.kernel_calls),
            "peak_bytes": int(certificate.peak_bytes),
        },
    }
