//! A part of a problem, as a problem of its own: some points, some cuts, other limits.
//!
//! A plan of the part is a plan of the whole, because each cut of the part is one of the whole.
//! What it costs there is computed again by who takes it.

use std::collections::HashMap;

use crate::cost::Cost;
use crate::data::{Column, ColumnKind, Features, Order, Points};
use crate::error::Result;
use crate::ids::{ColumnId, FeatureId};
use crate::problem::{Problem, Shape};
use crate::task::{Merging, Scaled, merged};
use crate::tree::Plan;

/// Which cuts of ordered columns a part has.
pub enum Cuts<'a> {
    /// All that split its points.
    All,
    /// At most so many of each column, at equal shares of its rows.
    Most(usize),
    /// These, by column, in ascending order.
    Only(&'a [Vec<u32>]),
}

pub struct Part {
    pub problem: Problem,
    /// By feature of the part: that of the whole.
    features: Vec<FeatureId>,
    /// By column of the part: the whole's number of each cut; none where all are the same.
    cuts: Vec<Option<Vec<u32>>>,
    /// Trees cost so much more in the part than these points do in the whole.
    pub more: Cost,
}

impl Part {
    /// `points` are distinct. A problem with a context, or with feature costs, has no part with
    /// fewer points.
    pub fn new(of: &Problem, points: &[u32], cuts: &Cuts, shape: Shape) -> Result<Part> {
        let mut columns = Vec::with_capacity(of.columns.len());
        let (mut kept, mut codes) = (Vec::new(), Vec::new());
        let mut is_coarser = false;
        for (index, column) in of.columns.iter().enumerate() {
            let thinned = Thinned::of(of, points, index, cuts);
            is_coarser |= thinned.is_coarser;
            columns.push(Column { kind: thinned.kind, ..column.clone() });
            kept.push(thinned.cuts);
            codes.push(thinned.codes);
        }
        // Points that are told apart stay apart unless cuts are left out.
        let new: Vec<u32> = match is_coarser && of.feature_costs.is_none() {
            true => numbered(&codes, points.len()),
            false => (0..points.len() as u32).collect(),
        };
        let n = new.iter().max().map_or(0, |&most| most as usize + 1);
        let merging = Merging { points, new: &new, n };
        let joined = |codes: &Vec<u32>| {
            let mut all = vec![0; n];
            codes.iter().zip(&new).for_each(|(&code, &new)| all[new as usize] = code);
            all
        };
        let codes = codes.iter().map(joined).collect();
        let mut rows = vec![0; n];
        for (&point, &new) in points.iter().zip(&new) {
            rows[new as usize] += of.points.rows(point as usize);
        }
        let new_points = Points::new(&columns, codes, rows)?;
        let features = features(of, &columns);
        let scaled = Scaled {
            task: merged(&of.task, &merging),
            leaf_cost: of.leaf_cost - of.rounding,
            scale: of.scale,
            feature_costs: of.feature_costs.clone(),
            stated: None,
        };
        let problem = Problem::new(columns, new_points, scaled, shape)?;
        let problem = Problem { context: of.context.clone(), ..problem };
        let all = of.task.leaf(&of.stats(points.iter().map(|&point| point as usize))).cost;
        let more = problem.as_one_leaf() - all - of.leaf_cost;
        Ok(Part { problem, features, cuts: kept, more })
    }

    /// A plan of the part in the features and cuts of the whole.
    pub fn plan(&self, plan: Plan) -> Plan {
        let Plan::Split { feature, cut, left, right } = plan else { return Plan::Leaf };
        let column = self.problem.features.get(feature.index()).column.index();
        let of_whole = |cuts: &Vec<u32>| cuts[cut as usize];
        let cut = self.cuts[column].as_ref().map_or(cut, of_whole);
        Plan::split(self.features[feature.index()], cut, self.plan(*left), self.plan(*right))
    }
}

/// A column with fewer cuts.
struct Thinned {
    kind: ColumnKind,
    cuts: Option<Vec<u32>>,
    /// By point of the part.
    codes: Vec<u32>,
    /// Whether points are no longer told apart that were.
    is_coarser: bool,
}

