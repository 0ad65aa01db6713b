//! Pairs of splits, for two classes: the portable version of what `words` has for vector units.

use super::lanes::{LANES, Lanes};

/// A split i and 32 splits j, by class: the weight of the rows that have both, that have j, and of
/// the two sides of i.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub both: [Lanes; 2],
    pub ones_j: [Lanes; 2],
    pub one: [u16; 2],
    pub zero: [u16; 2],
}

/// What the cells of pairs say of the 0 side and the 1 side of a split, at best, lane by lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// The least errors of another split of the side.
    pub stumps: [Lanes; 2],
    /// By class, the most that a half of the side holds.
    pub halves: [[Lanes; 2]; 2],
}

impl Best {
    pub const NONE: Best = Best { stumps: [Lanes::MAX; 2], halves: [[Lanes::ZERO; 2]; 2] };
}

#[inline(always)]
pub fn two_classes(pair: &Pair, few: u16, of_i: &mut Best, of_j: &mut Best) {
    // Cells 00, 01, 10, 11: the side of i, the side of j.
    let mut cells = [[Lanes::ZERO; 4]; 2];
    for class in 0..2 {
        let [c00, c01, c10, c11] = &mut cells[class];
        for l in 0..LANES {
            let (both, j) = (pair.both[class].0[l], pair.ones_j[class].0[l]);
            c11.0[l] = both;
            c10.0[l] = pair.one[class] - both;
            c01.0[l] = j - both;
            c00.0[l] = pair.zero[class] - (j - both);
        }
    }
    // The cells of a side: of i, of j.
    const SIDES: [[[usize; 2]; 2]; 2] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]]];
    for (best, sides) in [of_i, of_j].into_iter().zip(SIDES) {
        for (side, [a, b]) in sides.into_iter().enumerate() {
            let [x, y] = &cells;
            for l in 0..LANES {
                let errors = x[a].0[l].min(y[a].0[l]).saturating_add(x[b].0[l].min(y[b].0[l]));
                best.stumps[side].0[l] = best.stumps[side].0[l].min(errors);
            }
            for class in 0..2 {
                let (own, other) = (&cells[class], &cells[1 - class]);
                let half = &mut best.halves[side][class];
                for l in 0..LANES {
                    let keep = |cell: usize| u16::from(other[cell].0[l] < few).wrapping_neg();
                    let most = (own[a].0[l] & keep(a)).max(own[b].0[l] & keep(b));
                    half.0[l] = half.0[l].max(most);
                }
            }
        }
    }
}
