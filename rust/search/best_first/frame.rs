//! A frame: the rows and the look-ahead of the node at one depth of a worker's path, and what only
//! these rows tell of columns and questions.

use std::borrow::Cow;

use super::budget::{Budget, Choice};
use super::look::Rules;
use super::proved::Proved;
use crate::bits::Level;
use crate::bounds::equal_splits;
use crate::context::State;
use crate::cost::Cost;
use crate::kernel::Lookahead;
use crate::view::{Fingerprint, Offer, PathContext, View};

/// The rows and the look-ahead of the node at one depth of the path.
#[derive(Default)]
pub struct Frame<'a> {
    /// The root's is borrowed, because it may take more bytes than all others.
    pub view: Cow<'a, View>,
    pub look: Lookahead,
    /// What the path means for questions, and what those of the view cost now.
    pub state: State,
    pub(super) offer: Offer,
    /// Whether questions may be allowed below a split that are forbidden in its place, or dearer:
    /// then no bound moves rows up to here.
    pub(super) binds: bool,
    /// Columns that repeat an earlier one on these rows.
    pub(super) repeats: Vec<bool>,
    /// By question: its column in the view, if it is there.
    pub(super) columns: Vec<u32>,
    /// By column: the fingerprints of its sides, once somebody asked.
    pub(super) fingerprints: Vec<Option<[Fingerprint; 2]>>,
    /// What the children that were worked on have proved.
    pub(super) siblings: Vec<Proved>,
    pub(super) sibling_bytes: usize,
    /// Bytes that the run knows of.
    pub(super) counted: usize,
    /// Of the root alone: the questions that trees may begin with, if not all.
    pub(super) part: Option<Part>,
}

/// Some of all questions: those whose number leaves this rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub rest: u32,
    /// More than `rest`.
    pub of: u32,
}

impl Part {
    pub fn has(self, question: u32) -> bool {
        question % self.of == self.rest
    }
}

/// No more is kept of the siblings of one node.
pub(super) const SIBLING_BYTES: usize = 32 << 20;

impl Frame<'_> {
    /// The column of a question that is not constant here, nor a repeat of an earlier one.
    pub fn column(&self, question: u32) -> usize {
        self.columns[question as usize] as usize
    }

    /// As above, where the question may be missing.
    pub fn find(&self, question: u32) -> Option<usize> {
        let column = *self.columns.get(question as usize)?;
        (column != u32::MAX).then_some(column as usize)
    }

    /// The split that the look-ahead found to cost `upper`; `None` where that is a leaf.
    pub(super) fn choice(&self, rules: &Rules, budget: Budget, upper: Cost) -> Option<Choice> {
        if self.look.whole.leaf + rules.leaf_cost == upper {
            return None;
        }
        let (column, left_leaves) = rules.best(&self.look, budget, upper)?;
        Some(Choice { question: self.view.columns[column], left_leaves })
    }

    /// Remember what a child has proved.
    pub(super) fn keep(&mut self, proved: Proved) {
        let bytes = proved.bytes();
        let child = |s: &Proved| (s.column, s.side, s.budget);
        let same = |s: &&mut Proved| child(s) == child(&proved);
        if let Some(known) = self.siblings.iter_mut().find(same) {
            self.sibling_bytes = self.sibling_bytes + bytes - known.bytes();
            *known = proved;
        } else if self.sibling_bytes + bytes <= SIBLING_BYTES {
            self.sibling_bytes += bytes;
            self.siblings.push(proved);
        }
    }

    /// What a child's rows pay for a split.
    pub(super) fn price(&self, question: u32, side: usize) -> Cost {
        match self.look.has_prices() {
            true => self.look.price(self.column(question), side).this,
            false => 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let own = match &self.view {
            Cow::Borrowed(_) => 0,
            Cow::Owned(view) => view.bytes(),
        };
        own + self.look.bytes()
            + self.state.bytes()
            + self.offer.bytes()
            + self.repeats.capacity()
            + self.columns.capacity() * size_of::<u32>()
            + self.fingerprints.capacity() * size_of::<Option<[Fingerprint; 2]>>()
            + self.siblings.capacity() * size_of::<Proved>()
            + self.sibling_bytes
    }

    pub fn repeats(&self, column: usize) -> bool {
        self.repeats.get(column).copied().unwrap_or(false)
    }

    pub fn fingerprints(&mut self, column: usize, level: Level) -> [Fingerprint; 2] {
        *self.fingerprints[column].get_or_insert_with(|| self.view.fingerprints(column, level))
    }

    /// Whether the look is at these rows, pairs and all.
    pub(super) fn is_seen(&self) -> bool {
        self.look.at_least == 0 && self.look.sides.len() == self.view.columns.len()
    }

    pub(super) fn index(&mut self, context: Option<&PathContext>) {
        self.fingerprints.clear();
        self.fingerprints.resize(self.view.columns.len(), None);
        self.find_repeats(context);
        let most = self.view.columns.last().map_or(0, |&q| q as usize + 1);
        self.columns.clear();
        self.columns.resize(most, u32::MAX);
        for (column, &question) in self.view.columns.iter().enumerate() {
            self.columns[question as usize] = column as u32;
        }
    }

    /// Columns whose split is that of an earlier column of their kind, up to rows that cost
    /// nothing.
    fn find_repeats(&mut self, context: Option<&PathContext>) {
        self.repeats.clear();
        if !self.look.has_exact_overlaps() {
            return;
        }
        let n = self.look.sides.len();
        self.repeats.resize(n, false);
        let size = |c: usize| self.look.sides[c][0].worst.min(self.look.sides[c][1].worst);
        let mut order: Vec<(Cost, usize)> = (0..n).map(|c| (size(c), c)).collect();
        order.sort_unstable();
        for (at, &(size, i)) in order.iter().enumerate() {
            if self.repeats[i] {
                continue;
            }
            for &(_, j) in order[at + 1..].iter().take_while(|&&(other, _)| other == size) {
                let kind = |column: usize| context.map(|c| c.kind(self.view.columns[column]));
                if kind(i) != kind(j) {
                    continue;
                }
                let look = &self.look;
                let lost = |b| [look.difference(i, 1, j, b), look.difference(j, b, i, 1)];
                let same = |b: usize| equal_splits::are_equal(lost(b));
                self.repeats[j] |= same(1) || same(0);
            }
        }
    }
}
