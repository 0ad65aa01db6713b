//! Areas under weights that had to be rounded, searched once more on a grid that is finer by far.
//!
//! The first search leaves a gap, because its weights are shares of about 2⁻²⁶. Its tree and its
//! best reference curve begin the second one, where shares are of up to 2⁻⁴⁷: too fine for a cost
//! by class and label, but curves may have any weights, and the relaxation is rounded by point.
//!
//! **The relaxation.** On [0, m], let a reference have pieces of widths dᵢ and decreasing slopes
//! sᵢ, in shares of all negatives and positives. For a leaf with the shares n and p (`area` has the
//! proof),
//!
//! > loss ≥ (1/m) · Σ over leaves of min over k of (p · Σ dᵢ (i < k) + n · Σ dᵢsᵢ (i ≥ k)) − C/m,
//!
//! with C = Σ of sᵢ times half of what the square of x grows by on piece i. Slopes and widths are
//! put on a grid first, which makes it another reference. Each point's cost is then rounded down.

use super::area::{Area, shares};
use super::curves::{Curves, Statistics};
use super::segments::{Segment, curve};
use super::sums::Relaxed;
use crate::check;
use crate::cost::{Cost, MAX_TOTAL, Scale};
use crate::error::Result;
use crate::exact::Ratio;
use crate::finish::grow;
use crate::problem::Problem;
use crate::run::Run;
use crate::search::fronts::{self, Start};
use crate::task::{RowCosts, Scaled};
use crate::tree::Tree;

/// No fewer binary digits of weights than the first search has.
const COARSEST: u32 = 30;

/// Parts of the widths of a reference, and of its slopes.
const WIDTHS: i128 = 1 << 30;
const SLOPES: f64 = (1 << 24) as f64;
const STEEPEST: f64 = (1u64 << 44) as f64;

/// Binary digits of a rate beyond those of a unit.
const RATE_BITS: u32 = 60;

/// What the first search knows.
pub struct First<'a> {
    pub area: &'a Area,
    /// Weights of both classes by point, as they were given.
    pub weights: &'a [f64],
    pub leaf_penalty: f64,
    /// The curve, of any size, whose relaxation proved most.
    pub reference: &'a [Segment],
    pub tree: &'a Tree,
    /// No tree has a lower objective.
    pub lower: f64,
}

/// Weights on the finer grid, and the relaxation there.
struct Fine {
    area: Area,
    /// Negatives and positives by point.
    weights: Vec<i64>,
    relaxed: Relaxed,
    n_labels: usize,
    problem: Problem,
}

/// A better tree, if there is one, and what no tree's objective is below. `None` where nothing
/// finer has room.
pub fn refine(problem: &Problem, first: &First, run: &Run) -> Result<Option<(Option<Tree>, f64)>> {
    let Some(fine) = Fine::new(problem, first) else { return Ok(None) };
    let scale = fine.area.scale();
    let upper = fine.cost(problem, first.tree);
    let lower = scale.cost_above(first.lower).min(upper);
    let goes_on = |_: &_| run.check_time().is_none();
    let part = run.part(scale, Box::new(goes_on));
    let start = Start { upper, lower, shown: upper };
    let (found, proved) = fronts::solve(&fine.problem, &fine.front(), start, &part)?;
    run.absorb(&part);
    let tree = match found {
        None => None,
        Some(found) => {
            let tree = grow(problem, found.plan)?;
            check::confirm(found.cost, fine.cost(problem, &tree))?;
            Some(tree)
        }
    };
    Ok(Some((tree, scale.lower(proved))))
}

impl Fine {
    fn new(problem: &Problem, first: &First) -> Option<Fine> {
        let (weights, totals, off) =
            (COARSEST..=first.area.fine_bits()).rev().find_map(|bits| {
                let (weights, off) = shares(first.weights, bits)?;
                let whole: Vec<i64> = weights.iter().map(|&weight| weight as i64).collect();
                let total = |side: usize| whole.iter().skip(side).step_by(2).sum::<i64>();
                let totals = (total(0), total(1));
                (totals.0 > 0 && totals.1 > 0).then_some((whole, totals, off))
            })?;
        let area = first.area.fine(totals, first.leaf_penalty)?.rounded(off);
        let rates = Rates::new(&area, first.reference)?;
        let (task, relaxed) = rates.relax(&area, &weights)?;
        let scaled = Scaled {
            task: Box::new(task),
            leaf_cost: area.leaf_cost.checked_mul(relaxed.scale)?,
            scale: Scale::new(1.0, 0, 0),
            feature_costs: None,
            stated: None,
        };
        let (columns, points) = (problem.columns.clone(), problem.points.clone());
        let fine = Problem::new(columns, points, scaled, problem.shape).ok()?;
        let problem = fine.with_context_of(problem).ok()?;
        Some(Fine { area, weights, relaxed, n_labels: rates.of_label.len(), problem })
    }

    fn front(&self) -> Curves<'_> {
        Curves {
            area: &self.area,
            totals: self.area.totals,
            relaxed: &self.relaxed,
            n_labels: self.n_labels,
            statistics: Statistics::Losses,
            few_leaves: self.problem.shape.max_leaves.is_some(),
        }
    }

    /// The cost of a tree, from the points alone.
    fn cost(&self, problem: &Problem, tree: &Tree) -> Cost {
        let mut at = vec![vec![0, 0]; tree.nodes.len()];
        let leaves = check::leaves(tree, &problem.columns, &problem.points);
        for (leaf, own) in leaves.into_iter().zip(self.weights.chunks_exact(2)) {
            at[leaf].iter_mut().zip(own).for_each(|(sum, weight)| *sum += weight);
        }
        self.area.cost(&curve(&at), tree.n_leaves() as u32)
    }
}

