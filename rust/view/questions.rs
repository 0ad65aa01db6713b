//! The questions of a bit view, and what each point answers.
//!
//! All loops over points are in blocks and without branches, for the compiler to turn into vectors.

use hashbrown::HashMap;

use super::bit_view::{Cut, Fingerprint};
use crate::bits::Level;
use crate::data::{Feature, Features, Points};
use crate::ids::{ColumnId, FeatureId};

/// Points at a time: few enough to stay close by while the features pass.
pub const BLOCK: usize = 1024;

/// Questions that split the entries, the first of each set of equal or opposite ones whose features
/// are of the same class.
pub fn distinct(
    features: &Features,
    points: &Points,
    entries: &[Vec<u32>],
    keys: &[Fingerprint],
    class_of: &[u32],
) -> Vec<Cut> {
    // A point without entries leaves no mark.
    let mut marks = vec![0; points.len()];
    for &point in entries.iter().flatten() {
        marks[point as usize] = keys[point as usize];
    }
    let whole = marks.iter().fold(0, |sum, mark| sum ^ mark);
    let lefts = Level::detect().run(
        #[inline(always)]
        || left_of_only_cuts(features, points, &marks),
    );
    let mut lefts = lefts.into_iter();
    let mut seen: HashMap<(Fingerprint, u32), ()> = HashMap::new();
    let mut questions = Vec::new();
    // A category, and the marks of each of its values.
    let mut by_value: (Option<ColumnId>, Vec<Fingerprint>) = (None, Vec::new());
    for (index, feature) in features.iter().enumerate() {
        let mut ask = |cut: u32, left: Fingerprint| {
            let canonical = left.min(left ^ whole);
            if left != 0 && left != whole && seen.insert((canonical, class_of[index]), ()).is_none()
            {
                questions.push(Cut { feature: FeatureId::from(index), cut });
            }
        };
        if feature.order.asks_for_values() {
            // All values of a category come one after the other, and its points are walked once.
            if by_value.0 != Some(feature.column) {
                let of = points.codes(feature.column.index());
                by_value.0 = Some(feature.column);
                by_value.1.clear();
                for (point, mark) in marks.iter().enumerate() {
                    let code = of.get(point) as usize;
                    if code >= by_value.1.len() {
                        by_value.1.resize(code + 1, 0);
                    }
                    by_value.1[code] ^= mark;
                }
            }
            let mark = |code: u32| by_value.1.get(code as usize).copied().unwrap_or(0);
            let mut left = whole;
            feature.order.each_value(|code| left ^= mark(code));
            ask(0, left);
            continue;
        }
        if feature.cuts == 1 {
            ask(0, lefts.next().unwrap_or(0));
            continue;
        }
        // Marks by rank, then the sets below each cut from the bottom up.
        let mut by_rank = vec![0; feature.cuts as usize + 1];
        for (point, mark) in marks.iter().enumerate() {
            by_rank[feature.rank(points, point) as usize] ^= mark;
        }
        let mut left = 0;
        for cut in 0..feature.cuts {
            left ^= by_rank[cut as usize];
            ask(cut, left);
        }
    }
    questions
}

/// For each feature with one cut that is no value of a category, the marks of the points to its
/// left.
#[inline(always)]
fn left_of_only_cuts(
    features: &Features,
    points: &Points,
    marks: &[Fingerprint],
) -> Vec<Fingerprint> {
    // Halves side by side, so that several fit in one vector.
    let low: Vec<u64> = marks.iter().map(|&mark| mark as u64).collect();
    let high: Vec<u64> = marks.iter().map(|&mark| (mark >> 64) as u64).collect();
    let is_binary = |feature: &&Feature| feature.cuts == 1 && !feature.order.asks_for_values();
    let binary: Vec<&Feature> = features.iter().filter(is_binary).collect();
    let mut lefts = vec![[0u64; 2]; binary.len()];
    let mut rights = [0u8; BLOCK];
    for from in (0..marks.len()).step_by(BLOCK) {
        let end = marks.len().min(from + BLOCK);
        let rights = &mut rights[..end - from];
        for (feature, left) in binary.iter().zip(&mut lefts) {
            feature.rights(points, 0, from, rights);
            for ((&right, low), high) in rights.iter().zip(&low[from..end]).zip(&high[from..end]) {
                let is_left = u64::from(right).wrapping_sub(1);
                left[0] ^= low & is_left;
                left[1] ^= high & is_left;
            }
        }
    }
    lefts
        .iter()
        .map(|&[low, high]| Fingerprint::from(high) << 64 | Fingerprint::from(low))
        .collect()
}

