//! Random small problems, drawn towards what breaks searches: ties, duplicates, columns that are
//! constant, equal or complementary, penalties exactly at the break-even point of a split.

use certree::data::{Column, ColumnKind, Threshold};
use certree::problem::Shape;
use certree::task::{ClassInput, FeatureCostInput, FeatureCostList, Price, RowPrices};

use super::paths::{PathMix, random_rules};
use super::{Case, Loss, Random, Squares};

/// What to draw. The default draws everything; a test narrows it to what it is about.
#[derive(Debug, Clone)]
pub struct Options {
    pub min_points: usize,
    pub max_points: usize,
    pub max_columns: usize,
    pub loss: LossKind,
    pub columns: ColumnMix,
    pub limits: ShapeMix,
    /// Whether questions cost something.
    pub prices: bool,
    /// Whether some of them cost another price for each row.
    pub row_prices: bool,
    /// What paths may ask.
    pub paths: PathMix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    Any,
    /// 0/1 losses, whole weights.
    Accuracy,
    /// Real, decimal or huge sample weights; class weights; balanced.
    Weighted,
    CostMatrix,
    Rows,
    Squares,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnMix {
    Any,
    Boolean,
    /// Mostly ordered columns with several cuts.
    Ordered,
    Category,
    /// Mostly columns of sets of values.
    Sets,
    /// Likewise, of so many values that sums by value are kept.
    LargeSets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeMix {
    Any,
    /// Neither depth nor leaves are limited: the penalty alone decides.
    Unlimited,
    /// Leaves, and often depth and rows per leaf, are limited.
    Leaves,
    /// A minimum of rows per leaf that binds.
    MinRows,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            min_points: 1,
            max_points: 14,
            max_columns: 6,
            loss: LossKind::Any,
            columns: ColumnMix::Any,
            limits: ShapeMix::Any,
            prices: false,
            row_prices: false,
            paths: PathMix::None,
        }
    }
}

impl Options {
    /// Few points and columns, because all labellings of all trees are tried.
    pub fn for_fronts(limits: ShapeMix, paths: PathMix) -> Options {
        let (min_points, max_points, max_columns) = (2, 8, 4);
        Options { min_points, max_points, max_columns, limits, paths, ..Options::default() }
    }
}

/// One case for one seed and options, always.
pub fn random_problem(seed: u64, options: &Options) -> Case {
    let rng = &mut Random::new(seed);
    let n = rng.range(options.min_points, options.max_points);
    // Few cases without columns: there is only one tree to find.
    let n_columns = rng.below(options.max_columns + 1).max(rng.below(2));
    let mut columns = Vec::new();
    let mut codes: Vec<Vec<u32>> = Vec::new();
    for index in 0..n_columns {
        let (kind, column_codes) = random_column(rng, n, options.columns, &columns, &codes);
        columns.push(Column { name: format!("c{index}"), kind, missing: false });
        codes.push(column_codes);
    }
    if rng.chance(0.3) {
        repeat_points(rng, n, &mut codes);
    }
    let rows: Vec<u64> = match rng.below(3) {
        0 => (0..n).map(|_| rng.range(1, 6) as u64).collect(),
        _ => vec![1; n],
    };
    let kind = match options.loss {
        LossKind::Any => rng.pick(&[
            LossKind::Accuracy,
            LossKind::Accuracy,
            LossKind::Weighted,
            LossKind::CostMatrix,
            LossKind::Rows,
            LossKind::Squares,
        ]),
        kind => kind,
    };
    let loss = match kind {
        LossKind::Rows => row_costs(rng, n, &codes),
        LossKind::Squares => Loss::Squares(squares(rng, n, &codes)),
        kind => Loss::Classes(class_input(rng, kind, &rows, &codes)),
    };
    let shape = random_shape(rng, options.limits, &rows);
    let mut prices = FeatureCostList::default();
    if options.prices {
        prices = random_prices(rng, columns.len(), &loss);
    }
    if options.prices && options.row_prices {
        let masses = loss.masses(&rows);
        differ_by_row(&mut Random::new(seed ^ 0x9_71ce), &mut prices, &masses, n);
    }
    let paths = random_rules(rng, options.paths, columns.len());
    // Drawn apart, so that all else is the same with missing values and without.
    lose_values(&mut Random::new(!seed), &mut columns, &mut codes);
    Case { columns, codes, rows, loss, shape, prices, paths }
}

