//! What one kernel call says of a node, against sums over its points: sides, stumps, and the rows
//! by which two sides, or the same side of two siblings, differ. On every instruction set.

use crate::common::judge::ensure;
use crate::common::paths::PathMix;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, for_seeds, sets};
use certree::bits::Level;
use certree::cost::{Cost, INFINITE};
use certree::kernel::{Ask, BothSides, ByValues, Kernel, Lookahead};
use certree::problem::Problem;
use certree::search::brute::Brute;
use certree::view::{BitView, Cut, Offer, View};

/// A node: its rows as a kernel sees them, and as a set of points.
struct Node {
    view: View,
    set: u64,
}

/// What is left of a point's weights where errors all cost the same: weight that it has in every
/// class cancels out. With a minimum of rows per leaf, views keep all.
fn weights(problem: &Problem, point: usize) -> Option<(Vec<i64>, Cost)> {
    let classes =
        problem.task.structure().classes().filter(|_| problem.shape.min_leaf_rows <= 1)?;
    let weights = classes.weights(point);
    let shared = weights.iter().min().copied().unwrap_or(0);
    Some((weights.iter().map(|weight| weight - shared).collect(), classes.uniform()?))
}

/// Errors, by class weights, at `unit` each.
fn errors(weights: &[i64], unit: Cost) -> Cost {
    (weights.iter().sum::<i64>() - weights.iter().max().unwrap_or(&0)) * unit
}

fn leaf(problem: &Problem, set: u64) -> Cost {
    let (mut sums, mut cost) = (Vec::new(), None);
    for point in sets::points(set) {
        let Some((weights, unit)) = weights(problem, point) else { break };
        sums.resize(weights.len(), 0);
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        cost = Some(errors(&sums, unit));
    }
    cost.unwrap_or_else(|| sets::leaf(problem, set))
}

fn least(problem: &Problem, set: u64) -> Cost {
    let of = |point| weights(problem, point).map(|(weights, unit)| errors(&weights, unit));
    let sum = sets::points(set).map(of).sum::<Option<Cost>>();
    sum.unwrap_or_else(|| sets::least(problem, set))
}

fn worst(problem: &Problem, set: u64) -> Cost {
    let of = |point| weights(problem, point).map(|(w, unit)| w.iter().sum::<i64>() * unit);
    let sum = sets::points(set).map(of).sum::<Option<Cost>>();
    sum.unwrap_or_else(|| sets::worst(problem, set))
}

fn question(bits: &BitView, view: &View, column: usize) -> Cut {
    bits.questions[view.columns[column] as usize]
}

/// The root, or what is left of it after a split or two.
fn random_node(rng: &mut Random, problem: &Problem, bits: &BitView, level: Level) -> Node {
    let mut node = Node { view: bits.root.clone(), set: sets::all(problem) };
    for _ in 0..rng.below(3) {
        if node.view.columns.is_empty() {
            break;
        }
        let column = rng.below(node.view.columns.len());
        let sides = sets::sides(problem, node.set, question(bits, &node.view, column));
        let side = rng.below(2);
        let (mut view, mut varying) = (View::default(), Vec::new());
        let keys = !node.view.keys.is_empty() && rng.chance(0.5);
        node.view.child((column, side), keys, level, &mut view, &mut varying);
        if rng.chance(0.5) {
            view.keep(&varying, level);
        }
        node = Node { view, set: sides[side] };
    }
    node
}

fn stump(problem: &Problem, bits: &BitView, node: &Node, side: u64) -> Cost {
    let least = problem.shape.min_leaf_rows;
    let mut best = INFINITE;
    for column in 0..node.view.columns.len() {
        let cells = sets::sides(problem, side, question(bits, &node.view, column));
        if least <= 1 || cells.iter().all(|&cell| sets::rows(problem, cell) >= least) {
            best = best.min(cells.iter().map(|&cell| leaf(problem, cell)).sum());
        }
    }
    best
}

