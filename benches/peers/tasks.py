"""The objective of each task as certree defines it, from what a solver predicts: no solver's own number is trusted."""

import numpy


def objective(task, arrays, predictions, leaves, leaf_penalty, tree=None):
    """Rows whose prediction differs from `y`, and loss + penalty of all leaves. Test costs are read off the `tree`: a
    label, or [column, tree of the rows where it is false, tree of the others]."""
    predictions = numpy.asarray(predictions)
    errors = int((numpy.asarray(arrays["y"]) != predictions).sum())
    if task.startswith("cost-"):
        loss = mean_cost(arrays[task], arrays, tree)
    else:
        loss = LOSSES[task](arrays, predictions)
    return errors, loss + leaf_penalty * leaves


def mean_cost(costs, arrays, tree):
    """What rows lose and pay: each test once on a row's path, at its discounted price after one of its group."""
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


def error_rate(arrays, predictions):
    return float((numpy.asarray(arrays["y"]) != predictions).mean())


def counts(arrays, predictions):
    """True positives, false negatives, false positives, true negatives."""
    y = numpy.asarray(arrays["y"])
    return [float(((y == truth) & (predictions == label)).sum()) for truth in (1, 0) for label in (1, 0)]


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
        score = numpy.zeros(len(predictions)) if teacher == "ipw" else arrays["predicted"][rows, predictions]
        left = arrays["outcome"] if teacher == "ipw" else arrays["outcome"] - arrays["predicted"][rows, given]
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


LOSSES = {
    "accuracy": error_rate,
    "f1": one_minus_f1,
    "mcc": one_minus_mcc,
    "squared_error": squared_error_left,
    "parity": error_rate_if_fair(False),
    "opportunity": error_rate_if_fair(True),
    **{teacher: minus_mean_score(teacher) for teacher in ("dm", "ipw", "dr")},
}
