"""scikit-learn's own checks, none skipped and none expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import OptimalTreeClassifier, ThresholdBinarizer


@parametrize_with_checks([OptimalTreeClassifier(), ThresholdBinarizer()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
