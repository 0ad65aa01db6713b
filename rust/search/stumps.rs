//! Trees of at most one split, whatever they lose: every cut is looked at once.
//!
//! The points are put in the order of a column's codes, so that the sums on the left side of a cut
//! are those of the cut before it and of the points between. All columns together take a time that
//! grows with points times columns, and with cuts. The other searches compare cuts in pairs,
//! because trees of two levels ask for that: a category of n values would take them n² bits.
//!
//! It is complete: the answer is the least cost over all cuts and the leaf, as the task itself
//! costs them. Questions that cost something, or that forbid others, are left to the other
//! searches.

use crate::cost::Cost;
use crate::data::{ColumnKind, right_sets};
use crate::error::Result;
use crate::ids::FeatureId;
use crate::problem::{Problem, Shape};
use crate::run::{Held, Run};
use crate::search::common::Found;
use crate::search::common::set_up::too_large;
use crate::tree::Plan;

/// Sums that are costed together: few enough to stay close by.
const TOGETHER: usize = 1 << 14;

/// Whether no tree of the problem has more than one split.
pub fn applies(problem: &Problem) -> bool {
    let Shape { max_depth, max_leaves, min_leaf_rows: _ } = problem.shape;
    let small = max_depth.is_some_and(|most| most <= 1) || max_leaves.is_some_and(|most| most <= 2);
    small && problem.feature_costs.is_none() && problem.context.is_none()
}

/// The best leaf or stump; if the run is stopped, the best of those that were looked at.
pub fn solve(problem: &Problem, run: &Run) -> Result<Found> {
    // The sweep over a column knows how many rows a side holds.
    let Shape { max_depth, max_leaves, min_leaf_rows: _ } = problem.shape;
    let mut sweep = Sweep::new(problem);
    let splits = max_depth != Some(0) && max_leaves != Some(1);
    let bytes = sweep.bytes_needed();
    if !run.fits(bytes) {
        return Err(too_large(problem, run, run.bytes() + bytes));
    }
    let _held = Held::of(run, bytes as usize);
    run.add_nodes(1);
    let is_complete = !splits || sweep.look_at_columns(run);
    let Sweep { upper, plan, .. } = sweep;
    let lower = if is_complete { upper } else { problem.leaf_cost.min(upper) };
    Ok(Found { plan, upper, lower })
}

/// The statistics of some points, and how many rows they are.
struct Sums {
    stats: Vec<i64>,
    rows: u64,
}

impl Sums {
    fn of(problem: &Problem, points: &[u32]) -> Sums {
        let mut sums = Sums { stats: vec![0; problem.task.width()], rows: 0 };
        points.iter().for_each(|&point| sums.add(problem, point));
        sums
    }

    fn add(&mut self, problem: &Problem, point: u32) {
        for (sum, stat) in self.stats.iter_mut().zip(problem.task.stats(point as usize)) {
            *sum += stat;
        }
        self.rows += problem.points.rows(point as usize);
    }

    fn clear(&mut self) {
        self.stats.fill(0);
        self.rows = 0;
    }

    fn with(&self, others: &Sums) -> Sums {
        let stats = self.stats.iter().zip(&others.stats).map(|(a, b)| a + b).collect();
        Sums { stats, rows: self.rows + others.rows }
    }

    fn without(&self, some: &Sums) -> Sums {
        let stats = self.stats.iter().zip(&some.stats).map(|(a, b)| a - b).collect();
        Sums { stats, rows: self.rows - some.rows }
    }
}

/// A split that waits to be costed.
struct Cut {
    feature: FeatureId,
    cut: u32,
}

struct Sweep<'a> {
    problem: &'a Problem,
    width: usize,
    /// Of all points.
    all: Sums,
    /// What all points cost as a leaf, and the best tree so far.
    leaf: Cost,
    upper: Cost,
    plan: Plan,
    cuts: Vec<Cut>,
    /// By waiting split: the statistics of its left side.
    lefts: Vec<i64>,
}

