//! The best labels for the leaves of a given tree: a first tree, before fronts are searched.

use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::run::{Held, Pace, Run};
use crate::search::fronts::{Candidate, Front, SubtreeSketch};

/// Labellings of one tree that are looked at.
const MOST_LABELLINGS: usize = 1 << 14;

/// The least cost of a tree with leaves of these sums, and the labels that attain it, if some are
/// allowed. Where there are very many labellings, some are left out.
pub fn best_labels<F: Front>(
    front: &F,
    leaves: &[Vec<i64>],
    run: &Run,
) -> Option<(Cost, Vec<u32>)> {
    let mut held = Held::new(run);
    let mut decided = Decisions::default();
    let mut inside = vec![0; leaves.first()?.len()];
    // By labelling so far: a value, and the place of its last label in a list of (place of the
    // rest, label).
    let mut chain: Vec<(usize, u32)> = Vec::new();
    let mut list: Vec<Candidate<F::Value>> = Vec::new();
    for (index, sums) in leaves.iter().enumerate() {
        let mut next = Vec::new();
        front.leaf(sums, &mut |label, bound, value| {
            let mut push = |rest: usize, value| {
                chain.push((rest, label));
                let sketch = SubtreeSketch::Leaf(chain.len() as u32 - 1);
                next.push(Candidate { bound, leaves: index as u32 + 1, value, sketch });
            };
            if index == 0 {
                push(usize::MAX, value);
                return;
            }
            for rest in &list {
                let SubtreeSketch::Leaf(place) = rest.sketch else { continue };
                push(place as usize, front.join(&rest.value, &value));
            }
        });
        for (sum, own) in inside.iter_mut().zip(sums) {
            *sum += own;
        }
        let lists = (list.capacity() + next.capacity()) * size_of::<Candidate<F::Value>>();
        let links = chain.capacity() * size_of::<(usize, u32)>();
        held.set(lists + links + front.scratch_bytes(next.len()));
        front.drop_needless(&inside, &mut next, &mut decided, &mut Pace::new(run));
        next.truncate(MOST_LABELLINGS);
        list = next;
    }
    run.add_decisions(&decided);
    let cost = |c: &Candidate<F::Value>| front.cost(&c.value, c.leaves);
    let found = list.iter().filter_map(|c| cost(c).map(|cost| (cost, c)));
    let (cost, best) = found.min_by_key(|found| found.0)?;
    let SubtreeSketch::Leaf(place) = best.sketch else { return None };
    let mut labels = Vec::new();
    let mut place = place as usize;
    while let Some(&(rest, label)) = chain.get(place) {
        labels.push(label);
        place = rest;
    }
    labels.reverse();
    Some((cost, labels))
}
