//! Neighbouring cuts: the cuts between two of one axis cost about what those two cost.
//!
//! Statement: for cuts a < t < b of one axis with worst losses of M between a and b, the sides of t
//! cost at least max(L_a + R_b, L_b + R_a − M), where L and R bound the left and the right side.
//!
//! Proof: the left of t holds the left of a, so L_t ≥ L_a, and lacks rows that can lose M − w of
//! the left of b, so L_t ≥ L_b − (M − w), where w is what a to t can lose; R_t ≥ R_b and R_t ≥ R_a
//! − w likewise. Add the first and third, or the second and fourth.
//!
//! Invalid with a minimum leaf size, where questions cost something or depend on the path, and if
//! either bound speaks of fewer leaves or levels than t may use.

use crate::cost::Cost;

/// A cut with lower bounds on both sides. −1 has nothing left of it.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub cut: i64,
    pub left: Cost,
    pub right: Cost,
}

impl Edge {
    #[inline]
    pub fn bound(&self) -> Cost {
        self.left + self.right
    }

    /// What is known of a cut between two others, of losses `before` and `after` it up to them.
    #[inline]
    pub fn between(cut: i64, (a, b): (&Edge, &Edge), before: Cost, after: Cost) -> Edge {
        Edge { cut, left: a.left.max(b.left - after), right: b.right.max(a.right - before) }
    }
}

/// A bound on all cuts between two, with worst losses of `lost` between them.
#[inline]
pub fn between(a: &Edge, b: &Edge, lost: Cost) -> Cost {
    (a.left + b.right).max(b.left + a.right - lost)
}

/// The losses behind `a` after which the bound on a cut is least.
#[inline]
pub fn weakest(a: &Edge, b: &Edge, lost: Cost) -> Cost {
    ((lost + (a.right - b.right) - (b.left - a.left)) / 2).clamp(0, lost)
}

/// What the left and the right side of a cut between two must cost for no cut from it to either of
/// them to be below `target`.
#[inline]
pub fn closing(a: &Edge, b: &Edge, target: Cost) -> [Cost; 2] {
    [target - b.right, target - a.left]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in order, each of which costs its loss on one side alone, by a label for the side.
    fn side(rows: &[(Cost, Cost)]) -> Cost {
        let sum = |of: fn(&(Cost, Cost)) -> Cost| rows.iter().map(of).sum::<Cost>();
        sum(|row| row.0).min(sum(|row| row.1))
    }

    #[test]
    fn no_cut_between_costs_less() {
        let rows = [(3, 0), (0, 2), (5, 0), (0, 4), (1, 0), (0, 7), (2, 0), (0, 1)];
        let edge = |cut: usize| Edge {
            cut: cut as i64 - 1,
            left: side(&rows[..cut]),
            right: side(&rows[cut..]),
        };
        let lost = |from: usize, to: usize| -> Cost {
            rows[from..to].iter().map(|row| row.0.max(row.1)).sum()
        };
        for a in 0..rows.len() {
            for b in a + 2..=rows.len() {
                let bound = between(&edge(a), &edge(b), lost(a, b));
                for t in a + 1..b {
                    assert!(edge(t).bound() >= bound);
                    let around = (&edge(a), &edge(b));
                    let known = Edge::between(t as i64 - 1, around, lost(a, t), lost(t, b));
                    assert!(known.left <= edge(t).left && known.right <= edge(t).right);
                    assert!(known.bound() >= bound);
                }
            }
        }
    }

    #[test]
    fn a_cut_whose_sides_close_leaves_nothing_around_it() {
        let (a, b) = (Edge { cut: 0, left: 2, right: 9 }, Edge { cut: 9, left: 8, right: 1 });
        let [left, right] = closing(&a, &b, 12);
        let middle = Edge { cut: 5, left, right };
        assert!(between(&a, &middle, 1_000) >= 12 && between(&middle, &b, 1_000) >= 12);
    }
}