impl<'a> Sweep<'a> {
    fn new(problem: &'a Problem) -> Self {
        let points = 0..problem.points.len();
        let rows = points.clone().map(|point| problem.points.rows(point)).sum();
        let all = Sums { stats: problem.stats(points), rows };
        let leaf = problem.task.leaf(&all.stats).cost;
        Sweep {
            problem,
            width: all.stats.len(),
            all,
            leaf,
            upper: leaf + problem.leaf_cost,
            plan: Plan::Leaf,
            cuts: Vec::new(),
            lefts: Vec::new(),
        }
    }

    fn bytes_needed(&self) -> u64 {
        let codes = self.problem.columns.iter().map(|column| column.n_codes()).max().unwrap_or(0);
        // The waiting sums, both sides of them side by side, and their costs.
        let waiting = self.together() * (3 * self.width + 4) * size_of::<i64>();
        ((self.problem.points.len() + codes + 1) * size_of::<u32>() + waiting) as u64
    }

    fn together(&self) -> usize {
        (TOGETHER / self.width.max(1)).max(1)
    }

    /// True unless the run was stopped.
    fn look_at_columns(&mut self, run: &Run) -> bool {
        let problem = self.problem;
        let (mut starts, mut order) = (Vec::new(), vec![0; problem.points.len()]);
        let mut before = None;
        for (index, feature) in problem.features.iter().enumerate() {
            let column = feature.column.index();
            // All features of a column come one after the other.
            if before == Some(column) {
                continue;
            }
            before = Some(column);
            self.sort(column, &mut starts, &mut order);
            run.add_kernel_calls(1);
            if !self.look_at(column, index, &order, run) {
                return false;
            }
        }
        self.settle(run)
    }

    /// The points in the order of their codes, by counting.
    fn sort(&self, column: usize, starts: &mut Vec<u32>, order: &mut [u32]) {
        let codes = self.problem.points.codes(column);
        starts.clear();
        starts.resize(self.problem.columns[column].n_codes() + 1, 0);
        for point in 0..order.len() {
            starts[codes.get(point) as usize + 1] += 1;
        }
        for code in 1..starts.len() {
            starts[code] += starts[code - 1];
        }
        for point in 0..order.len() {
            let start = &mut starts[codes.get(point) as usize];
            order[*start as usize] = point as u32;
            *start += 1;
        }
    }

    /// Every cut of one column, whose first feature is `first`. True unless the run was stopped.
    fn look_at(&mut self, column: usize, first: usize, order: &[u32], run: &Run) -> bool {
        let problem = self.problem;
        let of = &problem.columns[column];
        let codes = problem.points.codes(column);
        if matches!(of.kind, ColumnKind::Sets(_)) {
            return self.look_at_sets(column, first, run);
        }
        // Points with missing values have the last code.
        let n_known = order.partition_point(|&p| Some(codes.get(p as usize)) != of.missing_code());
        let (known, others) = order.split_at(n_known);
        let missing = Sums::of(problem, others);
        let category = of.has_no_order();
        // Of those up to a code, or, of a category, of those with it.
        let mut sums = Sums::of(problem, &[]);
        for (at, &point) in known.iter().enumerate() {
            let code = codes.get(point as usize);
            sums.add(problem, point);
            if known.get(at + 1).is_some_and(|&next| codes.get(next as usize) == code) {
                continue;
            }
            let ok = if category {
                let ok = self.wait_for_value((column, first, code), &sums, &missing, run);
                sums.clear();
                ok
            } else {
                // All known values on one side is "is missing", which comes last.
                at + 1 == known.len() || self.wait_for_cut((first, code), &sums, &missing, run)
            };
            if !ok {
                return false;
            }
        }
        let Some(code) = of.missing_code() else { return true };
        let (place, cut) = of.place_of_code(code).map_or((0, of.n_cuts()), |place| (place, 0));
        let known = self.all.without(&missing);
        self.wait(Cut { feature: FeatureId::from(first + place as usize), cut }, &known, run)
    }

