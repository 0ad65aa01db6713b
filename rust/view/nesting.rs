//! Which questions' rows all have the question right before them, or after them.
//!
//! Cuts of a column come one after the other, and so do most Boolean columns that were made from
//! one. Whoever adds rows up by question needs such a row once, at the innermost question that it
//! has: the others follow. What holds for all rows holds for some of them, so that this is found
//! once, for the root.

#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// By question: the first of those before it, one after the other, each of which has all rows
    /// of the next. Itself if there is none.
    within: Vec<u32>,
    /// By question: the first of those before it, one after the other, all of whose rows the next
    /// one has. Itself if there is none.
    around: Vec<u32>,
}

impl Nesting {
    /// Of `n` questions, whose answers by row stand in `stride` words each.
    pub fn of(bits: &[u64], stride: usize, n: usize) -> Nesting {
        // By column: whether a row has the next column without it, and it without the next one.
        let mut only = vec![[0u64; 2]; stride];
        for row in bits.chunks_exact(stride.max(1)) {
            for (word, only) in only.iter_mut().enumerate() {
                let behind = row.get(word + 1).map_or(0, |next| next << 63);
                let (own, next) = (row[word], row[word] >> 1 | behind);
                only[0] |= next & !own;
                only[1] |= own & !next;
            }
        }
        let never = |column: usize, of: usize| only[column / 64][of] >> (column % 64) & 1 == 0;
        let mut nesting = Nesting::default();
        for column in 0..n {
            let from = |list: &[u32], of: usize| match column {
                0 => 0,
                _ if never(column - 1, of) => list[column - 1],
                _ => column as u32,
            };
            let (within, around) = (from(&nesting.within, 0), from(&nesting.around, 1));
            nesting.within.push(within);
            nesting.around.push(around);
        }
        nesting
    }

    /// Whether all rows with a question are known to have an earlier one.
    pub fn is_within(&self, question: u32, earlier: u32) -> bool {
        self.within[question as usize] <= earlier
    }

    /// Whether all rows with an earlier question are known to have this one.
    pub fn is_around(&self, question: u32, earlier: u32) -> bool {
        self.around[question as usize] <= earlier
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.within.capacity() + self.around.capacity()) * size_of::<u32>()
    }
}
