//! Thirds: three sides of three questions that have no row in common.
//!
//! Of a column with missing values, three questions stand for each cut: values above it, values
//! above it or missing, and missing ones. Each has a side of its own: above, below, and missing.
//! The other side of each holds those of the other two.

use hashbrown::HashMap;

use crate::data::{Feature, Features, Order};
use crate::ids::FeatureId;

/// A question and one of its sides.
pub type SideOf = (u32, usize);

/// Three sides that have no row in common. The other side of each question holds the other two.
pub type Three = [SideOf; 3];

/// All such sides among the questions of a view.
#[derive(Debug, Clone, Default)]
pub struct Thirds {
    all: Vec<Three>,
    /// By question: which of them it is in. Empty where there are none.
    of_question: Vec<Vec<u32>>,
}

impl Thirds {
    /// Of questions, each a feature and its cut. One that splits all points as another question
    /// does is not among them, and nor are its thirds.
    pub(super) fn of(features: &Features, questions: &[(FeatureId, u32)]) -> Thirds {
        let has_missing = |feature: &Feature| {
            matches!(feature.order, Order::MissingLowest(_) | Order::IsOrMissing(_))
        };
        if !features.iter().any(has_missing) {
            return Thirds::default();
        }
        let place = |(place, &cut): (usize, &(FeatureId, u32))| (cut, place as u32);
        let known: HashMap<(FeatureId, u32), u32> =
            questions.iter().enumerate().map(place).collect();
        let mut all = Vec::new();
        let list: Vec<Feature> = features.iter().copied().collect();
        let mut start = 0;
        while start < list.len() {
            let column = list[start].column;
            let n = list[start..].iter().take_while(|feature| feature.column == column).count();
            thirds(&list[start..start + n], |sides| {
                let side = |(feature, cut, side): (usize, u32, usize)| {
                    let key = (FeatureId::from(start + feature), cut);
                    Some((*known.get(&key)?, side))
                };
                if let [Some(a), Some(b), Some(c)] = sides.map(side) {
                    all.push([a, b, c]);
                }
            });
            start += n;
        }
        let mut of_question = vec![Vec::new(); if all.is_empty() { 0 } else { questions.len() }];
        for (index, three) in all.iter().enumerate() {
            three
                .iter()
                .for_each(|&(question, _)| of_question[question as usize].push(index as u32));
        }
        Thirds { all, of_question }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The thirds that a question is in.
    pub fn of_question(&self, question: u32) -> impl Iterator<Item = &Three> {
        let known = self.of_question.get(question as usize);
        known.into_iter().flatten().map(|&index| &self.all[index as usize])
    }

    /// The two sides that a side of a question holds, for each of the thirds in which it does.
    pub fn held_by(&self, (question, side): SideOf) -> impl Iterator<Item = [SideOf; 2]> {
        self.of_question(question).filter_map(move |three| {
            let own = three.iter().position(|&(other, _)| other == question)?;
            (three[own].1 != side).then(|| other_sides(three, own))
        })
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lists = self.of_question.iter().map(|list| list.capacity() * size_of::<u32>());
        self.all.capacity() * size_of::<Three>()
            + self.of_question.capacity() * size_of::<Vec<u32>>()
            + lists.sum::<usize>()
    }
}

/// The sides beside that at a place.
pub fn other_sides(three: &Three, place: usize) -> [SideOf; 2] {
    [1, 2].map(|next| three[(place + next) % 3])
}

/// Calls `each` with the thirds of a column, by the place of a feature among those of the column,
/// cut and side.
fn thirds(features: &[Feature], mut each: impl FnMut([(usize, u32, usize); 3])) {
    match *features {
        // Missing values last, and first.
        [
            Feature { order: Order::Codes, cuts, .. },
            Feature { order: Order::MissingLowest(_), .. },
        ] => {
            let missing = (0, cuts - 1, 1);
            (0..cuts - 1).for_each(|cut| each([(0, cut, 0), (1, cut, 1), missing]));
        }
        _ => {
            let place = |wanted: Order| features.iter().position(|f| f.order == wanted);
            for (with, feature) in features.iter().enumerate() {
                let Order::IsOrMissing([value, missing]) = feature.order else { continue };
                if let (Some(value), Some(missing)) =
                    (place(Order::Is(value)), place(Order::Is(missing)))
                {
                    each([(value, 0, 1), (with, 0, 0), (missing, 0, 1)]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, ColumnKind, Threshold};

    /// The codes on each side that thirds name, of a column with missing values.
    fn codes_of_thirds(kind: ColumnKind) -> Vec<[Vec<u32>; 3]> {
        let column = Column { name: String::new(), kind, missing: true };
        let n = column.n_codes() as u32;
        let features = Features::of(&[column]);
        let questions: Vec<(FeatureId, u32)> = (features.iter().enumerate())
            .flat_map(|(feature, of)| (0..of.cuts).map(move |cut| (FeatureId::from(feature), cut)))
            .collect();
        let codes = |(question, side): SideOf| -> Vec<u32> {
            let (feature, cut) = questions[question as usize];
            let order = features.get(feature.index()).order;
            (0..n).filter(|&code| usize::from(order.rank(code) > cut) == side).collect()
        };
        let thirds = Thirds::of(&features, &questions);
        for question in 0..questions.len() as u32 {
            assert!(
                thirds.of_question(question).all(|three| three.iter().any(|s| s.0 == question))
            );
        }
        thirds.all.iter().map(|three| three.map(codes)).collect()
    }

    #[test]
    fn values_below_a_cut_those_above_it_and_missing_ones_are_sides() {
        let boolean = codes_of_thirds(ColumnKind::Boolean);
        assert_eq!(boolean, [[vec![0], vec![1], vec![2]]]);
        let cuts = ColumnKind::Ordered(vec![Threshold::Float(0.5), Threshold::Float(1.5)]);
        let wanted = [[vec![0], vec![1, 2], vec![3]], [vec![0, 1], vec![2], vec![3]]];
        assert_eq!(codes_of_thirds(cuts), wanted);
    }

    #[test]
    fn a_value_the_other_values_and_missing_ones_are_sides() {
        // Codes 0 and 1 for values, 2 for others, and 3 for missing values.
        let values = ColumnKind::Category(vec!["a".into(), "b".into()]);
        let wanted = [[vec![0], vec![1, 2], vec![3]], [vec![1], vec![0, 2], vec![3]]];
        assert_eq!(codes_of_thirds(values), wanted);
    }

    #[test]
    fn questions_that_are_not_asked_have_no_thirds() {
        let column = Column { name: String::new(), kind: ColumnKind::Boolean, missing: true };
        let features = Features::of(&[column]);
        let questions = [0, 1].map(|feature| (FeatureId::from(feature), 0));
        assert!(Thirds::of(&features, &questions).is_empty());
    }
}
