//! Which points stand together as one, and what they add up to.

/// Which points are kept, and where each of them goes.
#[derive(Clone, Copy)]
pub struct Merging<'a> {
    pub points: &'a [u32],
    /// By kept point: its new number, below `n`. Each number is some point's.
    pub new: &'a [u32],
    pub n: usize,
}

impl Merging<'_> {
    /// The sums by new point of rows of `width` numbers.
    pub fn sums<'s>(&self, width: usize, of: impl Fn(usize) -> &'s [i64]) -> Vec<i64> {
        let mut sums = vec![0; self.n * width];
        for (&point, &new) in self.points.iter().zip(self.new) {
            let sum = &mut sums[new as usize * width..][..width];
            sum.iter_mut().zip(of(point as usize)).for_each(|(sum, s)| *sum += s);
        }
        sums
    }
}