/// Free columns, tests of several columns, groups, discounts that make it worth to buy what nobody
/// needs, and prices near what an error costs.
fn random_prices(rng: &mut Random, n: usize, loss: &Loss) -> FeatureCostList {
    let size = match loss {
        Loss::Classes(input) => input.costs.iter().fold(0.0, |m: f64, c| m.max(c.abs())),
        Loss::Rows { costs, .. } => costs.iter().fold(0.0, |m: f64, c| m.max(c.abs())),
        Loss::Squares(_) => 1.0,
    };
    let (style, n_groups) = (rng.below(5), rng.below(3));
    let dear = matches!(loss, Loss::Squares(_)) && rng.chance(0.2);
    let tests: Vec<FeatureCostInput> = (0..n)
        .map(|_| {
            let full = match style {
                0 => rng.pick(&[0.0, 0.0, 0.01, 0.02, 0.05]),
                1 => rng.pick(&[0.0, 0.1, 0.2, 0.3]),
                2 => size * rng.pick(&[0.0, 0.05, 0.1, 0.25]),
                3 => rng.unit() * 0.2 * size,
                _ => 0.01 * rng.below(8) as f64,
            };
            // Some are more than anybody can win.
            let full = if dear && rng.chance(0.3) { full * rng.pick(&[1e3, 1e7]) } else { full };
            let discounted = full * rng.pick(&[0.0, 0.1, 0.5, 1.0]);
            let group = (n_groups > 0 && rng.chance(0.6)).then(|| 7 * rng.below(n_groups) as u32);
            FeatureCostInput { full: full.into(), discounted: discounted.into(), group }
        })
        .collect();
    let own = rng.chance(0.5);
    let test = |rng: &mut Random, column| if own { column } else { rng.below(n) };
    let of_column =
        (0..n).map(|column| (!rng.chance(0.15)).then(|| test(rng, column) as u32)).collect();
    FeatureCostList { tests, of_column, ..FeatureCostList::default() }
}

/// Make tests cost another price for each row: around what they cost, often nothing for some rows,
/// with discounts that differ, that all pay alike, or that are full. `masses`: weight by point and
/// class.
fn differ_by_row(rng: &mut Random, prices: &mut FeatureCostList, masses: &[f64], n: usize) {
    // By list, then point and class.
    let mut lists: Vec<Vec<f64>> = Vec::new();
    for test in &mut prices.tests {
        if rng.chance(0.3) {
            continue;
        }
        let (full, discounted) = (test.full.each(), test.discounted.each());
        let each =
            rng.pick(&[&[0.0, 1.0][..], &[0.5, 1.0, 2.0], &[0.0, 0.3, 1.0, 1.7, 4.0], &[1.0]]);
        let factors: Vec<f64> = masses.iter().map(|_| rng.pick(each)).collect();
        let mut list = |cost: f64| {
            let paid = masses.iter().zip(&factors).map(|(mass, factor)| mass * cost * factor);
            lists.push(paid.collect());
            Price::ByRow(lists.len() as u32 - 1)
        };
        test.full = list(full);
        test.discounted = match rng.below(3) {
            0 => 0.0.into(),
            1 => list(discounted),
            _ => test.full,
        };
    }
    let (n_lists, n_classes) = (lists.len(), masses.len() / n);
    let sums = (0..masses.len()).flat_map(|at| lists.iter().map(move |list| list[at])).collect();
    prices.by_row = RowPrices { n_lists, n_classes, sums };
}