fn check(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let rng = &mut Random::new(case.n_points() as u64 + 99 * case.codes.len() as u64);
    let count_rows = problem.shape.min_leaf_rows > 1;
    let bits = BitView::new(&problem.features, &problem.points, problem.task.as_ref(), count_rows);
    let min_rows = problem.shape.min_leaf_rows as i64;
    for level in Level::all() {
        let mut kernel = Kernel::new(&bits, problem.task.as_ref(), level);
        let mut look = Lookahead::default();
        // One kernel again and again: nothing of the last node may stay.
        for _ in 0..3 {
            let node = random_node(rng, &problem, &bits, level);
            // Some kernels have less to say, where less is asked.
            let overlaps = rng.chance(0.5);
            let ask = Ask { min_rows, overlaps, stumps: true, ..Ask::default() };
            kernel.look(&node.view, ask, None, &|| false, &mut look).expect("nobody stops it");
            sides_and_stumps(&problem, &bits, &node, &look)
                .and_then(|()| match overlaps {
                    true => differences(&problem, &bits, &node, &look, rng),
                    false => Ok(()),
                })
                .map_err(|why| format!("{level:?}, points {:b}: {why}", node.set))?;
        }
    }
    Ok(())
}

fn sides_and_stumps(
    problem: &Problem,
    bits: &BitView,
    node: &Node,
    look: &Lookahead,
) -> Result<(), String> {
    let equal = |what: &str, is: Cost, should: Cost| {
        ensure(is == should, || format!("{what} is {is}, not {should}"))
    };
    equal("leaf", look.whole.leaf, leaf(problem, node.set))?;
    equal("worst", look.whole.worst, worst(problem, node.set))?;
    let at_most = |what: &str, is: Cost, most: Cost| {
        ensure(is <= most, || format!("{what} is {is}, more than {most}"))
    };
    // Costs by row are regrets: each row has a label without any.
    at_most("least", look.whole.least, least(problem, node.set))?;
    for column in 0..node.view.columns.len() {
        let sides = sets::sides(problem, node.set, question(bits, &node.view, column));
        for (side, &set) in sides.iter().enumerate() {
            let at = |what: &str| format!("column {column} side {side}: {what}");
            let known = look.sides[column][side];
            equal(&at("leaf"), known.leaf, leaf(problem, set))?;
            equal(&at("worst"), known.worst, worst(problem, set))?;
            equal(&at("least"), known.least, least(problem, set))?;
            if problem.shape.min_leaf_rows > 1 {
                equal(&at("rows"), known.rows, sets::rows(problem, set) as i64)?;
            }
            let told = look.stumps[column][side];
            let (told, best) = match look.has_overlaps() {
                true => (told, stump(problem, bits, node, set)),
                // By value, a stump that is no better than a leaf may be any, or none.
                false => (told.min(known.leaf), stump(problem, bits, node, set).min(known.leaf)),
            };
            equal(&at("stump"), told, best)?;
        }
    }
    Ok(())
}

