//! Hull: beyond two lines that no tree is below, nothing is better than where they meet.
//!
//! Statement: let no tree be below either of two lines, and let their trees, or the places where
//! they leave the polygon of all lines, be the ends of a chord. No tree between the lines and the
//! chord has a loss below the least loss at the three corners of that triangle; and if one line
//! holds at both ends, nothing is below the chord at all.
//!
//! Proof: a tree there lies in the triangle, and no point of a polygon is better than its best
//! corner (`fence`). The ends of the chord are trees that are known, or places that are no better
//! than the best tree.
//!
//! Invalid for Matthews' correlation below zero, whose level sets bend the other way.

/// weights · errors ≥ bound for all trees.
#[derive(Debug, Clone, Copy)]
pub struct Support {
    pub weights: [i64; 2],
    pub bound: i64,
}

impl Support {
    /// The line through a tree.
    pub fn through(weights: [i64; 2], tree: impl Into<[i64; 2]>) -> Support {
        Support { weights, bound: dot(weights, tree) }
    }

    /// True if the tree is on the line.
    pub fn holds(&self, tree: impl Into<[i64; 2]>) -> bool {
        dot(self.weights, tree) == self.bound
    }
}

pub fn dot(weights: [i64; 2], sums: impl Into<[i64; 2]>) -> i64 {
    let [x, y] = sums.into();
    weights[0] * x + weights[1] * y
}

/// Where two lines meet, unless they are parallel.
pub fn meet(lines: &[Support; 2]) -> Option<[f64; 2]> {
    let [[a, b], [c, d]] = lines.map(|line| line.weights.map(i128::from));
    let [v, w] = lines.map(|line| i128::from(line.bound));
    let under = a * d - b * c;
    (under != 0)
        .then(|| [(v * d - b * w) as f64 / under as f64, (a * w - v * c) as f64 / under as f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_meet_on_both() {
        let lines = [Support::through([3, 1], [2, 5]), Support::through([1, 2], [4, 1])];
        let [x, y] = meet(&lines).unwrap();
        for line in &lines {
            let [a, b] = line.weights.map(|weight| weight as f64);
            assert!((a * x + b * y - line.bound as f64).abs() < 1e-12);
        }
        assert!(lines[0].holds([2, 5]) && lines[0].holds([3, 2]) && !lines[0].holds([2, 4]));
        assert!(meet(&[lines[0], lines[0]]).is_none());
    }
}