fn random_column(
    rng: &mut Random,
    n: usize,
    mix: ColumnMix,
    columns: &[Column],
    codes: &[Vec<u32>],
) -> (ColumnKind, Vec<u32>) {
    if !columns.is_empty() && rng.chance(0.2) {
        return variation(rng, columns, codes);
    }
    let kind = match mix {
        ColumnMix::Boolean => 0,
        ColumnMix::Ordered => rng.pick(&[0, 1, 1, 1, 1]),
        ColumnMix::Category => rng.pick(&[0, 2, 2]),
        ColumnMix::Sets => rng.pick(&[0, 1, 2, 3, 3, 3]),
        ColumnMix::LargeSets => rng.pick(&[0, 1, 3, 3, 3, 3]),
        ColumnMix::Any => rng.pick(&[0, 0, 0, 1, 1, 2, 3]),
    };
    let (kind, n_codes) = match kind {
        0 => (ColumnKind::Boolean, 2),
        1 => {
            let n_cuts = if mix == ColumnMix::Ordered { rng.range(1, 9) } else { rng.below(6) };
            (ColumnKind::Ordered(cuts(rng, n_cuts)), n_cuts + 1)
        }
        3 => {
            let n_values = match mix {
                ColumnMix::LargeSets => rng.pick(&[2, 4, 5, 6, 6, 7]),
                _ => rng.pick(&[1, 2, 3, 4, 4, 5]),
            };
            (ColumnKind::Sets((0..n_values).map(|v| format!("v{v}")).collect()), n_values)
        }
        _ => {
            let n_values = rng.pick(&[1, 2, 3, 3, 4, 5]);
            let values = (0..n_values).map(|v| format!("v{v}")).collect();
            // Some categories have points with other values than those that are asked for.
            (ColumnKind::Category(values), n_values + rng.below(2))
        }
    };
    // Skewed, so that splits of one point against the rest are common; some columns are constant.
    let codes = match rng.below(12) {
        0 => vec![rng.below(n_codes) as u32; n],
        1 | 2 => (0..n).map(|_| rng.below(n_codes).min(rng.below(n_codes)) as u32).collect(),
        _ => (0..n).map(|_| rng.below(n_codes) as u32).collect(),
    };
    (kind, codes)
}

/// In half the cases some values of some columns go missing: a share of them, or all.
fn lose_values(rng: &mut Random, columns: &mut [Column], codes: &mut [Vec<u32>]) {
    if rng.chance(0.5) {
        return;
    }
    for (column, codes) in columns.iter_mut().zip(codes) {
        if rng.chance(0.5) {
            continue;
        }
        column.missing = true;
        let share = rng.pick(&[0.0, 0.1, 0.3, 0.5, 0.9, 1.0]);
        for code in codes.iter_mut() {
            if rng.chance(share) {
                *code = column.n_codes() as u32 - 1;
            }
        }
    }
}

/// An earlier column again: the same, reversed, or with one point changed.
fn variation(rng: &mut Random, columns: &[Column], codes: &[Vec<u32>]) -> (ColumnKind, Vec<u32>) {
    let which = rng.below(columns.len());
    let most = columns[which].n_codes() as u32 - 1;
    let mut new = codes[which].clone();
    match rng.below(3) {
        0 => {}
        1 => new.iter_mut().for_each(|code| *code = most - *code),
        _ => {
            let point = rng.below(new.len());
            new[point] = rng.below(most as usize + 1) as u32;
        }
    }
    (columns[which].kind.clone(), new)
}

fn cuts(rng: &mut Random, n: usize) -> Vec<Threshold> {
    let start = rng.range(0, 6) as i64 - 3;
    match rng.below(3) {
        0 => (0..n as i64).map(|i| Threshold::Int(start + 2 * i)).collect(),
        _ => (0..n as i64).map(|i| Threshold::Float((start + i) as f64 + 0.5)).collect(),
    }
}

/// Some points are copies of others in every column: no tree tells them apart.
fn repeat_points(rng: &mut Random, n: usize, codes: &mut [Vec<u32>]) {
    for _ in 0..rng.range(1, n.div_ceil(2)) {
        let (from, to) = (rng.below(n), rng.below(n));
        for column in codes.iter_mut() {
            column[to] = column[from];
        }
    }
}

