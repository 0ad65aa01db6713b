//! Plans and trees as bytes, nodes in preorder.

use super::finished::{Node, Split, Test, Tree};
use super::plan::Plan;
use crate::data::Threshold;
use crate::error::{Error, Result};
use crate::ids::{ColumnId, FeatureId, Side, TreeNodeId};
use crate::serial::{self, Kind, Reader, Saved, Writer, damaged};

/// Plans are walked, and dropped, by recursion: deeper ones are neither written nor read.
const DEEPEST: u32 = 1 << 10;

impl Plan {
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new();
        write(self, DEEPEST, &mut out)?;
        Ok(serial::seal(Kind::Plan, out))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Plan> {
        let mut from = serial::open(Kind::Plan, bytes)?;
        let plan = read(DEEPEST, &mut from)?;
        from.finish()?;
        Ok(plan)
    }
}

fn too_deep() -> Error {
    Error::invalid(format!("a plan deeper than {DEEPEST} splits is not saved"))
}

fn write(plan: &Plan, levels: u32, out: &mut Writer) -> Result<()> {
    let Plan::Split { feature, cut, left, right } = plan else {
        out.byte(0);
        return Ok(());
    };
    let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
    out.number(u64::from(feature.0) + 1);
    out.short(*cut);
    write(left, levels, out)?;
    write(right, levels, out)
}

fn read(levels: u32, from: &mut Reader) -> Result<Plan> {
    let number = from.number()?;
    let Some(feature) = number.checked_sub(1) else { return Ok(Plan::Leaf) };
    let feature = u32::try_from(feature).map_err(|_| damaged("there is no such feature"))?;
    let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
    let cut = from.short()?;
    let (left, right) = (read(levels, from)?, read(levels, from)?);
    Ok(Plan::split(FeatureId(feature), cut, left, right))
}

impl Saved for Test {
    fn write(&self, out: &mut Writer) {
        match self {
            Test::AtMost(cut) => {
                out.byte(0);
                cut.write(out);
            }
            Test::IsTrue => out.byte(1),
            Test::Is(value) => {
                out.byte(2);
                out.text(value);
            }
            Test::IsMissing => out.byte(3),
            Test::In { left, right } => {
                out.byte(4);
                for side in [left, right] {
                    out.list(side.iter(), |out, value| out.text(value));
                }
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Test> {
        match from.byte()? {
            0 => Ok(Test::AtMost(Threshold::read(from)?)),
            1 => Ok(Test::IsTrue),
            2 => Ok(Test::Is(from.text()?)),
            3 => Ok(Test::IsMissing),
            4 => Ok(Test::In { left: from.list(Reader::text)?, right: from.list(Reader::text)? }),
            _ => Err(damaged("a test is of no known kind")),
        }
    }
}

impl Saved for Tree {
    fn write(&self, out: &mut Writer) {
        out.list(self.nodes.iter(), |out, node| {
            let Node { split, label, rows, value, loss } = node;
            out.option(split.as_ref(), |out, split| {
                let Split { column, test, missing, left: _, right: _ } = split;
                out.short(column.0);
                test.write(out);
                out.option(missing.as_ref(), |out, side| out.byte((*side == Side::Right).into()));
            });
            out.short(*label);
            out.number(*rows);
            out.floats(value);
            out.float(*loss);
        });
    }

    /// Nodes are in preorder, so that they say themselves where children are.
    fn read(from: &mut Reader) -> Result<Tree> {
        let mut nodes: Vec<Node> = from.list(|from| {
            let split = from.option(|from| {
                let (column, test) = (ColumnId(from.short()?), Test::read(from)?);
                let missing = from.option(|from| match from.byte()? {
                    0 => Ok(Side::Left),
                    1 => Ok(Side::Right),
                    _ => Err(damaged("a missing value goes neither left nor right")),
                })?;
                Ok(Split { column, test, missing, left: TreeNodeId(0), right: TreeNodeId(0) })
            })?;
            Ok(Node {
                split,
                label: from.short()?,
                rows: from.number()?,
                value: from.floats()?,
                loss: from.float()?,
            })
        })?;
        // Splits whose right child is not reached yet.
        let mut open: Vec<usize> = Vec::new();
        for at in 0..nodes.len() {
            if at > 0 && nodes[at - 1].split.is_none() {
                let parent = open.pop().ok_or_else(|| damaged("a tree has two roots"))?;
                let split = nodes[parent].split.as_mut();
                split.ok_or_else(|| damaged("a leaf has children"))?.right = TreeNodeId::from(at);
            }
            if let Some(split) = nodes[at].split.as_mut() {
                split.left = TreeNodeId::from(at + 1);
                open.push(at);
            }
        }
        let is_whole = open.is_empty() && nodes.last().is_some_and(|last| last.split.is_none());
        if is_whole { Ok(Tree { nodes }) } else { Err(damaged("a tree lacks leaves")) }
    }
}
