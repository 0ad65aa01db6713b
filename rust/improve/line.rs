//! Sums of points' numbers along a feature.

use crate::data::Feature;
use crate::ids::ColumnId;
use crate::problem::Problem;

/// Where ranks are more than so many for each point, points are sorted, not counted. An empty rank
/// costs a nanosecond or two, and a point that is sorted some fifty.
const SPARSE: usize = 16;

/// Points that are walked along before it is asked whether there is time.
const STRIDE: usize = 1 << 20;

/// Asks now and then whether there is time, because a category has a feature for each of its
/// values.
#[derive(Default)]
pub struct Asked {
    walked: usize,
}

impl Asked {
    /// Before so many points are walked along.
    pub fn goes_on(&mut self, points: usize, goes_on: &dyn Fn() -> bool) -> bool {
        self.walked += points;
        if self.walked < STRIDE {
            return true;
        }
        self.walked = 0;
        goes_on()
    }
}

/// Sums by value of a column, which say what any set of its values sums to.
#[derive(Default)]
pub struct ByValue {
    column: Option<ColumnId>,
    rows: Vec<u64>,
    sums: Vec<f64>,
}

impl ByValue {
    /// The line of a feature that asks for the values whose bits are set. Features of a column come
    /// one after the other, so that its points are walked once.
    pub fn fill(
        &mut self,
        line: &mut Line,
        of: &Problem,
        (feature, right): (&Feature, u64),
        points: &[u32],
        (width, numbers): (usize, &[f64]),
    ) {
        if self.column != Some(feature.column) {
            self.column = Some(feature.column);
            self.rows.clear();
            self.sums.clear();
            let codes = of.points.codes(feature.column.index());
            for (&point, own) in points.iter().zip(numbers.chunks_exact(width)) {
                let code = codes.get(point as usize) as usize;
                if code >= self.rows.len() {
                    self.rows.resize(code + 1, 0);
                    self.sums.resize((code + 1) * width, 0.0);
                }
                self.rows[code] += of.points.rows(point as usize);
                let sums = &mut self.sums[code * width..][..width];
                sums.iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
            }
        }
        line.ranks.clear();
        line.ranks.extend([(0, 0), (1, 0)]);
        line.sums.clear();
        line.sums.resize(2 * width, 0.0);
        for (code, &rows) in self.rows.iter().enumerate() {
            let rank = (right >> code) as usize & 1;
            line.ranks[rank].1 += rows;
            let sums = &mut line.sums[rank * width..][..width];
            let own = &self.sums[code * width..][..width];
            sums.iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
        }
    }
}

/// Sums by rank. It is filled again for each feature, so that nothing is allocated for one.
#[derive(Default)]
pub struct Line {
    /// Ranks in ascending order, with their rows; some ranks may have none.
    pub ranks: Vec<(u32, u64)>,
    /// By rank: the sums of its points' numbers.
    pub sums: Vec<f64>,
    /// By place among the points.
    rank_of: Vec<u32>,
    order: Vec<u64>,
}

impl Line {
    /// `numbers`: by place among the points, `width` of each.
    pub fn fill(
        &mut self,
        of: &Problem,
        feature: &Feature,
        points: &[u32],
        (width, numbers): (usize, &[f64]),
    ) {
        feature.ranks(&of.points, points, &mut self.rank_of);
        self.ranks.clear();
        self.sums.clear();
        let n_ranks = feature.cuts as usize + 1;
        if n_ranks <= points.len().saturating_mul(SPARSE) {
            self.ranks.extend((0..n_ranks as u32).map(|rank| (rank, 0)));
            self.sums.resize(n_ranks * width, 0.0);
            match width {
                1 => self.count::<1>(of, points, numbers),
                2 => self.count::<2>(of, points, numbers),
                3 => self.count::<3>(of, points, numbers),
                _ => self.count_any(of, points, (width, numbers)),
            }
            return;
        }
        let ranks = self.rank_of.iter().enumerate();
        self.order.clear();
        self.order.extend(ranks.map(|(at, &rank)| u64::from(rank) << 32 | at as u64));
        self.order.sort_unstable();
        for &both in &self.order {
            let (rank, at) = ((both >> 32) as u32, both as u32 as usize);
            if self.ranks.last().is_none_or(|last| last.0 != rank) {
                self.ranks.push((rank, 0));
                self.sums.resize(self.sums.len() + width, 0.0);
            }
            let last = self.ranks.len() - 1;
            self.ranks[last].1 += of.points.rows(points[at] as usize);
            let sums = &mut self.sums[last * width..];
            let own = &numbers[at * width..][..width];
            sums.iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
        }
    }

    /// `WIDTH` is known here, so that the loop has no loop inside.
    fn count<const WIDTH: usize>(&mut self, of: &Problem, points: &[u32], numbers: &[f64]) {
        let (sums, _) = self.sums.as_chunks_mut::<WIDTH>();
        let (numbers, _) = numbers.as_chunks::<WIDTH>();
        let rows = of.points.all_rows();
        for ((&rank, &point), own) in self.rank_of.iter().zip(points).zip(numbers) {
            self.ranks[rank as usize].1 += rows[point as usize];
            let sums = &mut sums[rank as usize];
            (0..WIDTH).for_each(|s| sums[s] += own[s]);
        }
    }

    fn count_any(&mut self, of: &Problem, points: &[u32], (width, numbers): (usize, &[f64])) {
        let ranks = self.rank_of.iter().zip(points);
        for ((&rank, &point), own) in ranks.zip(numbers.chunks_exact(width)) {
            self.ranks[rank as usize].1 += of.points.rows(point as usize);
            let sums = &mut self.sums[rank as usize * width..][..width];
            sums.iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
        }
    }
}
