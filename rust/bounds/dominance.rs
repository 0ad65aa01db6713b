//! Dominance: of two values of the same rows, one that is no worse makes the other needless.
//!
//! Statement: if a is no worse than b, then for every value c of the other rows a ∪ c is allowed
//! where b ∪ c is, and costs no more. So b belongs to no tree that is needed.
//!
//! Proof: that joining keeps the order is what a task promises (`task/front_task.rs`).
//!
//! Invalid where joining breaks the order. Where leaves cost something or are limited, the value of
//! fewer leaves must be the one that stays.

/// Keep the values of a list that no other one dominates, and of two that dominate each other one.
/// Those that are kept come first, and each of the others is compared with all of them. Before that
/// `is_over` is told of how many there are: if it says so, the rest stays as it is.
pub fn keep_undominated<T>(
    list: &mut Vec<T>,
    dominates: impl Fn(&T, &T) -> bool,
    mut is_over: impl FnMut(usize) -> bool,
) {
    let mut kept = 0;
    for at in 0..list.len() {
        if is_over(kept) {
            list.drain(kept..at);
            return;
        }
        if (0..kept).any(|other| dominates(&list[other], &list[at])) {
            continue;
        }
        list.swap(kept, at);
        let mut other = 0;
        while other < kept {
            if dominates(&list[kept], &list[other]) {
                // The last one that was kept takes its place, and the new one that place.
                list.swap(other, kept - 1);
                list.swap(kept - 1, kept);
                kept -= 1;
            } else {
                other += 1;
            }
        }
        kept += 1;
    }
    list.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::keep_undominated;

    #[test]
    fn the_front_of_pairs_stays() {
        let mut list: Vec<(i32, i32)> =
            vec![(3, 3), (1, 5), (4, 4), (2, 4), (5, 0), (1, 5), (6, 0), (2, 5), (0, 9)];
        keep_undominated(&mut list, |a, b| a.0 <= b.0 && a.1 <= b.1, |_| false);
        list.sort_unstable();
        assert_eq!(list, [(0, 9), (1, 5), (2, 4), (3, 3), (5, 0)]);
    }

    #[test]
    fn what_was_not_compared_stays() {
        let mut list = vec![3, 4, 2, 5, 5, 1];
        let mut left = 4;
        let is_over = |_| {
            left -= 1;
            left == 0
        };
        keep_undominated(&mut list, |a, b| a <= b, is_over);
        assert_eq!(list, [2, 5, 5, 1]);
    }
}