/// What sums by value tell, where columns offer all sets of their values: a look, and for labels
/// what both sides of every column cost as the best trees of two levels.
fn check_by_values(case: &Case, two_labels: bool) -> Result<(), String> {
    let mut case = case.clone();
    if let Loss::Classes(input) = &mut case.loss
        && two_labels
        && input.n_labels != 2
    {
        input.costs = (0..input.n_classes).flat_map(|class| [0.5 + class as f64, 1.0]).collect();
        input.n_labels = 2;
    }
    let problem = case.problem().map_err(|e| e.to_string())?;
    let rng = &mut Random::new(case.n_points() as u64 + 99 * case.codes.len() as u64);
    let count_rows = problem.shape.min_leaf_rows > 1;
    let task = problem.task.as_ref();
    let bits = BitView::new(&problem.features, &problem.points, task, count_rows);
    let min_rows = problem.shape.min_leaf_rows as i64;
    let leaf_cost = problem.leaf_cost;
    let ask = Ask { min_rows, stumps: true, leaf_cost, ..Ask::default() };
    let mut oracle = Brute::new(&problem);
    for level in Level::all() {
        let mut kernel = Kernel::with(&bits, task, level, ByValues::Always);
        let mut look = Lookahead::default();
        for _ in 0..3 {
            let node = random_node(rng, &problem, &bits, level);
            let never = || false;
            kernel.look(&node.view, ask, None, &never, &mut look).expect("nobody stops it");
            sides_and_stumps(&problem, &bits, &node, &look)
                .map_err(|why| format!("{level:?}, points {:b}: {why}", node.set))?;
            let bytes = kernel.bytes_for_both_sides(&node.view, ask, 3);
            if bytes.is_none() {
                // Its rows came without their values, or there are none; or leaves answer with a
                // mean, or all alike.
                let few_labels = task.structure().n_labels() < 2;
                ensure(few_labels || node.view.values.is_empty(), || "no both sides".into())?;
                continue;
            }
            let found = kernel.both_sides(&node.view, ask, 3, &never, &look);
            if let Some(both) = found.expect("nobody stops it") {
                both_sides(&problem, &bits, &node, &both, &mut oracle)
                    .map_err(|why| format!("{level:?}, points {:b}: {why}", node.set))?;
            }
        }
    }
    Ok(())
}

fn both_sides(
    problem: &Problem,
    bits: &BitView,
    node: &Node,
    both: &BothSides,
    oracle: &mut Brute,
) -> Result<(), String> {
    for (column, costs) in both.costs.iter().enumerate() {
        let sides = sets::sides(problem, node.set, question(bits, &node.view, column));
        for (side, set) in sides.into_iter().enumerate().filter(|&(_, set)| set != 0) {
            // What views leave out, every tree pays.
            let unavoidable = sets::least(problem, set) - least(problem, set);
            let best = sets::optimum(oracle, set, (2, None)) - unavoidable;
            let told = costs[side];
            let right = if both.are_exact { told == best } else { told <= best };
            ensure(right, || format!("column {column} side {side} costs {best}, not {told}"))?;
            // Weights of many bits lose a little of what all rows cost, and nothing else does.
            let lost = worst(problem, node.set) / (1 << 20) + 1;
            let near = problem.shape.min_leaf_rows > 1 || best - told <= lost;
            ensure(near, || format!("column {column} side {side} costs {best}, not {told}"))?;
        }
    }
    Ok(())
}

/// Overlaps, and the rows by which siblings differ.
fn differences(
    problem: &Problem,
    bits: &BitView,
    node: &Node,
    look: &Lookahead,
    rng: &mut Random,
) -> Result<(), String> {
    let n = node.view.columns.len();
    if n == 0 {
        return Ok(());
    }
    let side = |column: usize, side: usize| {
        sets::sides(problem, node.set, question(bits, &node.view, column))[side]
    };
    let mut by_column = Vec::new();
    for _ in 0..8 {
        let (from, to) = ((rng.below(n), rng.below(2)), (rng.below(n), rng.below(2)));
        let gone = side(from.0, from.1) & !side(to.0, to.1);
        let lost = worst(problem, gone);
        let told = look.difference(from.0, from.1, to.0, to.1);
        let right = if look.has_exact_overlaps() { told == lost } else { told >= lost };
        ensure(right, || format!("{from:?} without {to:?} is {lost}, not {told}"))?;
        let (segments, n_stats) = (&bits.segments, bits.n_stats);
        let total = node.view.lost(segments, n_stats, from, to, &mut by_column);
        ensure(total == lost, || format!("{from:?} loses {lost} to {to:?}, not {total}"))?;
        for (column, &told) in by_column.iter().enumerate() {
            let lost = worst(problem, gone & side(column, 1));
            ensure(told == lost, || format!("column {column} loses {lost}, not {told}"))?;
        }
    }
    Ok(())
}

