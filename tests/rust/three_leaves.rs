//! What the kernel says of trees of three leaves, and of a glance, against the oracle's optimum. On
//! every instruction set.

use crate::common::judge::ensure;
use crate::common::problems::{LossKind, Options, ShapeMix};
use crate::common::sets::{self, optimum};
use crate::common::{Case, for_seeds};
use certree::bits::Level;
use certree::bounds::{equivalent_points, look_ahead};
use certree::cost::Cost;
use certree::kernel::{Ask, Kernel, Lookahead};
use certree::problem::Problem;
use certree::search::brute::Brute;
use certree::view::BitView;

/// What every tree pays for the points of a set, and no view shows.
fn unavoidable_cost(problem: &Problem, set: u64) -> Cost {
    let Some(classes) = problem.task.structure().classes() else { return 0 };
    let Some(unit) = classes.uniform() else { return 0 };
    let shared = |point| classes.weights(point).iter().min().copied().unwrap_or(0);
    let sum: i64 = sets::points(set).map(shared).sum();
    sum * (classes.n_classes() as i64 - 1) * unit
}

fn check(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let bits = BitView::new(&problem.features, &problem.points, problem.task.as_ref(), false);
    let mut oracle = Brute::new(&problem);
    let (leaf_cost, all) = (problem.leaf_cost, sets::all(&problem));
    for level in Level::all() {
        let mut kernel = Kernel::new(&bits, problem.task.as_ref(), level);
        let mut look = Lookahead::default();
        let never = || false;
        let ask = Ask { min_rows: 1, stumps: true, leaf_cost, ..Ask::default() };
        kernel.look(&bits.root, ask, None, &never, &mut look).expect("nobody stops it");
        for (column, &question) in bits.root.columns.iter().enumerate() {
            let question = bits.questions[question as usize];
            for (side, set) in sets::sides(&problem, all, question).into_iter().enumerate() {
                let three = unavoidable_cost(&problem, set) + look.three_leaves[column][side];
                let bound = equivalent_points::at_least(three, 3, leaf_cost);
                let bound = bound.min(optimum(&mut oracle, set, (1, None)));
                let cost = optimum(&mut oracle, set, (2, Some(3)));
                ensure(bound <= cost, || {
                    format!("{level:?} column {column} side {side}: {bound} > {cost}")
                })?;
            }
        }
        let cost =
            optimum(&mut oracle, all, (all.count_ones(), None)) - unavoidable_cost(&problem, all);
        for target in [1, leaf_cost, 2 * leaf_cost, 3 * leaf_cost, 4 * leaf_cost] {
            kernel
                .look(&bits.root, Ask { target, ..ask }, None, &never, &mut look)
                .expect("nobody stops it");
            let bound = look.at_least;
            let most = equivalent_points::at_least(0, look_ahead::BEYOND_DEPTH_TWO, leaf_cost);
            ensure(bound == 0 || bound >= target, || format!("{bound} is not {target}"))?;
            ensure(bound <= cost.min(most), || format!("{level:?}: a glance {bound} > {cost}"))?;
        }
    }
    Ok(())
}

#[test]
fn no_tree_is_cheaper() {
    let options = Options { limits: ShapeMix::Unlimited, ..Options::default() };
    for_seeds(1_000, &Options { loss: LossKind::Accuracy, ..options.clone() }, check);
    for_seeds(500, &options, check);
}