impl Thinned {
    fn of(of: &Problem, points: &[u32], index: usize, cuts: &Cuts) -> Thinned {
        let (column, all) = (&of.columns[index], of.points.codes(index));
        let codes = points.iter().map(|&point| all.get(point as usize));
        let ColumnKind::Ordered(thresholds) = &column.kind else {
            let (kind, codes) = (column.kind.clone(), codes.collect());
            return Thinned { kind, cuts: None, codes, is_coarser: false };
        };
        let mut rows = vec![0; column.n_codes()];
        for &point in points {
            rows[all.get(point as usize) as usize] += of.points.rows(point as usize);
        }
        let known = &rows[..=thresholds.len()];
        let splitting = splitting(known);
        let mut kept = match cuts {
            Cuts::All => splitting.clone(),
            Cuts::Most(most) => at_equal_shares(known, &splitting, *most),
            Cuts::Only(wanted) => nearest(&splitting, &wanted[index]),
        };
        let is_coarser = kept.len() < splitting.len();
        // By code: how many of the cuts lie below it.
        let mut new = Vec::with_capacity(rows.len());
        let mut below = 0;
        for code in 0..rows.len() as u32 {
            below += usize::from(below < kept.len() && kept[below] < code);
            new.push(below as u32);
        }
        if let Some(missing) = column.missing_code() {
            new[missing as usize] = kept.len() as u32 + 1;
        }
        let kind = ColumnKind::Ordered(kept.iter().map(|&cut| thresholds[cut as usize]).collect());
        let codes = codes.map(|code| new[code as usize]).collect();
        // "Is missing" comes after all cuts.
        kept.push(thresholds.len() as u32);
        Thinned { kind, cuts: Some(kept), codes, is_coarser }
    }
}

/// The cuts that have rows on both sides, one of each that split them alike. `rows`: by code.
fn splitting(rows: &[u64]) -> Vec<u32> {
    let last = rows.iter().rposition(|&rows| rows > 0).unwrap_or(0);
    (0..last as u32).filter(|&code| rows[code as usize] > 0).collect()
}

fn at_equal_shares(rows: &[u64], cuts: &[u32], most: usize) -> Vec<u32> {
    if cuts.len() <= most {
        return cuts.to_vec();
    }
    let total: u64 = rows.iter().sum();
    let (mut below, mut at, mut kept) = (0u128, 0, Vec::with_capacity(most));
    for &cut in cuts {
        while at <= cut as usize {
            below += u128::from(rows[at]);
            at += 1;
        }
        let next = u128::from(total) * (kept.len() as u128 + 1);
        if below * (most as u128 + 1) >= next && kept.len() < most {
            kept.push(cut);
        }
    }
    kept
}

/// The cuts that split as the wanted ones do.
fn nearest(cuts: &[u32], wanted: &[u32]) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::with_capacity(wanted.len());
    for &cut in wanted {
        let at = cuts.partition_point(|&other| other <= cut);
        if at > 0 && kept.last() != Some(&cuts[at - 1]) {
            kept.push(cuts[at - 1]);
        }
    }
    kept
}

/// The points with equal codes have equal numbers, from 0 in the order of first appearance. Two
/// points with equal hashes are taken for one, which costs a good tree at worst.
fn numbered(codes: &[Vec<u32>], n: usize) -> Vec<u32> {
    let mut hashes = vec![0u64; n];
    for codes in codes {
        for (hash, &code) in hashes.iter_mut().zip(codes) {
            let mixed = (*hash ^ u64::from(code)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *hash = mixed ^ (mixed >> 29);
        }
    }
    let mut seen: HashMap<u64, u32> = HashMap::with_capacity(n);
    let number = |hash| {
        let next = seen.len() as u32;
        *seen.entry(hash).or_insert(next)
    };
    hashes.into_iter().map(number).collect()
}

/// By feature of the part: that of the whole.
fn features(of: &Problem, columns: &[Column]) -> Vec<FeatureId> {
    // Of ordered columns, a feature is told by where its missing values are; of others all features
    // are there.
    let mut whole = HashMap::new();
    let mut name = Namer::default();
    for (index, feature) in of.features.iter().enumerate() {
        whole.insert(name.of(feature.column, feature.order), FeatureId::from(index));
    }
    let mut name = Namer::default();
    let part = Features::of(columns);
    let names = part.iter().map(|feature| name.of(feature.column, feature.order));
    names.map(|name| whole[&name]).collect()
}

/// The name of a feature among those of its column.
#[derive(Default)]
struct Namer {
    column: Option<ColumnId>,
    place: u32,
}

impl Namer {
    fn of(&mut self, column: ColumnId, order: Order) -> (ColumnId, u32) {
        self.place = if self.column == Some(column) { self.place + 1 } else { 0 };
        self.column = Some(column);
        match order {
            Order::Codes => (column, 0),
            Order::MissingLowest(_) => (column, 1),
            Order::Is(_) | Order::IsOrMissing(_) | Order::In(_) => (column, self.place),
        }
    }
}
