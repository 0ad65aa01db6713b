//! Some rows of a view, given as a mask of bits.

use super::bit_view::View;
use crate::bits::Level;

impl View {
    /// The rows whose bits are set, and of the columns those that vary among them, into `out`. Keys
    /// are left out, because whoever has a mask knows the rows by it.
    pub fn subset(&self, rows: &[u64], level: Level, out: &mut View) {
        let (stride, width) = (self.stride, self.width());
        let n_values = self.n_values();
        out.columns.clone_from(&self.columns);
        out.stride = stride;
        out.bits.clear();
        out.keys.clear();
        out.costs.clear();
        out.values.clear();
        out.ends.clear();
        let (mut any, mut all) = (vec![0u64; stride], vec![u64::MAX; stride]);
        let mut n = 0;
        for row in ones(rows) {
            while out.ends.len() < self.ends.len() && self.ends[out.ends.len()] as usize <= row {
                out.ends.push(n);
            }
            let bits = &self.bits[row * stride..(row + 1) * stride];
            out.bits.extend_from_slice(bits);
            for (word, &bits) in bits.iter().enumerate() {
                any[word] |= bits;
                all[word] &= bits;
            }
            out.costs.extend_from_slice(&self.costs[row * width..(row + 1) * width]);
            out.values.extend_from_slice(&self.values[row * n_values..(row + 1) * n_values]);
            n += 1;
        }
        out.ends.resize(self.ends.len(), n);
        out.len = n as usize;
        let varying: Vec<u64> = any.iter().zip(&all).map(|(any, all)| any & !all).collect();
        out.keep(&varying, level);
    }

    /// By column, the rows that have it, as masks one after the other.
    pub fn by_column(&self) -> Vec<u64> {
        let words = self.len.div_ceil(64);
        let mut masks = vec![0; words * self.columns.len()];
        for row in 0..self.len {
            for column in ones(&self.bits[row * self.stride..(row + 1) * self.stride]) {
                masks[column * words + row / 64] |= 1 << (row % 64);
            }
        }
        masks
    }
}

/// The places of the bits that are set, in ascending order.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let rest = |x: &u64| Some(x & (x - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(word).filter(|&word| word != 0), rest)
            .map(move |word| at * 64 + word.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_has_its_rows_and_the_columns_that_vary_in_it() {
        let rows = [[true, false, true], [true, true, false], [false, true, false]];
        let mut view = View::of_rows(&rows.map(|row| row.to_vec()), vec![5, 6, 7]);
        view.ends = vec![1, 3];
        assert_eq!(view.by_column(), [0b011, 0b110, 0b001]);
        let mut out = View::default();
        view.subset(&[0b110], Level::detect(), &mut out);
        assert_eq!((out.len(), &out.columns[..], &out.bits[..]), (2, &[0][..], &[1, 0][..]));
        assert_eq!((&out.ends[..], &out.costs[..]), (&[0, 2][..], &[6, 7][..]));
    }
}
