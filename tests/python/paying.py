"""What rows pay for columns, stated once more from the columns on their paths; and a task of one's
own, to pay beside it."""

import numpy as np

from certree import FeatureCost


class Errors:
    """The lighter of two classes is wrong."""

    def leaf_cost(self, sums):
        return sums.min(axis=1)

    def answer(self, sums):
        return int(sums.argmax())

    def row_costs(self, statistics, answers):
        return statistics.sum(axis=1) - statistics[np.arange(len(answers)), answers]


def price_of(given, name, X, row):
    """What this row pays for a column, as it was given."""
    if isinstance(given, dict):
        return given[X[name][row]]
    if isinstance(given, str):
        return float(X[given][row])
    return given


def paid(model, X, costs):
    """What each row pays, from the columns on its path alone."""
    tests = {}
    for key, value in costs.items():
        test = value if isinstance(value, FeatureCost) else FeatureCost(value)
        for name in key if isinstance(key, tuple) else (key,):
            tests[name] = (key, test)
    path = model.decision_path(X)
    spent = []
    for row in range(X.height):
        total, bought = 0.0, {}
        for node in path[row].indices:
            name = model.tree_.nodes[node].column
            key, test = tests.get(name, (None, None))
            if test is None or key in bought:
                continue
            known = test.group is not None and test.group in bought.values()
            given = test.discounted if known and test.discounted is not None else test.cost
            total += price_of(given, name, X, row)
            bought[key] = test.group
        spent.append(total)
    return np.array(spent)
