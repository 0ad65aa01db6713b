//! Which goals can be combined with constraints, feature costs, a reference, and missing values that
//! have a branch of their own ("missing"): the one table that every refusal reads.
//!
//! Python reads it as `_core.COMBINATIONS` and `_core.APART`, refuses by it before it reads any
//! data, and `docs/combinations.md` prints it.

use crate::error::{Error, Result};

/// A goal, by the name of its class, and the parts of a problem that it can be combined with.
pub const COMBINATIONS: [(&str, &[&str]); 9] = [
    ("Classes", &["constraints", "feature_costs", "reference", "missing"]),
    ("RowCosts", &["constraints", "feature_costs", "reference", "missing"]),
    // Constraints and prices are about labels.
    ("Squares", &["reference", "missing"]),
    // A metric does not add up over rows, but its two sums do, as those of constraints.
    ("Metric", &["constraints"]),
    // An area is about how rows are ranked, and no row has a label.
    ("RankingArea", &[]),
    // Shares, rates and answers of the user's own are no labels, and a reference has none of them.
    ("ClassShares", &["missing"]),
    ("Rates", &["missing"]),
    ("Targets", &["missing"]),
    ("Custom", &["missing"]),
];

/// Parts that no goal can be combined with at once: fronts of sums have no context and no floors,
/// and floors do not know what was bought or asked on the way.
pub const APART: [(&str, &str); 5] = [
    ("constraints", "feature_costs"),
    ("constraints", "reference"),
    ("feature_costs", "reference"),
    ("constraints", "missing"),
    ("reference", "missing"),
];

/// An error if the goal cannot be combined with one of these parts, or two of them with each other.
pub fn check(goal: &str, parts: &[&str]) -> Result<()> {
    let takes = COMBINATIONS.iter().find(|(name, _)| *name == goal).map_or(&[][..], |row| row.1);
    if let Some(part) = parts.iter().find(|part| !takes.contains(part)) {
        return Err(Error::invalid(format!("{goal} cannot be combined with {part}")));
    }
    if let Some((a, b)) = APART.iter().find(|(a, b)| parts.contains(a) && parts.contains(b)) {
        return Err(Error::invalid(format!("{a} cannot be combined with {b}")));
    }
    Ok(())
}