    /// Every way to part the values of a column. True unless the run was stopped.
    fn look_at_sets(&mut self, column: usize, first: usize, run: &Run) -> bool {
        let problem = self.problem;
        let codes = problem.points.codes(column);
        let n_codes = problem.columns[column].n_codes();
        let mut by_code: Vec<Sums> = (0..n_codes).map(|_| Sums::of(problem, &[])).collect();
        for (point, code) in codes.iter().enumerate() {
            by_code[code as usize].add(problem, point as u32);
        }
        right_sets(n_codes).enumerate().all(|(place, right)| {
            let lefts = (0..n_codes).filter(|code| right >> code & 1 == 0);
            let left = lefts.fold(Sums::of(problem, &[]), |sum, code| sum.with(&by_code[code]));
            self.wait(Cut { feature: FeatureId::from(first + place), cut: 0 }, &left, run)
        })
    }

    /// The cut after a code, with missing values on the right and on the left.
    fn wait_for_cut(
        &mut self,
        (first, code): (usize, u32),
        left: &Sums,
        missing: &Sums,
        run: &Run,
    ) -> bool {
        let cut = |feature: usize| Cut { feature: FeatureId::from(feature), cut: code };
        self.wait(cut(first), left, run)
            && (missing.rows == 0 || self.wait(cut(first + 1), &left.with(missing), run))
    }

    /// "Is this value", with missing values on the left and on the right.
    fn wait_for_value(
        &mut self,
        (column, first, code): (usize, usize, u32),
        own: &Sums,
        missing: &Sums,
        run: &Run,
    ) -> bool {
        let of = &self.problem.columns[column];
        // No question takes out the values that are not asked for.
        let Some(place) = of.place_of_code(code) else { return true };
        let cut = |feature: usize| Cut { feature: FeatureId::from(feature), cut: 0 };
        let others = self.all.without(own);
        if !self.wait(cut(first + place as usize), &others, run) {
            return false;
        }
        // The values again come after "is missing".
        let Some(is_missing) = of.missing_code().and_then(|code| of.place_of_code(code)) else {
            return true;
        };
        let feature = first + (is_missing + 1 + place) as usize;
        missing.rows == 0 || self.wait(cut(feature), &others.without(missing), run)
    }

    /// Have a split costed, if both sides hold enough rows. True unless the run was stopped.
    fn wait(&mut self, cut: Cut, left: &Sums, run: &Run) -> bool {
        let least = left.rows.min(self.all.rows - left.rows);
        if least < self.problem.shape.min_leaf_rows.max(1) {
            return true;
        }
        self.cuts.push(cut);
        self.lefts.extend_from_slice(&left.stats);
        self.cuts.len() < self.together() || self.settle(run)
    }

    /// Cost what waits. True unless the run was stopped.
    fn settle(&mut self, run: &Run) -> bool {
        let (problem, n) = (self.problem, self.cuts.len());
        // Left sides first, then right sides, by statistic.
        let mut sums = vec![0; 2 * n * self.width];
        for (at, left) in self.lefts.chunks_exact(self.width.max(1)).enumerate() {
            for (s, (left, all)) in left.iter().zip(&self.all.stats).enumerate() {
                sums[s * 2 * n + at] = *left;
                sums[s * 2 * n + n + at] = all - left;
            }
        }
        let mut costs = vec![0; 2 * n];
        problem.task.leaf_costs(&sums, &mut costs);
        let (lefts, rights) = costs.split_at(n);
        for ((Cut { feature, cut }, &left), &right) in self.cuts.iter().zip(lefts).zip(rights) {
            problem.task.check_union(self.leaf, left, right);
            let cost = left + right + 2 * problem.leaf_cost;
            if cost < self.upper {
                self.upper = cost;
                self.plan = Plan::split(*feature, *cut, Plan::Leaf, Plan::Leaf);
            }
        }
        self.cuts.clear();
        self.lefts.clear();
        run.report(problem.leaf_cost.min(self.upper), self.upper).is_none()
    }
}
