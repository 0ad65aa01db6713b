//! Which goals can be combined with constraints, feature costs, a reference, and missing values
//! that have a branch of their own ("missing"): the one table that every refusal reads.
//!
//! Python reads it as `_core.COMBINATIONS` and `_core.APART`, refuses by it before it reads any
//! data, and `docs/combinations.md` prints it.

use crate::error::{Error, Result};

/// A goal, by the name of its class, and the parts of a problem that it can be combined with.
pub const COMBINATIONS: [(&str, &[&str]); 8] = [
    ("Classes", &["constraints", "feature_costs", "path_rules", "reference", "missing"]),
    ("RowCosts", &["constraints", "feature_costs", "path_rules", "reference", "missing"]),
    // Constraints are about labels.
    ("Squares", &["feature_costs", "path_rules", "reference", "missing"]),
    // A metric does not add up over rows, but its two sums do, as those of constraints, and what
    // tests cost.
    ("Metric", &["constraints", "feature_costs", "path_rules", "missing"]),
    // What a confusion matrix is worth is no sum, and limits would be sums of their own.
    ("Matrix", &["feature_costs", "path_rules", "missing"]),
    // An area is about how rows are ranked, and no row has a label; and a curve, which joins with
    // others before it is worth anything, knows no sum beside it.
    ("RankingArea", &["path_rules", "missing"]),
    // Shares, rates and answers of the user's own are no labels, and a reference has none of them.
    ("Additive", &["feature_costs", "path_rules", "missing"]),
    ("Custom", &["feature_costs", "path_rules", "missing"]),
];

/// Parts that no goal can be combined with at once: fronts of sums know of no floors, floors do not
/// know what was bought on the way, and rules for paths are about the user's columns,
/// of which one with a branch for missing values is two.
pub const APART: [(&str, &str); 3] =
    [("constraints", "reference"), ("feature_costs", "reference"), ("path_rules", "missing")];

/// Parts that one goal takes, but not both at once: the series of problems that a metric takes
/// under constraints knows two sums, and with feature costs a metric is searched as a confusion
/// matrix.
pub const APART_FOR: [(&str, &str, &str); 1] = [("Metric", "constraints", "feature_costs")];

/// An error if the goal cannot be combined with one of these parts, or two of them with each other.
pub fn check(goal: &str, parts: &[&str]) -> Result<()> {
    let takes = COMBINATIONS.iter().find(|(name, _)| *name == goal).map_or(&[][..], |row| row.1);
    if let Some(part) = parts.iter().find(|part| !takes.contains(part)) {
        return Err(Error::invalid(format!("{goal} cannot be combined with {part}")));
    }
    if let Some((a, b)) = APART.iter().find(|(a, b)| parts.contains(a) && parts.contains(b)) {
        return Err(Error::invalid(format!("{a} cannot be combined with {b}")));
    }
    let both = |a, b| parts.contains(&a) && parts.contains(&b);
    if let Some((_, a, b)) = APART_FOR.iter().find(|&&(own, a, b)| own == goal && both(a, b)) {
        return Err(Error::invalid(format!("{a} of a {goal} cannot be combined with {b}")));
    }
    Ok(())
}
