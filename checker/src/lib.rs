//! Checks proofs that no decision tree is better than one that is given. `docs/proof.md` of certree
//! says what the files hold and why each step is sound. No code is shared with certree.
#![forbid(unsafe_code)]

mod instance;
mod look;
mod sides;
mod squares;

use std::collections::HashMap;
use std::fmt;

use instance::{Instance, UNLIMITED, digest, whole};
use look::{Columns, Node, Residual};

/// Every tree costs at least `bound`, and a tree of the proof costs `cost`.
pub struct Verified {
    pub bound: i64,
    pub cost: i64,
    pub lemmas: i64,
    offset: i128,
    units: f64,
    slack: i64,
}

impl Verified {
    pub fn gap(&self) -> i64 {
        self.cost - self.bound
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.gap() {
            0 => write!(out, "VERIFIED")?,
            gap => write!(out, "VERIFIED UP TO {gap}")?,
        }
        let objective = (i128::from(self.cost) + self.offset) as f64 / self.units;
        let Verified { bound, cost, lemmas, slack, .. } = self;
        write!(
            out,
            ": the tree costs {cost} (objective {objective:.9}), every tree at least {bound}"
        )?;
        if *slack > 0 {
            write!(out, "; costs are rounded, by {slack} at most")?;
        }
        write!(out, "; {lemmas} lemmas")
    }
}

/// How deep trees may be, and of how many leaves: neither is more than the other one allows.
type Budget = (u32, u32);

fn budget(depth: u32, leaves: u32) -> Budget {
    if leaves == UNLIMITED {
        return (depth, leaves);
    }
    let depth = depth.min(leaves - 1);
    (depth, leaves.min(1 << depth.min(31)))
}

/// The budgets of both sides of a split, for each way to share the leaves.
fn halves((depth, leaves): Budget) -> Vec<[Budget; 2]> {
    let depth = if depth == UNLIMITED { depth } else { depth - 1 };
    if leaves == UNLIMITED {
        return vec![[(depth, leaves); 2]];
    }
    let most = (leaves - 1).min(1 << depth.min(31));
    let way = |left: u32| [budget(depth, left), budget(depth, leaves - left)];
    (leaves - most..=most).map(way).collect()
}

/// A lemma that is not proved yet: each tree of these points within the budget costs at least
/// `target`.
struct Open<'a> {
    node: Node,
    columns: Columns<'a>,
    budget: Budget,
    key: u128,
    /// What one leaf costs.
    one: i64,
    target: i64,
    /// The ways to share the leaves.
    halves: Vec<[Budget; 2]>,
    /// By split (question, then way) and side: what every tree of these points costs at least.
    low: Vec<[i64; 2]>,
    /// The split that is worked on, the side of it that was begun last, and what its sides are
    /// still to be proved to cost.
    split: usize,
    side: usize,
    todo: Vec<(usize, i64)>,
}

impl Open<'_> {
    fn question(&self) -> u32 {
        self.node.questions[self.split / self.halves.len()]
    }

    fn half(&self, side: usize) -> Budget {
        self.halves[self.split % self.halves.len()][side]
    }
}

struct Checker<'a> {
    residual: &'a Residual<'a>,
    leaf: i64,
    /// By points and budget.
    proved: HashMap<(u128, Budget), i64>,
    /// What the points of the last lemma that was proved cost at least: its target, or more.
    worth: i64,
    lemmas: i64,
    most_lemmas: i64,
    shares: &'a [u8],
}

/// The verdict, or the first thing that fails.
pub fn check(instance: &[u8], proof: &[u8]) -> Result<Verified, String> {
    let read = Instance::read(instance)?;
    let Header { digest: wanted, tree, bound, lemmas: most_lemmas, shares } = Header::read(proof)?;
    if wanted != format!("{:016x}", digest(instance)) {
        return Err("the proof is of another instance".into());
    }
    let cost = read.cost_of_tree(tree)?;
    if !(0..=cost).contains(&bound) || most_lemmas < 0 {
        return Err("the bound is no cost, or above that of the tree".into());
    }
    let (residual, root) = Residual::new(&read)?;
    let target = bound - residual.unavoidable;
    let leaf = read.leaf;
    let proved = HashMap::new();
    let mut checker =
        Checker { residual: &residual, leaf, proved, worth: 0, lemmas: 0, most_lemmas, shares };
    let checked = checker.run(root, budget(read.depth, read.leaves), target);
    checked.map_err(|error| format!("lemma {}: {error}", checker.lemmas))?;
    if checker.worth < target {
        return Err("a small tree costs less".into());
    }
    if !checker.shares.is_empty() {
        return Err("the proof goes on after its end".into());
    }
    let (lemmas, Instance { offset, units, slack, .. }) = (checker.lemmas, read);
    Ok(Verified { bound, cost, lemmas, offset, units, slack })
}

