//! What the best tree of some rows costs: what their sibling may not spend.

use hashbrown::HashMap;

use super::rows::{Candidate, Looker, below};
use crate::cost::Cost;
use crate::kernel::Unfinished;

/// By rows and depth: what they cost at least, and whether that is what they cost.
#[derive(Default)]
pub struct Optima {
    known: HashMap<Box<[u64]>, (Cost, bool)>,
}

/// Rows and depth as one key.
pub fn name(rows: &[u64], depth: u32) -> Box<[u64]> {
    rows.iter().copied().chain([u64::from(depth)]).collect()
}

impl Optima {
    pub fn bytes(&self) -> usize {
        let words = self.known.keys().next().map_or(0, |name| name.len());
        self.known.allocation_size() + self.known.len() * (words * 8 + 16)
    }

    /// What the rows cost if that is at most `cutoff`; else something above it that they cost at
    /// least.
    pub fn least(
        &mut self,
        looker: &mut Looker,
        rows: &[u64],
        depth: u32,
        cutoff: Cost,
    ) -> Result<Cost, Unfinished> {
        let name = name(rows, depth);
        if let Some(&(cost, is_exact)) = self.known.get(&name)
            && (is_exact || cost > cutoff)
        {
            return Ok(cost);
        }
        let (mut best, mut candidates) = looker.splits(rows, depth, cutoff)?;
        if depth <= 2 {
            best = candidates.iter().map(Candidate::sum).fold(best, Cost::min);
        } else {
            candidates.sort_by_key(Candidate::sum);
            for candidate in &candidates {
                let limit = cutoff.min(best - 1);
                if candidate.sum() > limit {
                    break;
                }
                let sum = self.sum(looker, rows, candidate, depth, limit)?;
                best = best.min(sum.map_or(best, |[a, b]| a + b));
            }
        }
        let found = if best <= cutoff { (best, true) } else { (cutoff + 1, false) };
        self.known.insert(name, found);
        Ok(found.0)
    }

    /// What both sides of a split cost, if that is at most `limit` together. `depth`: that of the
    /// rows that are split.
    pub fn sum(
        &mut self,
        looker: &mut Looker,
        rows: &[u64],
        candidate: &Candidate,
        depth: u32,
        limit: Cost,
    ) -> Result<Option<[Cost; 2]>, Unfinished> {
        let mut least = [candidate.least(0), candidate.least(1)];
        if depth > 2 {
            // The side that may cost more goes first, because its bound says less.
            let first = usize::from(candidate.leaf[1] > candidate.leaf[0]);
            for side in [first, 1 - first] {
                let cutoff = limit - least[1 - side];
                if least[side] > cutoff {
                    return Ok(None);
                }
                if candidate.split[side] < candidate.leaf[side] {
                    let rows = looker.side(rows, candidate.question, side);
                    least[side] = self.least(looker, &rows, below(depth), cutoff)?;
                }
            }
        }
        Ok((least[0] + least[1] <= limit).then_some(least))
    }
}
