//! What the questions of one view cost in one state, and which of them may be asked.

use super::path_context::PathContext;
use crate::bits::LANES;
use crate::context::State;
use crate::cost::Cost;

/// Of one view in one state. Lists of prices by column are in whole blocks of `LANES`.
#[derive(Debug, Default)]
pub struct Offer {
    pub has_prices: bool,
    /// The price now.
    pub now: Vec<Cost>,
    /// The price once another test of its group is bought.
    pub later: Vec<Cost>,
    /// Its test and its group: below zero where there is none.
    pub test: Vec<i64>,
    pub group: Vec<i64>,
    /// Whether prices can be compared without the rows that pay them. Where they cannot, `next` and
    /// `least` are left to who knows these.
    pub is_ordered: bool,
    /// By column: the least price of another question once this one was asked.
    pub next: Vec<Cost>,
    /// The least price of all that are allowed.
    pub least: Cost,
    /// Each test: its first column here, and how many there are.
    distinct: Vec<(usize, u32)>,
    /// By column: whether it may not be asked now. Empty if all may.
    forbidden: Vec<bool>,
    bans: Bans,
}

/// Which columns may not be asked below which others.
#[derive(Debug, Default)]
pub struct Bans {
    any: bool,
    n_blocks: usize,
    /// By column: its kind, numbered within the view.
    kinds: Vec<u32>,
    /// By kind and block of columns, as bits: which may be asked below it, and below which it may
    /// be asked.
    after: Vec<u32>,
    before: Vec<u32>,
}

impl PathContext {
    /// What a view's questions cost in this state, and which are allowed; `None` where that is
    /// nothing, and all.
    pub fn offer<'o>(
        &self,
        state: &State,
        questions: &[u32],
        out: &'o mut Offer,
    ) -> Option<&'o Offer> {
        out.fill(self, state, questions);
        (out.has_prices || out.bans().is_some() || out.forbids()).then_some(out)
    }
}

impl Offer {
    /// Find out what a view's questions cost and which are allowed.
    fn fill(&mut self, context: &PathContext, state: &State, questions: &[u32]) {
        self.has_prices = context.has_prices();
        self.forbidden.clear();
        self.bans.any = false;
        if !context.is_open(state) {
            let forbidden = |&question: &u32| !context.allows(state, question);
            self.forbidden.extend(questions.iter().map(forbidden));
            self.bans.fill(context, state, questions, &self.forbidden);
        }
        if self.has_prices {
            self.fill_prices(context, state, questions);
        }
    }

    /// Whether this column may not be asked now.
    pub fn is_forbidden(&self, column: usize) -> bool {
        self.forbidden.get(column).copied().unwrap_or(false)
    }

    /// Whether some column may not be asked now.
    pub fn forbids(&self) -> bool {
        self.forbidden.contains(&true)
    }

    /// Which columns may not be asked below which others, if there are such pairs.
    #[inline]
    pub fn bans(&self) -> Option<&Bans> {
        self.bans.any.then_some(&self.bans)
    }

    fn fill_prices(&mut self, context: &PathContext, state: &State, questions: &[u32]) {
        self.clear_prices(questions.len());
        let Some(tests) = &context.feature_costs else { return };
        for (at, &question) in questions.iter().enumerate() {
            if let Some((test, price)) = tests.test(context.column(question)) {
                // What is forbidden now may be allowed later, at the price that it would have now.
                self.now[at] = context.price(state, question);
                // What was bought stays free.
                self.later[at] = if self.now[at] == 0 { 0 } else { price.discounted };
                self.test[at] = i64::from(test);
                self.group[at] = price.group.map_or(-1, i64::from);
            }
        }
        self.is_ordered = tests.is_ordered;
        self.find_distinct(questions.len());
        if self.is_ordered {
            let allowed = (0..questions.len()).filter(|&column| !self.is_forbidden(column));
            self.least = allowed.map(|column| self.now[column]).min().unwrap_or(0);
            self.find_next();
        }
    }

    fn clear_prices(&mut self, n: usize) {
        let n = n.next_multiple_of(LANES);
        for prices in [&mut self.now, &mut self.later, &mut self.next] {
            prices.clear();
            prices.resize(n, 0);
        }
        for names in [&mut self.test, &mut self.group] {
            names.clear();
            names.resize(n, -1);
        }
        self.distinct.clear();
    }

    fn find_distinct(&mut self, n: usize) {
        for at in 0..n {
            let same = |(first, _): &&mut (usize, u32)| self.test[*first] == self.test[at];
            match self.distinct.iter_mut().rev().find(same) {
                Some((_, count)) => *count += 1,
                None => self.distinct.push((at, 1)),
            }
        }
    }

