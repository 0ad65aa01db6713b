//! What one look takes by either view, where costs are given by row.
//!
//! Steps are additions to memory. Both views add each row to one cell of each pair of what they
//! have of a row, and then cost the cells: bits have a chain of up to 32 cuts of a feature, so that
//! a feature of 100 cuts has four; ranks have each feature once, whatever its cuts.

use crate::bits::LANES;
use crate::problem::Problem;

/// Fewer cuts than these take milliseconds by either view.
const FEW_CUTS: usize = 256;

/// Cells that are costed in the time of a step, by label: they stand side by side in vectors.
const CELLS_A_STEP: usize = 4;

/// Whether a look on ranks takes fewer steps than one on bits. It is then also the better one,
/// because a search over intervals looks at no more cuts than one that looks at all.
pub fn are_shorter_on_ranks(problem: &Problem) -> bool {
    let cuts = || problem.features.iter().map(|feature| feature.cuts as usize);
    let all: usize = cuts().sum();
    if all < FEW_CUTS {
        return false;
    }
    let (rows, labels) = (problem.points.len(), problem.task.structure().n_labels());
    let (features, chains) = (cuts().count(), cuts().map(|cuts| cuts.div_ceil(LANES)).sum());
    on_ranks(rows, labels, features, all) < on_bits(rows, labels, chains, all)
}

/// Pairs of chains and of cuts, each once. The costs of a row are one vector.
fn on_bits(rows: usize, labels: usize, chains: usize, cuts: usize) -> usize {
    let pairs = |of: usize| of.saturating_mul(of + 1) / 2;
    let cells = pairs(cuts).saturating_mul(labels) / CELLS_A_STEP;
    rows.saturating_mul(pairs(chains)).saturating_add(cells)
}

/// Two labels are one sum, which is counted for either order of two features; of more labels each
/// is counted, once for both orders.
fn on_ranks(rows: usize, labels: usize, features: usize, cuts: usize) -> usize {
    let pairs = features.saturating_mul(features);
    let counted = match labels {
        2 => pairs,
        _ => pairs.saturating_mul(labels) / 2,
    };
    // No more blocks than the cells of a pair, all together, are rows.
    let blocks = (cuts / features.max(1) + 1).min(rows.isqrt());
    let cells = pairs.saturating_mul(blocks * blocks * labels) / CELLS_A_STEP;
    rows.saturating_mul(counted).saturating_add(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shorter(rows: usize, features: usize, cuts: usize, labels: usize) -> bool {
        let chains = features * cuts.div_ceil(LANES);
        on_ranks(rows, labels, features, features * cuts)
            < on_bits(rows, labels, chains, features * cuts)
    }

    #[test]
    fn ranks_take_columns_of_many_cuts() {
        for labels in [2, 3] {
            for cuts in [64, 100, 1_000, 40_000] {
                assert!(is_shorter(40_000, 5, cuts, labels), "{cuts} cuts, {labels} labels");
            }
            assert!(is_shorter(100_000, 200, 64, labels));
        }
    }

    #[test]
    fn bits_take_columns_of_few_cuts() {
        for labels in [2, 3, 8] {
            for cuts in [1, 4, 16, 32] {
                assert!(!is_shorter(40_000, 5, cuts, labels), "{cuts} cuts, {labels} labels");
                assert!(!is_shorter(2_000, 30, cuts, labels), "{cuts} cuts, {labels} labels");
            }
        }
    }
}
