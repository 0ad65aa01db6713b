//! For the tests of a new context: whether it keeps to the contract.

use super::contract::Context;
use super::walk::Walk;
use crate::ids::ColumnId;

/// What the contract says of random paths of up to six splits. `questions`: by column, how many it
/// has; a column with none is not asked, and a column with one is asked once on a path. An error
/// names the clause that is broken.
pub fn obeys<C: Context + Clone>(context: &C, questions: &[u32], seed: u64) -> Result<(), String> {
    let walk = Walk::new(context.clone(), questions);
    let mut random = seed.wrapping_mul(2) | 1;
    let mut below = |n: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (random >> 33) as usize % n
    };
    let all = || (0..questions.len()).filter(|&column| questions[column] > 0).map(ColumnId::from);
    // Two paths that ask for the same columns from different beginnings.
    let mut ends = Vec::new();
    for _ in 0..2 {
        let (mut state, mut path) = (walk.start(), Vec::new());
        for _ in 0..below(7) {
            let open = |column: &ColumnId| questions[column.index()] > 1 || !path.contains(column);
            for column in all().filter(open) {
                let (stated, told) = (context.cost_after(&path, column), walk.cost(&state, column));
                if stated != told {
                    return Err(format!(
                        "after {path:?}, {column:?} costs {stated:?}, but its state says {told:?}"
                    ));
                }
                for other in all().filter(|&other| context.kind(other) == context.kind(column)) {
                    if !path.contains(&other)
                        && !path.contains(&column)
                        && context.cost_after(&path, other) != stated
                    {
                        return Err(format!("{column:?} and {other:?} are no kind after {path:?}"));
                    }
                }
            }
            let allowed: Vec<ColumnId> =
                all().filter(open).filter(|&column| walk.allows(&state, column)).collect();
            if allowed.is_empty() {
                break;
            }
            let column = allowed[below(allowed.len())];
            let next = walk.enter(&state, column);
            for then in all().filter(|&then| questions[then.index()] > 1 || then != column) {
                let (here, there) = (walk.cost(&state, then), walk.cost(&next, then));
                let dearer = there.is_some_and(|there| here.is_none_or(|here| here > there));
                if walk.sheds(&state) && dearer {
                    return Err(format!("after {path:?} and {column:?}, {then:?} is shed in vain"));
                }
                if walk.is_open(&state) && (here.is_none() || there.is_none()) {
                    return Err(format!("after {path:?} it is not open: {then:?} is forbidden"));
                }
            }
            if walk.sheds(&state) && !(walk.sheds(&next) && walk.covers(&state, &next)) {
                return Err(format!(
                    "after {path:?} rows may move up from below {column:?}, not on"
                ));
            }
            if !path.contains(&column) {
                path.push(column);
            }
            state = next;
        }
        ends.push((state, path));
    }
    let [(one, a), (other, b)] = &ends[..] else { unreachable!("there are two paths") };
    if walk.covers(one, other) {
        let is_above = |column: &ColumnId| a.contains(column) || b.contains(column);
        for column in all().filter(|column| questions[column.index()] > 1 || !is_above(column)) {
            let (here, there) = (walk.cost(one, column), walk.cost(other, column));
            let dearer = there.is_some_and(|there| here.is_none_or(|here| here > there));
            let still = there.is_none()
                || walk.covers(&walk.enter(one, column), &walk.enter(other, column));
            if dearer || !still {
                return Err(format!("{a:?} does not cover {b:?}, since there is {column:?}"));
            }
        }
    }
    Ok(())
}
