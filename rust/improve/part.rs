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
    /// As many as in `Most`, and these.
    Also(usize, &'a [Vec<u32>]),
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

impl Part {
    /// What a plan of the whole is here, where its cuts are some of the part's.
    pub fn plan_here(&self, plan: &Plan) -> Plan {
        let Plan::Split { feature, cut, left, right } = plan else { return Plan::Leaf };
        let Some(here) = self.features.iter().position(|of| of == feature) else {
            return Plan::Leaf;
        };
        let column = self.problem.features.get(here).column.index();
        let cut = match &self.cuts[column] {
            Some(cuts) => cuts.partition_point(|other| other <= cut).saturating_sub(1) as u32,
            None => *cut,
        };
        let sides = [left, right].map(|side| self.plan_here(side));
        let [left, right] = sides;
        Plan::split(FeatureId::from(here), cut, left, right)
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
        let codes: Vec<u32> = codes.collect();
        let present = Present::of(of, points, &codes, column.n_codes());
        let splitting = present.splitting(thresholds.len() as u32);
        let mut kept = match cuts {
            Cuts::All => splitting.clone(),
            Cuts::Most(most) => present.at_equal_shares(&splitting, *most),
            Cuts::Only(wanted) => nearest(&splitting, &wanted[index]),
            Cuts::Also(most, wanted) => {
                let mut kept = present.at_equal_shares(&splitting, *most);
                kept.extend(nearest(&splitting, &wanted[index]));
                kept.sort_unstable();
                kept.dedup();
                kept
            }
        };
        let is_coarser = kept.len() < splitting.len();
        let codes = present.new_codes(codes, &kept, column);
        let kind = ColumnKind::Ordered(kept.iter().map(|&cut| thresholds[cut as usize]).collect());
        // "Is missing" comes after all cuts.
        kept.push(thresholds.len() as u32);
        Thinned { kind, cuts: Some(kept), codes, is_coarser }
    }
}

/// A column of many more codes than points is sorted, because a table of its codes takes longer.
const SPARSE: usize = 8;

/// The codes that points have, in ascending order.
struct Present {
    /// With their rows.
    codes: Vec<(u32, u64)>,
    n_codes: usize,
    /// Places of points by code, where they were sorted.
    order: Option<Vec<u64>>,
}

impl Present {
    fn of(of: &Problem, points: &[u32], codes: &[u32], n_codes: usize) -> Present {
        let rows = |at: usize| of.points.rows(points[at] as usize);
        if n_codes <= points.len().saturating_mul(SPARSE) {
            let mut all = vec![0; n_codes];
            for (at, &code) in codes.iter().enumerate() {
                all[code as usize] += rows(at);
            }
            let all = all.into_iter().enumerate().filter(|&(_, rows)| rows > 0);
            let codes = all.map(|(code, rows)| (code as u32, rows)).collect();
            return Present { codes, n_codes, order: None };
        }
        let both = |(at, &code): (usize, &u32)| u64::from(code) << 32 | at as u64;
        let mut order: Vec<u64> = codes.iter().enumerate().map(both).collect();
        order.sort_unstable();
        let mut all: Vec<(u32, u64)> = Vec::new();
        for &both in &order {
            let (code, own) = ((both >> 32) as u32, rows(both as u32 as usize));
            match all.last_mut().filter(|last| last.0 == code) {
                Some(last) => last.1 += own,
                None => all.push((code, own)),
            }
        }
        Present { codes: all, n_codes, order: Some(order) }
    }

    /// The cuts that have rows on both sides, one of each that split them alike. `last`: the
    /// highest code that is none of missing values.
    fn splitting(&self, last: u32) -> Vec<u32> {
        let known = self.codes.iter().map(|&(code, _)| code).filter(|&code| code <= last);
        let mut known: Vec<u32> = known.collect();
        known.pop();
        known
    }

    /// At most so many of the cuts.
    fn at_equal_shares(&self, cuts: &[u32], most: usize) -> Vec<u32> {
        if cuts.len() <= most {
            return cuts.to_vec();
        }
        // All codes up to the last cut, and the one behind it, are codes that points have.
        let known = &self.codes[..=cuts.len()];
        let total: u64 = known.iter().map(|&(_, rows)| rows).sum();
        let (mut below, mut kept) = (0u128, Vec::with_capacity(most));
        for (&cut, &(_, rows)) in cuts.iter().zip(known) {
            below += u128::from(rows);
            let next = u128::from(total) * (kept.len() as u128 + 1);
            if below * (most as u128 + 1) >= next && kept.len() < most {
                kept.push(cut);
            }
        }
        kept
    }

    /// Instead of each code, how many of the cuts lie below it; missing values come last.
    fn new_codes(&self, codes: Vec<u32>, kept: &[u32], column: &Column) -> Vec<u32> {
        let (missing, last) = (column.missing_code(), kept.len() as u32 + 1);
        let mut below = 0;
        let mut next = |code: u32| {
            while kept.get(below).is_some_and(|&cut| cut < code) {
                below += 1;
            }
            if missing == Some(code) { last } else { below as u32 }
        };
        match &self.order {
            None => {
                let new: Vec<u32> = (0..self.n_codes as u32).map(next).collect();
                codes.into_iter().map(|code| new[code as usize]).collect()
            }
            Some(order) => {
                let mut new = codes;
                for &both in order {
                    new[both as u32 as usize] = next((both >> 32) as u32);
                }
                new
            }
        }
    }
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
