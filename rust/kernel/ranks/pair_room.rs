//! What a subproblem knows by pair of axes: it grows with the square of their number, so that wide
//! tables have no room for it.
//!
//! Without the tables a look at a cut counts all rows before it, and not only those behind the last
//! boundary; without the bounds it looks at all axes, and not only at those that may have the best
//! stump. What it finds is the same.

/// Which of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// What the rows before two boundaries sum to.
    pub tables: bool,
    /// What stumps along one axis cost at least beside the boundaries of another one.
    pub bounds: bool,
}

/// Bytes of both, if they are kept.
#[derive(Debug, Clone, Copy)]
pub struct PairBytes {
    pub tables: usize,
    pub bounds: usize,
}

impl PairBytes {
    /// What of it there is room for.
    pub fn kept(self, room: usize) -> Kept {
        let all = self.tables.saturating_add(self.bounds);
        Kept { tables: all <= room, bounds: self.bounds <= room }
    }

    /// Bytes of what there is room for.
    pub fn within(self, room: usize) -> usize {
        match self.kept(room) {
            Kept { tables: true, .. } => self.tables + self.bounds,
            Kept { bounds: true, .. } => self.bounds,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_go_first() {
        let bytes = PairBytes { tables: 100, bounds: 10 };
        let [all, some, none] = [110, 109, 9].map(|room| (bytes.kept(room), bytes.within(room)));
        assert_eq!(all, (Kept { tables: true, bounds: true }, 110));
        assert_eq!(some, (Kept { tables: false, bounds: true }, 10));
        assert_eq!(none, (Kept { tables: false, bounds: false }, 0));
    }
}
