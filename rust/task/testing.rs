//! Whether a task keeps its contract, for the tests of a new one.

mod fronts;
mod random;

pub use fronts::{obeys_front, obeys_relaxation};

use super::contract::{Structure, Task};
use crate::error::{Error, Result};
pub(crate) use random::Random;

/// Sets of points that are tried.
const SETS: usize = 2_000;

/// Try every clause of [`Task`]'s contract on random sets of the task's points. The error names the
/// clause that is broken, and the points that break it.
pub fn obeys(task: &dyn Task) -> Result<()> {
    let mut random = Random(0x5eed);
    let n = task.n_points();
    let broken = |clause: &str, points: &[u32]| {
        Err(Error::task(format!("{clause}, but not for the points {points:?}")))
    };
    for point in 0..n {
        if task.stats(point).len() != task.width() {
            return broken("a point has `width` statistics", &[point as u32]);
        }
        let counts = matches!(task.structure(), Structure::Counts);
        if counts && task.stats(point).iter().any(|&s| s < 0) {
            return broken("counts are at least 0", &[point as u32]);
        }
    }
    for _ in 0..SETS {
        let share = random.next() % 4 + 1;
        let set: Vec<u32> = (0..n as u32).filter(|_| random.next() % 4 < share).collect();
        let (a, b): (Vec<u32>, Vec<u32>) =
            set.iter().partition(|_| random.next().is_multiple_of(2));
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let sums = &[&set, &a, &b].map(|points| task.sum_of(points));
        let costs = [0, 1, 2].map(|at: usize| task.leaf(&sums[at]).cost);
        if costs.iter().any(|&cost| cost < 0) {
            return broken("a leaf never costs less than 0", &set);
        }
        if costs[0] < costs[1] + costs[2] - task.rounding() {
            return broken("dividing a leaf never raises its cost by more than `rounding`", &set);
        }
        let mut together = [0; 3];
        let by_statistic = |s: usize| sums.iter().map(move |sums| sums[s]);
        let side_by_side: Vec<i64> = (0..task.width()).flat_map(by_statistic).collect();
        task.leaf_costs(&side_by_side, &mut together);
        if together != costs {
            return broken("`leaf_costs` says what `leaf` says", &set);
        }
        let least = a.iter().map(|&point| task.least(point as usize)).sum::<i64>();
        if costs[1] < least - task.rounding() * (a.len() as i64 - 1) {
            return broken("a leaf costs at least the `least` of its points", &a);
        }
        task.failure().map_or(Ok(()), Err)?;
    }
    Ok(())
}
