//! A tree, and the proof that no other one costs less.

use std::collections::BTreeSet;

use super::budget::Budget;
use super::instance::Instance;
use super::look::Residual;
use super::numbers::digest;
use super::oracle::Oracle;
use super::replay::{Replay, no_proof};
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::run::{Run, Status, on_threads};
use crate::tree::{Split, Tree};

/// Every tree of the instance costs at least `bound`; this one costs what it costs.
pub struct Claim<'a> {
    pub problem: &'a Problem,
    pub instance: &'a Instance,
    pub tree: &'a Tree,
    pub bound: Cost,
}

/// A proof as bytes, and what it took.
pub struct Proof {
    pub bytes: Vec<u8>,
    pub bound: Cost,
    /// Of the proof: looks that a checker takes.
    pub lemmas: u64,
    /// Of the search that found it.
    pub looks: u64,
}

struct Replayed {
    shares: Vec<u8>,
    lemmas: u64,
    looks: u64,
    bound: Cost,
}

impl<'t> Claim<'t> {
    /// That every tree costs at least as much as an objective of `lower_bound`, or as this tree.
    pub fn of(
        problem: &'t Problem,
        instance: &'t Instance,
        tree: &'t Tree,
        lower_bound: Option<f64>,
    ) -> Claim<'t> {
        let cost = cost_of(problem, instance, tree);
        let bound = lower_bound.map_or(cost, |lower| cost_of_bound(problem, lower).min(cost));
        Claim { problem, instance, tree, bound }
    }

    /// The proof of an instance whose file has this text.
    pub fn prove(&self, text: &str, run: &Run) -> Result<Proof> {
        Error::guard(|| {
            let tree = self.tree_in_questions()?;
            let Replayed { shares, lemmas, looks, bound } = self.on_a_thread(run)?;
            let instance = digest(text.as_bytes());
            let mut bytes = format!(
                "certree proof 1\ninstance {instance:016x}\ntree {tree}\nbound {bound}\n\
                 lemmas {lemmas}\nend\n"
            )
            .into_bytes();
            bytes.extend(shares);
            Ok(Proof { bytes, bound, lemmas, looks })
        })
    }

    /// With a stack for any tree, while this thread looks at the clock and polls for signals.
    fn on_a_thread(&self, run: &Run) -> Result<Replayed> {
        let stop = || run.stop(Status::Interrupted);
        let mut found = on_threads(
            1,
            || self.replay(run),
            stop,
            || {
                run.tell(0, INFINITE);
            },
        )?;
        found.pop().unwrap_or_else(|| Err(no_proof()))
    }

    fn replay<'a>(&'a self, run: &'a Run<'_>) -> Result<Replayed> {
        let (residual, root) = Residual::new(self.instance);
        let target = self.bound - residual.unavoidable;
        let budget = Budget::new(self.instance.depth, self.instance.leaves);
        let mut oracle = Oracle::new(&residual, run);
        let least = oracle.cost(root.clone(), budget, target, 0)?.min(target);
        // Where costs are rounded, the best tree may cost more than another one by as much.
        if least < target - self.problem.scale.slack {
            return Err(no_proof());
        }
        let (bound, target) = (self.bound + least - target, least);
        let mut replay = Replay::new(&mut oracle);
        replay.write(root, budget, target)?;
        let (shares, lemmas) = (replay.shares, replay.lemmas);
        Ok(Replayed { shares, lemmas, looks: oracle.looks, bound })
    }

    /// Preorder: numbers of questions, and `-` for leaves; answer 0 goes to the first child.
    fn tree_in_questions(&self) -> Result<String> {
        let Claim { problem, instance, tree, .. } = self;
        let mut held = vec![BTreeSet::new(); tree.nodes.len()];
        let leaves = check::leaves(tree, &problem.columns, &problem.points);
        for (point, leaf) in leaves.into_iter().enumerate() {
            held[leaf].insert(instance.point_of[point]);
        }
        for at in (0..tree.nodes.len()).rev() {
            if let Some(Split { left, right, .. }) = &tree.nodes[at].split {
                held[at] = &held[left.index()] | &held[right.index()];
            }
        }
        let (mut words, mut open) = (Vec::new(), vec![0]);
        while let Some(at) = open.pop() {
            let Some(Split { left, right, .. }) = &tree.nodes[at].split else {
                words.push("-".to_string());
                continue;
            };
            let (left, right) = (left.index(), right.index());
            let parts = |q: &usize, zeros: usize, ones: usize| {
                held[zeros].iter().all(|&p| !instance.answer(p as usize, *q))
                    && held[ones].iter().all(|&p| instance.answer(p as usize, *q))
            };
            let mut all = 0..instance.questions.len();
            let asked = all.find(|q| parts(q, left, right) || parts(q, right, left));
            let asked =
                asked.ok_or_else(|| Error::invalid("the tree asks none of the questions"))?;
            let swapped = !parts(&asked, left, right);
            open.extend(if swapped { [left, right] } else { [right, left] });
            words.push(asked.to_string());
        }
        Ok(words.join(" "))
    }
}

/// What a checker says that the tree costs.
fn cost_of(problem: &Problem, instance: &Instance, tree: &Tree) -> Cost {
    let width = instance.kind.width();
    let mut sums = vec![0; tree.nodes.len() * width];
    let mut leaf_of = vec![None; instance.len()];
    let leaves = check::leaves(tree, &problem.columns, &problem.points);
    for (point, leaf) in leaves.into_iter().enumerate() {
        let point = instance.point_of[point] as usize;
        if leaf_of[point].replace(leaf).is_none() {
            let own = &instance.numbers[point * width..][..width];
            sums[leaf * width..].iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
        }
    }
    let losses = sums.chunks_exact(width).zip(&tree.nodes).filter(|(_, node)| node.split.is_none());
    let penalties = instance.leaf * tree.n_leaves() as Cost;
    losses.map(|(sums, _)| instance.loss(sums)).sum::<Cost>() + penalties
}

/// The largest cost that a search which showed this bound can have proved: floats are rounded down.
fn cost_of_bound(problem: &Problem, lower: f64) -> Cost {
    let scale = problem.scale;
    let least = scale.cost_above(lower);
    (least..least + 4).rfind(|&cost| scale.lower(cost) <= lower).unwrap_or(least)
}
