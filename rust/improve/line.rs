//! Sums of points' numbers along a feature.

use crate::data::Feature;
use crate::ids::ColumnId;
use crate::problem::Problem;

/// Where ranks are more than so many for each point, points are sorted, not counted.
const SPARSE: usize = 4;

/// Points that are walked along before it is asked whether there is time.
const STRIDE: usize = 1 << 20;

/// Asks now and then whether there is time, because a category has a feature for each of its values.
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
    pub fn line<'n>(
        &mut self,
        of: &Problem,
        (feature, right): (&Feature, u64),
        points: &[u32],
        width: usize,
        numbers: impl Fn(usize) -> &'n [f64],
    ) -> Line {
        if self.column != Some(feature.column) {
            self.column = Some(feature.column);
            self.rows.clear();
            self.sums.clear();
            let codes = of.points.codes(feature.column.index());
            for (at, &point) in points.iter().enumerate() {
                let code = codes.get(point as usize) as usize;
                if code >= self.rows.len() {
                    self.rows.resize(code + 1, 0);
                    self.sums.resize((code + 1) * width, 0.0);
                }
                self.rows[code] += of.points.rows(point as usize);
                let sums = &mut self.sums[code * width..][..width];
                sums.iter_mut().zip(numbers(at)).for_each(|(sum, number)| *sum += number);
            }
        }
        let mut line = Line { ranks: vec![(0, 0), (1, 0)], sums: vec![0.0; 2 * width] };
        for (code, &rows) in self.rows.iter().enumerate() {
            line.add((right >> code) as usize & 1, rows, &self.sums[code * width..][..width]);
        }
        line
    }
}

pub struct Line {
    /// Ranks in ascending order, with their rows; some ranks may have none.
    pub ranks: Vec<(u32, u64)>,
    /// By rank: the sums of its points' numbers.
    pub sums: Vec<f64>,
}

impl Line {
    /// `numbers`: by place among the points, `width` of them.
    pub fn of<'n>(
        of: &Problem,
        feature: &Feature,
        points: &[u32],
        width: usize,
        numbers: impl Fn(usize) -> &'n [f64],
    ) -> Line {
        let rank = |point: u32| feature.rank(&of.points, point as usize);
        let n_ranks = feature.cuts as usize + 1;
        let mut line = Line { ranks: Vec::new(), sums: Vec::new() };
        if n_ranks <= points.len().saturating_mul(SPARSE) {
            line.ranks.extend((0..n_ranks as u32).map(|rank| (rank, 0)));
            line.sums.resize(n_ranks * width, 0.0);
            for (at, &point) in points.iter().enumerate() {
                line.add(rank(point) as usize, of.points.rows(point as usize), numbers(at));
            }
            return line;
        }
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(points.len());
        order.extend(points.iter().enumerate().map(|(at, &point)| (rank(point), at as u32)));
        order.sort_unstable();
        for (rank, at) in order {
            if line.ranks.last().is_none_or(|last| last.0 != rank) {
                line.ranks.push((rank, 0));
                line.sums.resize(line.sums.len() + width, 0.0);
            }
            let last = line.ranks.len() - 1;
            let rows = of.points.rows(points[at as usize] as usize);
            line.add(last, rows, numbers(at as usize));
        }
        line
    }

    fn add(&mut self, place: usize, rows: u64, numbers: &[f64]) {
        self.ranks[place].1 += rows;
        let sums = &mut self.sums[place * numbers.len()..][..numbers.len()];
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }
}
