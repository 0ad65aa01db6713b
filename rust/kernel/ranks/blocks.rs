//! A node's rows by blocks of neighbouring ranks along each axis, so that pairs of axes can be
//! summed.

use crate::view::RankNode;

/// A node's rows by blocks of each axis, and their statistics.
pub struct Grid {
    pub axes: Vec<GridAxis>,
    /// By statistic, then local row.
    pub stats: Vec<Vec<i64>>,
}

pub struct GridAxis {
    /// By local row: its block.
    pub code: Vec<u8>,
    /// By block: its last rank. The cut after it is a boundary.
    pub last: Vec<u32>,
    /// By block: whether there is a cut within.
    pub open: Vec<bool>,
}

impl GridAxis {
    /// Blocks of about as many rows each.
    fn of(node: &RankNode, axis: usize, most: usize) -> Self {
        let axis = &node.axes[axis];
        let (n, ranks) = (node.len(), axis.n_ranks());
        let mut grid = GridAxis { code: vec![0; n], last: Vec::new(), open: Vec::new() };
        let mut start = 0;
        for block in 1..=most {
            if start == ranks {
                break;
            }
            let share = n * block / most;
            let end = axis.ends.partition_point(|&end| (end as usize) < share).max(start);
            let end = if block == most { ranks - 1 } else { end.min(ranks - 1) };
            grid.last.push(end as u32);
            grid.open.push(end > start);
            let from = if start == 0 { 0 } else { axis.ends[start - 1] as usize };
            for &row in &axis.order[from..axis.ends[end] as usize] {
                grid.code[row as usize] = grid.last.len() as u8 - 1;
            }
            start = end + 1;
        }
        grid
    }

    pub fn n(&self) -> usize {
        self.last.len()
    }

    /// The cut at a boundary: 0 has nothing left of it.
    pub fn cut(&self, boundary: usize) -> i64 {
        if boundary == 0 { -1 } else { i64::from(self.last[boundary - 1]) }
    }
}

impl Grid {
    /// `most`: blocks of an axis. `stat`: a statistic, of which there are `width`, of a row of the
    /// view.
    pub fn of(
        node: &RankNode,
        most: usize,
        width: usize,
        stat: impl Fn(usize, u32) -> i64,
    ) -> Grid {
        let most = most.clamp(1, 255);
        let of = |s: usize| node.rows.iter().map(|&row| stat(s, row)).collect();
        Grid {
            axes: (0..node.axes.len()).map(|axis| GridAxis::of(node, axis, most)).collect(),
            stats: (0..width).map(of).collect(),
        }
    }

    pub fn bytes(&self) -> usize {
        let axis = |axis: &GridAxis| axis.code.capacity() + 5 * axis.last.capacity();
        self.axes.iter().map(axis).sum::<usize>()
            + self.stats.iter().map(|stats| 8 * stats.capacity()).sum::<usize>()
    }
}

/// The blocks of a part's rows by axis, and their statistics.
#[derive(Default)]
pub struct PartRows {
    pub codes: Vec<Vec<u8>>,
    pub stats: Vec<Vec<i64>>,
}

impl PartRows {
    pub fn take(&mut self, rows: &[u32], grid: &Grid) {
        self.codes.resize_with(grid.axes.len(), Vec::new);
        for (codes, axis) in self.codes.iter_mut().zip(&grid.axes) {
            codes.clear();
            codes.extend(rows.iter().map(|&row| axis.code[row as usize]));
        }
        self.stats.resize_with(grid.stats.len(), Vec::new);
        for (stats, of) in self.stats.iter_mut().zip(&grid.stats) {
            stats.clear();
            stats.extend(rows.iter().map(|&row| of[row as usize]));
        }
    }

    pub fn totals(&self) -> Vec<i64> {
        self.stats.iter().map(|stats| stats.iter().sum()).collect()
    }

    pub fn bytes(&self) -> usize {
        self.codes.iter().map(Vec::capacity).sum::<usize>()
            + self.stats.iter().map(|stats| 8 * stats.capacity()).sum::<usize>()
    }
}