    fn find_next(&mut self) {
        for &(first, count) in &self.distinct {
            let others = self.distinct.iter().filter(|&&(other, _)| other != first);
            let least = others.map(|&(other, _)| self.after(first, other)).min().unwrap_or(0);
            self.next[first] = if count > 1 { 0 } else { least };
        }
    }

    /// The least of what rows pay for a question that is allowed now. `paid`: what they pay for a
    /// price.
    pub fn least_paid(&self, n: usize, paid: impl Fn(Cost) -> Cost) -> Cost {
        let allowed = (0..n).filter(|&column| !self.is_forbidden(column));
        allowed.map(|column| paid(self.now[column])).min().unwrap_or(0)
    }

    /// The least of what rows pay for another question once a column was asked: nothing, where its
    /// own test answers others.
    pub fn next_paid(&self, column: usize, paid: impl Fn(Cost) -> Cost) -> Cost {
        let test = self.test[column];
        let is_own = |&&(first, _): &&(usize, u32)| self.test[first] == test;
        if self.distinct.iter().find(is_own).is_some_and(|&(_, count)| count > 1) {
            return 0;
        }
        let others = self.distinct.iter().filter(|&&(first, _)| self.test[first] != test);
        others.map(|&(other, _)| paid(self.after(column, other))).min().unwrap_or(0)
    }

    /// The price of column `then` once column `first` was asked.
    pub fn after(&self, first: usize, then: usize) -> Cost {
        if self.test[first] == self.test[then] {
            0
        } else if self.group[first] == self.group[then] && self.group[first] >= 0 {
            self.later[then]
        } else {
            self.now[then]
        }
    }

    pub fn bytes(&self) -> usize {
        (self.now.capacity() + self.later.capacity() + self.next.capacity()) * size_of::<Cost>()
            + (self.test.capacity() + self.group.capacity()) * size_of::<i64>()
            + self.distinct.capacity() * size_of::<(usize, u32)>()
            + self.forbidden.capacity()
            + self.bans.bytes()
    }
}

impl Bans {
    fn fill(
        &mut self,
        context: &PathContext,
        state: &State,
        questions: &[u32],
        forbidden: &[bool],
    ) {
        self.n_blocks = questions.len().div_ceil(LANES);
        self.after.clear();
        self.before.clear();
        self.kinds.clear();
        // One question of each kind stands for all of them.
        let mut kinds: Vec<(u32, u32)> =
            questions.iter().map(|&question| (context.kind(question), question)).collect();
        kinds.sort_unstable();
        kinds.dedup_by_key(|(kind, _)| *kind);
        let number = |kind| kinds.partition_point(|&(other, _)| other < kind) as u32;
        self.kinds.extend(questions.iter().map(|&question| number(context.kind(question))));
        let n = kinds.len();
        let mut allowed = vec![false; n * n];
        for (first, &(_, question)) in kinds.iter().enumerate() {
            if !context.allows(state, question) {
                continue;
            }
            let below = context.enter(state, question);
            for (then, &(_, question)) in kinds.iter().enumerate() {
                allowed[first * n + then] = context.allows(&below, question);
            }
        }
        // What may not come first makes no pairs that anybody asks for.
        let pairs = |(first, &is_forbidden): (usize, &bool)| {
            is_forbidden || (0..n).all(|then| allowed[self.kinds[first] as usize * n + then])
        };
        if forbidden.iter().enumerate().all(pairs) {
            return;
        }
        self.any = true;
        self.after.resize(n * self.n_blocks, 0);
        self.before.resize(n * self.n_blocks, 0);
        for (column, &kind) in self.kinds.iter().enumerate() {
            let (block, bit, kind) = (column / LANES, 1 << (column % LANES), kind as usize);
            for other in 0..n {
                let at = other * self.n_blocks + block;
                self.after[at] |= if allowed[other * n + kind] { bit } else { 0 };
                self.before[at] |= if allowed[kind * n + other] { bit } else { 0 };
            }
        }
    }

    /// Of a block of columns, as bits: those that may be asked below this one, and those below
    /// which it may be asked.
    #[inline(always)]
    pub fn allowed(&self, column: usize, block: usize) -> [u32; 2] {
        let at = self.kinds[column] as usize * self.n_blocks + block;
        [self.after[at], self.before[at]]
    }

    fn bytes(&self) -> usize {
        (self.kinds.capacity() + self.after.capacity() + self.before.capacity()) * 4
    }
}
