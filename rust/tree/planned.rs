//! The way back from a finished tree to a plan: the feature and the cut of each of its tests.

use super::finished::{Test, Tree};
use super::plan::Plan;
use crate::data::{Column, ColumnKind, Feature, Features};
use crate::ids::{FeatureId, Side, TreeNodeId};

/// The cut that a test is, and whether what goes left of the cut goes right of the test.
struct Asked {
    feature: FeatureId,
    cut: u32,
    is_swapped: bool,
}

/// The tree as a plan over these columns. A split whose test is no cut of its column is left out:
/// all go down the side of its larger child.
pub fn planned(tree: &Tree, columns: &[Column], features: &Features) -> Plan {
    Planner { tree, columns, features }.plan(TreeNodeId::from(0usize))
}

struct Planner<'a> {
    tree: &'a Tree,
    columns: &'a [Column],
    features: &'a Features,
}

impl Planner<'_> {
    fn plan(&self, node: TreeNodeId) -> Plan {
        let Some(split) = &self.tree.nodes[node.index()].split else { return Plan::Leaf };
        let missing = self.tree.way_of_missing(split);
        let column = &self.columns[split.column.index()];
        let own = self.features.iter().enumerate().filter(|(_, own)| own.column == split.column);
        let asked = match (&column.kind, &split.test) {
            (ColumnKind::Sets(values), Test::In { right, .. }) => {
                set(own, column, in_set(values, right), missing)
            }
            (ColumnKind::Sets(_), Test::IsMissing) => set(own, column, 0, Side::Right),
            (_, test) => cut(own, column, test, missing),
        };
        let Some(Asked { feature, cut, is_swapped }) = asked else {
            let larger = match self.tree.larger_side(split.left, split.right) {
                Side::Left => split.left,
                Side::Right => split.right,
            };
            return self.plan(larger);
        };
        let [left, right] = match is_swapped {
            true => [split.right, split.left],
            false => [split.left, split.right],
        };
        Plan::split(feature, cut, self.plan(left), self.plan(right))
    }
}

/// The codes of these values, as bits.
fn in_set(values: &[String], chosen: &[String]) -> u64 {
    let code = |value: &String| values.iter().position(|other| other == value);
    chosen.iter().filter_map(code).fold(0, |set, code| set | 1 << code)
}

/// The feature that parts these codes, and missing ones if they go right, from all others.
fn set<'f>(
    own: impl Iterator<Item = (usize, &'f Feature)>,
    column: &Column,
    right: u64,
    missing: Side,
) -> Option<Asked> {
    let missing = column.missing_code().filter(|_| missing == Side::Right);
    let right = right | missing.map_or(0, |code| 1 << code);
    // The feature has the first code on its left.
    let is_swapped = right & 1 == 1;
    let all = (1u64 << column.n_codes()) - 1;
    let wanted = if is_swapped { all & !right } else { right };
    let is_it = |feature: &Feature| {
        let mut codes = 0u64;
        feature.order.each_value(|code| codes |= 1 << code);
        codes == wanted
    };
    let (index, _) = own.into_iter().find(|(_, feature)| is_it(feature))?;
    Some(Asked { feature: FeatureId::from(index), cut: 0, is_swapped })
}

/// The feature and the cut that ask this, with missing values on this side if there are any.
fn cut<'f>(
    own: impl Iterator<Item = (usize, &'f Feature)>,
    column: &Column,
    test: &Test,
    missing: Side,
) -> Option<Asked> {
    let missing = if *test == Test::IsMissing { Side::Right } else { missing };
    for (index, feature) in own {
        let cuts = match (&column.kind, test) {
            (ColumnKind::Ordered(cuts), Test::AtMost(threshold)) => {
                let place = cuts.iter().position(|cut| cut == threshold)? as u32;
                place..place + 1
            }
            (ColumnKind::Ordered(cuts), _) => cuts.len() as u32..feature.cuts,
            _ => 0..feature.cuts,
        };
        for cut in cuts {
            let (asked, side) = Test::of(column, feature, cut);
            if asked == *test && side.is_none_or(|side| side == missing) {
                let feature = FeatureId::from(index);
                return Some(Asked { feature, cut, is_swapped: false });
            }
        }
    }
    None
}