/// Prices and stumps where questions cost something, after a split or two.
fn check_prices(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let Some(costs) = &problem.feature_costs else { return Ok(()) };
    let rng = &mut Random::new(case.n_points() as u64 + 99 * case.codes.len() as u64);
    let (features, points, task) = (&problem.features, &problem.points, problem.task.as_ref());
    let bits = BitView::with_context(features, points, task, false, (Some(costs), None));
    let context = bits.context.as_ref().expect("they cost something");
    let ask = Ask { min_rows: problem.shape.min_leaf_rows as i64, stumps: true, ..Ask::default() };
    let test =
        |question: Cut| costs.of_column[features.get(question.feature.index()).column.index()];
    let all: Vec<Option<u32>> = bits.questions.iter().map(|&question| test(question)).collect();
    // That a test was bought matters if it answers more than one question.
    let lasts = |test: u32| all.iter().filter(|&&other| other == Some(test)).count() > 1;
    for level in Level::all() {
        let mut kernel = Kernel::new(&bits, task, level);
        let (mut look, mut offer) = (Lookahead::default(), Offer::default());
        let node = random_node(rng, &problem, &bits, level);
        let n = node.view.columns.len();
        let (mut state, mut bought) = (context.start(), Vec::new());
        for _ in 0..rng.below(3).min(all.len()) {
            let at = rng.below(all.len());
            state = context.enter(&state, at as u32);
            bought.extend(all[at]);
        }
        // What a question costs after those, and after one more.
        let price = |last: Option<Cut>, question: Cut| {
            let Some(own) = test(question) else { return 0 };
            let last = last.and_then(test);
            if last == Some(own) || (bought.contains(&own) && lasts(own)) {
                return 0;
            }
            let price = costs.tests[own as usize];
            let group = |&other: &u32| costs.tests[other as usize].group;
            let opened = bought.iter().chain(&last).any(|other| group(other) == price.group);
            if price.group.is_some() && opened { price.discounted } else { price.full }
        };
        let offer = context.offer(&state, &node.view.columns, &mut offer);
        let never = || false;
        (kernel.look(&node.view, ask, offer, &never, &mut look)).expect("it runs");
        let pay = |set: u64, each| sets::points(set).map(|p| costs.paid(p, each)).sum::<Cost>();
        let questions: Vec<Cut> = (0..n).map(|c| question(&bits, &node.view, c)).collect();
        for (column, &first) in questions.iter().enumerate() {
            for (side, set) in sets::sides(&problem, node.set, first).into_iter().enumerate() {
                let at = |what: &str| format!("{level:?} column {column} side {side}: {what}");
                let told = look.price(column, side);
                ensure(told.this == pay(set, price(None, first)), || at("price"))?;
                let mut best = INFINITE;
                for &then in &questions {
                    let cells = sets::sides(&problem, set, then);
                    let price = pay(set, price(Some(first), then));
                    if cells.iter().all(|&cell| cell != 0) {
                        ensure(told.next <= price, || at("the least price of another split"))?;
                    }
                    let enough = |&cell: &u64| sets::rows(&problem, cell) as i64 >= ask.min_rows;
                    if ask.min_rows <= 1 || cells.iter().all(enough) {
                        let cost: Cost = cells.iter().map(|&c| sets::leaf(&problem, c)).sum();
                        best = best.min(cost + price);
                    }
                }
                let (told, leaf) = (look.stumps[column][side], look.sides[column][side].leaf);
                // What splits nothing is no better than a leaf, whatever it seems to cost.
                let right = told.min(leaf) == best.min(leaf);
                ensure(right, || format!("{}: {told}, not {best}", at("stump")))?;
            }
        }
    }
    Ok(())
}

