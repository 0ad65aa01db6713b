//! The questions that trees differ by.
//!
//! The view has one of all questions that part the points alike. Trees are told apart by the
//! questions that they ask, so that each of those stands behind the one in the view, as a *member*.
//! But two members of one column are the same question where a finished tree asks it in the same
//! words: sets of categories that part the values of a node alike, and cuts that send missing
//! values to different sides where none is missing.

use hashbrown::HashMap;

use crate::data::ColumnKind;
use crate::ids::ColumnId;
use crate::problem::Problem;
use crate::tree::Test;
use crate::view::Cut;

pub struct Member {
    pub cut: Cut,
    pub column: ColumnId,
    /// Whether it has the rows of the view's question on its other side.
    pub is_swapped: bool,
    /// Members of the same number that part a node alike are the same question there. `None` where
    /// there is no other one with its number.
    pub words: Option<u32>,
}

pub struct Questions {
    pub members: Vec<Member>,
    /// By question of the view: its members.
    of_question: Vec<Vec<u32>>,
}

impl Questions {
    /// `right`: by question of the view, whether each point is on its 1 side.
    pub fn new(problem: &Problem, asked: &[Cut]) -> Questions {
        let (points, features) = (&problem.points, &problem.features);
        let mut sides = vec![0u8; points.len()];
        // From the first point's side, so that opposite questions have the same bits.
        let mut bits_of = |cut: Cut| -> (Vec<u64>, bool) {
            features.get(cut.feature.index()).rights(points, cut.cut, 0, &mut sides);
            let first = sides.first().copied().unwrap_or(0);
            let word = |bytes: &[u8]| {
                bytes.iter().rev().fold(0, |word, &side| word << 1 | u64::from(side ^ first))
            };
            (sides.chunks(64).map(word).collect(), first == 1)
        };
        let mut place: HashMap<Vec<u64>, (usize, bool)> = HashMap::new();
        for (question, &cut) in asked.iter().enumerate() {
            let (bits, is_flipped) = bits_of(cut);
            place.insert(bits, (question, is_flipped));
        }
        let mut known: Vec<(ColumnId, Option<Test>)> = Vec::new();
        let mut found =
            Questions { members: Vec::new(), of_question: vec![Vec::new(); asked.len()] };
        for (index, feature) in features.iter().enumerate() {
            let column = &problem.columns[feature.column.index()];
            let is_set = matches!(column.kind, ColumnKind::Sets(_));
            for cut in 0..feature.cuts {
                let cut = Cut { feature: index.into(), cut };
                let (bits, is_flipped) = bits_of(cut);
                let Some(&(question, other)) = place.get(&bits) else { continue };
                let words = (is_set || column.missing).then(|| {
                    let test = (!is_set).then(|| Test::of(column, feature, cut.cut).0);
                    let words = (feature.column, test);
                    let at = known.iter().position(|known| *known == words);
                    at.unwrap_or_else(|| {
                        known.push(words);
                        known.len() - 1
                    }) as u32
                });
                let same = |&member: &u32| found.members[member as usize].words == words;
                if words.is_some() && found.of_question[question].iter().any(same) {
                    continue;
                }
                found.of_question[question].push(found.members.len() as u32);
                let is_swapped = is_flipped != other;
                found.members.push(Member { cut, column: feature.column, is_swapped, words });
            }
        }
        found
    }

    pub fn of(&self, question: u32) -> &[u32] {
        &self.of_question[question as usize]
    }
}
