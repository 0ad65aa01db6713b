//! Metrics of two classes, by their definitions.

use certree::metric::Metric;

use super::Random;

/// The loss as scikit-learn's documentation defines the metric, from what is right and wrong.
pub fn loss(metric: Metric, positives: f64, negatives: f64, missed: f64, alarms: f64) -> f64 {
    let (tp, tn) = (positives - missed, negatives - alarms);
    1.0 - match metric {
        Metric::FBeta(b) => (1.0 + b * b) * tp / ((1.0 + b * b) * tp + b * b * missed + alarms),
        Metric::Jaccard => tp / (tp + missed + alarms),
        Metric::Matthews => {
            let under = (tp + alarms) * (tp + missed) * (tn + alarms) * (tn + missed);
            if under < 1e-12 { 0.0 } else { (tp * tn - alarms * missed) / under.sqrt() }
        }
    }
}

pub fn ratio(rng: &mut Random) -> Metric {
    rng.pick(&[
        Metric::FBeta(1.0),
        Metric::FBeta(1.0),
        Metric::FBeta(0.5),
        Metric::FBeta(2.0),
        Metric::FBeta(1.3),
        Metric::Jaccard,
    ])
}

pub fn any(rng: &mut Random) -> Metric {
    if rng.chance(0.4) { Metric::Matthews } else { ratio(rng) }
}
