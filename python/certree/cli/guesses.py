"""Options of a guess, and the reference models that they describe."""

from __future__ import annotations

from typing import Any

#: Parameters of the gradient boosting of a guess, by option.
BOOSTING = {"guess_trees": "n_estimators", "guess_depth": "max_depth"}


def guesses(given: dict[str, Any], task: str, n_targets: int) -> dict[str, Any]:
    """The parameters in place of the words "guess" where options say more of the guess."""
    cuts, bounds = given.get("thresholds") == "guess", given.get("reference") == "guess"
    boosting = {name: given[option] for option, name in BOOSTING.items() if option in given}
    for option in (*BOOSTING, "guess_tolerance"):
        shown = f"--{option.replace('_', '-')}"
        if option in given and not (cuts or bounds and option in BOOSTING):
            words = "--thresholds guess"
            if option in BOOSTING:
                words += " or --reference guess"
            raise ValueError(f"{shown} is for {words}")
        if option in BOOSTING and given.get(option, 1) < 1:
            raise ValueError(f"{shown}={given[option]} is not valid: it must be at least 1")
    if not boosting and "guess_tolerance" not in given:
        return {}
    # Imports scikit-learn's ensembles.
    from certree.guess import ThresholdGuesser, references

    model = (
        references.regression(n_targets, **boosting)
        if task == "regression"
        else references.classification(**boosting)
    )
    if not cuts:
        return {"reference": model}
    guesser = ThresholdGuesser(
        model,
        tolerance=given.get("guess_tolerance", 0.0),
        class_weight="balanced" if given.get("objective") == "balanced_accuracy" else None,
        random_state=given.get("random_state", 0),
    )
    # A reference that is guessed, too, is then the one that the cuts are from.
    return {"thresholds": guesser}
