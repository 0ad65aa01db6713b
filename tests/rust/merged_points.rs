//! Tasks on fewer points, some of which stand for several: leaves cost what they did.

use std::sync::Arc;

use crate::common::additive_inputs::any_additive_input;
use crate::common::judge::ensure;
use crate::common::problems::{LossKind, Options};
use crate::common::{Random, cases, for_all, random_problem};
use certree::task::{Merging, Task, merged, testing};

/// A task of any kind.
fn any_task(rng: &mut Random) -> Result<Arc<dyn Task>, String> {
    if rng.chance(0.5) {
        let n = rng.range(2, 9);
        let scaled = any_additive_input(rng, n, 0.01).build();
        return Ok(Arc::from(scaled.map_err(|e| e.to_string())?.task));
    }
    let loss = rng.pick(&[LossKind::Any, LossKind::Rows, LossKind::Squares]);
    let options = Options { max_points: 9, loss, ..Options::default() };
    let problem = random_problem(rng.below(1 << 30) as u64, &options).problem();
    Ok(problem.map_err(|e| e.to_string())?.task)
}

#[test]
fn leaves_of_merged_points_cost_what_they_did() {
    for_all(0..cases(1_000), |seed| {
        let rng = &mut Random::new(seed);
        let task = any_task(rng)?;
        let mut points: Vec<u32> =
            (0..task.n_points() as u32).filter(|_| rng.chance(0.8)).collect();
        if points.is_empty() {
            return Ok(());
        }
        if rng.chance(0.5) {
            points.reverse();
        }
        // Each new point has one of the first ones, and the others go anywhere.
        let n = rng.range(1, points.len());
        let new: Vec<u32> =
            (0..points.len()).map(|at| if at < n { at } else { rng.below(n) } as u32).collect();
        let fewer = merged(&task, &Merging { points: &points, new: &new, n });
        ensure(fewer.n_points() == n, || format!("{} points, not {n}", fewer.n_points()))?;
        testing::obeys(fewer.as_ref()).map_err(|e| e.to_string())?;
        let of = |set: &[u32]| -> Vec<u32> {
            let all = points.iter().zip(&new).filter(|(_, new)| set.contains(new));
            all.map(|(&point, _)| point).collect()
        };
        // What no answer of a point changes may be left out.
        let more = |set: &[u32]| {
            fewer.leaf(&fewer.sum_of(set)).cost - task.leaf(&task.sum_of(&of(set))).cost
        };
        let one = |point: u32| more(&[point]);
        let set: Vec<u32> = (0..n as u32).filter(|_| rng.chance(0.6)).collect();
        let off = more(&set) - set.iter().map(|&point| one(point)).sum::<i64>();
        let rounding = task.rounding().max(fewer.rounding()) * set.len() as i64;
        ensure(set.is_empty() || off.abs() <= rounding, || format!("{set:?} of {new:?}: {off}"))?;
        for point in 0..n as u32 {
            let all = of(&[point]).into_iter();
            let lost = all.map(|point| task.worst(point as usize)).sum::<Option<i64>>();
            let own = fewer.worst(point as usize);
            // Less, where one answer is the worst of them all.
            let holds = own <= lost && own.is_some() == lost.is_some();
            ensure(holds, || format!("{point} of {new:?} loses {own:?}, and {lost:?} apart"))?;
        }
        Ok(())
    });
}
