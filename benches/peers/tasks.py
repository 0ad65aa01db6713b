"""The objective of each task as certree defines it, from what a solver predicts: no solver's own
number is trusted."""

import numpy


def objective(task, arrays, predictions, leaves, leaf_penalty, tree=None):
    """Rows whose prediction differs from `y`, and loss + penalty of all leaves. Test costs, and
    which rows share a leaf, are read off the `tree`: a label, or [column, tree of the rows where it
    is false, tree of the others]."""
    predictions = numpy.asarray(predictions)
    errors = int((numpy.asarray(arrays["y"]) != predictions).sum())
    if task.startswith("cost-"):
        loss = mean_cost(arrays[task], arrays, tree)
    elif task in OF_LEAVES:
        loss = OF_LEAVES[task](arrays, leaf_of(arrays["X"], tree))
    else:
        loss = LOSSES[task](arrays, predictions)
    return errors, loss + leaf_penalty * leaves


def mean_cost(costs, arrays, tree):
    """What rows lose and pay: each test once on a row's path, at its discounted price after one of
    its group."""
    total = 0.0
    for features, truth in zip(arrays["X"], arrays["y"]):
        node, bought, groups = tree, set(), set()
        while isinstance(node, list):
            column, no, yes = node
            test = int(arrays["test_of"][column])
            group = int(arrays["group"][test])
            if test not in bought:
                total += arrays["prices"][test][int(group in groups)]
                bought.add(test)
                groups |= {group} - {-1}
            node = yes if features[column] else no
        total += costs[truth][node]
    return float(total / len(arrays["y"]))


def leaf_of(X, tree):
    """A number for the leaf that each row ends in."""
    leaves = numpy.zeros(len(X), dtype="int64")
    waiting = [(tree, numpy.arange(len(X)))]
    n = 0
    while waiting:
        node, rows = waiting.pop()
        if isinstance(node, list):
            column, no, yes = node
            right = X[rows, column] > 0
            waiting += [(no, rows[~right]), (yes, rows[right])]
        else:
            leaves[rows] = n
            n += 1
    return leaves


def impurity_of(measure):
    """What the classes of each leaf's rows have of it, as a mean over all rows."""

    def loss(arrays, leaves):
        y = numpy.asarray(arrays["y"])
        counts = numpy.zeros((leaves.max() + 1, y.max() + 1))
        numpy.add.at(counts, (leaves, y), 1.0)
        counts = counts[counts.sum(axis=1) > 0]
        return float(measure(counts, counts.sum(axis=1, keepdims=True)).sum() / len(y))

    return loss


def gini(counts, totals):
    return counts * (1.0 - counts / totals)


def entropy(counts, totals):
    return counts * numpy.log(totals / numpy.maximum(counts, 1.0))


def survival_left(arrays, leaves):
    """The deviance of proportional hazards that is left by each leaf's best hazard ratio, as a
    share of that of all rows."""
    time, event = arrays["time"], arrays["event"]
    exposure = hazards(time, event)
    left = sum(
        deviance(event[leaves == leaf], exposure[leaves == leaf]) for leaf in numpy.unique(leaves)
    )
    return float(left / deviance(event, exposure))


def hazards(time, event):
    """Nelson and Aalen's cumulative hazard at each row's time; 1 / (rows + 1) before the first
    event, as in SurTree."""
    distinct, place = numpy.unique(time, return_inverse=True)
    at_risk = numpy.cumsum(numpy.bincount(place)[::-1])[::-1]
    found = numpy.cumsum(numpy.bincount(place, weights=event) / at_risk)[place]
    return numpy.where(found > 0, found, 1.0 / (len(time) + 1))


def deviance(event, exposure):
    events = event.sum()
    if events == 0:
        return 0.0
    return float(
        2.0 * (-(event * numpy.log(exposure)).sum() - events * numpy.log(events / exposure.sum()))
    )


def error_rate(arrays, predictions):
    return float((numpy.asarray(arrays["y"]) != predictions).mean())


def counts(arrays, predictions):
    """True positives, false negatives, false positives, true negatives."""
    y = numpy.asarray(arrays["y"])
    return [
        float(((y == truth) & (predictions == label)).sum()) for truth in (1, 0) for label in (1, 0)
    ]


def one_minus_f1(arrays, predictions):
    tp, fn, fp, _ = counts(arrays, predictions)
    return 1.0 - 2 * tp / (2 * tp + fn + fp)


def one_minus_mcc(arrays, predictions):
    tp, fn, fp, tn = counts(arrays, predictions)
    under = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return 1.0 - ((tp * tn - fp * fn) / under**0.5 if under else 0.0)


def squared_error_left(arrays, predictions):
    y = numpy.asarray(arrays["y"])
    return float(((y - predictions) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def minus_mean_score(teacher):
    def loss(arrays, predictions):
        rows, given = numpy.arange(len(predictions)), arrays["y"]
        same = predictions == given
        score = numpy.zeros(len(predictions)) if teacher == "ipw" else arrays["predicted"][
            rows, predictions
        ]
        left = arrays["outcome"] if teacher == "ipw" else arrays["outcome"] - arrays[
            "predicted"
        ][rows, given]
        if teacher != "dm":
            score = score + same * left / arrays["propensity"]
        return -float(score.mean())

    return loss


# The largest difference between two groups that the fairness settings allow.
MOST_DIFFERENCE = 0.01


def error_rate_if_fair(only_positives):
    """The error rate; infinite for predictions that break the constraint."""

    def loss(arrays, predictions):
        counted = (arrays["y"] == 1) | (not only_positives)
        shares = [predictions[counted & (arrays["sensitive"] == group)].mean() for group in (0, 1)]
        if abs(shares[0] - shares[1]) > MOST_DIFFERENCE + 1e-12:
            return float("inf")
        return error_rate(arrays, predictions)

    return loss


# Losses of the leaves' rows, whatever the leaves answer.
OF_LEAVES = {"gini": impurity_of(gini), "entropy": impurity_of(entropy), "survival": survival_left}

LOSSES = {
    "accuracy": error_rate,
    "f1": one_minus_f1,
    "mcc": one_minus_mcc,
    "squared_error": squared_error_left,
    "parity": error_rate_if_fair(False),
    "opportunity": error_rate_if_fair(True),
    **{teacher: minus_mean_score(teacher) for teacher in ("dm", "ipw", "dr")},
}
