//! From an entry of a front to a tree that has it.
//!
//! No front knows its trees, only what they ask first. A tree is found again from the root down:
//! the fronts of both sides of its first split have two entries that join to its own, and so on.

use super::entry::{Entry, LEAF};
use super::node::Worker;
use crate::error::{Error, Result};
use crate::tree::Plan;

/// A tree, and the labels of its leaves from left to right.
pub type Labelled = (Plan, Vec<u32>);

impl Worker<'_, '_, '_> {
    /// By entry, a tree of the node in frame `at` that has it. The entries are of its front of
    /// trees with `depth` levels.
    pub fn trees(&mut self, at: usize, depth: u32, entries: &[Entry]) -> Result<Vec<Labelled>> {
        let mut found: Vec<Option<Labelled>> = vec![None; entries.len()];
        // Trees that ask alike first have their sides looked at together.
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&place| entries[place].question);
        for places in order.chunk_by(|&a, &b| entries[a].question == entries[b].question) {
            let question = entries[places[0]].question;
            if question == LEAF {
                for &place in places {
                    found[place] = Some((Plan::Leaf, vec![self.label(at, &entries[place])?]));
                }
                continue;
            }
            let asked: Vec<Entry> = places.iter().map(|&place| entries[place]).collect();
            for (&place, tree) in places.iter().zip(self.splits_by(at, depth, question, &asked)?) {
                found[place] = Some(tree);
            }
        }
        found.into_iter().map(|tree| tree.ok_or_else(lost)).collect()
    }

    /// As above, of entries that all ask one question.
    fn splits_by(
        &mut self,
        at: usize,
        depth: u32,
        question: u32,
        entries: &[Entry],
    ) -> Result<Vec<Labelled>> {
        let columns = &self.frames[at].view.columns;
        let column = columns.iter().position(|&asked| asked == question).ok_or_else(lost)?;
        let mut fronts = Vec::new();
        for side in [0, 1] {
            fronts.push(self.child(at, (column, side), depth - 1).map_err(|_| lost())?);
        }
        // By side: the entries that are needed, each once, and which of them each entry has.
        let mut needed: [Vec<Entry>; 2] = Default::default();
        let mut places: Vec<[usize; 2]> = Vec::with_capacity(entries.len());
        for entry in entries {
            let joins = |a: &Entry| {
                let sums = std::array::from_fn(|sum| entry.sums[sum] - a.sums[sum]);
                let leaves = entry.leaves.checked_sub(a.leaves)?;
                let b = fronts[1].find(&Entry { sums, leaves, question: LEAF })?;
                Some([*a, *b])
            };
            let sides = fronts[0].entries.iter().find_map(joins).ok_or_else(lost)?;
            places.push([0, 1].map(|side| {
                let known = needed[side].iter().position(|known| known.equals(&sides[side]));
                known.unwrap_or_else(|| {
                    needed[side].push(sides[side]);
                    needed[side].len() - 1
                })
            }));
        }
        let mut trees: [Vec<Labelled>; 2] = Default::default();
        for side in [0, 1] {
            self.go_down(at, (column, side), depth - 1);
            trees[side] = self.trees(at + 1, depth - 1, &needed[side])?;
        }
        let cut = self.shared.bits.questions[question as usize];
        let tree = |[a, b]: [usize; 2]| {
            let ((left, labels), (right, others)) = (&trees[0][a], &trees[1][b]);
            let plan = Plan::split(cut.feature, cut.cut, left.clone(), right.clone());
            (plan, labels.iter().chain(others).copied().collect())
        };
        Ok(places.into_iter().map(tree).collect())
    }

    /// The label of a leaf with these sums.
    fn label(&self, at: usize, entry: &Entry) -> Result<u32> {
        let (shared, view) = (self.shared, &self.frames[at].view);
        let mut weights = vec![0; shared.axes.n_classes()];
        for (index, segment) in shared.bits.segments.iter().enumerate() {
            weights[segment.class as usize] += view.segment(index).len() as i64 * segment.weight;
        }
        let mut labels = 0..shared.axes.n_labels();
        let label = labels.find(|&label| shared.axes.leaf(&weights, label) == entry.sums);
        label.map(|label| label as u32).ok_or_else(lost)
    }
}

fn lost() -> Error {
    Error::Failed("a tree of a front could not be found again, which is a defect in certree".into())
}
