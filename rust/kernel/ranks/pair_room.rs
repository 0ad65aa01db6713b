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

/// Bytes of both, and how many a subproblem may take for them.
#[derive(Debug, Clone, Copy)]
pub struct PairBytes {
    pub tables: usize,
    pub bounds: usize,
    pub room: usize,
}

impl PairBytes {
    /// Of so many axes with so many boundaries each. A table has `width` whole numbers at each of
    /// `cells` pairs of boundaries, and bounds are whole numbers, too.
    pub fn of_tables(
        axes: usize,
        boundaries: usize,
        (cells, width): (usize, usize),
        room: usize,
    ) -> PairBytes {
        PairBytes {
            tables: 8 * cells * width * (axes * (axes + 1) / 2),
            bounds: 2 * 8 * axes * axes * boundaries,
            room,
        }
    }

    /// What of it there is room for.
    pub fn kept(self) -> Kept {
        let all = self.tables.saturating_add(self.bounds);
        Kept { tables: all <= self.room, bounds: self.bounds <= self.room }
    }

    /// Bytes of what there is room for.
    pub fn bytes(self) -> usize {
        match self.kept() {
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
        let [all, some, none] = [110, 109, 9].map(|room| {
            let bytes = PairBytes { tables: 100, bounds: 10, room };
            (bytes.kept(), bytes.bytes())
        });
        assert_eq!(all, (Kept { tables: true, bounds: true }, 110));
        assert_eq!(some, (Kept { tables: false, bounds: true }, 10));
        assert_eq!(none, (Kept { tables: false, bounds: false }, 0));
    }
}