/// The answers of the block of points at `from` to the questions: a row of bits for each point.
pub fn answers(
    features: &Features,
    points: &Points,
    questions: &[Cut],
    from: usize,
    bits: &mut Vec<u64>,
) {
    Level::detect().run(
        #[inline(always)]
        || {
            let stride = questions.len().div_ceil(64);
            let n = BLOCK.min(points.len() - from);
            bits.clear();
            bits.resize(n * stride, 0);
            let (mut rights, mut word) = ([0u8; BLOCK], [0u64; BLOCK]);
            let (rights, word) = (&mut rights[..n], &mut word[..n]);
            for (at, questions) in questions.chunks(64).enumerate() {
                word.fill(0);
                for (place, question) in questions.iter().enumerate() {
                    let feature = features.get(question.feature.index());
                    feature.rights(points, question.cut, from, rights);
                    for (word, &right) in word.iter_mut().zip(rights.iter()) {
                        *word |= u64::from(right) << place;
                    }
                }
                for (row, &word) in bits.chunks_mut(stride).zip(word.iter()) {
                    row[at] = word;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, ColumnKind, Threshold};
    use std::collections::HashSet;

    fn noise(seed: u64, n: usize, below: u64) -> Vec<u32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % below
        };
        (0..n).map(|_| next() as u32).collect()
    }

    fn cuts(n: u32) -> ColumnKind {
        ColumnKind::Ordered((0..n).map(|t| Threshold::Float(f64::from(t))).collect())
    }

    /// Columns of all kinds, some equal, opposite or constant.
    fn data(n: usize) -> (Vec<Column>, Points) {
        let flag = noise(1, n, 2);
        let opposite = flag.iter().map(|code| 1 - code).collect();
        let values = ["a", "b", "c"].map(String::from).to_vec();
        let more = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        let parts = vec![
            (ColumnKind::Boolean, flag.clone()),
            (ColumnKind::Boolean, noise(2, n, 2)),
            (ColumnKind::Boolean, opposite),
            (cuts(1), flag),
            (ColumnKind::Boolean, vec![1; n]),
            (cuts(4), noise(3, n, 5)),
            (cuts(400), noise(4, n, 401)),
            (ColumnKind::Category(values), noise(5, n, 3)),
            (ColumnKind::Sets(more), noise(8, n, 5)),
        ];
        let (kinds, codes): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let column = |kind| Column { name: String::new(), kind, missing: false };
        let columns: Vec<Column> = kinds.into_iter().map(column).collect();
        let points = Points::new(&columns, codes, vec![1; n]).unwrap();
        (columns, points)
    }

    #[test]
    fn questions_are_the_first_of_their_kind_and_answered_as_features_say() {
        for n in [1, 2, 70, 1500] {
            let (columns, points) = data(n);
            let features = Features::of(&columns);
            let keys: Vec<Fingerprint> =
                (noise(6, n, 1 << 31).into_iter().zip(noise(7, n, 1 << 31)))
                    .map(|(a, b)| Fingerprint::from(a) << 80 | Fingerprint::from(b) | 1 << 60)
                    .collect();
            // Every third point counts for nothing.
            let alive: Vec<u32> = (0..n as u32).filter(|p| p % 3 != 2).collect();
            let mut seen = HashSet::new();
            let mut wanted = Vec::new();
            for (index, feature) in features.iter().enumerate() {
                for cut in 0..feature.cuts {
                    let left = |&p: &u32| feature.goes_left(&points, p as usize, cut);
                    let sides: Vec<bool> = alive.iter().map(left).collect();
                    let canonical: Vec<bool> = sides.iter().map(|side| side ^ sides[0]).collect();
                    if canonical.contains(&true) && seen.insert(canonical) {
                        wanted.push(Cut { feature: FeatureId::from(index), cut });
                    }
                }
            }
            let one = vec![0; features.len()];
            let found = distinct(&features, &points, std::slice::from_ref(&alive), &keys, &one);
            assert_eq!(found, wanted);

            let (mut bits, mut block) = (Vec::new(), Vec::new());
            for from in (0..points.len()).step_by(BLOCK) {
                answers(&features, &points, &found, from, &mut block);
                bits.extend_from_slice(&block);
            }
            let stride = found.len().div_ceil(64);
            for point in 0..n {
                for (at, question) in found.iter().enumerate() {
                    let feature = features.get(question.feature.index());
                    let right = bits[point * stride + at / 64] >> (at % 64) & 1 == 1;
                    assert_eq!(right, !feature.goes_left(&points, point, question.cut));
                }
            }
        }
    }
}
