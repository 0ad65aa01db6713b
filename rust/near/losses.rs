//! What rows lose under each label.

use crate::cost::Cost;
use crate::problem::Problem;
use crate::task::Structure;
use crate::view::BitView;

/// Neighbouring rows of the view that lose the same, so that counting them sums their losses.
struct Stretch {
    from: usize,
    to: usize,
    losses: Vec<Cost>,
}

/// Losses by label of all rows of a view; of none where answers are no labels.
pub struct Losses {
    stretches: Vec<Stretch>,
    n_labels: usize,
}

impl Losses {
    pub fn new(problem: &Problem, bits: &BitView) -> Losses {
        let structure = problem.task.structure();
        let n_labels = structure.n_labels();
        let mut losses = Losses { stretches: Vec::new(), n_labels };
        for (index, segment) in bits.segments.iter().enumerate() {
            let rows = bits.root.segment(index);
            if let Structure::Classes(classes) = structure {
                let labels = 0..n_labels;
                let lost = |label| segment.weight * classes.cost(segment.class as usize, label);
                losses.push(rows.start, rows.end, labels.map(lost).collect());
            } else if n_labels > 0 {
                for row in rows {
                    let lost = &bits.root.costs[row * bits.width..][..n_labels];
                    losses.push(row, row + 1, lost.to_vec());
                }
            }
        }
        losses
    }

    fn push(&mut self, from: usize, to: usize, losses: Vec<Cost>) {
        match self.stretches.last_mut() {
            Some(last) if last.losses == losses && last.to == from => last.to = to,
            _ => self.stretches.push(Stretch { from, to, losses }),
        }
    }

    /// By label, what these rows lose, into an empty list.
    pub fn add(&self, rows: &[u64], sums: &mut Vec<Cost>) {
        sums.resize(self.n_labels, 0);
        for Stretch { from, to, losses } in &self.stretches {
            let n = count(rows, *from, *to);
            if n > 0 {
                sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += n * loss);
            }
        }
    }
}

/// How many bits from one place up to another are set.
fn count(words: &[u64], from: usize, to: usize) -> i64 {
    if from == to {
        return 0;
    }
    let (first, last) = (from / 64, (to - 1) / 64);
    let low = u64::MAX << (from % 64);
    let high = u64::MAX >> (63 - (to - 1) % 64);
    if first == last {
        return i64::from((words[first] & low & high).count_ones());
    }
    let between: u32 = words[first + 1..last].iter().map(|word| word.count_ones()).sum();
    i64::from((words[first] & low).count_ones() + between + (words[last] & high).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_between_two_places_are_counted() {
        let words = [0x8000_0000_0000_0001u64, 5, 1];
        let slow = |from: usize, to: usize| {
            (from..to).filter(|at| words[at / 64] >> (at % 64) & 1 == 1).count() as i64
        };
        for from in 0..192 {
            for to in from..=192 {
                assert_eq!(count(&words, from, to), slow(from, to), "{from} {to}");
            }
        }
    }
}
