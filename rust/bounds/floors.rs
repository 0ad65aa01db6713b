//! Floors: lower bounds that a reference model guesses, and what they prove.
//!
//! Statement: let F(S) be what a reference loses on rows S, and R_F(t) = Σ over the leaves of t of
//! max(cost, F) + ℓ·leaves. (1) A tree of k leaves has R_F ≥ F(S) + kℓ. (2) If no tree has an R_F
//! below L, no tree has an objective below L − Σ (F − E), the regret of the reference.
//!
//! Proof: (1) as for equivalent points, with floors in place of the least losses. (2) For a best
//! tree t*, L ≤ R_F(t*) ≤ R(t*) + Σ max(0, F − cost) ≤ R(t*) + Σ (F − E), because no leaf costs
//! less than its E. Where each label costs a point at least what the reference does (`forgiving`),
//! and what every tree then pays is taken off, the difference of what points cost at least is
//! likewise what bounds of the guessed problem lack. `guess.rs` says how both are made.
//!
//! Invalid, without (2), as a bound on true costs: (1) is true of the guessed problem alone.

use crate::cost::Cost;
use crate::task::Task;

/// What a lower bound on the guessed problem proves of the true one: `more` is what trees cost more
/// there at least, and `upper` what some tree costs.
pub fn proved(guessed: Cost, more: Cost, (leaf_cost, upper): (Cost, Cost)) -> Cost {
    (guessed + more).max(leaf_cost).min(upper)
}

/// True if the least costs of a task's points are floors.
pub fn are_in(task: &dyn Task) -> bool {
    let structure = task.structure();
    structure.squares().is_some_and(|squares| squares.has_floors())
        || structure.classes().is_some_and(|classes| classes.has_floors())
}

#[cfg(test)]
mod tests {
    use super::proved;

    #[test]
    fn the_regret_is_taken_off() {
        assert_eq!(proved(30, -4, (2, 100)), 26);
        assert_eq!(proved(30, -40, (2, 100)), 2, "a leaf costs its penalty");
        assert_eq!(proved(30, 4, (2, 31)), 31, "a tree that costs less is known");
    }
}