struct Header<'a> {
    digest: &'a str,
    tree: &'a str,
    bound: i64,
    lemmas: i64,
    shares: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(proof: &'a [u8]) -> Result<Header<'a>, String> {
        let mut rest = proof;
        let mut line = |name: &str| {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = rest.split_at(end.ok_or("the proof ends in its header")?);
            rest = &after[1..];
            let text = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix(name));
            text.ok_or(format!("the proof has no {name}"))
        };
        if !line("certree proof 1")?.is_empty() {
            return Err("this is no proof of version 1".into());
        }
        let (digest, tree) = (line("instance ")?, line("tree ")?);
        let (bound, lemmas) = (whole(line("bound ")?)?, whole(line("lemmas ")?)?);
        if !line("end")?.is_empty() {
            return Err("the header of the proof has no end".into());
        }
        Ok(Header { digest, tree, bound, lemmas, shares: rest })
    }
}

impl<'a> Checker<'a> {
    fn run(&mut self, root: Node, budget: Budget, target: i64) -> Result<(), String> {
        let mut open: Vec<Open<'a>> = self.begin(root, budget, target)?.into_iter().collect();
        while let Some(top) = open.last_mut() {
            if let Some((side, target)) = top.todo.pop() {
                if top.low[top.split][side] < target {
                    let child = self.residual.child(&top.node, top.question(), side);
                    top.side = side;
                    match self.begin(child, top.half(side), target)? {
                        None => raise(top, side, self.worth),
                        Some(child) => open.push(child),
                    }
                }
            } else if self.choose(top)? {
                let splits = top.low.iter().map(|[left, right]| left + right);
                self.prove(top.key, top.budget, splits.fold(top.one, i64::min));
                open.pop();
                if let Some(parent) = open.last_mut() {
                    raise(parent, parent.side, self.worth);
                }
            }
        }
        Ok(())
    }

    fn prove(&mut self, key: u128, budget: Budget, cost: i64) {
        let known = self.proved.entry((key, budget)).or_insert(cost);
        *known = cost.max(*known);
        self.worth = *known;
    }

    fn known(&self, key: u128, budget: Budget) -> i64 {
        self.proved.get(&(key, budget)).copied().unwrap_or(i64::MIN)
    }

