//! Sets of rows as masks, and what a look says of the splits of one.

use crate::bounds::{equivalent_points, leaf, look_ahead};
use crate::cost::Cost;
use crate::kernel::{Ask, Kernel, Lookahead, Unfinished};
use crate::problem::Problem;
use crate::run::{Run, Status};
use crate::view::{BitView, View};

pub const UNLIMITED: u32 = u32::MAX;

/// The depth that is left below a split.
pub fn below(depth: u32) -> u32 {
    if depth == UNLIMITED { UNLIMITED } else { depth - 1 }
}

/// A split of some rows that may be within their budget: what its sides cost, by side.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub question: u32,
    /// As one leaf.
    pub leaf: [Cost; 2],
    /// As more than one leaf, at least.
    pub split: [Cost; 2],
}

impl Candidate {
    /// What a side costs, at least.
    pub fn least(&self, side: usize) -> Cost {
        self.leaf[side].min(self.split[side])
    }

    pub fn sum(&self) -> Cost {
        self.least(0) + self.least(1)
    }
}

/// Looks at sets of rows of one problem.
pub struct Looker<'a, 'run> {
    pub bits: &'a BitView,
    run: &'a Run<'run>,
    kernel: Kernel<'a>,
    level: crate::bits::Level,
    view: View,
    look: Lookahead,
    pub leaf_cost: Cost,
    min_rows: i64,
    /// By question, the rows on its 1 side.
    right: Vec<u64>,
    words: usize,
}

impl<'a, 'run> Looker<'a, 'run> {
    pub fn new(problem: &'a Problem, bits: &'a BitView, run: &'a Run<'run>) -> Self {
        let level = crate::bits::Level::detect();
        Looker {
            bits,
            run,
            kernel: Kernel::new(bits, problem.task.as_ref(), level),
            level,
            view: View::default(),
            look: Lookahead::default(),
            leaf_cost: problem.leaf_cost,
            min_rows: i64::try_from(problem.shape.min_leaf_rows).unwrap_or(i64::MAX),
            right: bits.root.by_column(),
            words: bits.root.len().div_ceil(64),
        }
    }

    pub fn bytes(&self) -> usize {
        self.right.capacity() * 8 + self.kernel.bytes() + self.look.bytes() + self.view.bytes()
    }

    pub fn all_rows(&self) -> Vec<u64> {
        let n = self.bits.root.len();
        (0..self.words)
            .map(|word| if n >= 64 * (word + 1) { u64::MAX } else { (1 << (n % 64)) - 1 })
            .collect()
    }

    /// The rows on one side of a question.
    pub fn side(&self, rows: &[u64], question: u32, side: usize) -> Vec<u64> {
        let right = &self.right[question as usize * self.words..][..self.words];
        let flip = if side == 1 { 0 } else { u64::MAX };
        rows.iter().zip(right).map(|(rows, right)| rows & (right ^ flip)).collect()
    }

    /// The rows on both sides of a question.
    pub fn sides(&self, rows: &[u64], question: u32, sides: &mut [Vec<u64>; 2]) {
        let right = &self.right[question as usize * self.words..][..self.words];
        let [zeros, ones] = sides;
        zeros.clear();
        zeros.extend(rows.iter().zip(right).map(|(rows, right)| rows & !right));
        ones.clear();
        ones.extend(rows.iter().zip(right).map(|(rows, right)| rows & right));
    }

    /// What the rows cost as one leaf, and their splits whose sides may cost no more than `budget`
    /// together. `depth`: what is left of it, at least 1.
    pub fn splits(
        &mut self,
        rows: &[u64],
        depth: u32,
        budget: Cost,
    ) -> Result<(Cost, Vec<Candidate>), Unfinished> {
        self.bits.root.subset(rows, self.level, &mut self.view);
        let ask = Ask { min_rows: self.min_rows, stumps: depth > 1, ..Ask::default() };
        let run = self.run;
        // Nobody else looks at the clock meanwhile.
        let halt = || run.check_time().is_some();
        self.run.add_kernel_calls(1);
        let seen = self.kernel.look(&self.view, ask, None, &halt, &mut self.look);
        if let Err(unfinished) = seen {
            run.stop(match unfinished {
                Unfinished::NoMemory => Status::MemoryLimit,
                Unfinished::Stopped | Unfinished::TaskFailed => Status::Interrupted,
            });
            return Err(unfinished);
        }
        let (look, leaf_cost) = (&self.look, self.leaf_cost);
        let of = |column: usize| {
            let (sides, stumps) = (&look.sides[column], &look.stumps[column]);
            let leaf = [0, 1].map(|side| leaf::at_most(sides[side].leaf, leaf_cost));
            let split = [0, 1].map(|side| match depth {
                1 => Cost::MAX / 4,
                2 => stumps[side] + 2 * leaf_cost,
                _ => {
                    let more = look_ahead::BEYOND_DEPTH_ONE;
                    let least = equivalent_points::at_least(sides[side].least, more, leaf_cost);
                    least.min(stumps[side] + 2 * leaf_cost)
                }
            });
            Candidate { question: self.view.columns[column], leaf, split }
        };
        // Every column of the view has rows on both sides, and without a minimum kernels need not
        // count rows that weigh nothing.
        let large = |column: &usize| {
            let sides = &look.sides[*column];
            self.min_rows <= 1 || sides.iter().all(|side| side.rows >= self.min_rows)
        };
        let found = (0..look.sides.len()).filter(large).map(of);
        Ok((look.whole.leaf + leaf_cost, found.filter(|found| found.sum() <= budget).collect()))
    }
}