/// What a leaf pays in the relaxation, in units of cost.
struct Rates {
    /// By the first piece that counts: for each positive and each negative, times 2^RATE_BITS.
    of_label: Vec<[i128; 2]>,
    /// What every tree pays beside that.
    offset: i128,
    /// How many of these units are one of the area's.
    scale: Cost,
}

impl Rates {
    fn new(area: &Area, reference: &[Segment]) -> Option<Rates> {
        let (p, q) = (i128::from(area.most().0), i128::from(area.most().1));
        let pieces = pieces(reference, (p.checked_mul(WIDTHS)?, q.checked_mul(WIDTHS)?));
        let slope = |s: i128| Ratio::from(s).over(&Ratio::stored(SLOPES));
        let all = Ratio::from(q.checked_mul(WIDTHS)?);
        let width = |d: i128| Ratio::from(d).over(&all);
        let most = Ratio::from(p).over(&Ratio::from(q));
        // What all positives pay if none counts, and all negatives if all do; and C.
        let (mut under, mut above, mut constant) =
            (vec![Ratio::zero()], vec![Ratio::zero()], Ratio::zero());
        let mut x = Ratio::zero();
        for &(d, s) in &pieces {
            let (d, s) = (width(d), slope(s));
            let end = &x + &d;
            constant = &constant + &(&s * &(&(&end * &end) - &(&x * &x)));
            under.push(&under[under.len() - 1] + &d);
            above.push(&above[above.len() - 1] + &(&s * &d));
            x = end;
        }
        let all_above = above[above.len() - 1].clone();
        // The largest of what all rows may pay.
        let size = all_above.over(&most).nearest().max(1.0) * 2.0 * area.units as f64
            + area.leaf_cost as f64;
        let scale = ((MAX_TOTAL / 8) as f64 / size).log2().floor();
        if !(0.0..40.0).contains(&scale) {
            return None;
        }
        let scale = (1 as Cost) << scale as u32;
        let unit = Ratio::from(i128::from(area.units) * i128::from(scale)).over(&most);
        let fine = &unit * &Ratio::from(1i128 << RATE_BITS);
        let (negatives, positives) = (Ratio::from(area.totals.0), Ratio::from(area.totals.1));
        let rate = |x: &Ratio, total: &Ratio| (&fine * x).over(total).floor();
        let of_label = (under.iter().zip(&above))
            .map(|(under, above)| {
                Some([rate(under, &positives)?, rate(&(&all_above - above), &negatives)?])
            })
            .collect::<Option<_>>()?;
        let offset = (&-&unit * &constant.over(&Ratio::from(2))).floor()?;
        Some(Rates { of_label, offset, scale })
    }

    /// The relaxation's losses by point and label.
    fn relax(&self, area: &Area, weights: &[i64]) -> Option<(RowCosts, Relaxed)> {
        let n_labels = self.of_label.len();
        let mut losses: Vec<Cost> = Vec::with_capacity(weights.len() / 2 * (n_labels + 3));
        let mut offset = self.offset;
        for own in weights.chunks_exact(2) {
            let (negatives, positives) = (i128::from(own[0]), i128::from(own[1]));
            let first = losses.len();
            for &[per_positive, per_negative] in &self.of_label {
                let positive = per_positive.checked_mul(positives)?;
                let paid = positive.checked_add(per_negative.checked_mul(negatives)?)?;
                losses.push(Cost::try_from(paid >> RATE_BITS).ok()?);
            }
            let least = losses[first..].iter().copied().min()?;
            offset += i128::from(least);
            losses[first..].iter_mut().for_each(|loss| *loss -= least);
            // The labels that no leaf takes.
            let largest = losses[first..].iter().copied().max()?;
            losses.extend([largest + own[0], largest + own[1], largest]);
        }
        let fits = |total: Cost, &loss: &Cost| total.checked_add(loss);
        let labels = n_labels + 3;
        for label in 0..labels {
            let all = losses.iter().skip(label).step_by(labels).try_fold(0, fits)?;
            if all > MAX_TOTAL {
                return None;
            }
        }
        debug_assert!(area.units > 0, "losses have a unit");
        let relaxed = Relaxed { scale: self.scale, costs: Vec::new(), offset, most: 0 };
        Some((RowCosts::of_regrets(labels, losses), relaxed))
    }
}

/// Widths and decreasing slopes of a reference on the grid, up to `end` of the `whole` width.
fn pieces(reference: &[Segment], (end, whole): (i128, i128)) -> Vec<(i128, i128)> {
    let total = |side: fn(&Segment) -> i64| reference.iter().map(|s| i128::from(side(s))).sum();
    let (size, rise): (i128, i128) = (total(|s| s.0), total(|s| s.1));
    let steeper = size as f64 / (rise.max(1)) as f64;
    let (mut pieces, mut seen, mut taken) = (Vec::new(), 0i128, 0i128);
    for &(n, p) in reference.iter().filter(|s| s.0 > 0) {
        seen += i128::from(n);
        let to = (((seen as f64 / size as f64) * whole as f64) as i128).min(end);
        let to = if seen == size { end } else { to };
        let slope = (p as f64 / n as f64 * steeper * SLOPES).round().min(STEEPEST) as i128;
        if to > taken {
            pieces.push((to - taken, slope));
            taken = to;
        }
    }
    pieces
}