/// A class below `k` for each point: at random, or some tree of the columns gives it, with noise.
fn classes(rng: &mut Random, n: usize, k: usize, codes: &[Vec<u32>]) -> Vec<usize> {
    let planted = !codes.is_empty() && rng.chance(0.7);
    let depth = rng.range(1, 3);
    let which: Vec<usize> =
        (0..depth).filter(|_| planted).map(|_| rng.below(codes.len())).collect();
    let noise = rng.pick(&[0.0, 0.0, 0.05, 0.2]);
    let by_sum = rng.chance(0.5);
    (0..n)
        .map(|p| {
            if !planted || rng.chance(noise) {
                return rng.below(k);
            }
            let seen = which.iter().map(|&column| codes[column][p] as usize);
            if by_sum {
                seen.sum::<usize>() % k
            } else {
                seen.fold(0, |at, code| 2 * at + code % 2) % k
            }
        })
        .collect()
}

fn class_input(rng: &mut Random, kind: LossKind, rows: &[u64], codes: &[Vec<u32>]) -> ClassInput {
    let n = rows.len();
    let k = rng.pick(&[1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5]);
    let truth = classes(rng, n, k, codes);
    let mut weights = vec![0.0; n * k];
    let style = if kind == LossKind::Accuracy { rng.pick(&[0, 1, 7]) } else { rng.below(8) };
    for point in 0..n {
        for row in 0..rows[point] {
            let class = if row > 0 && rng.chance(0.3) { rng.below(k) } else { truth[point] };
            weights[point * k + class] += match style {
                0 | 1 => 1.0,
                2 => rng.below(4) as f64,
                3 => rng.pick(&[0.1, 0.25, 0.5, 1.5, 3.0]),
                4 => rng.unit() * 3.0,
                5 => rng.pick(&[1e6, 123_456_789.0, 2e9, 1.0]),
                6 => rng.pick(&[1e-9, 0.0, 1.0, 1.0 / 3.0]),
                _ => rng.pick(&[1.0, 2.0, 255.0, 256.0, 4096.0]),
            };
        }
    }
    if style == 7 {
        // At the edge of what fits in 16 bits.
        let short = rng.pick(&[65534.0, 65535.0, 65536.0, 32768.0]) - weights.iter().sum::<f64>();
        weights[truth[0]] += short.max(0.0);
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        weights[truth[0]] = 1.0;
    }
    let total: f64 = weights.iter().sum();
    let (n_labels, costs) = match kind {
        LossKind::CostMatrix => cost_matrix(rng, k),
        _ => (k, (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect()),
    };
    let weighted = kind != LossKind::Accuracy;
    let class_weights = match weighted && rng.chance(0.4) {
        true => (0..k).map(|_| rng.pick(&[1.0, 2.0, 0.5, 0.3, 1.0 / 3.0, 10.0])).collect(),
        false => vec![1.0; k],
    };
    ClassInput {
        n_classes: k,
        n_labels,
        weights,
        costs,
        class_weights,
        balanced: weighted && rng.chance(0.3),
        leaf_penalty: leaf_penalty(rng, total),
    }
}

/// Zero-diagonal, with rewards, not square, or with labels that are never the best.
fn cost_matrix(rng: &mut Random, k: usize) -> (usize, Vec<f64>) {
    let n_labels = if rng.chance(0.6) { k } else { rng.range(1, 4) };
    let style = rng.below(4);
    let costs = (0..k * n_labels)
        .map(|at| match style {
            0 if at / n_labels == at % n_labels => 0.0,
            0 => rng.range(1, 9) as f64,
            1 => rng.range(0, 8) as f64 - 4.0,
            2 => rng.pick(&[0.0, 0.1, 0.35, 2.5, -1.25]),
            _ => rng.unit() * 2.0 - 1.0,
        })
        .collect();
    (n_labels, costs)
}

fn row_costs(rng: &mut Random, n: usize, codes: &[Vec<u32>]) -> Loss {
    let n_labels = rng.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let best = classes(rng, n, n_labels, codes);
    let style = rng.below(6);
    let costs: Vec<f64> = (0..n * n_labels)
        .map(|at| {
            let right = best[at / n_labels] == at % n_labels;
            match style {
                0 => f64::from(u8::from(!right)),
                1 => rng.range(0, 10) as f64 - 5.0,
                2 => rng.unit() - if right { 0.5 } else { 0.0 },
                3 => 1000.0 + rng.unit(),
                4 => 2.5,
                _ => -(rng.unit() * 1e6) * f64::from(u8::from(right)),
            }
        })
        .collect();
    let normalizer = rng.pick(&[n as f64, 1.0, n as f64 * 2.5]);
    Loss::Rows { n_labels, costs, normalizer, leaf_penalty: leaf_penalty(rng, normalizer) }
}

/// Targets of all sizes: noise, a few levels that some tree gives, ties, a large mean, an outlier,
/// constants.
fn squares(rng: &mut Random, n: usize, codes: &[Vec<u32>]) -> Squares {
    let n_outputs = rng.pick(&[1, 1, 1, 2, 3]);
    let per_point = rng.pick(&[1, 1, 1, 2, 3]);
    let n_rows = n * per_point;
    let mut targets = vec![0.0; n_rows * n_outputs];
    for output in 0..n_outputs {
        let levels = rng.range(1, 5);
        let level = classes(rng, n, levels, codes);
        let style = rng.below(8);
        let size = rng.pick(&[1.0, 1.0, 1e-3, 37.5, 1e6, 1e100, 1e-100]);
        for row in 0..n_rows {
            let level = level[row / per_point] as f64;
            targets[row * n_outputs + output] = size
                * match style {
                    0 => level,
                    1 => level + rng.unit(),
                    2 => 1e9 + level + rng.unit(),
                    3 => rng.unit() - 0.5,
                    4 => rng.range(0, 3) as f64,
                    5 if row == 0 => 1e8,
                    5 => level + rng.unit(),
                    6 => (level + rng.range(0, 9) as f64) / 10.0,
                    _ => 2.5,
                };
        }
    }
    let weights: Vec<i64> = match rng.below(5) {
        0 => (0..n_rows).map(|_| rng.range(1, 4) as i64).collect(),
        1 => (0..n_rows).map(|_| 1 + (rng.next() >> 10) as i64 / n_rows as i64).collect(),
        2 => (0..n_rows).map(|_| rng.pick(&[1, 1 << 20, 1 << 50])).collect(),
        _ => vec![1; n_rows],
    };
    let leaf_penalty = leaf_penalty(rng, n as f64);
    Squares { n_outputs, per_point, targets, weights, leaf_penalty }
}

/// `total`: the row weight. One part of it, as a penalty, ties a split that saves one row with
/// none.
fn leaf_penalty(rng: &mut Random, total: f64) -> f64 {
    match rng.below(8) {
        0 => 0.0,
        1 => rng.pick(&[1e-9, 1e-4, 0.001]),
        2 | 3 => rng.pick(&[0.005, 0.01, 0.02, 0.05]),
        4 => rng.pick(&[0.0625, 0.1, 0.125, 0.15, 0.25]),
        5 => rng.range(1, 99) as f64 / 1000.0,
        6 => (rng.range(1, 2) as f64 / total).min(3.0),
        _ if rng.chance(0.2) => rng.pick(&[0.5, 1.0, 2.0, 7.5, 1e4]),
        _ => rng.unit() * 0.05,
    }
}

fn random_shape(rng: &mut Random, mix: ShapeMix, rows: &[u64]) -> Shape {
    let n_rows: u64 = rows.iter().sum();
    let max_depth = match mix {
        ShapeMix::Unlimited => None,
        _ if rng.chance(0.03) => Some(0),
        _ => rng.pick(&[None, None, Some(1), Some(2), Some(2), Some(3), Some(3), Some(4)]),
    };
    let limited = match mix {
        ShapeMix::Leaves => true,
        ShapeMix::Unlimited => false,
        _ => rng.chance(0.3),
    };
    let max_leaves = limited.then(|| rng.pick(&[1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 20]));
    let min_leaf_rows = match mix {
        ShapeMix::MinRows => rng.range(2, 4) as u64,
        _ if rng.chance(0.2) => 1 + rng.below(n_rows as usize / 3 + 1) as u64,
        _ => 1,
    };
    Shape { max_depth, max_leaves, min_leaf_rows }
}