    /// Prove that these points cost at least `target`, where one look shows it; otherwise begin.
    /// With a depth of at most 2 the look shows what they cost, which may be less.
    fn begin(
        &mut self,
        mut node: Node,
        budget: Budget,
        target: i64,
    ) -> Result<Option<Open<'a>>, String> {
        let (key, depth) = (self.residual.key(&node), budget.0);
        self.worth = self.known(key, budget);
        if self.worth >= target {
            return Ok(None);
        }
        self.lemmas += 1;
        if self.lemmas > self.most_lemmas {
            return Err("there are more lemmas than the proof says".into());
        }
        let (leaf, is_small) = (self.leaf, depth <= 2);
        let one = self.residual.leaf(&node) + leaf;
        if one < target && !is_small {
            return Err("a leaf costs less".into());
        }
        if depth == 0 || target <= 2 * leaf && !is_small {
            self.prove(key, budget, if is_small { one } else { one.min(2 * leaf) });
            return Ok(None);
        }
        let columns = self.residual.columns(&mut node);
        let pairs = if is_small { depth == 2 } else { target > 3 * leaf };
        let found = columns.look(if is_small { 0 } else { leaf }, pairs);
        let low = |q: usize, s: usize, depth: u32| {
            let one = found.leaves[q][s] + leaf;
            let two = one.min(found.stumps[q][s] + 2 * leaf);
            let large = if found.three_fail[q][s] { 4 * leaf } else { 3 * leaf };
            [one, two, two.min(large)][depth.min(2) as usize]
        };
        let halves = halves(budget);
        let ways = |q: usize| halves.iter().map(move |&[a, b]| [low(q, 0, a.0), low(q, 1, b.0)]);
        let low: Vec<[i64; 2]> = (0..node.questions.len()).flat_map(ways).collect();
        if is_small || !pairs {
            // Trees of three leaves cost a target that is so low.
            let most = if is_small { one } else { one.min(3 * leaf) };
            self.prove(key, budget, low.iter().map(|[a, b]| a + b).fold(most, i64::min));
            let is_short = self.worth < target && !is_small;
            return if is_short { Err("a split costs less".into()) } else { Ok(None) };
        }
        let (split, side, todo) = (0, 0, Vec::new());
        Ok(Some(Open { node, columns, budget, key, one, target, halves, low, split, side, todo }))
    }

    /// Whether all splits cost enough; if not, the proof says how the least one is to be shown to.
    fn choose(&mut self, top: &mut Open) -> Result<bool, String> {
        let sum = |low: &[i64; 2]| low[0] + low[1];
        let least = top.low.iter().enumerate().min_by_key(|(_, low)| sum(low));
        let Some((split, _)) = least.filter(|(_, low)| sum(low) < top.target) else {
            return Ok(true);
        };
        top.split = split;
        let sides = self.residual.sides(&top.node, top.question());
        for (side, &(key, _)) in sides.iter().enumerate() {
            raise(top, side, self.known(key, top.half(side)));
        }
        let first = usize::from(sides[1].1 > sides[0].1);
        for side in [first, 1 - first] {
            // Trees of less depth were counted with the pairs of questions.
            let half = top.half(side);
            let is_new = half.0 == 2 && self.known(sides[side].0, half) == i64::MIN;
            if is_new && sum(&top.low[split]) < top.target {
                let child = self.residual.child(&top.node, top.question(), side);
                self.begin(child, half, i64::MAX)?;
                raise(top, side, self.worth);
            }
        }
        let [left, right] = top.low[split];
        let missing = top.target - left - right;
        if missing <= 0 {
            return Ok(false);
        }
        let share = match [top.half(0).0 <= 2, top.half(1).0 <= 2] {
            [true, true] => return Err("a split costs less".into()),
            [true, false] => 1,
            [false, true] => 0,
            [false, false] => self.share()?,
        };
        top.todo = match share {
            0 => vec![(0, left + missing)],
            1 => vec![(1, right + missing)],
            share if share - 1 < missing => {
                let share = share - 1;
                vec![(1, right + missing - share), (0, left + share)]
            }
            _ => return Err("a share is larger than what is missing".into()),
        };
        Ok(false)
    }

    /// The next number of the proof: seven bits in each byte, the lowest first.
    fn share(&mut self) -> Result<i64, String> {
        let mut number = 0;
        for place in 0..9 {
            let (&byte, rest) = self.shares.split_first().ok_or("the proof ends too early")?;
            self.shares = rest;
            number |= i64::from(byte & 127) << (7 * place);
            match byte {
                // Each number has one way to be written.
                0 if place > 0 => return Err("a share has zeros to spare".into()),
                128.. => {}
                _ => return Ok(number),
            }
        }
        Err("a share is too large".into())
    }
}

/// A side of the split that is worked on costs at least so much; then so do the sides of other
/// splits that may have no more leaves, less the most that points cost which these lack.
fn raise(top: &mut Open, side: usize, cost: i64) {
    let (split, ways, leaves) = (top.split, top.halves.len(), top.half(side).1);
    if cost <= top.low[split][side] {
        return;
    }
    top.low[split][side] = cost;
    let lost = top.columns.lost(split / ways, side);
    for (other, low) in top.low.iter_mut().enumerate() {
        if other != split && low[0] + low[1] < top.target {
            let half = top.halves[other % ways];
            for there in (0..2).filter(|&there| half[there].1 <= leaves) {
                low[there] = low[there].max(cost - lost[other / ways][there]);
            }
        }
    }
}
