//! Loss caps: no good tree pays a loss that is larger than all that its objective leaves.
//!
//! Statement: let E be what points cost at least in sum. A tree whose objective is no more than U
//! pays at no point more than U − E − λ beyond the least there. So larger losses may as well be
//! that large: the tree costs what it did, and no tree becomes better than it.
//!
//! Proof: it has a leaf, and pays at least the least loss at each of the other points.
//!
//! Invalid where losses are no sum over points, or answers are no labels.

use crate::exact::Ratio;

/// The most that a good tree pays beyond the least, at all points together: `objective`, `penalty`
/// and `unavoidable` in one unit.
pub fn most(objective: &Ratio, penalty: &Ratio, unavoidable: &Ratio) -> Ratio {
    &(objective - penalty) - unavoidable
}

/// What is kept of a loss beyond the least, and whether that is less than the loss.
pub fn capped(loss: Ratio, most: &Ratio) -> (Ratio, bool) {
    if loss > *most { (most.clone(), true) } else { (loss, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_good_tree_pays_is_kept() {
        let [objective, penalty, least] = [20, 3, 5].map(Ratio::from);
        let most = most(&objective, &penalty, &least);
        assert!(most == Ratio::from(12));
        assert!(capped(Ratio::from(12), &most) == (Ratio::from(12), false));
        assert!(capped(Ratio::from(1000), &most) == (Ratio::from(12), true));
    }
}