/// Stumps where some questions are forbidden below others, after a split or two, on some path.
fn check_rules(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let Some(context) = &problem.context else { return Ok(()) };
    let rng = &mut Random::new(case.n_points() as u64 + 99 * case.codes.len() as u64);
    let (features, points, task) = (&problem.features, &problem.points, problem.task.as_ref());
    let count_rows = problem.shape.min_leaf_rows > 1;
    let bits = BitView::with_context(features, points, task, count_rows, (None, Some(context)));
    let context = bits.context.as_ref().expect("some questions are forbidden");
    let ask = Ask { min_rows: problem.shape.min_leaf_rows as i64, stumps: true, ..Ask::default() };
    let column_of = |question: Cut| features.get(question.feature.index()).column.index();
    let columns: Vec<usize> = bits.questions.iter().map(|&q| column_of(q)).collect();
    let allows = |path: &[usize], column| case.paths.iter().all(|rule| rule.allows(path, column));
    let cost =
        |set: u64| if bits.all_rows { sets::leaf(&problem, set) } else { leaf(&problem, set) };
    for level in Level::all() {
        let mut kernel = Kernel::new(&bits, task, level);
        let (mut look, mut offer) = (Lookahead::default(), Offer::default());
        let node = random_node(rng, &problem, &bits, level);
        let (mut state, mut path) = (context.start(), Vec::new());
        for _ in 0..rng.below(3).min(columns.len()) {
            let at = rng.below(columns.len());
            // A column with one question is constant below it, and this node is none of those
            // below.
            let again = columns.iter().filter(|&&column| column == columns[at]).count() > 1;
            if again && allows(&path, columns[at]) {
                state = context.enter(&state, at as u32);
                path.push(columns[at]);
            }
        }
        let offer = context.offer(&state, &node.view.columns, &mut offer);
        let never = || false;
        (kernel.look(&node.view, ask, offer, &never, &mut look)).expect("it runs");
        let questions: Vec<Cut> =
            (0..node.view.columns.len()).map(|c| question(&bits, &node.view, c)).collect();
        for (column, &first) in questions.iter().enumerate() {
            let forbidden = !allows(&path, column_of(first));
            ensure(look.is_forbidden(column) == forbidden, || format!("{column}: {forbidden}"))?;
            if forbidden {
                continue;
            }
            let below = [&path[..], &[column_of(first)]].concat();
            for (side, set) in sets::sides(&problem, node.set, first).into_iter().enumerate() {
                let mut best = INFINITE;
                for &then in questions.iter().filter(|&&then| allows(&below, column_of(then))) {
                    let cells = sets::sides(&problem, set, then);
                    let enough = |&cell: &u64| sets::rows(&problem, cell) as i64 >= ask.min_rows;
                    if ask.min_rows <= 1 || cells.iter().all(enough) {
                        best = best.min(cells.iter().map(|&cell| cost(cell)).sum());
                    }
                }
                let (told, leaf) = (look.stumps[column][side], look.sides[column][side].leaf);
                ensure(leaf == cost(set), || format!("{level:?}: {leaf}, not {}", cost(set)))?;
                ensure(told.min(leaf) == best.min(leaf), || {
                    format!("{level:?} column {column} side {side} of {path:?}: {told}, not {best}")
                })?;
            }
        }
    }
    Ok(())
}

#[test]
fn what_paths_may_ask() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for paths in [PathMix::Most, PathMix::After, PathMix::Together, PathMix::First, PathMix::Any] {
        for_seeds(600, &Options { paths, ..Options::default() }, check_rules);
        for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
            let most =
                Options { min_points: 20, max_points: 60, loss, paths, ..Options::default() };
            let boolean = Options { columns: ColumnMix::Boolean, max_columns: 70, ..most.clone() };
            for_seeds(10, &boolean, check_rules);
            let ordered = Options { columns: ColumnMix::Ordered, max_columns: 12, ..most };
            for_seeds(10, &Options { limits: ShapeMix::MinRows, ..ordered }, check_rules);
        }
    }
}

