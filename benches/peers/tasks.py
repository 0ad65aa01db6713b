"""The objective of each task as certree defines it, from what a solver predicts: no solver's own number is trusted."""

import numpy


def objective(task, arrays, predictions, leaves, leaf_penalty):
    """Rows whose prediction differs from `y`, and loss + penalty of all leaves."""
    predictions = numpy.asarray(predictions)
    errors = int((numpy.asarray(arrays["y"]) != predictions).sum())
    return errors, LOSSES[task](arrays, predictions) + leaf_penalty * leaves


def error_rate(arrays, predictions):
    return float((numpy.asarray(arrays["y"]) != predictions).mean())


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
    "parity": error_rate_if_fair(False),
    "opportunity": error_rate_if_fair(True),
    **{teacher: minus_mean_score(teacher) for teacher in ("dm", "ipw", "dr")},
}
