//! A table at rest as bytes, so that a search can go on in another process.
//!
//! Nodes come first, then their alternatives, which name children by their place among the nodes,
//! then what is solved. All that a search goes on from is there, so that with one thread it takes
//! the same steps as in place. What nodes are called, the fingerprints of their rows, is the same
//! in every process, because keys of points are fixed.

use hashbrown::HashMap;

use super::alternatives::{Alternative, Alternatives};
use super::budget::{Budget, Choice, NodeKey, UNLIMITED};
use super::node::{Node, State};
use super::table::{Entry, Fingerprints, Table};
use crate::cost::Cost;
use crate::error::Result;
use crate::search::common::sync::{Arc, lock};
use crate::serial::{Reader, Writer, damaged};

impl Table {
    /// Nobody may be at work on it. A writer that is full ends this early.
    pub fn write(&self, out: &mut Writer) {
        let (mut nodes, mut solved) = (Vec::new(), Vec::new());
        self.each(|key, entry| match entry {
            Entry::Open(node) => nodes.push(node.clone()),
            Entry::Solved(value) => solved.push((*key, *value)),
        });
        // Equal tables have equal bytes, in whatever order they were filled.
        let order = |key: &NodeKey| (key.rows, key.budget.depth, key.budget.leaves);
        nodes.sort_unstable_by_key(|node| order(&node.key));
        solved.sort_unstable_by_key(|(key, _)| order(key));
        let mut places: HashMap<NodeKey, usize, Fingerprints> = HashMap::default();
        places.extend(nodes.iter().enumerate().map(|(place, node)| (node.key, place)));
        out.list(nodes.iter(), |out, node| {
            if !out.is_full() {
                write_node(node, out);
            }
        });
        for node in &nodes {
            if out.is_full() {
                return;
            }
            let state = lock(&node.state);
            out.option(state.alternatives.as_deref(), |out, all| {
                write_alternatives(all, |child| places.get(&child.key).copied(), out);
            });
        }
        out.list(solved.into_iter(), |out, (key, value)| {
            write_key(key, out);
            out.signed(value);
        });
    }

    /// A table of a problem with this many questions.
    pub fn read(from: &mut Reader, n_questions: usize) -> Result<Table> {
        let nodes = from.list(|from| read_node(from, n_questions).map(Arc::new))?;
        for node in &nodes {
            let alternatives = from.option(|from| read_alternatives(from, n_questions, &nodes))?;
            lock(&node.state).alternatives = alternatives.map(Box::new);
        }
        let table = Table::new();
        for node in nodes {
            table.put(node.key, Entry::Open(node))?;
        }
        for _ in 0..from.size()? {
            let key = read_key(from)?;
            table.put(key, Entry::Solved(from.signed()?))?;
        }
        Ok(table)
    }

    fn put(&self, key: NodeKey, entry: Entry) -> Result<()> {
        match self.put_new(key, entry) {
            true => Ok(()),
            false => Err(damaged("a node is there twice")),
        }
    }
}

pub(super) fn write_key(key: NodeKey, out: &mut Writer) {
    let NodeKey { rows, budget: Budget { depth, leaves } } = key;
    out.random(rows);
    // `UNLIMITED` becomes 0, which is the shortest.
    out.short(depth.wrapping_add(1));
    out.short(leaves.wrapping_add(1));
}

pub(super) fn read_key(from: &mut Reader) -> Result<NodeKey> {
    let rows = from.random()?;
    let depth = from.short()?.wrapping_sub(1);
    let budget = Budget { depth, leaves: from.short()?.wrapping_sub(1) };
    match budget.leaves > 0 && budget == budget.tight() {
        true => Ok(NodeKey { rows, budget }),
        false => Err(damaged("a node has a budget that none can have")),
    }
}

/// A lower and an upper bound. The second is written as what it is more than the first.
fn write_bounds([lower, upper]: [Cost; 2], out: &mut Writer) {
    out.signed(lower);
    out.number(upper.saturating_sub(lower).max(0) as u64);
}

fn read_bounds(from: &mut Reader) -> Result<[Cost; 2]> {
    let lower = from.signed()?;
    let upper = i64::try_from(from.number()?).ok().and_then(|more| lower.checked_add(more));
    upper.map(|upper| [lower, upper]).ok_or_else(|| damaged("a bound is too large"))
}

fn write_choice(Choice { question, left_leaves }: Choice, out: &mut Writer) {
    out.short(question);
    // Without a limit of leaves this is one less than `UNLIMITED`.
    out.short(left_leaves.wrapping_add(2));
}

fn read_choice(from: &mut Reader, n_questions: usize) -> Result<Choice> {
    let question = from.below(n_questions, "question")?;
    let left_leaves = from.short()?.wrapping_sub(2);
    match left_leaves {
        0 | UNLIMITED => Err(damaged("a side of a split has no leaves")),
        _ => Ok(Choice { question, left_leaves }),
    }
}

fn write_node(node: &Node, out: &mut Writer) {
    let State { alternatives: _, expanded, choice, deep, summed: _ } = &*lock(&node.state);
    write_key(node.key, out);
    write_bounds([node.lower(), node.upper()], out);
    out.flag(*expanded);
    out.flag(*deep);
    out.option(*choice, |out, choice| write_choice(choice, out));
}

fn read_node(from: &mut Reader, n_questions: usize) -> Result<Node> {
    let key = read_key(from)?;
    let [lower, upper] = read_bounds(from)?;
    let node = Node::new(key, lower, upper);
    let (expanded, deep) = (from.flag()?, from.flag()?);
    let choice = from.option(|from| read_choice(from, n_questions))?;
    *lock(&node.state) = State { alternatives: None, expanded, choice, deep, summed: false };
    Ok(node)
}

fn write_alternatives(
    all: &Alternatives<Node>,
    place: impl Fn(&Node) -> Option<usize>,
    out: &mut Writer,
) {
    let Alternatives { list, limit, beyond, children } = all;
    out.signed(*limit);
    out.signed(*beyond);
    out.flag(!children.is_empty());
    out.list(list.iter().enumerate(), |out, (at, alternative)| {
        write_choice(alternative.choice(), out);
        for side in 0..2 {
            write_bounds([alternative.lower[side], alternative.upper[side]], out);
            if !children.is_empty() {
                // 0 is none, as it is for what was listed after the last child was chosen.
                let child = children.get(at).and_then(|own| own[side].as_deref());
                out.size(child.and_then(&place).map_or(0, |place| place + 1));
            }
        }
    });
}

fn read_alternatives(
    from: &mut Reader,
    n_questions: usize,
    nodes: &[Arc<Node>],
) -> Result<Alternatives<Node>> {
    let (limit, beyond) = (from.signed()?, from.signed()?);
    let has_children = from.flag()?;
    let mut children = Vec::new();
    let list = from.list(|from| {
        let Choice { question, left_leaves } = read_choice(from, n_questions)?;
        let ([mut lower, mut upper], mut own) = ([[0; 2]; 2], [None, None]);
        for side in 0..2 {
            [lower[side], upper[side]] = read_bounds(from)?;
            if has_children {
                let place = from.below(nodes.len() + 1, "node")? as usize;
                own[side] = place.checked_sub(1).map(|place| nodes[place].clone());
            }
        }
        if has_children {
            children.push(own);
        }
        Ok(Alternative { lower, upper, question, left_leaves, busy: 0 })
    })?;
    children.shrink_to_fit();
    Ok(Alternatives { list, limit, beyond, children })
}