#[test]
fn what_rows_pay() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for_seeds(600, &Options { prices: true, ..Options::default() }, check_prices);
    let row_prices = true;
    for_seeds(600, &Options { prices: true, row_prices, ..Options::default() }, check_prices);
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        let most =
            Options { min_points: 20, max_points: 60, loss, prices: true, ..Options::default() };
        let boolean = Options { columns: ColumnMix::Boolean, max_columns: 70, ..most.clone() };
        for_seeds(20, &boolean, check_prices);
        // Two lists of prices for each column.
        for_seeds(20, &Options { row_prices, max_columns: 60, ..boolean }, check_prices);
        // In fine units, that 32 bits do not hold.
        for_seeds(20, &Options { columns: ColumnMix::Category, ..most }, |case| {
            let mut fine = case.clone();
            if let Loss::Classes(input) = &mut fine.loss {
                input.costs.iter_mut().for_each(|cost| *cost *= 30_000.0);
            }
            fine.prices.tests.iter_mut().for_each(|price| {
                let full = price.full.each();
                (price.full, price.discounted) = ((full + 2.00003).into(), (full + 1.00001).into());
            });
            check_prices(&fine)
        });
    }
}

#[test]
fn sums_by_value() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        let few = Options {
            columns: ColumnMix::LargeSets,
            min_points: 4,
            max_points: 13,
            max_columns: 4,
            loss,
            ..Options::default()
        };
        let large = Options { limits: ShapeMix::MinRows, ..few.clone() };
        for two_labels in [true, false] {
            for_seeds(120, &few, |case| check_by_values(case, two_labels));
            for_seeds(60, &large, |case| check_by_values(case, two_labels));
        }
        // Enough points that every value has some.
        let more = Options { min_points: 20, max_points: 40, max_columns: 3, ..few };
        for_seeds(30, &more, |case| check_by_values(case, false));
        let large = Options { limits: ShapeMix::MinRows, ..more };
        for_seeds(15, &large, |case| check_by_values(case, false));
    }
}

#[test]
fn few_points() {
    for_seeds(1_000, &Options::default(), check);
}

#[test]
fn many_points_and_columns() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        let most = Options { min_points: 20, max_points: 60, loss, ..Options::default() };
        let boolean = Options { columns: ColumnMix::Boolean, max_columns: 70, ..most.clone() };
        for_seeds(30, &boolean, check);
        let ordered = Options { columns: ColumnMix::Ordered, max_columns: 20, ..most };
        for_seeds(30, &Options { limits: ShapeMix::MinRows, ..ordered }, check);
    }
}

/// More labels than are summed at a time.
#[test]
fn values_are_missing_in_every_column() {
    for loss in [LossKind::Accuracy, LossKind::Weighted] {
        for columns in [ColumnMix::Boolean, ColumnMix::Ordered] {
            let few = Options { loss, columns, max_columns: 6, ..Options::default() };
            let limits = ShapeMix::Unlimited;
            let wide =
                Options { min_points: 20, max_points: 60, max_columns: 70, limits, ..few.clone() };
            for (seeds, options) in [(600, few), (40, wide)] {
                for_seeds(seeds, &options, |case| {
                    let mut case = case.clone();
                    let rng = &mut Random::new(case.n_points() as u64);
                    for (column, codes) in case.columns.iter_mut().zip(&mut case.codes) {
                        column.missing = true;
                        let missing = column.missing_code().expect("values may be missing");
                        codes
                            .iter_mut()
                            .filter(|_| rng.chance(0.2))
                            .for_each(|code| *code = missing);
                    }
                    check(&case)
                });
            }
        }
    }
}

#[test]
fn many_labels() {
    let columns = ColumnMix::Boolean;
    let most =
        Options { columns, min_points: 10, max_points: 40, max_columns: 40, ..Options::default() };
    for limits in [ShapeMix::Any, ShapeMix::MinRows] {
        for_seeds(40, &Options { limits, ..most.clone() }, |case| {
            let rng = &mut Random::new(case.n_points() as u64);
            let n_labels = rng.range(5, 20);
            let costs =
                (0..case.n_points() * n_labels).map(|_| rng.below(30) as f64 / 7.0).collect();
            let loss = Loss::Rows { n_labels, costs, normalizer: 40.0, leaf_penalty: 0.01 };
            check(&Case { loss, ..case.clone() })
        });
    }
}
